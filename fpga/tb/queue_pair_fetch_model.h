#pragma once

#include "context_host.h"
#include "released_buffers.h"
#include "set_clock.h"

#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/base/watch_port.h"
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
