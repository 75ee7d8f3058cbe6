#include "link/fabric.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace fpga_verbs::link {

namespace {

// Addresses of the two link layers have different keys.
constexpr Address key_of(spec::LinkLayer link_layer, Address address) {
  return static_cast<Address>(link_layer) << 48 | address;
}

} // namespace

// A port of a fabric.

void FabricPort::attach(LinkReceiver& receiver) {
  const std::scoped_lock lock(lock_);
  receiver_ = &receiver;
}

void FabricPort::detach() {
  {
    const std::scoped_lock lock(lock_);
    receiver_ = nullptr;
    for (Inbox& inbox : inboxes_)
      inbox.head.store(inbox.tail.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  }
  for (Inbox& inbox : inboxes_)
    notify_waiting(inbox);
}

SendResult FabricPort::send(Lane lane, std::span<const uint8_t> packet) {
  const Address destination = destination_of(link_layer_, packet);
  if (is_multicast(link_layer_, destination))
    return fabric_.send_to_all(*this, lane, packet);
  FabricPort* const to = fabric_.find(key_of(link_layer_, destination));
  return to == nullptr ? SendResult::unreachable : to->receive_copy(lane, packet, number_);
}

Sent FabricPort::hand_over(Lane lane, Address destination, std::span<const Outgoing> train) {
  FabricPort* const to = fabric_.find(key_of(link_layer_, destination));
  if (to == nullptr)
    return {.result = SendResult::unreachable, .may_wait = false};
  return to->receive(lane, number_, train.size(), [train](Slot& slot, size_t i) {
    slot.buffer.swap(*train[i].buffer);
    slot.packet = train[i].packet();
  });
}

SendResult FabricPort::receive_copy(Lane lane, std::span<const uint8_t> packet, unsigned from) {
  assert(packet.size() <= spec::packet_buffer_bytes);
  return receive(lane, from, 1,
                 [packet](Slot& slot, size_t) {
                   slot.packet = {slot.buffer->bytes.data(), packet.size()};
                   std::memcpy(slot.packet.data(), packet.data(), packet.size());
                 })
      .result;
}

template <class Put> Sent FabricPort::receive(Lane lane, unsigned from, size_t count, Put put) {
  Inbox& to = inbox(lane);
  const std::scoped_lock lock(lock_);
  if (receiver_ == nullptr)
    return {.result = SendResult::unreachable, .may_wait = false};
  const size_t tail = to.tail.load(std::memory_order_relaxed);
  const auto room = [&] { return inbox_packets - (tail - to.head.load(std::memory_order_seq_cst)); };
  Sent sent{.packets = count, .may_wait = false};
  if (size_t free = room(); free < count) [[unlikely]] {
    // The holder reads the waiting bits after it has made room: either it sees the bit, or the room is seen
    // here.
    to.waiting.fetch_or(uint64_t{1} << from, std::memory_order_seq_cst);
    free = room();
    if (free < count)
      sent = {.packets = free, .result = SendResult::paused, .may_wait = false};
    if (free == 0)
      return sent;
  }
  for (size_t i = 0; i != sent.packets; ++i)
    put(to.slots[(tail + i) % inbox_packets], i);
  to.tail.store(tail + sent.packets, std::memory_order_release);
  receiver_->notify();
  return sent;
}

std::span<const uint8_t> FabricPort::front(Lane lane) {
  const Inbox& from = inbox(lane);
  return from.empty() ? std::span<const uint8_t>{} : from.front().packet;
}

Arrival FabricPort::take(Lane first, unsigned open, PacketBuffer& buffer) {
  Arrival arrival;
  for (const Lane lane : {first, other(first)}) {
    Inbox& from = inbox(lane);
    if ((open >> static_cast<unsigned>(lane) & 1) == 0 || from.empty())
      continue;
    arrival.packet = from.front().packet;
    arrival.lane = lane;
    from.front().buffer.swap(buffer);
    pop_front(from);
    break;
  }
  arrival.more = !inbox(Lane::responses).empty() || !inbox(Lane::requests).empty();
  return arrival;
}

size_t FabricPort::take_train(Lane lane, std::span<Incoming> train, bool& more) {
  if (!inbox(other(lane)).empty())
    return 0;
  Inbox& from = inbox(lane);
  const size_t head = from.head.load(std::memory_order_relaxed);
  const size_t arrived = from.tail.load(std::memory_order_acquire) - head;
  const size_t taken = std::min(arrived, train.size());
  for (size_t i = 0; i != taken; ++i) {
    Slot& slot = from.slots[(head + i) % inbox_packets];
    train[i].packet = slot.packet;
    slot.buffer.swap(*train[i].buffer);
  }
  if (taken != 0)
    pop_front(from, taken);
  more = !from.empty() || !inbox(other(lane)).empty();
  return taken;
}

void FabricPort::pop(Lane lane) { pop_front(inbox(lane)); }

void FabricPort::pop_front(Inbox& inbox, size_t packets) {
  inbox.head.store(inbox.head.load(std::memory_order_relaxed) + packets, std::memory_order_seq_cst);
  if (inbox.waiting.load(std::memory_order_seq_cst) != 0) [[unlikely]]
    notify_waiting(inbox);
}

void FabricPort::notify_waiting(Inbox& inbox) {
  for (uint64_t left = inbox.waiting.exchange(0, std::memory_order_seq_cst); left != 0; left &= left - 1)
    fabric_.ports_[static_cast<size_t>(std::countr_zero(left))]->notify();
}

void FabricPort::notify() {
  const std::scoped_lock lock(lock_);
  if (receiver_ != nullptr)
    receiver_->notify();
}

// The fabric.

Fabric::Fabric() {
  for (std::atomic<Address>& first : first_key_)
    first.store(no_address, std::memory_order_relaxed);
}

FabricPort* Fabric::take(spec::LinkLayer link_layer, Address first) {
  const std::scoped_lock lock(mutex_);
  for (unsigned number = 0; number < ports; ++number) {
    if (first_key_[number].load(std::memory_order_relaxed) != no_address)
      continue;
    std::unique_ptr<FabricPort>& port = ports_[number];
    if (port == nullptr) {
      port = std::make_unique<FabricPort>(*this, number);
      for (FabricPort::Inbox& inbox : port->inboxes_)
        inbox.slots = std::make_unique<FabricPort::Slot[]>(FabricPort::inbox_packets);
      used_.store(number + 1, std::memory_order_release);
    }
    port->link_layer_ = link_layer;
    first_key_[number].store(key_of(link_layer, first), std::memory_order_release);
    return port.get();
  }
  return nullptr;
}

void Fabric::give_back(FabricPort& port) {
  port.detach();
  const std::scoped_lock lock(mutex_);
  first_key_[port.number_].store(no_address, std::memory_order_release);
}

FabricPort* Fabric::find(Address key) {
  const unsigned used = used_.load(std::memory_order_acquire);
  for (unsigned number = 0; number < used; ++number) {
    if (key - first_key_[number].load(std::memory_order_acquire) < addresses_per_port)
      return ports_[number].get();
  }
  return nullptr;
}

SendResult Fabric::send_to_all(const FabricPort& from, Lane lane, std::span<const uint8_t> packet) {
  constexpr unsigned layer_shift = 48;
  const Address layer = key_of(from.link_layer_, 0) >> layer_shift;
  const unsigned used = used_.load(std::memory_order_acquire);
  for (unsigned number = 0; number < used; ++number) {
    const Address first = first_key_[number].load(std::memory_order_acquire);
    if (number != from.number_ && first != no_address && first >> layer_shift == layer)
      ports_[number]->receive_copy(lane, packet, from.number_);
  }
  return SendResult::sent;
}

} // namespace fpga_verbs::link
