#include "served/served_board.h"

#include "board/board_clock.h"
#include "board/device_thread.h"
#include "board/processor.h"
#include "served/board_source.h"
#include "served/socket_path.h"

#include <algorithm>
#include <functional>
#include <map>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace fpga_verbs::served {

using board::EmulatedFunction;
using board::HostTime;

namespace {

constexpr unsigned transactions_at_once = 32;   // of one client before the next one's turn
constexpr unsigned rounds_between_sockets = 64; // in which there was work
// A client may wait for the very processor on which the server polls: the server yields it soon.
constexpr unsigned looks_before_yield = 32;
constexpr unsigned looks_between_sockets = 1024;
constexpr uint64_t units_between_sockets = 512; // or the end of the round in which they are reached
constexpr unsigned welcomed_at_once = 16;
constexpr size_t most_not_open = 64; // connections
constexpr size_t most_observers = 64;
constexpr size_t notices_kept = 1024;

} // namespace

std::unique_ptr<ServedBoard> ServedBoard::make(std::shared_ptr<board::EmulatedBoard> board,
                                               const ServedBoardOptions& options, std::string& failure) {
  if (board->stepped() != nullptr) {
    failure = "a board with progress stepped cannot be served: its clock would stop while a client waits";
    return nullptr;
  }
  if (options.first_function >= board->options().underlying_functions) {
    failure = "the board has " + std::to_string(board->options().underlying_functions) +
              " underlying functions: none is left for clients";
    return nullptr;
  }
  return start(std::make_unique<BoardSource>(std::move(board)), options, failure);
}

std::unique_ptr<ServedBoard> ServedBoard::observed(std::unique_ptr<ServedSource> source,
                                                   const std::string& path, std::string& failure) {
  ServedBoardOptions options;
  options.path = path;
  options.first_function = source->functions();
  options.idle_before_sleep = 0; // it takes no part in a data path
  return start(std::move(source), options, failure);
}

std::unique_ptr<ServedBoard> ServedBoard::start(std::unique_ptr<ServedSource> source,
                                                const ServedBoardOptions& options, std::string& failure) {
  std::unique_ptr<ServedBoard> made(new ServedBoard(std::move(source), options));
  made->listening_ = SocketPath::listen(options.path, failure);
  if (!made->listening_)
    return nullptr;
  made->thread_ = board::start_device_thread(-1, [served = made.get()] { served->run(); });
  return made;
}

ServedBoard::ServedBoard(std::unique_ptr<ServedSource> source, const ServedBoardOptions& options)
    : options_(options), source_(std::move(source)), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reclaimer_(event_.get()) {}

ServedBoard::~ServedBoard() {
  stop_.store(true);
  eventfd_write(event_.get(), 1);
  if (thread_.joinable())
    thread_.join();
  stop_listening();
}

void ServedBoard::stop_listening() {
  if (listening_)
    unlink(options_.path.c_str());
  listening_ = {};
}

std::vector<ServedNotice> ServedBoard::take_notices() {
  const std::scoped_lock lock(mutex_);
  std::vector<ServedNotice> taken(notices_.begin(), notices_.end());
  notices_.clear();
  return taken;
}

ServedWork ServedBoard::work() const {
  return {turns_.load(std::memory_order_relaxed), units_counted_.load(std::memory_order_relaxed),
          most_units_in_turn_.load(std::memory_order_relaxed)};
}

void ServedBoard::note(ServedNotice::Kind kind, const ServedClient& client) {
  const std::scoped_lock lock(mutex_);
  if (notices_.size() == notices_kept)
    notices_.pop_front();
  notices_.push_back({kind, client.underlying_function(), client.process(), client.reason()});
}

// For clients.

Reply ServedBoard::describe() const {
  Reply reply;
  reply.first_function = options_.first_function;
  reply.functions = source_->functions();
  for (const Clients* const clients : {&clients_, &leaving_})
    for (const ServedClient& client : *clients)
      if (client.function() != nullptr)
        reply.value |= uint64_t{1} << client.underlying_function();
  return reply;
}

