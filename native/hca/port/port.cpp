#include "hca/port/port.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace fpga_verbs::hca {

using link::Lane;
using spec::PortDiscard;

Port::Port(Counters& counters, const Clock& clock, PacketMemory& packet_memory,
           const PortAttributes& attributes, const MulticastGroups& groups,
           const PortAttachments& attachments, const DataLink<spec::KickUnit>& kicks_collected,
           const DataLink<spec::KickUnit>& kicks_scheduled, DataLink<spec::PacketUnit>& requests_built,
           DataLink<spec::PacketUnit>& responses_built, DataLink<spec::PacketUnit>& packets_arrived)
    : counters_(counters), clock_(clock), packet_memory_(packet_memory), attributes_(attributes),
      groups_(groups), attachments_(attachments), kicks_collected_(kicks_collected),
      kicks_scheduled_(kicks_scheduled), leaving_{Leaving{responses_built}, Leaving{requests_built}},
      packets_arrived_(packets_arrived) {}

bool Port::step() {
  send_turn_ = !send_turn_;
  // The answer of the first is not known when the second is asked: each is compiled once.
  bool worked = false;
  for (unsigned turn = 0; turn < 2 && !worked; ++turn)
    worked = send_turn_ == (turn == 0) ? send_next() : receive_next();
  if (worked && arrived_ != 0 && most_packets_ > 1 && !has_leaving())
    receive_more();
  if (worked && (arrived_ != 0 || has_leaving()))
    return true;
  if (std::exchange(unflushed_, false)) [[unlikely]]
    for (link::Link* const link : attachments_.links)
      if (link != nullptr)
        link->flush();
  return false;
}

void Port::count_data_units(DataUnitCounts& counts) const {
  for (const PortCounters& port : counters_.device.port) {
    counts.add(spec::control::data_units_port, port.packets_out);
    counts.add(spec::control::data_units_port, port.packets_in);
  }
}

// Transmit side.

bool Port::send_next() {
  const unsigned lanes =
      unsigned{!leaving_[0].built.empty()} | static_cast<unsigned>(!leaving_[1].built.empty()) << 1;
  return lanes != 0 && out_.take(lanes, [this](Lane lane) { return send_front(lane); });
}

bool Port::send_front(Lane lane) {
  Leaving& leaving = leaving_[static_cast<size_t>(lane)];
  const spec::PacketUnit unit = leaving.built.front();
  const auto handle = static_cast<uint16_t>(unit.packet());
  const unsigned port = packet_memory_[handle].port;
  if (!attributes_.enabled(port)) {
    discard(leaving, PortDiscard::port_down);
    return true;
  }
  if (packet_memory_[handle].elsewhere == not_elsewhere) {
    const auto bytes = packet_memory_.wire(handle);
    const auto owner = attributes_.owner_of(link::destination_of(attributes_.link_layer(), bytes));
    return owner ? loop_back(lane, unit, *owner) : send_to_group(lane, unit);
  }
  link::Link* const link = attachments_.links[port - 1];
  if (link == nullptr) {
    discard(leaving, PortDiscard::no_link);
    return true;
  }
  if (attachments_.tap != nullptr)
    return send_shown(leaving, lane, *link);
  if (leaving.built.size() > 1 && most_packets_ > 1 &&
      leaving_[static_cast<size_t>(link::other(lane))].built.empty())
    return send_train(leaving, lane, *link);
  const link::SendResult result = send_alone(lane, handle, *link);
  if (result != link::SendResult::sent)
    return end_train(leaving, result);
  finish(leaving);
  return true;
}

// A packet to another board, which is then released if it was sent.
link::SendResult Port::send_alone(Lane lane, uint16_t handle, link::Link& link) {
  const Packet& packet = packet_memory_[handle];
  const auto bytes = packet_memory_.wire(handle);
  const link::Outgoing alone{&packet_memory_.buffer(handle), bytes.data(), bytes.size()};
  const link::Sent sent = link.hand_over(lane, packet.elsewhere, {&alone, 1});
  note_sent(sent.may_wait);
  if (sent.result != link::SendResult::sent)
    return sent.result;
  PortCounters& counters = counters_of(packet.port);
  ++counters.packets_out;
  counters.bytes_out += alone.bytes;
  packet_memory_.release(handle);
  return sent.result;
}

