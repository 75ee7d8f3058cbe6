#include "hca/port/port.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fpga_verbs::hca {

using link::Lane;
using spec::PortDiscard;

Port::Port(Counters& counters, const Clock& clock, PacketMemory& packet_memory,
           const PortAttributes& attributes, const MulticastGroups& groups,
           const PortAttachments& attachments, DataLink<spec::PacketUnit>& requests_built,
           DataLink<spec::PacketUnit>& responses_built, DataLink<spec::PacketUnit>& packets_arrived)
    : counters_(counters), clock_(clock), packet_memory_(packet_memory), attributes_(attributes),
      groups_(groups), attachments_(attachments), leaving_{Leaving{responses_built}, Leaving{requests_built}},
      packets_arrived_(packets_arrived) {}

bool Port::step() {
  send_turn_ = !send_turn_;
  const bool worked = send_turn_ ? send_next() || receive_told() : receive_told() || send_next();
  if (worked && (has_arrived_ || !leaving_[0].built.empty() || !leaving_[1].built.empty()))
    return true;
  if (std::exchange(unflushed_, false))
    for (link::Link* const link : attachments_.links)
      if (link != nullptr)
        link->flush();
  return false;
}

uint64_t Port::next_deadline() const {
  const uint64_t since = std::min(leaving_[0].since, leaving_[1].since);
  uint64_t deadline = since == never ? never : since + discard_limit_;
  for (const link::Link* const link : attachments_.links)
    if (link != nullptr)
      deadline = std::min(deadline, link->next_deadline());
  return deadline;
}

void Port::count_data_units(DataUnitCounts& counts) const {
  for (const PortCounters& port : counters_.device.port) {
    counts.add(spec::control::data_units_port, port.packets_out);
    counts.add(spec::control::data_units_port, port.packets_in);
  }
}

// Transmit side.

bool Port::send_next() {
  return out_.take(
      [this](Lane lane) { return !leaving_[static_cast<size_t>(lane)].built.empty() && send_front(lane); });
}

bool Port::send_front(Lane lane) {
  Leaving& leaving = leaving_[static_cast<size_t>(lane)];
  unflushed_ = true;
  const spec::PacketUnit unit = leaving.built.front();
  const auto handle = static_cast<uint16_t>(unit.packet());
  const unsigned port = packet_memory_[handle].port;
  const auto bytes = packet_memory_.wire(handle);
  if (!attributes_.enabled(port)) {
    discard(leaving, PortDiscard::port_down);
    return true;
  }
  const link::Address destination = link::destination_of(attributes_.link_layer(), bytes);
  if (link::is_multicast(attributes_.link_layer(), destination))
    return send_to_group(lane, unit);
  if (const auto owner = attributes_.owner_of(destination))
    return loop_back(lane, unit, *owner);
  link::Link* const link = attachments_.links[port - 1];
  if (link == nullptr) {
    discard(leaving, PortDiscard::no_link);
    return true;
  }
  // A tap sees the packet once it has left.
  switch (attachments_.tap != nullptr ? link->send(lane, bytes)
                                      : link->hand_over(lane, packet_memory_.buffer(handle), bytes)) {
  case link::SendResult::paused:
    return wait(leaving, PortDiscard::paused);
  case link::SendResult::unreachable:
    discard(leaving, PortDiscard::unreachable);
    return true;
  case link::SendResult::sent:
    break;
  }
  count_out(port, handle);
  finish(leaving);
  packet_memory_.release(handle);
  return true;
}

bool Port::loop_back(Lane lane, const spec::PacketUnit& unit, PortAttributes::Owner to) {
  Leaving& leaving = leaving_[static_cast<size_t>(lane)];
  if (!attributes_.enabled(to.port)) {
    discard(leaving, PortDiscard::port_down);
    return true;
  }
  // packet_receiver never stops for long: no limit.
  if (!packets_arrived_.has_credit())
    return false;
  if (!has_receive_buffer(lane))
    return lane == Lane::requests && wait(leaving, PortDiscard::no_buffer);
  const auto handle = static_cast<uint16_t>(unit.packet());
  const unsigned from = packet_memory_[handle].port;
  packet_memory_.change_use(handle, PacketUse::receive);
  packet_memory_[handle].port = static_cast<uint8_t>(to.port);
  count_out(from, handle);
  ++counters_of(from).packets_looped;
  finish(leaving);
  arrive(handle);
  return true;
}

bool Port::send_to_group(Lane lane, const spec::PacketUnit& unit) {
  Leaving& leaving = leaving_[static_cast<size_t>(lane)];
  const auto handle = static_cast<uint16_t>(unit.packet());
  const unsigned port = packet_memory_[handle].port;
  const auto bytes = packet_memory_.wire(handle);
  link::Link* const link = attachments_.links[port - 1];
  const link::SendResult result = link == nullptr ? link::SendResult::unreachable : link->send(lane, bytes);
  if (result == link::SendResult::paused)
    return wait(leaving, PortDiscard::paused);
  const bool is_looped = !groups_.empty() && loop_copy(handle);
  if (result == link::SendResult::unreachable && !is_looped) {
    discard(leaving, link == nullptr ? PortDiscard::no_link : PortDiscard::unreachable);
    return true;
  }
  count_out(port, handle);
  counters_of(port).packets_looped += is_looped ? 1 : 0;
  finish(leaving);
  packet_memory_.release(handle);
  return true;
}

