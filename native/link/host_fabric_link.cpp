#include "link/host_fabric_link.h"

#include "link/descriptor_message.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace fpga_verbs::link {

namespace {

using std::chrono::milliseconds;

// Greeting of a process that connects, sent with its memory.
struct HostGreeting {
  static constexpr uint64_t expected_magic = 0x3174'736f'682d'7666; // "fv-host1"

  uint64_t magic = expected_magic;
  uint64_t bytes = 0; // of the memory
};

constexpr milliseconds saying_takes{5000};
constexpr size_t most_callers = 64;
constexpr unsigned messages_at_once = 64;
// For this time a new port may miss packets to a group: datagrams may be lost.
constexpr milliseconds members_are_fresh{20};

pollfd waiting_for(int descriptor) { return {descriptor, POLLIN, 0}; }

} // namespace

std::unique_ptr<HostFabricLink> HostFabricLink::make(const std::string& name, spec::LinkLayer link_layer,
                                                     std::optional<unsigned> board_number,
                                                     std::string& failure) {
  // Boards of different link layers cannot communicate, and their numbers stand for different addresses.
  HostNames names("host/" + name + (link_layer == spec::LinkLayer::ethernet ? "/eth" : "/ib"));
  Descriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) {
    failure = std::strerror(errno);
    return nullptr;
  }
  std::unique_ptr<HostFabricLink> made(new HostFabricLink(std::move(names), link_layer, std::move(event)));
  if (!made->take_number(board_number, failure))
    return nullptr;
  made->thread_ = std::thread([link = made.get()] { link->run(); });
  return made;
}

bool HostFabricLink::take_number(std::optional<unsigned> board_number, std::string& failure) {
  for (unsigned number = board_number.value_or(0); number < board_numbers; ++number) {
    listening_ = names_.take(number);
    board_number_ = number;
    if (listening_)
      return true;
    if (board_number) {
      failure = "its boardNumber " + std::to_string(number) + " is taken by another process; use another one";
      return false;
    }
  }
  failure = "it has no room for another board; use another name";
  return false;
}

HostFabricLink::~HostFabricLink() {
  stop_.store(true);
  wake_thread();
  if (thread_.joinable())
    thread_.join();
}

void HostFabricLink::attach(LinkReceiver& receiver) {
  {
    const std::scoped_lock lock(mutex_);
    receiver_ = &receiver;
  }
  notify();
}

void HostFabricLink::detach() {
  const std::scoped_lock lock(mutex_);
  receiver_ = nullptr;
}

void HostFabricLink::notify() {
  const std::scoped_lock lock(mutex_);
  if (receiver_ != nullptr)
    receiver_->notify();
}

// Transmit side.

std::optional<unsigned> HostFabricLink::number_of(Address address) const {
  const Address first = first_address(link_layer_, 0);
  const Address step = first_address(link_layer_, 1) - first;
  const Address number = (address - first) / step;
  return address >= first && number < board_numbers ? std::optional(static_cast<unsigned>(number))
                                                    : std::nullopt;
}

// Null: no process has this number.
HostFabricLink::Way* HostFabricLink::way_to(unsigned number) {
  std::shared_ptr<Way>& way = to_[number];
  if (way != nullptr && !way->gone.load(std::memory_order_relaxed))
    return way.get();
  way = nullptr;
  Descriptor socket = names_.connect(number);
  if (!socket)
    return nullptr;
  std::optional<SealedMemory> memory = SealedMemory::make("fpga-verbs-host", sizeof(Rings));
  if (!memory)
    return nullptr;
  const HostGreeting greeting{.bytes = sizeof(Rings)};
  const int descriptor = memory->descriptor();
  if (!send_message(socket.get(), std::as_bytes(std::span(&greeting, 1)), std::span(&descriptor, 1)))
    return nullptr;
  memory->drop_descriptor();
  way = std::make_shared<Way>(std::move(*memory), std::move(socket));
  for (const Lane lane : {Lane::responses, Lane::requests})
    way->ring(lane).consumer_sleeps.store(1, std::memory_order_seq_cst); // until it has looked
  {
    const std::scoped_lock lock(mutex_);
    made_.push_back(way);
  }
  wake_thread(); // it receives messages of the other end, and its end
  return way.get();
}

SendResult HostFabricLink::send(Lane lane, std::span<const uint8_t> packet) {
  const Address destination = destination_of(link_layer_, packet);
  if (is_multicast(link_layer_, destination))
    return send_to_all(lane, packet);
  const std::optional<unsigned> number = number_of(destination);
  Way* const way = number && *number != board_number_ ? way_to(*number) : nullptr;
  return way == nullptr ? SendResult::unreachable : put(*way, lane, packet);
}

