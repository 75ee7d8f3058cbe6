#pragma once

#include "hca/base/hca_links.h"
#include "hca/collect/collect_buffer.h"
#include "hca/collect/kick_records.h"
#include "test/test_host.h"

#include <napi.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace fpga_verbs::test {

// Queue pairs that a test defines, in place of queue_pair_state_cache.
class TestQueuePairs final : public hca::QueuePairPort {
public:
  const spec::QueuePairControl* find_control(unsigned underlying_function,
                                             uint32_t queue_pair_number) override {
    const auto found = controls_.find({underlying_function, queue_pair_number});
    return found == controls_.end() ? nullptr : &found->second;
  }
  spec::QueuePairControl& define(unsigned underlying_function, uint32_t queue_pair_number) {
    return controls_[{underlying_function, queue_pair_number}];
  }

private:
  std::map<std::pair<unsigned, uint32_t>, spec::QueuePairControl> controls_;
};

// Keeps events for a test, in place of event_queue.
class TestEvents final : public hca::EventPort {
public:
  void report(const spec::EventUnit& event) override { events.push_back(event); }
  std::vector<spec::EventUnit> events;
};

// collect_buffer and kick_records for vitest: their ports as methods, data units as bytes.
class CollectBufferPort final : public Napi::ObjectWrap<CollectBufferPort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit CollectBufferPort(const Napi::CallbackInfo& info);

private:
  void define_queue_pair(const Napi::CallbackInfo& info);
  void write(const Napi::CallbackInfo& info);
  Napi::Value write_burst(const Napi::CallbackInfo& info);
  void write_management_page(const Napi::CallbackInfo& info);
  Napi::Value can_accept_write(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value next_deadline(const Napi::CallbackInfo& info);
  void set_time(const Napi::CallbackInfo& info);
  void set_half_written_limit(const Napi::CallbackInfo& info);

  Napi::Value take_kicks(const Napi::CallbackInfo& info);
  Napi::Value take_notices(const Napi::CallbackInfo& info);
  Napi::Value take_management_units(const Napi::CallbackInfo& info);
  Napi::Value take_events(const Napi::CallbackInfo& info);

  void release(const Napi::CallbackInfo& info);
  Napi::Value take_dedicated(const Napi::CallbackInfo& info);
  Napi::Value take_management(const Napi::CallbackInfo& info);
  Napi::Value lock_management(const Napi::CallbackInfo& info);
  void unlock_management(const Napi::CallbackInfo& info);
  void break_management_lock(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo& info);
  void close(const Napi::CallbackInfo& info);
  void open(const Napi::CallbackInfo& info);
  Napi::Value set_bar(const Napi::CallbackInfo& info);
  Napi::Value set_allotment(const Napi::CallbackInfo& info);
  void make();
  void reset_function(const Napi::CallbackInfo& info);
  void reset(const Napi::CallbackInfo& info);

  Napi::Value physical(const Napi::CallbackInfo& info);
  Napi::Value virtual_buffer(const Napi::CallbackInfo& info);
  Napi::Value groups(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  void set_kick_records(const Napi::CallbackInfo& info);
  void sent(const Napi::CallbackInfo& info);
  Napi::Value memory(const Napi::CallbackInfo& info);
  Napi::Value base(const Napi::CallbackInfo& info);

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  TestHost host_;
  TestClock clock_;
  TestQueuePairs queue_pairs_;
  TestEvents events_;
  hca::KickRecords kick_records_;
  hca::HcaLinks links_;
  hca::DataLink<spec::KickUnit>& kicks_collected_ = links_.kicks_collected;
  hca::DataLink<spec::PostNotice>& post_notices_ = links_.post_notices;
  hca::DataLink<spec::ManagementUnit>& management_units_ = links_.management_units;
  hca::PhysicalCollectBuffers buffers_{parameters_};
  std::optional<hca::CollectBuffer> collect_buffer_;
};

} // namespace fpga_verbs::test
