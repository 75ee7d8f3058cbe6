#include "link/shared_memory_link.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace fpga_verbs::link {

namespace {

constexpr int again_after = 100; // milliseconds

Descriptor new_event() { return Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

pollfd waiting_for(const Descriptor& descriptor) { return {descriptor.get(), POLLIN, 0}; }

} // namespace

std::unique_ptr<SharedMemoryLink>
SharedMemoryLink::make(const std::string& name, std::optional<unsigned> board_number, std::string& failure) {
  std::unique_ptr<SharedMemoryLink> made(new SharedMemoryLink(name));
  if (!made->event_ || !made->stop_event_) {
    failure = std::strerror(errno);
    return nullptr;
  }
  if (!made->begin(board_number, failure))
    return nullptr;
  made->thread_ = std::thread([link = made.get()] { link->run(); });
  return made;
}

SharedMemoryLink::SharedMemoryLink(const std::string& name)
    : place_(name), event_(new_event()), stop_event_(new_event()) {}

SharedMemoryLink::~SharedMemoryLink() {
  stop_.store(true);
  wake(stop_event_.get());
  if (thread_.joinable())
    thread_.join();
}

// Meeting.

// The first end of a name listens for the other.
bool SharedMemoryLink::begin(std::optional<unsigned> board_number, std::string& failure) {
  constexpr unsigned attempts = 64; // another may come or go in between
  failure = "its other ends come and go; end their processes, or use another name";
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    if (Descriptor socket = place_.connect()) {
      const Paired paired = pair(std::move(socket), board_number, failure);
      if (paired != Paired::left_alone)
        return paired == Paired::yes;
      continue;
    }
    board_number_ = board_number.value_or(0);
    listening_ = place_.listen();
    if (listening_)
      return true;
  }
  return false;
}

// The end that listens tells who it is, and brings the memory. It may go instead.
SharedMemoryLink::Paired SharedMemoryLink::pair(Descriptor socket, std::optional<unsigned> board_number,
                                                std::string& failure) {
  bool is_gone = false;
  std::optional<Greeted> greeted = MeetingPlace::receive(socket.get(), is_gone);
  if (is_gone)
    return Paired::left_alone;
  if (!greeted) {
    failure = "the other end does not answer; end its process, or use another name";
    return Paired::refused;
  }
  if (greeted->greeting.taken != 0) {
    failure = "it has two ends already; use another name";
    return Paired::refused;
  }
  const unsigned other = greeted->greeting.board_number;
  if (board_number == other) {
    failure = "the board at its other end has boardNumber " + std::to_string(other) + "; use another one";
    return Paired::refused;
  }
  board_number_ = board_number.value_or(other == 0 ? 1 : 0);
  auto [memory, own_event, other_event] = std::move(greeted->descriptors);
  auto made = std::make_shared<Peer>();
  made->mapping = SharedRingsMapping::adopt(std::move(memory));
  made->event = std::move(other_event);
  made->side = 1;
  if (made->mapping == nullptr || !own_event || !made->event ||
      !MeetingPlace::send(socket.get(), {.board_number = board_number_})) {
    failure = "the other end is no board of this version";
    return Paired::refused;
  }
  event_ = std::move(own_event);
  socket_ = std::move(socket);
  adopt(std::move(made));
  return Paired::yes;
}

// Brings the memory to one who has come.
void SharedMemoryLink::welcome() {
  Descriptor socket = MeetingPlace::accept(listening_.get());
  auto made = std::make_shared<Peer>();
  made->mapping = SharedRingsMapping::make();
  made->event = new_event();
  if (!socket || made->mapping == nullptr || !made->event ||
      !MeetingPlace::send(socket.get(), {.board_number = board_number_},
                          {made->mapping->memory(), made->event.get(), event_.get()}))
    return;
  bool is_gone = false;
  const std::optional<Greeted> greeted = MeetingPlace::receive(socket.get(), is_gone);
  if (!greeted || greeted->greeting.board_number == board_number_)
    return;
  socket_ = std::move(socket);
  adopt(std::move(made));
}

void SharedMemoryLink::adopt(std::shared_ptr<Peer> peer) {
  {
    const std::scoped_lock lock(mutex_);
    peer_ = std::move(peer);
  }
  notify();
}

std::shared_ptr<SharedMemoryLink::Peer> SharedMemoryLink::peer() {
  const std::scoped_lock lock(mutex_);
  return peer_;
}

std::shared_ptr<SharedMemoryLink::Peer> SharedMemoryLink::present_peer() {
  std::shared_ptr<Peer> found = peer();
  return found != nullptr && !found->gone.load() ? std::move(found) : nullptr;
}

// The thread.

void SharedMemoryLink::run() {
  while (!stop_.load()) {
    if (present_peer() == nullptr)
      meet();
    else
      stay();
  }
}