// A packet that another board can take now. All others go through the link between the blocks, which is
// empty.
Port::Taken Port::take_at_once(Lane lane, const spec::PacketUnit& unit) {
  const auto handle = static_cast<uint16_t>(unit.packet());
  const Packet& packet = packet_memory_[handle];
  link::Link* const link = attachments_.links[packet.port - 1];
  if (packet.elsewhere == not_elsewhere || !leaving_[static_cast<size_t>(link::other(lane))].built.empty() ||
      !attributes_.enabled(packet.port) || link == nullptr || attachments_.tap != nullptr ||
      send_alone(lane, handle, *link) != link::SendResult::sent)
    return Taken::no;
  out_.went(lane);
  return unflushed_ ? Taken::more : Taken::done;
}

// The first packet, and those behind it that leave by the same port to the same address.
bool Port::send_train(Leaving& leaving, Lane lane, link::Link& link) {
  const size_t waiting = std::min(leaving.built.size(), most_packets_);
  std::array<link::Outgoing, train_packets> train;
  const Packet& first = packet_memory_[static_cast<uint16_t>(leaving.built.front().packet())];
  const unsigned port = first.port;
  size_t count = 0;
  for (; count != waiting; ++count) {
    const auto handle = static_cast<uint16_t>(leaving.built.peek(count).packet());
    const Packet& packet = packet_memory_[handle];
    if (packet.port != port || packet.elsewhere != first.elsewhere)
      break;
    const std::span<uint8_t> bytes = packet_memory_.wire(handle);
    train[count] = {&packet_memory_.buffer(handle), bytes.data(), bytes.size()};
  }
  const link::Sent sent = link.hand_over(lane, first.elsewhere, {train.data(), count});
  note_sent(sent.may_wait);
  if (sent.packets == 0)
    return end_train(leaving, sent.result);
  PortCounters& counters = counters_of(port);
  counters.packets_out += sent.packets;
  for (size_t i = 0; i != sent.packets; ++i) {
    counters.bytes_out += train[i].bytes;
    packet_memory_.release(static_cast<uint16_t>(leaving.built.front().packet()));
    leaving.built.pop();
  }
  leaving.since = never;
  return true;
}

// A tap sees the packet once it has left.
bool Port::send_shown(Leaving& leaving, Lane lane, link::Link& link) {
  const auto handle = static_cast<uint16_t>(leaving.built.front().packet());
  const link::SendResult result = link.send(lane, packet_memory_.wire(handle));
  note_sent(true);
  if (result != link::SendResult::sent)
    return end_train(leaving, result);
  count_out(packet_memory_[handle].port, handle);
  finish(leaving);
  packet_memory_.release(handle);
  return true;
}

// The first packet did not leave.
bool Port::end_train(Leaving& leaving, link::SendResult result) {
  if (result == link::SendResult::paused)
    return wait(leaving, PortDiscard::paused);
  discard(leaving, PortDiscard::unreachable);
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
  arrive(handle, to.port, packet_memory_.wire(handle).size());
  return true;
}