// A copy for members on this device; lost without a free buffer. False: none is free.
bool Port::loop_copy(uint16_t handle) {
  if (!packets_arrived_.has_credit() || !has_receive_buffer(Lane::requests))
    return false;
  const uint16_t copy = *packet_memory_.allocate(PacketUse::receive);
  const auto bytes = packet_memory_.wire(handle);
  std::memcpy(packet_memory_.bytes(copy), bytes.data(), bytes.size());
  packet_memory_.place(copy, {packet_memory_.bytes(copy), bytes.size()});
  packet_memory_[copy].port = packet_memory_[handle].port;
  packet_memory_[copy].cause = {};
  arrive(copy);
  return true;
}

// Keeps the first packet waiting, or discards it after the limit.
bool Port::wait(Leaving& leaving, PortDiscard reason) {
  const uint64_t now = clock_.now();
  if (leaving.since == never)
    leaving.since = now;
  if (now - leaving.since < discard_limit_)
    return false;
  discard(leaving, reason);
  return true;
}

void Port::finish(Leaving& leaving) {
  leaving.built.pop();
  leaving.since = never;
}

void Port::discard(Leaving& leaving, PortDiscard reason) {
  const auto handle = static_cast<uint16_t>(leaving.built.front().packet());
  count_discard(packet_memory_[handle].port, reason);
  finish(leaving);
  packet_memory_.release(handle);
}

// Receive side.

// A link is looked at when it has told of something, until it has nothing left.
bool Port::receive_told() {
  if (!has_arrived_)
    return false;
  const bool received = receive_next();
  has_arrived_ = false;
  for (link::Link* const link : attachments_.links)
    if (link != nullptr)
      has_arrived_ =
          has_arrived_ || !link->front(Lane::responses).empty() || !link->front(Lane::requests).empty();
  return received;
}

bool Port::receive_next() {
  const unsigned ports = attributes_.ports();
  for (unsigned i = 0; i < ports; ++i) {
    const unsigned port = (receive_turn_ + i) % ports + 1;
    if (attachments_.links[port - 1] == nullptr)
      continue;
    if (in_[port - 1].take([this, port](Lane lane) { return receive_front(port, lane); })) {
      receive_turn_ = port;
      return true;
    }
  }
  return false;
}

bool Port::receive_front(unsigned port, Lane lane) {
  link::Link& link = *attachments_.links[port - 1];
  const std::span<const uint8_t> bytes = link.front(lane);
  if (bytes.empty())
    return false;
  if (!attributes_.enabled(port) || bytes.size() > spec::packet_buffer_bytes) {
    count_discard(port, attributes_.enabled(port) ? PortDiscard::too_long : PortDiscard::port_down);
    link.pop(lane);
    return true;
  }
  if (!packets_arrived_.has_credit() || !has_receive_buffer(lane))
    return false;
  const uint16_t handle = *packet_memory_.allocate(PacketUse::receive);
  packet_memory_.place(handle, link.take(lane, bytes, packet_memory_.buffer(handle)));
  packet_memory_[handle].port = static_cast<uint8_t>(port);
  packet_memory_[handle].cause = {};
  arrive(handle);
  return true;
}

// Requests leave some buffers to responses. Without a buffer, the port wakes when one becomes free.
bool Port::has_receive_buffer(Lane lane) {
  const uint32_t reserved = lane == Lane::requests ? spec::receive_packet_buffers_reserved : 0;
  if (packet_memory_.free(PacketUse::receive) > reserved)
    return true;
  packet_memory_.want(PacketUse::receive);
  return false;
}

// Forwards a packet in a receive buffer.
void Port::arrive(uint16_t handle) {
  const unsigned port = packet_memory_[handle].port;
  const auto bytes = packet_memory_.wire(handle);
  PortCounters& counters = counters_of(port);
  ++counters.packets_in;
  counters.bytes_in += bytes.size();
  if (attachments_.tap != nullptr)
    attachments_.tap->packet(PacketDirection::in, port, bytes, packet_memory_[handle].cause);
  spec::PacketUnit unit;
  unit.set_packet(handle);
  packets_arrived_.hand_over(unit);
}

void Port::count_out(unsigned port, uint16_t handle) {
  const std::span<const uint8_t> bytes = packet_memory_.wire(handle);
  PortCounters& counters = counters_of(port);
  ++counters.packets_out;
  counters.bytes_out += bytes.size();
  if (attachments_.tap != nullptr)
    attachments_.tap->packet(PacketDirection::out, port, bytes, packet_memory_[handle].cause);
}

void Port::count_discard(unsigned port, PortDiscard reason) {
  ++counters_of(port).discards[static_cast<size_t>(reason)];
}

} // namespace fpga_verbs::hca
