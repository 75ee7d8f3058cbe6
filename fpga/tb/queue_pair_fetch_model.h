#pragma once

#include "context_host.h"
#include "set_clock.h"

#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/base/watch_port.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/kick_records.h"
#include "hca/collect/physical_collect_buffer.h"
#include "hca/memory/context_memory.h"
#include "hca/queue_pair/address_handles.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/send_queue/queue_pair_fetch.h"
#include "spec/data_units.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace fpga_verbs::bench {

// collect_buffer as queue_pair_fetch needs it: it accepts released PCBs.
class ReleasedBuffers final : public hca::CollectBufferPort {
public:
  std::vector<uint16_t> released;

  void release(uint16_t buffer) override { released.push_back(buffer); }

  bool step() override { std::abort(); }
  bool can_accept_write() const override { std::abort(); }
  void write(const hca::BarWrite&) override { std::abort(); }
  bool write_burst(const hca::BarWrite&) override { std::abort(); }
  void write_management_page(unsigned, const hca::BarWrite&) override { std::abort(); }
  uint64_t next_deadline() const override { std::abort(); }
  void set_half_written_limit(uint64_t) override { std::abort(); }
  uint64_t half_written_limit() const override { std::abort(); }
  std::optional<uint16_t> take_dedicated() override { std::abort(); }
  std::optional<uint16_t> take_management() override { std::abort(); }
  bool has_dedicated_to_spare() const override { std::abort(); }
  void on_dedicated_freed(hca::Waker) override { std::abort(); }
  void fetched(uint16_t) override { std::abort(); }
  uint32_t take_kick_number() override { std::abort(); }
  std::optional<uint16_t> management_lock(unsigned) const override { std::abort(); }
  std::optional<uint16_t> lock_management(unsigned) override { std::abort(); }
  void unlock_management(unsigned) override { std::abort(); }
  Inspection inspect(unsigned) const override { std::abort(); }
  void cancel(unsigned) override { std::abort(); }
  void close(unsigned) override { std::abort(); }
  void open(unsigned) override { std::abort(); }
  bool set_bar(unsigned, const hca::VirtualCollectBufferBar&) override { std::abort(); }
  void set_bars(const std::array<hca::VirtualCollectBufferBar, spec::underlying_functions>&) override {
    std::abort();
  }
  const hca::VirtualCollectBufferBar& bar(unsigned) const override { std::abort(); }
  bool set_allotment(unsigned, const hca::CollectAllotment&) override { std::abort(); }
  void keep_guarantees() override { std::abort(); }
  const hca::CollectGroupTable& groups() const override { std::abort(); }
  const char* verify() const override { std::abort(); }
};

class ReportedEvents final : public hca::EventPort {
public:
  std::vector<spec::EventUnit> events;
  void report(const spec::EventUnit& event) override { events.push_back(event); }
};

// queue_pair_fetch of the device model, one data unit at a time.
class FetchModel {
public:
  static constexpr uint64_t context_bytes = 8 << 20;
  static constexpr unsigned functions = UNDERLYING_FUNCTIONS;

  FetchModel(uint32_t queue_pairs, uint32_t buffer_count)
      : parameters_(parameters(queue_pairs, buffer_count)) {
    if (!context_memory_.open(0, context_bytes))
      std::abort();
  }

  // Processes a unit. Its outcome is in the links, `buffers_released` and `events_reported`.
  void take(const spec::KickUnit& unit) { push(kicks_started_, unit); }
  void take(const spec::PostNotice& unit) { push(post_notices_, unit); }
  void take(const spec::ScheduleDone& unit) { push(schedule_dones_, unit); }
  void take(const spec::QueuePairNotice& unit) { push(progress_notices_, unit); }
  void resume(unsigned underlying_function, uint32_t number) {
    if (!fetch_.resume(underlying_function, number))
      std::abort();
  }

  // For functions, one bit each.
  void set_records_on(uint32_t functions_on) { records_.watch(&watch_, functions_on); }

private:
  class NoWatch final : public hca::WatchPort {
    void kick_record(const spec::KickRecord&) override { std::abort(); }
    void event(unsigned, const spec::EventQueueEntry&) override { std::abort(); }
    void completion(unsigned, const spec::CompletionQueueEntry&) override { std::abort(); }
  };

  static hca::HcaParameters parameters(uint32_t queue_pairs, uint32_t buffer_count) {
    hca::HcaParameters parameters;
    parameters.queue_pairs = queue_pairs;
    parameters.queue_pair_contexts_cached = queue_pairs;
    parameters.physical_collect_buffers = buffer_count - parameters.dedicated_physical_collect_buffers;
    parameters.page_table_entries = 1024;
    parameters.memory_keys = 16;
    return parameters;
  }
  template <class Unit> void push(hca::DataLink<Unit>& link, const Unit& unit) {
    link.push(unit);
    while (fetch_.step()) {
    }
    if (!link.empty())
      std::abort();
  }

  hca::HcaParameters parameters_;
  ContextHost host_{context_bytes};
  NoWatch watch_;

public:
  hca::Counters counters;
  SetClock clock;
  ReportedEvents reported;
  ReleasedBuffers collect_buffer;
  hca::PhysicalCollectBuffers buffers{parameters_};
  hca::AddressHandles address_handles;

private:
  hca::ContextMemory context_memory_{parameters_, counters, host_, reported};

public:
  hca::QueuePairStateCache queue_pairs{parameters_, counters, context_memory_};
  hca::DataLink<spec::KickUnit> executions{8};
  hca::DataLink<spec::ScheduleRequest> schedule_requests{8};
  hca::DataLink<spec::FinishUnit> finishes_handed_back{8};

private:
  hca::KickRecords records_{counters, host_, clock, reported};
  hca::DataLink<spec::KickUnit> kicks_started_{8};
  hca::DataLink<spec::PostNotice> post_notices_{8};
  hca::DataLink<spec::ScheduleDone> schedule_dones_{8};
  hca::DataLink<spec::QueuePairNotice> progress_notices_{8};
  hca::QueuePairFetch fetch_{
      parameters_,     counters,          records_,   collect_buffer,    buffers,
      queue_pairs,     address_handles,   reported,   kicks_started_,    post_notices_,
      schedule_dones_, progress_notices_, executions, schedule_requests, finishes_handed_back};
};

} // namespace fpga_verbs::bench
