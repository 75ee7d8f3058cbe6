#pragma once

#include "hca/base/bit_mask.h"
#include "hca/base/block.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/collect/physical_collect_buffer.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/memory/host_reads.h"
#include "hca/memory/key_table.h"
#include "hca/memory/memory_access.h"
#include "hca/memory/memory_windows.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/data_units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Gathers the payload of packets from host memory, or from the PCB if it is inline. A command stays at the
// head of its queue pair's list until its last packet. Queue pairs with work take turns packet by packet, so
// that a long message delays no other one.
class Dma final : public Block, public UnitTaker<spec::KickUnit> {
public:
  Dma(const HcaParameters& parameters, PhysicalCollectBuffers& buffers, QueuePairStateCache& queue_pairs,
      MemoryAccess& memory, HostReads& reads, KeyTable& keys, PacketMemory& packets,
      DataLink<spec::KickUnit>& executions, DataLink<spec::PacketUnit>& packets_gathered,
      const DataLink<spec::PacketUnit>& requests_built);

  // Takes one command, and gathers one packet, or a train, or executes one bind or invalidate. A bind or
  // invalidate that waits for an idle key blocks only its own queue pair, and so does a packet that waits for
  // its data (US8804752, DMA module).
  bool step() override;

  // Whether up to 16 packets of a message are gathered in one step, if no other command waits. Forbidden at
  // first.
  void allow_trains(bool allowed) { most_packets_ = allowed ? train_packets : 1; }

  // A command that has just been decided on, while none is here.
  Taken take_at_once(const spec::KickUnit& kick) override;
  TakenTrain take_train(std::span<const spec::KickUnit> train) override;

  const char* verify() const { return commands_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &commands_; }

private:
  static constexpr uint32_t train_packets = 16;

  // Result of the work on a command: done, more packets, or waiting for an idle key.
  enum class Progress : uint8_t { done, more, waits_for_key };

  inline std::optional<uint16_t> buffer_for_packet();
  inline bool pass();
  [[gnu::always_inline]] inline Progress begin(const spec::KickUnit& kick, uint16_t packet);
  inline bool take_command();
  inline bool resume_waiting();
  bool resume_arrived();
  bool has_data(uint16_t list);
  inline bool serve();
  inline Progress serve_train(uint16_t list, uint16_t packet);
  [[gnu::always_inline]] inline Progress work_on(const spec::KickUnit& kick, uint16_t packet);
  inline Progress gather_together(const spec::KickUnit& kick, uint32_t most, uint32_t& gathered);
  inline bool hand_over(const spec::KickUnit& kick, const Execution& execution, uint16_t packet, bool first);
  void hand_over_last(const spec::KickUnit& kick, uint16_t packet, bool first);
  void hand_over_failed(const spec::KickUnit& kick, const Execution& execution, uint16_t packet, bool first);
  std::optional<spec::CompletionStatus> carry_out(const spec::QueuePairControl& control,
                                                  const PhysicalCollectBuffer& pcb);
  inline spec::CompletionStatus gather(const spec::QueuePairControl& control, PhysicalCollectBuffer& pcb,
                                       uint16_t packet);
  inline spec::CompletionStatus read_list(const spec::QueuePairControl& control, PhysicalCollectBuffer& pcb,
                                          uint64_t offset, uint8_t* target, uint32_t bytes);
  void list_accesses(const spec::QueuePairControl& control, const PhysicalCollectBuffer& pcb);
  spec::CompletionStatus check_scatter(const spec::QueuePairControl& control,
                                       const PhysicalCollectBuffer& pcb);

  PhysicalCollectBuffers& buffers_;
  QueuePairStateCache& queue_pairs_;
  MemoryAccess& memory_;
  HostReads& reads_;
  KeyTable& keys_;
  MemoryWindows windows_;
  PacketMemory& packets_;
  DataLink<spec::KickUnit>& executions_;
  DataLink<spec::PacketUnit>& packets_gathered_;
  uint32_t most_on_way_;                             // packets
  uint32_t most_packets_ = 1;                        // in a step
  HardwareLinkedListQueue<spec::KickUnit> commands_; // index: queue pair
  BitMask waiting_;                                  // lists whose first command waits for a key
  uint32_t idle_seen_ = 0;                           // KeyTable::idle_count() when they were looked at
  std::vector<KeyAccess> accesses_;                  // of the next packet of a command
  std::optional<uint16_t> reader_;                   // the list that has its data, while its packet is filled
};

} // namespace fpga_verbs::hca