SendResult HostFabricLink::put(Way& way, Lane lane, std::span<const uint8_t> packet) {
  SharedRing& ring = way.ring(lane);
  uint64_t& tail = way.count[static_cast<size_t>(lane)];
  const auto used = [&] { return tail - ring.head.load(std::memory_order_seq_cst); };
  if (used() >= SharedRing::packets) {
    // After making room, the other end checks for waiting producers: it sees the mark, or this end sees the
    // room.
    ring.producer_waits.store(1, std::memory_order_seq_cst);
    const uint64_t now_used = used();
    if (now_used == SharedRing::packets)
      return SendResult::paused;
    if (now_used > SharedRing::packets) { // a port that breaks the protocol is left alone, and told so
      way.gone.store(true);
      shutdown(way.socket.get(), SHUT_RDWR);
      return SendResult::unreachable;
    }
  }
  SharedRing::Slot& slot = ring.slots[tail % SharedRing::packets];
  std::memcpy(slot.bytes.data(), packet.data(), packet.size());
  slot.length.store(static_cast<uint32_t>(packet.size()), std::memory_order_relaxed);
  ring.tail.store(++tail, std::memory_order_seq_cst);
  if (ring.consumer_sleeps.load(std::memory_order_seq_cst) != 0 &&
      ring.consumer_sleeps.exchange(0, std::memory_order_seq_cst) != 0)
    wake(way);
  return SendResult::sent;
}

// Sends to all others; those without room lose the packet.
SendResult HostFabricLink::send_to_all(Lane lane, std::span<const uint8_t> packet) {
  if (const Clock::time_point now = Clock::now(); now - looked_ >= members_are_fresh) {
    members_ = names_.taken();
    looked_ = now;
  }
  for (const unsigned number : members_)
    if (Way* const way = number == board_number_ ? nullptr : way_to(number))
      put(*way, lane, packet);
  return SendResult::sent;
}

// Never waits: this process owns this end of the socket, and its send mode.
void HostFabricLink::wake(const Way& way) {
  constexpr uint8_t message = 0;
  ::send(way.socket.get(), &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL); // full: it is awake
}

// Receive side.

void HostFabricLink::refresh() {
  const uint64_t changes = changes_.load(std::memory_order_acquire);
  if (changes == copied_)
    return;
  const std::scoped_lock lock(mutex_);
  // Packets sent before the process left are still there.
  std::erase_if(come_, [](const std::shared_ptr<Way>& way) {
    return way->gone.load() && way->is_drained(Lane::responses) && way->is_drained(Lane::requests);
  });
  from_ = come_;
  copied_ = changes;
}

std::span<const uint8_t> HostFabricLink::front(Lane lane) {
  refresh();
  const auto index = static_cast<size_t>(lane);
  for (size_t looked = 0; looked < from_.size(); ++looked) {
    const std::shared_ptr<Way>& way = from_[(turn_[index] + looked) % from_.size()];
    const std::span<const uint8_t> packet = front_of(*way, lane);
    if (packet.empty())
      continue;
    shown_[index] = way;
    return packet;
  }
  return {};
}

std::span<const uint8_t> HostFabricLink::front_of(Way& way, Lane lane) {
  if (is_empty(way, lane))
    return {};
  const SharedRing& ring = way.ring(lane);
  const uint64_t head = way.count[static_cast<size_t>(lane)];
  const SharedRing::Slot& slot = ring.slots[head % SharedRing::packets];
  const uint64_t arrived = ring.tail.load(std::memory_order_acquire) - head;
  const uint32_t length = slot.length.load(std::memory_order_relaxed);
  if (arrived <= SharedRing::packets && length != 0 && length <= slot.bytes.size())
    return {slot.bytes.data(), length};
  shutdown(way.socket.get(), SHUT_RDWR); // a port that breaks the protocol is left alone, and told so
  const std::scoped_lock lock(mutex_);
  std::erase_if(come_, [&way](const std::shared_ptr<Way>& each) { return each.get() == &way; });
  changes_.fetch_add(1, std::memory_order_release);
  return {};
}

// Whether the ring is empty, after this end asked the other one to wake it.
bool HostFabricLink::is_empty(Way& way, Lane lane) {
  if (!way.is_drained(lane))
    return false;
  std::atomic<uint32_t>& sleeps = way.ring(lane).consumer_sleeps;
  if (sleeps.load(std::memory_order_seq_cst) == 0)
    sleeps.store(1, std::memory_order_seq_cst);
  return way.is_drained(lane);
}

// The device's threads take turns, and check between two packets: the copy is as good as the last front().
bool HostFabricLink::has_arrived() {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(come_, [](const std::shared_ptr<Way>& way) {
    const auto is_new = [&way](Lane lane) {
      const SharedRing& ring = way->ring(lane);
      return ring.tail.load(std::memory_order_seq_cst) != ring.head.load(std::memory_order_seq_cst);
    };
    return is_new(Lane::responses) || is_new(Lane::requests);
  });
}

