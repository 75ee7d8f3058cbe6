#pragma once

#include "burst_host.h"
#include "context_host.h"

#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/packet_sequence_number.h"
#include "hca/base/parameters.h"
#include "hca/collect/physical_collect_buffer.h"
#include "hca/memory/access_rights.h"
#include "hca/memory/host_reads.h"
#include "hca/memory/memory_access.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/transmit/dma.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// dma of the device model with its surroundings: PCBs, queue pairs, and keys to memory of the board's host.
// Each queue pair has its own dma, so that one step is one packet of that queue pair.
class DmaModel {
public:
  static constexpr unsigned functions = BurstHost::functions;
  static constexpr uint32_t queue_pair_count = 12;
  static constexpr uint32_t domain = 5; // and the next one

  struct Region {
    uint32_t key = 0;
    unsigned function = 0;
    uint32_t domain = 0;
    uint64_t base = 0;
    uint64_t length = 0;
  };
  struct QueuePair {
    uint32_t number = 0; // the last number belongs to no queue pair
    unsigned function = 0;
    uint32_t domain = 0;
    uint32_t mtu = 0; // bytes
  };
  // The packet that a step has handed on.
  struct Packet {
    spec::PacketUnit unit;
    std::vector<uint8_t> payload;
    uint32_t number = 0;
    spec::CompletionStatus status = spec::CompletionStatus::success;
  };

  DmaModel(Random& random, BurstHost& host) : random_(random), host_(host) {
    if (context_memory_.bytes_needed() > context_bytes || !context_memory_.open(0, context_bytes))
      std::abort();
    for (uint32_t which = 0; which < queue_pair_count; ++which)
      create_queue_pair(which);
    for (unsigned function = 0; function < functions; ++function)
      for (uint32_t which = 0; which < 8; ++which)
        create_region(function);
  }

  std::vector<Region> regions;
  std::vector<uint32_t> windows; // keys, of function 0
  std::vector<QueuePair> queue_pairs;
  uint64_t faults = 0;
  uint64_t fault_address = 0; // of the newest
  unsigned fault_function = 0;

  hca::PhysicalCollectBuffer& pcb(uint32_t buffer) { return buffers_[buffer]; }
  hca::QueuePairStateCache& cache() { return cache_; }
  hca::MemoryTranslation& translation() { return translation_; }

  // Null: there is no such queue pair.
  hca::QueuePairParts* parts(uint32_t which) {
    return cache_.parts(queue_pairs[which].function, queue_pairs[which].number);
  }
  bool send_error(uint32_t which) {
    const hca::QueuePairParts* const found = parts(which);
    return found != nullptr && found->control.send_error() != 0;
  }

  void start(uint32_t which, const spec::KickUnit& kick) { lanes_[which]->executions.push(kick); }
  // One packet of the queue pair, or the end of its command.
  Packet step(uint32_t which) {
    Lane& lane = *lanes_[which];
    lane.dma.step();
    if (lane.gathered.size() != 1)
      std::abort();
    Packet packet{.unit = lane.gathered.front()};
    lane.gathered.pop();
    const auto buffer = static_cast<uint32_t>(packet.unit.physical_collect_buffer());
    packet.status = buffers_[buffer].execution.kick.status();
    if (packet.unit.packet() == hca::no_packet)
      return packet;
    const auto handle = static_cast<uint16_t>(packet.unit.packet());
    const hca::Packet& filled = packets_[handle];
    if (filled.payload != spec::packet_headroom)
      std::abort();
    packet.payload.resize(filled.payload_bytes);
    std::memcpy(packet.payload.data(), packets_.bytes(handle) + filled.payload, filled.payload_bytes);
    packet.number = filled.number;
    packets_.release(handle);
    return packet;
  }