// Waits for the other end, or looks for it where it was the one that listened, and has gone.
void SharedMemoryLink::meet() {
  socket_ = {};
  if (!listening_) {
    std::string failure;
    if (Descriptor socket = place_.connect();
        socket && pair(std::move(socket), board_number_, failure) == Paired::yes)
      return;
    listening_ = place_.listen();
  }
  std::array<pollfd, 2> polled{waiting_for(stop_event_), waiting_for(listening_)};
  if (poll(polled.data(), listening_ ? 2 : 1, listening_ ? -1 : again_after) > 0 && listening_ &&
      polled[1].revents != 0)
    welcome();
}

void SharedMemoryLink::stay() {
  // Looked at in this order: whoever comes after the other end has gone finds that seen.
  std::array<pollfd, 4> polled{waiting_for(stop_event_), waiting_for(event_), waiting_for(listening_),
                               waiting_for(socket_)};
  if (poll(polled.data(), polled.size(), -1) <= 0)
    return;
  if (polled[1].revents != 0) {
    uint64_t count = 0;
    if (read(event_.get(), &count, sizeof count) == sizeof count)
      notify();
  }
  // Whoever comes when the other end has gone is welcome.
  if (polled[3].revents != 0)
    return part();
  if (listening_ && polled[2].revents != 0)
    if (const Descriptor third = MeetingPlace::accept(listening_.get()))
      MeetingPlace::send(third.get(), {.taken = 1});
}

// What the other end has sent before it went is there still.
void SharedMemoryLink::part() {
  if (const std::shared_ptr<Peer> gone = peer())
    gone->gone.store(true);
  notify(); // what waits for room has nobody to go to
}

void SharedMemoryLink::notify() {
  const std::scoped_lock lock(mutex_);
  if (receiver_ != nullptr)
    receiver_->notify();
}

void SharedMemoryLink::wake(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event, &one, sizeof one); // full: it is awake
}

// Packets.

void SharedMemoryLink::attach(LinkReceiver& receiver) {
  {
    const std::scoped_lock lock(mutex_);
    receiver_ = &receiver;
  }
  notify();
}

void SharedMemoryLink::detach() {
  const std::scoped_lock lock(mutex_);
  receiver_ = nullptr;
}

SendResult SharedMemoryLink::send(Lane lane, std::span<const uint8_t> packet) {
  const std::shared_ptr<Peer> to = present_peer();
  if (to == nullptr)
    return SendResult::unreachable;
  SharedRing& ring = to->to(lane);
  const uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  const auto used = [&] { return tail - ring.head.load(std::memory_order_seq_cst); };
  if (used() >= SharedRing::packets) {
    // The other end looks for who waits after it has made room: it sees the mark, or the room is seen here.
    ring.producer_waits.store(1, std::memory_order_seq_cst);
    if (used() == SharedRing::packets)
      return SendResult::paused;
    if (used() > SharedRing::packets) {
      distrust();
      return SendResult::unreachable;
    }
  }
  SharedRing::Slot& slot = ring.slots[tail % SharedRing::packets];
  std::memcpy(slot.bytes.data(), packet.data(), packet.size());
  slot.length.store(static_cast<uint32_t>(packet.size()), std::memory_order_relaxed);
  ring.tail.store(tail + 1, std::memory_order_seq_cst);
  if (ring.consumer_sleeps.load(std::memory_order_seq_cst) != 0 &&
      ring.consumer_sleeps.exchange(0, std::memory_order_seq_cst) != 0)
    wake(to->event.get());
  return SendResult::sent;
}

std::span<const uint8_t> SharedMemoryLink::front(Lane lane) {
  const std::shared_ptr<Peer> from = peer();
  if (from == nullptr || is_empty(*from, lane))
    return {};
  SharedRing& ring = from->from(lane);
  const uint64_t head = ring.head.load(std::memory_order_relaxed);
  const SharedRing::Slot& slot = ring.slots[head % SharedRing::packets];
  const uint32_t length = slot.length.load(std::memory_order_relaxed);
  if (ring.tail.load(std::memory_order_acquire) - head > SharedRing::packets || length == 0 ||
      length > slot.bytes.size()) {
    distrust();
    return {};
  }
  shown_[static_cast<size_t>(lane)] = from;
  return {slot.bytes.data(), length};
}

// Whether there is nothing, after the other end was told to wake this one.
bool SharedMemoryLink::is_empty(const Peer& peer, Lane lane) {
  SharedRing& ring = peer.from(lane);
  if (!peer.is_drained(lane))
    return false;
  ring.consumer_sleeps.store(1, std::memory_order_seq_cst);
  return peer.is_drained(lane);
}

bool SharedMemoryLink::has_arrived() {
  const std::shared_ptr<Peer> from = peer();
  return from != nullptr && !(from->is_drained(Lane::responses) && from->is_drained(Lane::requests));
}

void SharedMemoryLink::pop(Lane lane) {
  const std::shared_ptr<Peer> from = std::exchange(shown_[static_cast<size_t>(lane)], nullptr);
  SharedRing& ring = from->from(lane);
  ring.head.store(ring.head.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  if (ring.producer_waits.exchange(0, std::memory_order_seq_cst) != 0)
    wake(from->event.get());
}

// The other end writes nonsense: it is left alone until it comes anew.
void SharedMemoryLink::distrust() {
  adopt(nullptr);
  wake(event_.get());
}

} // namespace fpga_verbs::link
