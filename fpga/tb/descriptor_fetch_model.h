#pragma once

#include "bench.h"
#include "context_host.h"

#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/descriptor_fetch.h"
#include "hca/receive/shared_receive_queues.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// A read of host memory by RTL, which the model repeats when the access takes effect.
struct DescriptorRead {
  unsigned function = 0;
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool failed = false;
  std::array<uint8_t, 64> data{};
};

// The surroundings of descriptor_fetch in the device model, for the blocks of all queues.
class DescriptorSurroundings {
public:
  explicit DescriptorSurroundings(uint32_t queue_pairs) : parameters(make_parameters(queue_pairs)) {
    if (!context_memory_.open(0, context_bytes))
      std::abort();
  }

  hca::HcaParameters parameters;

private:
  static constexpr uint64_t context_bytes = 8 << 20;
  static hca::HcaParameters make_parameters(uint32_t queue_pairs) {
    hca::HcaParameters parameters;
    parameters.queue_pairs = queue_pairs;
    parameters.queue_pair_contexts_cached = queue_pairs;
    parameters.page_table_entries = 65536;
    parameters.memory_keys = 16;
    return parameters;
  }
  hca::Counters counters_;
  ContextHost host_{context_bytes};
  NoEvents events_;
  hca::ContextMemory context_memory_{parameters, counters_, host_, events_};

public:
  hca::MemoryTranslation translation{parameters, context_memory_};
  hca::QueuePairStateCache queue_pairs{parameters, counters_, context_memory_};
  hca::SharedReceiveQueues shared;
};

// DescriptorFetch of the device model for one queue, so that each queue has a line of references, as in RTL.
// It reads what RTL has read.
class DescriptorModel final : private hca::HostPort, private hca::EventPort {
public:
  DescriptorModel(const Place& place, DescriptorSurroundings& surroundings)
      : place_(place), surroundings_(surroundings),
        fetch_(surroundings.parameters, counters_, *this, surroundings.queue_pairs, surroundings.shared,
               surroundings.translation, *this, wanted_, fetched_) {}

  std::deque<DescriptorRead> reads; // of RTL, not repeated yet
  std::vector<spec::EventUnit> events;

  uint64_t faults() const {
    uint64_t faults = 0;
    for (const auto& function : counters_.function)
      faults += function.dma_faults;
    return faults;
  }

  // Answers a question. Whether a receive work request was taken.
  bool take(unsigned function, uint32_t number) {
    spec::QueuePairNotice notice;
    notice.set_queue_pair_number(number);
    notice.set_underlying_function(function);
    notice.set_kind(spec::QueuePairNoticeKind::take_descriptor);
    wanted_.push(notice);
    fetch_.step();
    if (fetched_.empty())
      std::abort();
    const bool is_taken = fetched_.front().kind() == spec::QueuePairNoticeKind::descriptor_taken;
    fetched_.pop();
    return is_taken;
  }
  // Checks the limit of a shared queue.
  void look(unsigned function, uint32_t number) {
    surroundings_.shared.arm(function, number, surroundings_.shared.find(function, number)->limit);
    fetch_.step();
  }
  struct Rung {
    bool is_known = false;
    bool rings = false;
  };
  Rung ring(unsigned function, spec::underlying_function::ReceiveDoorbell doorbell) {
    const bool is_known = fetch_.doorbell(function, doorbell);
    return {.is_known = is_known, .rings = fetch_.take_doorbell().has_value()};
  }

private:
  hca::DmaStatus read(unsigned function, uint64_t address, void* destination, size_t bytes) override {
    if (reads.empty())
      differ(place_, "reads of host memory", 0, address);
    const DescriptorRead read = reads.front();
    reads.pop_front();
    expect(place_, "function of a read", read.function, function);
    expect(place_, "address of a read", read.address, address);
    expect(place_, "bytes of a read", read.bytes, bytes);
    std::memcpy(destination, read.data.data(), bytes);
    return read.failed ? hca::DmaStatus::fault : hca::DmaStatus::ok;
  }
  hca::DmaStatus write(unsigned, uint64_t, const void*, size_t) override { std::abort(); }
  void interrupt(unsigned, unsigned) override { std::abort(); }
  void report(const spec::EventUnit& event) override { events.push_back(event); }

  const Place& place_;
  DescriptorSurroundings& surroundings_;
  hca::Counters counters_;
  hca::DataLink<spec::QueuePairNotice> wanted_{2};
  hca::DataLink<spec::QueuePairNotice> fetched_{2};
  hca::DescriptorFetch fetch_;
};

} // namespace fpga_verbs::bench