  // A region of the function and domain of a queue pair; most of its pages are mapped host memory.
  void create_region(unsigned function, uint32_t whole_pages = 0) {
    const bool is_whole = whole_pages != 0;
    const uint32_t page_log2 = 12 + (!is_whole && random_.once(3) ? 1 : 0);
    const uint32_t count = is_whole ? whole_pages : 4 + random_.below(20);
    const uint64_t in_page = is_whole ? 0 : random_.below(1U << page_log2);
    std::vector<spec::PageTableEntry> entries(count);
    for (uint32_t at = 0; at < count; ++at) {
      // Pages are not contiguous: the model would read contiguous ones in one read, and report another
      // address after a failure.
      do
        entries[at].set_page(BurstHost::base / spec::page_bytes +
                             some_page(function, page_log2 - 12, is_whole));
      while (at != 0 && entries[at].page() == entries[at - 1].page() + (1U << (page_log2 - 12)));
      entries[at].set_valid(is_whole || !random_.once(60));
    }
    Region region{.function = function,
                  .domain = domain + (random_.once(4) && !is_whole ? 1 : 0),
                  .base = in_page + (random_.bits() << 14 >> random_.below(20)),
                  .length = (uint64_t{count} << page_log2) - in_page};
    const uint32_t table = translation_.create_table(function, count).value();
    translation_.write_entries(table, 0, entries);
    spec::MemoryKeyEntry entry;
    entry.set_underlying_function(function);
    entry.set_protection_domain(region.domain);
    entry.set_access_flags(is_whole || !random_.once(4) ? 0x1f : 0x10);
    entry.set_base(region.base);
    entry.set_length(region.length);
    entry.set_page_log2(page_log2);
    entry.set_first_page_offset(in_page);
    entry.set_page_table(table);
    region.key = translation_.keys().create(entry).value();
    regions.push_back(region);
    if (windows.size() < 2 && function == 0) {
      spec::MemoryKeyEntry window;
      window.set_is_window(1);
      window.set_window_type(2);
      window.set_protection_domain(domain);
      windows.push_back(translation_.keys().create(window).value());
    }
  }

private:
  static constexpr uint64_t context_bytes = 2 << 20;

  class StillClock final : public hca::Clock {
  public:
    uint64_t now() const override { return 0; }
  };
  class FaultsOf final : public hca::EventPort {
  public:
    explicit FaultsOf(DmaModel& model) : model_(model) {}
    void report(const spec::EventUnit& event) override {
      ++model_.faults;
      model_.fault_address = event.detail();
      model_.fault_function = static_cast<unsigned>(event.underlying_function());
    }

  private:
    DmaModel& model_;
  };
  struct Lane {
    explicit Lane(DmaModel& model)
        : dma(model.parameters_, model.buffers_, model.cache_, model.access_, model.reads_,
              model.translation_.keys(), model.packets_, executions, gathered, built) {}
    hca::DataLink<spec::KickUnit> executions{1};
    hca::DataLink<spec::PacketUnit> gathered{2};
    hca::DataLink<spec::PacketUnit> built{16};
    hca::Dma dma;
  };

  static hca::HcaParameters make_parameters() {
    hca::HcaParameters parameters;
    parameters.queue_pairs = 32;
    parameters.page_table_entries = 2048;
    parameters.memory_keys = 64;
    parameters.physical_collect_buffers = BUFFERS;
    parameters.dedicated_physical_collect_buffers = 0;
    return parameters;
  }

  void create_queue_pair(uint32_t which) {
    const uint32_t path_mtu = which < 6 ? 5 : 1 + which % 5;
    QueuePair queue_pair{.function = which % functions,
                         .domain = domain + (which == 4 ? 1 : 0),
                         .mtu = hca::path_mtu_bytes(path_mtu)};
    spec::QueuePairControl control;
    control.set_state(spec::QueuePairState::ready_to_send);
    control.set_protection_domain(queue_pair.domain);
    control.set_path_mtu(static_cast<spec::PathMtu>(path_mtu));
    queue_pair.number = which + 1 == queue_pair_count ? 0x5a0007 // of a former queue pair
                                                      : cache_.create(queue_pair.function, control).value();
    queue_pairs.push_back(queue_pair);
    lanes_.push_back(std::make_unique<Lane>(*this));
  }

  uint32_t some_page(unsigned function, uint32_t log2, bool is_whole) {
    for (;;) {
      const uint32_t page = random_.below(BurstHost::pages - (1U << log2) + 1);
      if (!is_whole && random_.once(20))
        return page;
      std::vector<uint8_t> bytes(spec::page_bytes << log2);
      if (host_.read(function, BurstHost::base + uint64_t{page} * spec::page_bytes, bytes.data(),
                     bytes.size()))
        return page;
    }
  }

  Random& random_;
  BurstHost& host_;
  hca::HcaParameters parameters_ = make_parameters();
  hca::Counters counters_;
  ContextHost context_host_{context_bytes};
  NoEvents no_events_;
  StillClock clock_;
  FaultsOf events_{*this};
  hca::ContextMemory context_memory_{parameters_, counters_, context_host_, no_events_};
  hca::MemoryTranslation translation_{parameters_, context_memory_};
  hca::MemoryAccess access_{counters_, host_.port(), translation_, events_};
  hca::HostReads reads_{counters_, host_.port(), translation_, access_, clock_};
  hca::QueuePairStateCache cache_{parameters_, counters_, context_memory_};
  hca::PacketMemory packets_;
  hca::PhysicalCollectBuffers buffers_{parameters_};
  std::vector<std::unique_ptr<Lane>> lanes_;
};

} // namespace fpga_verbs::bench
