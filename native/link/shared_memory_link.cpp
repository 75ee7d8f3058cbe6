#include "link/shared_memory_link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace fpga_verbs::link {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds again_after{100};
// Time limit for a process to state its request, or to answer.
constexpr milliseconds saying_takes{5000};
constexpr size_t most_callers = 8;
constexpr unsigned messages_at_once = 64;

pollfd waiting_for(int descriptor) { return {descriptor, POLLIN, 0}; }

} // namespace

std::unique_ptr<SharedMemoryLink>
SharedMemoryLink::make(const std::string& name, std::optional<unsigned> board_number, std::string& failure) {
  std::unique_ptr<SharedMemoryLink> made(new SharedMemoryLink(name));
  if (!made->event_) {
    failure = std::strerror(errno);
    return nullptr;
  }
  if (!made->begin(board_number, failure))
    return nullptr;
  made->thread_ = std::thread([link = made.get()] { link->run(); });
  return made;
}

SharedMemoryLink::SharedMemoryLink(const std::string& name)
    : place_(name), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

SharedMemoryLink::~SharedMemoryLink() {
  stop_.store(true);
  wake_thread();
  if (thread_.joinable())
    thread_.join();
}

// Connecting.

// The first end of a name listens for the other.
bool SharedMemoryLink::begin(std::optional<unsigned> board_number, std::string& failure) {
  constexpr unsigned attempts = 64; // another may come or go in between
  failure = "its other end keeps disconnecting; end those processes, or use another name";
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    bool is_crowded = false;
    if (Descriptor socket = place_.connect(is_crowded)) {
      const Paired paired = pair(std::move(socket), board_number, failure);
      if (paired != Paired::left_alone)
        return paired == Paired::yes;
      continue;
    }
    if (is_crowded) {
      poll(nullptr, 0, static_cast<int>(again_after.count()));
      continue;
    }
    board_number_ = board_number.value_or(0);
    listening_ = place_.listen();
    if (listening_)
      return true;
  }
  return false;
}

// States the request of this end, and waits briefly for the answer. The other end may leave instead.
SharedMemoryLink::Paired SharedMemoryLink::pair(Descriptor socket, std::optional<unsigned> board_number,
                                                std::string& failure) {
  if (!MeetingPlace::send(socket.get(), {.board_number = board_number.value_or(Greeting::any_number)}))
    return Paired::left_alone;
  const Clock::time_point until = Clock::now() + saying_takes;
  for (;;) {
    Greeted greeted;
    const Received received = MeetingPlace::receive(socket.get(), greeted);
    if (received == Received::gone)
      return Paired::left_alone;
    if (received == Received::greeting)
      return take_answer(std::move(socket), std::move(greeted), board_number, board_number_, failure);
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    if (received == Received::malformed || left <= milliseconds::zero()) {
      failure = received == Received::malformed
                    ? "the other end is not a board of this version"
                    : "the other end does not answer; end its process, or use another name";
      return Paired::refused;
    }
    pollfd polled = waiting_for(socket.get());
    poll(&polled, 1, static_cast<int>(left.count()));
  }
}

