#pragma once

#include "packet_builder_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace fpga_verbs::bench {

// Random commands in PCBs of the model, with the plan that queue_pair_fetch makes for them, and the packets
// that dma makes of them.
class PacketBuilderCommands {
public:
  struct Command {
    uint32_t which = 0; // queue pair
    spec::KickUnit kick;
    std::vector<PacketBuilderModel::Gathered> packets;
  };

  PacketBuilderCommands(Random& random, PacketBuilderModel& model) : random_(random), model_(model) {}

  uint64_t resumed = 0;
  uint64_t stale = 0;

  // Fills a PCB with a command of a queue pair.
  Command fill_some(uint32_t which, uint32_t buffer) {
    const PacketBuilderModel::QueuePair& queue_pair = model_.queue_pairs[which];
    if (random_.once(24))
      return fill_local(which, buffer);
    const spec::Opcode opcode = some_opcode(queue_pair.service);
    Command command = fill_header(which, buffer, opcode);
    hca::Execution& execution = model_.pcb(buffer).execution;
    const bool is_datagram = queue_pair.service == spec::ServiceType::unreliable_datagram;
    const uint32_t mtu = queue_pair.mtu;
    const bool is_long = !is_datagram && !hca::is_atomic(opcode) && random_.once(4);
    execution.message_length = hca::is_atomic(opcode) ? 8
                               : is_long              ? random_.bits() % ((uint64_t{1} << 31) + 1)
                               : is_datagram          ? random_.below(mtu + 1)
                                                      : random_.below((random_.once(3) ? 4 : 1) * mtu + 1);
    execution.packets = hca::packets_of(execution.message_length, mtu);
    // A retry resumes a message behind what the peer has. Of a long message only the end is sent.
    uint32_t first = 0;
    if (is_long)
      first = execution.packets - std::min(execution.packets, 1 + random_.below(3));
    else if (random_.once(8) && !is_datagram)
      first = random_.below(execution.packets);
    execution.next_packet = first;
    resumed += first != 0;
    if (hca::is_read_or_atomic(opcode)) {
      command.packets.push_back({.has_packet = true, .last = true, .buffer = buffer, .number = first});
    } else {
      for (uint32_t number = first; number != execution.packets; ++number)
        add_packet(command, execution, mtu, number);
    }
    if (random_.once(8))
      fail(command);
    else
      command.packets.back().status = spec::CompletionStatus::success;
    return command;
  }

  // A SEND of this many packets of this size.
  Command fill_send(uint32_t which, uint32_t buffer, uint32_t packets, uint32_t bytes) {
    Command command = fill_header(which, buffer, spec::Opcode::send);
    command.kick.set_underlying_function(model_.queue_pairs[which].function);
    model_.pcb(buffer).execution.kick = command.kick;
    hca::Execution& execution = model_.pcb(buffer).execution;
    execution.message_length = uint64_t{packets} * bytes;
    execution.packets = packets;
    for (uint32_t number = 0; number != packets; ++number)
      add_packet(command, execution, bytes, number);
    return command;
  }

private:
  spec::Opcode some_opcode(spec::ServiceType service) {
    for (;;) {
      const auto opcode = static_cast<spec::Opcode>(1 + random_.below(8));
      if (spec::operation_of(opcode).is_of(service))
        return opcode;
    }
  }

  // A bind or local invalidate, which has no packet.
  Command fill_local(uint32_t which, uint32_t buffer) {
    Command command = fill_header(
        which, buffer, random_.once(2) ? spec::Opcode::bind_memory_window : spec::Opcode::local_invalidate);
    command.packets.push_back({.last = true,
                               .buffer = buffer,
                               .status = random_.once(3) ? spec::CompletionStatus::memory_window_bind_error
                                                         : spec::CompletionStatus::success});
    return command;
  }

  Command fill_header(uint32_t which, uint32_t buffer, spec::Opcode opcode) {
    const PacketBuilderModel::QueuePair& queue_pair = model_.queue_pairs[which];
    hca::PhysicalCollectBuffer& pcb = model_.pcb(buffer);
    bench::fill(random_, pcb.data);
    spec::CommandHeader header;
    std::memcpy(&header, pcb.data.data(), sizeof header);
    header.set_opcode(opcode);
    header.set_queue_pair_number(queue_pair.number);
    std::memcpy(pcb.data.data(), &header, sizeof header);
    Command command{.which = which};
    std::array<uint8_t, spec::KickUnit::bytes> bytes{};
    bench::fill(random_, bytes);
    std::memcpy(&command.kick, bytes.data(), bytes.size());
    command.kick.set_physical_collect_buffer(buffer);
    command.kick.set_underlying_function(random_.once(60) ? random_.below(PacketBuilderModel::functions)
                                                          : queue_pair.function);
    command.kick.set_queue_pair_number(queue_pair.number);
    command.kick.set_origin(static_cast<spec::KickOrigin>(random_.below(2) * 2));
    command.kick.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(random_.below(2)));
    command.kick.set_status(spec::CompletionStatus::success);
    const hca::QueuePairParts* const parts = model_.parts(which);
    const bool is_stale = random_.once(12);
    stale += is_stale;
    const uint32_t epoch =
        parts == nullptr ? 0 : static_cast<uint32_t>(parts->transport().requester().retry_epoch());
    pcb.execution = {.kick = command.kick,
                     .begun = random_.bits(),
                     .first_psn = random_.once(4) ? 0xffffffU - random_.below(4) : random_.below(1 << 24),
                     .retry_epoch = static_cast<uint8_t>((epoch + (is_stale ? 127 : 0)) % 128),
                     .destination = model_.some_vector()};
    return command;
  }

  void add_packet(Command& command, const hca::Execution& execution, uint32_t mtu, uint32_t number) {
    const uint64_t left = execution.message_length - uint64_t{number} * mtu;
    PacketBuilderModel::Gathered packet{
        .has_packet = true,
        .last = number + 1 == execution.packets,
        .buffer = static_cast<uint32_t>(command.kick.physical_collect_buffer()),
        .number = number,
        .payload = std::vector<uint8_t>(static_cast<size_t>(std::min<uint64_t>(left, mtu)))};
    bench::fill(random_, packet.payload);
    command.packets.push_back(std::move(packet));
  }

  // The command fails, or goes no further, at one of its packets.
  void fail(Command& command) {
    const uint32_t packets = random_.below(static_cast<uint32_t>(command.packets.size()));
    command.packets.resize(packets + 1);
    PacketBuilderModel::Gathered& end = command.packets.back();
    end.has_packet = false;
    end.last = true;
    end.payload.clear();
    end.status = std::array{spec::CompletionStatus::success, spec::CompletionStatus::local_length_error,
                            spec::CompletionStatus::local_protection_error,
                            spec::CompletionStatus::work_request_flushed_error}[random_.below(4)];
  }

  Random& random_;
  PacketBuilderModel& model_;
};

} // namespace fpga_verbs::bench