const ServedClient* ServedBoard::client_of(unsigned underlying_function) const {
  for (const Clients* const clients : {&clients_, &leaving_})
    for (const ServedClient& client : *clients)
      if (client.function() != nullptr && client.underlying_function() == underlying_function)
        return &client;
  return nullptr;
}

std::shared_ptr<EmulatedFunction> ServedBoard::open(uint32_t number, Reply& reply) {
  const unsigned end = source_->functions();
  if (number == any_function && options_.first_function < end) {
    for (number = std::max(1U, options_.first_function); number < end; ++number)
      if (client_of(number) == nullptr)
        return source_->open(number);
    reply.status = Status::all_taken;
    return nullptr;
  }
  if (number < options_.first_function || number >= end) {
    reply.status = Status::not_served;
    return nullptr;
  }
  if (const ServedClient* const other = client_of(number)) {
    reply.status = Status::taken;
    reply.value = static_cast<uint64_t>(other->process());
    return nullptr;
  }
  return source_->open(number);
}

// Any function, including the server's own: a process that may open the socket may also end the server.
std::unique_ptr<board::ObserverView> ServedBoard::observe(uint32_t number, Reply& reply) {
  if (number == any_function)
    number = source_->first_observed();
  std::unique_ptr<board::ObserverView> view =
      number < source_->functions() ? source_->observe(number) : nullptr;
  if (view == nullptr)
    reply.status = Status::not_served;
  return view;
}

void ServedBoard::opened(const ServedClient& client) { note(ServedNotice::Kind::opened, client); }

// If there are too many looks, the process with the most loses one.
void ServedBoard::observed() {
  if (ServedClient* const most = one_too_many(most_observers, &ServedClient::observes))
    most->refuse("too many observers");
}

// The thread.

void ServedBoard::run() {
  uint64_t idle_since = HostTime::now();
  unsigned rounds = 0;
  unsigned looks = 0;
  while (!stop_.load(std::memory_order_relaxed) && !source_->is_gone()) {
    if (serve()) {
      looks = 0;
      if (++rounds >= rounds_between_sockets || units_ - units_before_turn_ >= units_between_sockets) {
        rounds = 0;
        look_at_sockets(0);
      }
      continue;
    }
    if (gives_back())
      look_at_sockets(0);
    if (looks++ == 0)
      idle_since = HostTime::now();
    if (looks % looks_before_yield != 0) {
      board::relax_processor();
      continue;
    }
    if (looks % looks_between_sockets == 0)
      look_at_sockets(0);
    if (HostTime::now() - idle_since > options_.idle_before_sleep) {
      sleep();
      looks = 0;
    } else {
      sched_yield();
    }
  }
  clients_.clear();
  leaving_.clear();
  if (source_->is_gone())
    stop_listening();
}

// One round. False: there was no work.
bool ServedBoard::serve() {
  bool worked = false;
  for (auto client = clients_.begin(); client != clients_.end();) {
    const unsigned done = client->serve(transactions_at_once);
    count_work(done);
    worked = done != 0 || worked;
    if (!client->is_refused()) {
      ++client;
      continue;
    }
    client->refuse();
    note(ServedNotice::Kind::refused, *client);
    client = end(client);
  }
  return source_->advance() || worked;
}

// Position of a client that leaves: the next client takes it.
ServedBoard::Clients::iterator ServedBoard::end(Clients::iterator client) {
  const auto next = std::next(client);
  client->leave();
  leaving_.splice(leaving_.end(), clients_, client);
  return next;
}

bool ServedBoard::gives_back() const { return std::ranges::any_of(leaving_, &ServedClient::can_give_back); }

// A part of the remaining work of one client; then another one has its turn.
void ServedBoard::give_back() {
  if (leaving_.empty())
    return;
  const auto client = leaving_.begin();
  if (client->give_back(*this))
    leaving_.splice(leaving_.end(), leaving_, client);
  else
    leaving_.erase(client);
}