// The listening end states its number and brings the memory.
SharedMemoryLink::Paired SharedMemoryLink::take_answer(Descriptor socket, Greeted greeted,
                                                       std::optional<unsigned> board_number,
                                                       unsigned& own_number, std::string& failure) {
  if (greeted.greeting.taken != 0) {
    failure = "it already has two ends; use another name";
    return Paired::refused;
  }
  const unsigned other = greeted.greeting.board_number;
  if (board_number == other) {
    failure = "the board at its other end has boardNumber " + std::to_string(other) + "; use another one";
    return Paired::refused;
  }
  auto made = std::make_shared<Peer>();
  made->mapping = SharedRingsMapping::adopt(std::move(greeted.memory));
  made->socket = std::move(socket);
  made->side = 1;
  if (made->mapping == nullptr) {
    failure = "the other end is not a board of this version";
    return Paired::refused;
  }
  own_number = board_number.value_or(other == 0 ? 1 : 0);
  adopt(std::move(made));
  return Paired::yes;
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

// The thread. It waits for all possible events at once: a process that connects and stays silent delays
// neither another one nor the end of the link.

void SharedMemoryLink::run() {
  while (!stop_.load()) {
    if (!listening_ && !asked_ && present_peer() == nullptr && Clock::now() >= again_)
      look_for_other();
    wait();
  }
}

// Asks the listening end; if there is none, this end listens.
void SharedMemoryLink::look_for_other() {
  bool is_crowded = false;
  again_ = Clock::now() + again_after;
  if (Descriptor socket = place_.connect(is_crowded)) {
    if (MeetingPlace::send(socket.get(), {.board_number = board_number_}))
      asked_ = Caller{std::move(socket), Clock::now() + saying_takes};
  } else if (!is_crowded) {
    listening_ = place_.listen();
  }
}

// Milliseconds until a peer must have sent something; -1: waits for nothing.
int SharedMemoryLink::timeout() const {
  if (!asked_ && callers_.empty())
    return -1;
  const Clock::time_point until = asked_ ? asked_->until : callers_.front().until;
  return std::max(0, static_cast<int>(std::chrono::ceil<milliseconds>(until - Clock::now()).count()));
}

void SharedMemoryLink::wait() {
  const std::shared_ptr<Peer> present = present_peer();
  const bool is_alone = present == nullptr && !listening_ && !asked_;
  std::vector<pollfd> polled{waiting_for(event_.get()), waiting_for(listening_.get()),
                             waiting_for(asked_ ? asked_->socket.get() : -1)};
  for (const Caller& caller : callers_)
    polled.push_back(waiting_for(caller.socket.get()));
  // The kernel reports this descriptor last: this thread sees the end of the other process before a later one
  // connects.
  polled.push_back(waiting_for(present == nullptr ? -1 : present->socket.get()));
  if (poll(polled.data(), polled.size(), is_alone ? static_cast<int>(again_after.count()) : timeout()) < 0)
    return;
  if (uint64_t count = 0; polled[0].revents != 0) [[maybe_unused]]
    const ssize_t taken = read(event_.get(), &count, sizeof count);
  if (polled.back().revents != 0)
    hear_peer(*present);
  if (asked_ && (polled[2].revents != 0 || Clock::now() >= asked_->until))
    hear_answer();
  size_t index = 3;
  std::erase_if(callers_, [&](Caller& caller) {
    const bool has_said = polled[index++].revents != 0;
    return has_said ? !receive_greeting(caller) : Clock::now() >= caller.until;
  });
  if (polled[1].revents != 0)
    welcome();
}

// The process wakes this end, or has left. Packets that it sent before are still there.
void SharedMemoryLink::hear_peer(Peer& peer) {
  for (unsigned i = 0; i < messages_at_once; ++i) {
    uint8_t message = 0;
    const ssize_t bytes = recv(peer.socket.get(), &message, sizeof message, MSG_DONTWAIT);
    if (bytes > 0)
      continue;
    if (bytes == 0 || (errno != EAGAIN && errno != EINTR))
      part_from(peer);
    break;
  }
  notify();
}

// Packets that wait for room in its rings have no destination any more.
void SharedMemoryLink::part_from(Peer& peer) {
  peer.gone.store(true);
  const std::scoped_lock lock(mutex_);
  peer.socket = {};
}

void SharedMemoryLink::hear_answer() {
  Greeted greeted;
  const Received received = MeetingPlace::receive(asked_->socket.get(), greeted);
  if (received == Received::nothing && Clock::now() < asked_->until)
    return;
  Descriptor socket = std::move(asked_->socket);
  asked_.reset();
  std::string failure;
  unsigned number = board_number_;
  if (received == Received::greeting) // refused: it is asked again in a while
    take_answer(std::move(socket), std::move(greeted), board_number_, number, failure);
}

// A process has connected; the oldest silent one yields its place.
void SharedMemoryLink::welcome() {
  Descriptor socket = MeetingPlace::accept(listening_.get());
  if (!socket)
    return;
  if (callers_.size() == most_callers)
    callers_.erase(callers_.begin());
  callers_.push_back({std::move(socket), Clock::now() + saying_takes});
}

// Whether this end still waits for it.
bool SharedMemoryLink::receive_greeting(Caller& caller) {
  Greeted greeted;
  const Received received = MeetingPlace::receive(caller.socket.get(), greeted);
  if (received == Received::greeting)
    answer(caller, greeted.greeting.board_number);
  return received == Received::nothing;
}

// Brings the memory if there is no other end yet, and this end's number if it differs from the caller's.
void SharedMemoryLink::answer(Caller& caller, uint32_t wanted) {
  const Greeting greeting{.taken = present_peer() == nullptr ? 0U : 1U, .board_number = board_number_};
  auto made = std::make_shared<Peer>();
  if (greeting.taken == 0 && wanted != board_number_)
    made->mapping = SharedRingsMapping::make();
  if (made->mapping == nullptr) {
    MeetingPlace::send(caller.socket.get(), greeting);
    return;
  }
  made->socket = std::move(caller.socket);
  // Adopts first, then answers: after the answer the caller may rely on packets of this end.
  adopt(made);
  if (!MeetingPlace::send(made->socket.get(), greeting, made->mapping->memory()))
    part_from(*made);
}

void SharedMemoryLink::notify() {
  const std::scoped_lock lock(mutex_);
  if (receiver_ != nullptr)
    receiver_->notify();
}

void SharedMemoryLink::wake_thread() { eventfd_write(event_.get(), 1); }

// Never waits: this process owns this end of the socket, and its send mode.
void SharedMemoryLink::wake(const Peer& peer) {
  constexpr uint8_t message = 0;
  const std::scoped_lock lock(mutex_);
  ::send(peer.socket.get(), &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL); // full: it is awake
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
  uint64_t& tail = to->tail(lane);
  const auto used = [&] { return tail - ring.head.load(std::memory_order_seq_cst); };
  if (used() >= SharedRing::packets) {
    // After making room, the other end checks for waiting producers: it sees the mark, or this end sees the
    // room.
    ring.producer_waits.store(1, std::memory_order_seq_cst);
    const uint64_t now_used = used();
    if (now_used == SharedRing::packets)
      return SendResult::paused;
    if (now_used > SharedRing::packets) {
      distrust(*to);
      return SendResult::unreachable;
    }
  }
  SharedRing::Slot& slot = ring.slots[tail % SharedRing::packets];
  std::memcpy(slot.bytes.data(), packet.data(), packet.size());
  slot.length.store(static_cast<uint32_t>(packet.size()), std::memory_order_relaxed);
  ring.tail.store(++tail, std::memory_order_seq_cst);
  if (ring.consumer_sleeps.load(std::memory_order_seq_cst) != 0 &&
      ring.consumer_sleeps.exchange(0, std::memory_order_seq_cst) != 0)
    wake(*to);
  return SendResult::sent;
}

std::span<const uint8_t> SharedMemoryLink::front(Lane lane) {
  const std::shared_ptr<Peer> from = peer();
  if (from == nullptr || is_empty(*from, lane))
    return {};
  const SharedRing& ring = from->from(lane);
  const uint64_t head = from->head(lane).load(std::memory_order_relaxed);
  const SharedRing::Slot& slot = ring.slots[head % SharedRing::packets];
  const uint64_t arrived = ring.tail.load(std::memory_order_acquire) - head;
  const uint32_t length = slot.length.load(std::memory_order_relaxed);
  if (arrived > SharedRing::packets || length == 0 || length > slot.bytes.size()) {
    distrust(*from);
    return {};
  }
  shown_[static_cast<size_t>(lane)] = from;
  return {slot.bytes.data(), length};
}

// Whether the ring is empty, after this end asked the other one to wake it.
bool SharedMemoryLink::is_empty(Peer& peer, Lane lane) {
  if (!peer.is_drained(lane))
    return false;
  peer.from(lane).consumer_sleeps.store(1, std::memory_order_seq_cst);
  return peer.is_drained(lane);
}

bool SharedMemoryLink::has_arrived() {
  const std::shared_ptr<Peer> from = peer();
  return from != nullptr && !(from->is_drained(Lane::responses) && from->is_drained(Lane::requests));
}

void SharedMemoryLink::pop(Lane lane) {
  const std::shared_ptr<Peer> from = std::exchange(shown_[static_cast<size_t>(lane)], nullptr);
  SharedRing& ring = from->from(lane);
  const uint64_t head = from->head(lane).fetch_add(1, std::memory_order_relaxed) + 1;
  ring.head.store(head, std::memory_order_seq_cst);
  if (ring.producer_waits.exchange(0, std::memory_order_seq_cst) != 0)
    wake(*from);
}

// The other end writes malformed messages: this end ignores it until it reconnects.
void SharedMemoryLink::distrust(Peer& peer) {
  shutdown(peer.socket.get(), SHUT_RDWR); // ends the other end's connection too
  adopt(nullptr);
  wake_thread();
}

} // namespace fpga_verbs::link