// The next packet may be from another process, so that none waits behind one that sends continuously.
void HostFabricLink::pop(Lane lane) {
  const auto index = static_cast<size_t>(lane);
  const std::shared_ptr<Way> way = std::exchange(shown_[index], nullptr);
  ++turn_[index];
  SharedRing& ring = way->ring(lane);
  ring.head.store(++way->count[index], std::memory_order_seq_cst);
  if (ring.producer_waits.exchange(0, std::memory_order_seq_cst) != 0)
    wake(*way);
}

// The thread. It receives processes that connect, that wake this end, and that leave.

void HostFabricLink::wake_thread() { eventfd_write(event_.get(), 1); }

void HostFabricLink::run() {
  while (!stop_.load())
    if (wait())
      notify();
}

// Returns whether the device must check.
bool HostFabricLink::wait() {
  std::vector<std::shared_ptr<Way>> ways;
  {
    const std::scoped_lock lock(mutex_);
    const auto has_gone = [](const std::shared_ptr<Way>& way) { return way->gone.load(); };
    std::erase_if(made_, has_gone);
    ways = made_;
    std::ranges::copy_if(come_, std::back_inserter(ways), std::not_fn(has_gone));
  }
  std::vector<pollfd> polled{waiting_for(event_.get()), waiting_for(listening_.get())};
  for (const Caller& caller : callers_)
    polled.push_back(waiting_for(caller.socket.get()));
  for (const std::shared_ptr<Way>& way : ways)
    polled.push_back(waiting_for(way->socket.get()));
  const auto time_left = [this] {
    const auto left = std::chrono::ceil<milliseconds>(callers_.front().until - Clock::now());
    return std::max(0, static_cast<int>(left.count()));
  };
  if (poll(polled.data(), polled.size(), callers_.empty() ? -1 : time_left()) < 0)
    return false;
  if (uint64_t count = 0; polled[0].revents != 0) [[maybe_unused]]
    const ssize_t taken = read(event_.get(), &count, sizeof count);
  bool is_new = false;
  size_t index = 2 + callers_.size();
  for (const std::shared_ptr<Way>& way : ways) {
    if (polled[index++].revents == 0)
      continue;
    receive(*way);
    is_new = true;
  }
  index = 2;
  std::erase_if(callers_, [&](Caller& caller) {
    const bool has_said = polled[index++].revents != 0;
    is_new = is_new || has_said;
    return has_said ? !receive(caller) : Clock::now() >= caller.until;
  });
  if (polled[1].revents != 0)
    welcome();
  return is_new;
}

// The process wakes this end, or has left.
void HostFabricLink::receive(Way& way) {
  for (unsigned i = 0; i < messages_at_once; ++i) {
    uint8_t message = 0;
    const ssize_t bytes = recv(way.socket.get(), &message, sizeof message, MSG_DONTWAIT);
    if (bytes > 0)
      continue;
    if (bytes == 0 || (errno != EAGAIN && errno != EINTR)) {
      way.gone.store(true); // what waits for room has nowhere to go to
      changes_.fetch_add(1, std::memory_order_release);
    }
    return;
  }
}

// A process has connected; the oldest silent one yields its place.
void HostFabricLink::welcome() {
  Descriptor socket(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || !is_of_this_user(socket.get()))
    return;
  if (callers_.size() == most_callers)
    callers_.erase(callers_.begin());
  callers_.push_back({std::move(socket), Clock::now() + saying_takes});
}

// Whether this end still waits for it.
bool HostFabricLink::receive(Caller& caller) {
  HostGreeting greeting{.magic = 0};
  Descriptor memory;
  const auto received = receive_message(caller.socket.get(), std::as_writable_bytes(std::span(&greeting, 1)),
                                        std::span(&memory, 1), MSG_DONTWAIT);
  if (!received)
    return errno == EAGAIN || errno == EINTR;
  const bool is_greeting = received->whole && received->bytes == sizeof greeting &&
                           greeting.magic == HostGreeting::expected_magic && greeting.bytes == sizeof(Rings);
  std::optional<SealedMemory> rings =
      is_greeting && memory ? SealedMemory::adopt(std::move(memory), sizeof(Rings)) : std::nullopt;
  if (!rings)
    return false;
  rings->drop_descriptor();
  const std::scoped_lock lock(mutex_);
  come_.push_back(std::make_shared<Way>(std::move(*rings), std::move(caller.socket)));
  changes_.fetch_add(1, std::memory_order_release);
  return false;
}

} // namespace fpga_verbs::link