void ServedBoard::end_turn() {
  const uint64_t units = units_ - units_before_turn_;
  units_before_turn_ = units_;
  turns_.fetch_add(1, std::memory_order_relaxed);
  units_counted_.store(units_, std::memory_order_relaxed);
  if (units > most_units_in_turn_.load(std::memory_order_relaxed))
    most_units_in_turn_.store(units, std::memory_order_relaxed);
}

// Ends a turn.
void ServedBoard::look_at_sockets(int timeout) {
  std::vector<pollfd> polled{{event_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
  for (const ServedClient& client : clients_)
    polled.push_back({client.is_heard() ? client.socket() : -1, POLLIN, 0});
  const int found = poll(polled.data(), polled.size(), timeout);
  if (eventfd_t count = 0; polled[0].revents != 0 && found > 0)
    eventfd_read(event_.get(), &count);
  hear_all(polled);
  if (found > 0 && polled[1].revents != 0)
    welcome();
  give_back();
  end_turn();
}

// In the order of poll; also disconnects clients that have had nothing open for too long.
void ServedBoard::hear_all(const std::vector<pollfd>& polled) {
  const uint64_t now = HostTime::now();
  size_t index = 2;
  for (auto client = clients_.begin(); client != clients_.end(); ++index) {
    const bool stays = (polled[index].revents == 0 || client->take_messages(*this)) &&
                       (client->has_function() || now - client->since() <= options_.open_within);
    if (stays) {
      ++client;
      continue;
    }
    if (client->function() != nullptr)
      note(client->reason().empty() ? ServedNotice::Kind::closed : ServedNotice::Kind::refused, *client);
    client = end(client);
  }
}

void ServedBoard::welcome() {
  for (unsigned i = 0; i < welcomed_at_once; ++i) {
    link::Descriptor socket = SocketPath::accept(listening_.get());
    if (!socket)
      return;
    clients_.emplace_back(std::move(socket), HostTime::now());
    const auto is_not_open = [](const ServedClient& client) { return !client.has_function(); };
    if (const ServedClient* const most = one_too_many(most_not_open, is_not_open))
      clients_.remove_if([&](const ServedClient& client) { return &client == most; });
  }
}

// If more than `most` clients count: the oldest of the process with the most. Null: there are not so many.
template <class Counts> ServedClient* ServedBoard::one_too_many(size_t most, Counts counts) {
  std::map<pid_t, size_t> by_process;
  size_t all = 0;
  for (const ServedClient& client : clients_)
    if (std::invoke(counts, client)) {
      ++by_process[client.process()];
      ++all;
    }
  if (all <= most)
    return nullptr;
  const auto found = std::ranges::max_element(
      by_process, {}, [](const std::pair<const pid_t, size_t>& entry) { return entry.second; });
  for (ServedClient& client : clients_)
    if (client.process() == found->first && std::invoke(counts, client))
      return &client;
  return nullptr;
}

// From now on a client that writes to its ring sends a message.
void ServedBoard::sleep() {
  look_at_sockets(may_sleep() ? timeout() : 0);
  for (ServedClient& client : clients_)
    client.call_off_sleep();
}

bool ServedBoard::may_sleep() {
  return !gives_back() &&
         std::ranges::all_of(clients_, [](ServedClient& client) { return client.announce_sleep(); });
}

// Milliseconds until a client must have a function open, or the source has work; -1: neither.
int ServedBoard::timeout() const {
  const int sleep_limit = source_->sleep_limit();
  const auto waiting =
      std::ranges::find_if(clients_, [](const ServedClient& client) { return !client.has_function(); });
  if (waiting == clients_.end())
    return sleep_limit;
  constexpr uint64_t millisecond = 1'000'000;
  const uint64_t waited = HostTime::now() - waiting->since();
  const uint64_t left = waited < options_.open_within ? options_.open_within - waited : 0;
  const auto wait = static_cast<int>(std::min<uint64_t>(left / millisecond + 1, 60'000));
  return sleep_limit < 0 ? wait : std::min(wait, sleep_limit);
}

} // namespace fpga_verbs::served
