#pragma once

#include "bench.h"
#include "context_host.h"

#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/parameters.h"
#include "hca/complete/completion_queue.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/queue_pair/queue_pair_state_cache.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

constexpr uint32_t entry_bytes = spec::CompletionQueueEntry::bytes;

// 64 B written to host memory, or a failed write.
struct WrittenEntry {
  unsigned function = 0;
  uint64_t address = 0;
  std::array<uint8_t, entry_bytes> bytes{};
  bool failed = false;
};

// The pages of completion queues of each function. Some cannot be reached, and some pages of a table are not
// mapped. RTL and model write them in turn, and the bench compares what they write.
class CompletionPages {
public:
  explicit CompletionPages(Random& random) : random_(random) {
    if (context_memory_.bytes_needed() > context_bytes || !context_memory_.open(0, context_bytes))
      std::abort();
  }

  // A table for this number of entries.
  uint32_t make_table(unsigned function, uint32_t number, unsigned entries_log2, bool is_good) {
    const uint32_t count = hca::CompletionQueue::pages(entries_log2, false);
    const std::optional<uint32_t> table = translation_.create_table(function, count);
    if (!table)
      std::abort();
    std::vector<spec::PageTableEntry> entries(count);
    for (spec::PageTableEntry& entry : entries) {
      const uint64_t page = next_page_ += 1 + random_.below(1000);
      entry.set_page(page);
      entry.set_valid(is_good || !random_.once(12));
      pages_[page] = {.function = function, .number = number, .is_reachable = is_good || !random_.once(12)};
    }
    translation_.write_entries(*table, 0, entries);
    return *table;
  }

  bool can_write(unsigned function, uint64_t address) const {
    const auto page = pages_.find(address / spec::page_bytes);
    return page != pages_.end() && page->second.function == function && page->second.is_reachable;
  }
  // The queue for which an address was made; 0: none.
  uint32_t number(uint64_t address) const {
    const auto page = pages_.find(address / spec::page_bytes);
    return page == pages_.end() ? 0 : page->second.number;
  }

  hca::MemoryTranslation& translation() { return translation_; }
  hca::QueuePairStateCache& queue_pairs() { return queue_pairs_; }
  const hca::HcaParameters& parameters() const { return parameters_; }

private:
  struct Page {
    unsigned function = 0;
    uint32_t number = 0;
    bool is_reachable = false;
  };
  static constexpr uint64_t context_bytes = 4 << 20;

  static hca::HcaParameters make_parameters() {
    hca::HcaParameters parameters;
    parameters.queue_pairs = 8;
    parameters.page_table_entries = 65536;
    parameters.memory_keys = 16;
    parameters.completion_queues = 2;
    parameters.clock_frequency = 1'000'000; // a tick is a microsecond
    return parameters;
  }

  Random& random_;
  uint64_t next_page_ = 0xf'ffff'fff0; // close to a carry through many bits
  std::map<uint64_t, Page> pages_;
  hca::HcaParameters parameters_ = make_parameters();
  hca::Counters counters_;
  ContextHost host_{context_bytes};
  NoEvents events_;
  hca::ContextMemory context_memory_{parameters_, counters_, host_, events_};
  hca::MemoryTranslation translation_{parameters_, context_memory_};
  hca::QueuePairStateCache queue_pairs_{parameters_, counters_, context_memory_};
};

// A completion queue of the device model, alone in its block, so that each queue has its own clock.
class ModelQueue final : private hca::HostPort, private hca::EventPort, private hca::Clock {
public:
  static constexpr uint32_t number = 1;

  struct Head {
    uint32_t head = 0;
    bool failed = false;
  };

  ModelQueue(const Place& place, CompletionPages& pages, unsigned function, unsigned entries_log2,
             uint64_t head_address, uint64_t user_handle, uint8_t event_queue, uint32_t table)
      : place_(place), pages_(pages),
        queue(pages.parameters(), counters, *this, *this, pages.translation(), pages.queue_pairs(), *this),
        head_address_(head_address), function_(function) {
    spec::CreateCompletionQueueInput input;
    input.set_event_queue(event_queue);
    input.set_entries_log2(entries_log2);
    input.set_head_address(head_address);
    input.set_user_handle(user_handle);
    if (queue.create(function, input, table) != number)
      std::abort();
  }

private:
  // Initialized first.
  const Place& place_;
  CompletionPages& pages_;

public:
  hca::Counters counters;
  hca::CompletionQueue queue;
  uint64_t time = 0;
  std::optional<Head> head;   // that the RTL has read for the current access
  bool is_write_lost = false; // the RTL's write for the current access did not arrive
  std::optional<WrittenEntry> written;
  std::vector<spec::EventUnit> events;

private:
  hca::DmaStatus read(unsigned function, uint64_t address, void* destination, size_t bytes) override {
    expect(place_, "function of a head", function, function_);
    expect(place_, "address of a head", address, head_address_);
    if (!head)
      differ(place_, "the head was read", 0, 1);
    spec::RingHead record;
    record.set_head(head->head);
    std::memcpy(destination, &record, bytes);
    return head->failed ? hca::DmaStatus::fault : hca::DmaStatus::ok;
  }
  hca::DmaStatus write(unsigned function, uint64_t address, const void* source, size_t bytes) override {
    written = {.function = function,
               .address = address,
               .failed = is_write_lost || !pages_.can_write(function, address)};
    std::memcpy(written->bytes.data(), source, bytes);
    return written->failed ? hca::DmaStatus::fault : hca::DmaStatus::ok;
  }
  void interrupt(unsigned, unsigned) override { std::abort(); }
  void report(const spec::EventUnit& event) override { events.push_back(event); }
  uint64_t now() const override { return time; }

  uint64_t head_address_;
  unsigned function_;
};

// A queue in RTL and model.
struct LiveQueue {
  std::unique_ptr<ModelQueue> model;
  unsigned function = 0;
  uint32_t table = 0;
  uint32_t head = 0;   // entries consumed by the host
  uint32_t events = 0; // events consumed by the host
  bool failed = false;
  uint64_t failed_at = 0; // clock of the answer
};
using LiveQueues = std::map<uint32_t, LiveQueue>; // by number

inline uint64_t completion_head_address(uint32_t number) { return 0x7ff'ffff'f000 + number * 64; }

} // namespace fpga_verbs::bench
