#pragma once

#include "context_host.h"
#include "set_clock.h"

#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "hca/port/multicast_groups.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port_attributes.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/queue_pair/virtual_queue_pairs.h"
#include "hca/receive/packet_receiver.h"
#include "hca/transmit/packet_templates.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// packet_receiver of the device model with queue pairs, their numbers, and ports with random table entries.
class DestinationModel {
public:
  static constexpr uint32_t functions = spec::underlying_functions;
  static constexpr uint64_t context_bytes = 8 << 20;

  DestinationModel(uint32_t queue_pairs, spec::LinkLayer link_layer)
      : parameters_(parameters(queue_pairs, link_layer)) {}

  bool open() { return context_memory_.open(0, context_bytes); }

  // The queue pair and function that received a packet; empty: it was dropped.
  struct Passed {
    uint32_t queue_pair = 0;
    unsigned underlying_function = 0;
  };
  std::optional<Passed> receive(const std::vector<uint8_t>& bytes, unsigned port) {
    const uint16_t handle = *packet_memory.allocate(hca::PacketUse::receive);
    std::ranges::copy(bytes, packet_memory.bytes(handle));
    packet_memory.place(handle, {packet_memory.bytes(handle), bytes.size()});
    packet_memory[handle].port = static_cast<uint8_t>(port);
    spec::PacketUnit arrived;
    arrived.set_packet(handle);
    if (receiver_.take_at_once(arrived) == hca::PacketReceiver::Taken::no)
      std::abort();
    auto& link = !responses_.empty() ? responses_ : requests_;
    if (link.empty())
      return std::nullopt;
    const spec::PacketUnit unit = link.front();
    link.pop();
    packet_memory.release(handle);
    return Passed{.queue_pair = static_cast<uint32_t>(unit.queue_pair_number()),
                  .underlying_function = static_cast<unsigned>(unit.underlying_function())};
  }

private:
  static hca::HcaParameters parameters(uint32_t queue_pairs, spec::LinkLayer link_layer) {
    hca::HcaParameters parameters;
    parameters.queue_pairs = queue_pairs;
    parameters.page_table_entries = 1024;
    parameters.memory_keys = 16;
    parameters.ports = spec::ports;
    parameters.link_layer = link_layer;
    return parameters;
  }

  hca::HcaParameters parameters_;
  ContextHost host_{context_bytes};
  NoEvents events_;

public:
  hca::Counters counters;
  SetClock clock;

private:
  hca::ContextMemory context_memory_{parameters_, counters, host_, events_};

public:
  hca::QueuePairStateCache queue_pairs{parameters_, counters, context_memory_};
  hca::VirtualQueuePairs numbers{parameters_, clock};
  hca::PortAttributes attributes{parameters_};
  hca::PacketTemplates templates{attributes};
  hca::PacketMemory packet_memory;

private:
  std::array<link::Link*, spec::ports> no_links_{};
  hca::MulticastGroups groups_{no_links_};
  hca::DataLink<spec::PacketUnit> arrived_{256};
  hca::DataLink<spec::PacketUnit> responses_{256};
  hca::DataLink<spec::PacketUnit> requests_{256};
  hca::PacketReceiver receiver_{counters,    packet_memory, attributes, groups_,    numbers,
                                queue_pairs, templates,     arrived_,   responses_, requests_};
};

} // namespace fpga_verbs::bench
