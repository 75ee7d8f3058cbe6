#pragma once

#include "dma_model.h"

#include "hca/send_queue/send_work_request.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fpga_verbs::bench {

// Random commands in PCBs of the model, with the plan that queue_pair_fetch makes for them.
class DmaCommands {
public:
  DmaCommands(Random& random, DmaModel& model) : random_(random), model_(model) {}

  bool is_sound = false; // No command comes failed, or as another function's.

  // Fills a PCB with a command of a queue pair.
  spec::KickUnit fill_some(uint32_t which, uint32_t buffer) {
    constexpr std::array opcodes{spec::Opcode::send,
                                 spec::Opcode::send_with_immediate,
                                 spec::Opcode::send_with_invalidate,
                                 spec::Opcode::rdma_write,
                                 spec::Opcode::rdma_write,
                                 spec::Opcode::rdma_write_with_immediate,
                                 spec::Opcode::rdma_read,
                                 spec::Opcode::atomic_compare_and_swap,
                                 spec::Opcode::atomic_fetch_and_add};
    const spec::Opcode opcode = random_.once(16)   ? spec::Opcode::bind_memory_window
                                : random_.once(24) ? spec::Opcode::local_invalidate
                                                   : opcodes[random_.below(opcodes.size())];
    if (hca::is_local_operation(opcode))
      return fill_local(which, buffer, opcode);
    if (!hca::is_read_or_atomic(opcode) && random_.once(4)) {
      std::vector<uint8_t> data(random_.once(4) ? 256 : random_.below(257));
      bench::fill(random_, data);
      return fill_inline(which, buffer, opcode, data);
    }
    std::vector<spec::GatherEntry> list(hca::is_atomic(opcode) ? 1 + random_.below(3) : random_.below(17));
    const uint32_t mtu = model_.queue_pairs[which].mtu;
    const uint32_t most = std::array{8U, 64U, 500U, mtu, 3 * mtu}[random_.below(list.size() > 4 ? 3 : 5)];
    for (spec::GatherEntry& entry : list)
      entry = some_entry(which, random_.once(10) ? 0 : random_.once(8) ? most : random_.below(most + 1));
    if (hca::is_atomic(opcode)) {
      for (spec::GatherEntry& entry : list)
        entry.set_length(0);
      list[0].set_length(3);
      list.back().set_length(list.size() == 1 ? 8 : 5);
    }
    return fill_list(which, buffer, opcode, list);
  }

  spec::KickUnit fill_inline(uint32_t which, uint32_t buffer, spec::Opcode opcode,
                             std::span<const uint8_t> data) {
    spec::CommandHeader header;
    header.set_inline_data(1);
    return fill(which, buffer, opcode, header, data);
  }
  spec::KickUnit fill_list(uint32_t which, uint32_t buffer, spec::Opcode opcode,
                           std::span<const spec::GatherEntry> list) {
    spec::CommandHeader header;
    header.set_gather_count(static_cast<uint32_t>(list.size()));
    return fill(which, buffer, opcode, header,
                {reinterpret_cast<const uint8_t*>(list.data()), list.size_bytes()});
  }

  // Memory of a region, most often one that the queue pair may use.
  spec::GatherEntry some_entry(uint32_t which, uint32_t length) {
    const DmaModel::QueuePair& queue_pair = model_.queue_pairs[which];
    const DmaModel::Region* region = nullptr;
    for (uint32_t attempts = 0; attempts < 200; ++attempts) {
      region = &model_.regions[random_.below(static_cast<uint32_t>(model_.regions.size()))];
      if (random_.once(400) ||
          (region->function == queue_pair.function && region->domain == queue_pair.domain))
        break;
    }
    spec::GatherEntry entry;
    length = static_cast<uint32_t>(std::min<uint64_t>(length, region->length));
    const uint64_t room = region->length - length;
    entry.set_local_key(region->key ^ (random_.once(200) ? 1U << random_.below(32) : 0));
    entry.set_length(length);
    entry.set_address(region->base + random_.bits() % (room + 1) + (random_.once(200) ? room + 1 : 0));
    return entry;
  }

private:
  spec::KickUnit fill_local(uint32_t which, uint32_t buffer, spec::Opcode opcode) {
    const uint32_t at = random_.below(static_cast<uint32_t>(model_.windows.size()));
    uint32_t& window = model_.windows[at];
    spec::CommandHeader header;
    if (opcode == spec::Opcode::local_invalidate) {
      header.set_immediate_data(window);
      return fill(which, buffer, opcode, header, {});
    }
    const DmaModel::Region& region =
        model_.regions[random_.below(static_cast<uint32_t>(model_.regions.size()))];
    spec::BindEntry binding;
    binding.set_address(region.base);
    binding.set_length(region.length);
    binding.set_region_key(region.key);
    header.set_remote_key(window);
    return fill(which, buffer, opcode, header, {reinterpret_cast<const uint8_t*>(&binding), sizeof binding});
  }

  spec::KickUnit fill(uint32_t which, uint32_t buffer, spec::Opcode opcode, spec::CommandHeader header,
                      std::span<const uint8_t> payload) {
    const DmaModel::QueuePair& queue_pair = model_.queue_pairs[which];
    hca::PhysicalCollectBuffer& pcb = model_.pcb(buffer);
    bench::fill(random_, pcb.data);
    header.set_opcode(opcode);
    header.set_queue_pair_number(queue_pair.number);
    header.set_length(static_cast<uint32_t>(payload.size()));
    std::memcpy(pcb.data.data(), &header, sizeof header);
    std::ranges::copy(payload, pcb.data.begin() + spec::CommandHeader::bytes);
    spec::KickUnit kick;
    kick.set_physical_collect_buffer(buffer);
    kick.set_underlying_function(queue_pair.function ^ (!is_sound && random_.once(400) ? 1 : 0));
    kick.set_queue_pair_number(queue_pair.number);
    if (!is_sound && random_.once(30))
      kick.set_status(random_.once(2) ? spec::CompletionStatus::local_length_error
                                      : spec::CompletionStatus::work_request_flushed_error);
    const hca::QueuePairParts* const parts = model_.parts(which);
    pcb.execution = {.kick = kick,
                     .message_length = hca::send_message_length(pcb),
                     .retry_epoch = static_cast<uint8_t>(
                         parts == nullptr ? 0 : parts->transport().completion().retry_epoch())};
    pcb.execution.packets = hca::packets_of(pcb.execution.message_length, queue_pair.mtu);
    return kick;
  }

  Random& random_;
  DmaModel& model_;
};

} // namespace fpga_verbs::bench
