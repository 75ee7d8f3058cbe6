#include "link/fabric.h"

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
  const std::scoped_lock lock(mutex_);
  receiver_ = &receiver;
}

void FabricPort::detach() {
  {
    const std::scoped_lock lock(mutex_);
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

SendResult FabricPort::hand_over(Lane lane, PacketBuffer& buffer, std::span<const uint8_t> packet) {
  const Address destination = destination_of(link_layer_, packet);
  if (is_multicast(link_layer_, destination))
    return fabric_.send_to_all(*this, lane, packet);
  FabricPort* const to = fabric_.find(key_of(link_layer_, destination));
  if (to == nullptr)
    return SendResult::unreachable;
  return to->receive(lane, number_, [&](Slot& slot) {
    const auto begin = static_cast<size_t>(packet.data() - buffer->bytes.data());
    slot.buffer.swap(buffer);
    slot.packet = {slot.buffer->bytes.data() + begin, packet.size()};
  });
}

SendResult FabricPort::receive_copy(Lane lane, std::span<const uint8_t> packet, unsigned from) {
  assert(packet.size() <= spec::packet_buffer_bytes);
  return receive(lane, from, [packet](Slot& slot) {
    slot.packet = {slot.buffer->bytes.data(), packet.size()};
    std::memcpy(slot.packet.data(), packet.data(), packet.size());
  });
}

template <class Put> SendResult FabricPort::receive(Lane lane, unsigned from, Put put) {
  Inbox& inbox = inboxes_[static_cast<size_t>(lane)];
  const std::scoped_lock lock(mutex_);
  if (receiver_ == nullptr)
    return SendResult::unreachable;
  const size_t tail = inbox.tail.load(std::memory_order_relaxed);
  const auto is_full = [&] { return tail - inbox.head.load(std::memory_order_seq_cst) == inbox_packets; };
  if (is_full()) {
    // The holder looks for who waits after it has made room: it sees the bit, or the room is seen here.
    inbox.waiting.fetch_or(uint64_t{1} << from, std::memory_order_seq_cst);
    if (is_full())
      return SendResult::paused;
  }
  put(inbox.slots[tail % inbox_packets]);
  inbox.tail.store(tail + 1, std::memory_order_release);
  receiver_->notify();
  return SendResult::sent;
}

std::span<const uint8_t> FabricPort::front(Lane lane) {
  const Inbox& inbox = inboxes_[static_cast<size_t>(lane)];
  const size_t head = inbox.head.load(std::memory_order_relaxed);
  if (head == inbox.tail.load(std::memory_order_acquire))
    return {};
  return inbox.slots[head % inbox_packets].packet;
}

std::span<uint8_t> FabricPort::take(Lane lane, std::span<const uint8_t> /*shown*/, PacketBuffer& buffer) {
  const Inbox& inbox = inboxes_[static_cast<size_t>(lane)];
  Slot& slot = inbox.slots[inbox.head.load(std::memory_order_relaxed) % inbox_packets];
  const std::span<uint8_t> packet = slot.packet;
  slot.buffer.swap(buffer);
  pop(lane);
  return packet;
}

void FabricPort::pop(Lane lane) {
  Inbox& inbox = inboxes_[static_cast<size_t>(lane)];
  inbox.head.store(inbox.head.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  notify_waiting(inbox);
}

void FabricPort::notify_waiting(Inbox& inbox) {
  if (inbox.waiting.load(std::memory_order_seq_cst) == 0)
    return;
  for (uint64_t left = inbox.waiting.exchange(0, std::memory_order_seq_cst); left != 0; left &= left - 1)
    fabric_.ports_[static_cast<size_t>(std::countr_zero(left))]->notify();
}

void FabricPort::notify() {
  const std::scoped_lock lock(mutex_);
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