bool Port::send_to_group(Lane lane, const spec::PacketUnit& unit) {
  Leaving& leaving = leaving_[static_cast<size_t>(lane)];
  const auto handle = static_cast<uint16_t>(unit.packet());
  const unsigned port = packet_memory_[handle].port;
  const auto bytes = packet_memory_.wire(handle);
  link::Link* const link = attachments_.links[port - 1];
  const link::SendResult result = link == nullptr ? link::SendResult::unreachable : link->send(lane, bytes);
  note_sent(true);
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
  arrive(copy, packet_memory_[copy].port, bytes.size());
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

// The rest of a train, while no packet waits to leave.
void Port::receive_more() {
  packets_arrived_.begin_train();
  for (size_t left = most_packets_ - 1; left != 0 && arrived_ != 0;) {
    const size_t received = receive_train(left);
    left -= received;
    if (received != 0)
      continue;
    if (!receive_next())
      break;
    --left;
  }
  packets_arrived_.end_train();
}

// Packets behind the last one, from the same link and on its lane, while none waits on the other.
size_t Port::receive_train(size_t most) {
  const unsigned port = receive_turn_;
  link::Link* const link = port != 0 ? attachments_.links[port - 1] : nullptr;
  if (link == nullptr || !attributes_.enabled(port))
    return 0;
  LaneTurn& turn = in_[port - 1];
  const Lane lane = link::other(turn.first()); // the one of which the last packet went
  const uint32_t reserved = lane == Lane::requests ? spec::receive_packet_buffers_reserved : 0;
  const uint32_t free = packet_memory_.free(PacketUse::receive);
  const size_t room = std::min(most, packets_arrived_.credits());
  const size_t places = free > reserved ? std::min<size_t>(room, free - reserved) : 0;
  std::array<link::Incoming, train_packets> train;
  for (size_t i = 0; i != places; ++i)
    train[i].buffer = &packet_memory_.next_free(i);
  bool more = false;
  const size_t received = places != 0 ? link->take_train(lane, {train.data(), places}, more) : 0;
  if (received == 0)
    return 0;
  for (size_t i = 0; i != received; ++i) {
    const uint16_t handle = *packet_memory_.allocate(PacketUse::receive);
    put_in_buffer(handle, port, train[i].packet);
    arrive(handle, port, train[i].packet.size());
  }
  turn.went(lane);
  note_arrived(port, more);
  return received;
}

void Port::put_in_buffer(uint16_t handle, unsigned port, std::span<const uint8_t> packet) {
  packet_memory_.place(handle, packet);
  Packet& placed = packet_memory_[handle];
  placed.port = static_cast<uint8_t>(port);
  placed.cause = {};
}

// A link is looked at when it has told of something, until it has nothing left.
bool Port::receive_next() {
  for (unsigned left = arrived_; left != 0;) {
    // In turn: ports behind the last one first.
    const unsigned behind = left >> receive_turn_ << receive_turn_;
    const unsigned port = static_cast<unsigned>(std::countr_zero(behind != 0 ? behind : left)) + 1;
    left &= ~(1u << (port - 1));
    link::Link* const link = attachments_.links[port - 1];
    if (link == nullptr)
      note_arrived(port, false);
    else if (receive_from(port, *link)) {
      receive_turn_ = port;
      return true;
    }
  }
  return false;
}

bool Port::receive_from(unsigned port, link::Link& link) {
  if (!attributes_.enabled(port)) [[unlikely]]
    return drop_arrived(port, link);
  if (!packets_arrived_.has_credit() || !has_receive_buffer(Lane::responses))
    return false;
  // The buffer that allocate() gives.
  link::PacketBuffer& buffer = packet_memory_.next_free();
  const bool has_room = packet_memory_.free(PacketUse::receive) > spec::receive_packet_buffers_reserved;
  constexpr unsigned responses_alone = 1u << static_cast<unsigned>(Lane::responses);
  LaneTurn& turn = in_[port - 1];
  const link::Arrival arrival =
      link.take(turn.first(), has_room ? link::every_lane : responses_alone, buffer);
  note_arrived(port, arrival.more);
  if (!has_room && arrival.more)
    packet_memory_.want(PacketUse::receive);
  if (arrival.is_too_long)
    count_discard(port, PortDiscard::too_long);
  else if (arrival.packet.empty())
    return false;
  turn.went(arrival.lane);
  if (arrival.is_too_long)
    return true;
  const uint16_t handle = *packet_memory_.allocate(PacketUse::receive);
  put_in_buffer(handle, port, arrival.packet);
  arrive(handle, port, arrival.packet.size());
  return true;
}

// At a port that is down.
bool Port::drop_arrived(unsigned port, link::Link& link) {
  const bool dropped = in_[port - 1].take(link::every_lane, [&link](Lane lane) {
    const bool has_packet = !link.front(lane).empty();
    if (has_packet)
      link.pop(lane);
    return has_packet;
  });
  if (dropped)
    count_discard(port, PortDiscard::port_down);
  note_arrived(port, dropped);
  return dropped;
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
void Port::arrive(uint16_t handle, unsigned port, size_t bytes) {
  PortCounters& counters = counters_of(port);
  ++counters.packets_in;
  counters.bytes_in += bytes;
  if (attachments_.tap != nullptr) [[unlikely]]
    attachments_.tap->packet(PacketDirection::in, port, packet_memory_.wire(handle),
                             packet_memory_[handle].cause);
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
