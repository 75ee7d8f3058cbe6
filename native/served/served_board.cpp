#include "served/served_board.h"

#include "board/board_clock.h"
#include "board/device_thread.h"
#include "board/processor.h"
#include "served/socket_path.h"

#include <algorithm>
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
// A client may wait for the very processor that the server looks for work on: it is given away soon.
constexpr unsigned looks_before_yield = 32;
constexpr unsigned looks_between_sockets = 1024;
constexpr uint64_t idle_before_sleep = 500'000; // nanoseconds
constexpr size_t most_clients = 64;
constexpr size_t notices_kept = 1024;

} // namespace

std::unique_ptr<ServedBoard> ServedBoard::make(std::shared_ptr<board::EmulatedBoard> board,
                                               const ServedBoardOptions& options, std::string& failure) {
  if (board->stepped() != nullptr) {
    failure = "a board with progress stepped is not served: nobody would step it while a client waits";
    return nullptr;
  }
  if (options.first_function >= board->options().underlying_functions) {
    failure = "the board has " + std::to_string(board->options().underlying_functions) +
              " underlying functions: none is left for clients";
    return nullptr;
  }
  std::unique_ptr<ServedBoard> made(new ServedBoard(std::move(board), options));
  made->listening_ = SocketPath::listen(options.path, failure);
  if (!made->listening_)
    return nullptr;
  made->thread_ = board::start_device_thread(-1, [served = made.get()] { served->run(); });
  return made;
}

ServedBoard::ServedBoard(std::shared_ptr<board::EmulatedBoard> board, const ServedBoardOptions& options)
    : options_(options), board_(std::move(board)), stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ServedBoard::~ServedBoard() {
  stop_.store(true);
  eventfd_write(stop_event_.get(), 1);
  if (thread_.joinable())
    thread_.join();
  if (listening_)
    unlink(options_.path.c_str());
}

std::vector<ServedNotice> ServedBoard::take_notices() {
  const std::scoped_lock lock(mutex_);
  std::vector<ServedNotice> taken(notices_.begin(), notices_.end());
  notices_.clear();
  return taken;
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
  reply.functions = board_->options().underlying_functions;
  for (const ServedClient& client : clients_)
    if (client.function() != nullptr)
      reply.value |= uint64_t{1} << client.underlying_function();
  return reply;
}

const ServedClient* ServedBoard::client_of(unsigned underlying_function) const {
  const auto found = std::ranges::find_if(clients_, [&](const ServedClient& client) {
    return client.function() != nullptr && client.underlying_function() == underlying_function;
  });
  return found == clients_.end() ? nullptr : &*found;
}

std::shared_ptr<EmulatedFunction> ServedBoard::open(uint32_t number, Reply& reply) {
  const unsigned end = board_->options().underlying_functions;
  if (number == any_function) {
    for (number = std::max(1U, options_.first_function); number < end; ++number)
      if (client_of(number) == nullptr)
        return board_->open(number);
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
  return board_->open(number);
}

// Any function, the server's own too: whoever may open the socket may end the server as well.
std::optional<board::FunctionView> ServedBoard::observe(uint32_t number, Reply& reply) const {
  if (number < board_->options().underlying_functions)
    return board::FunctionView(board_, number);
  reply.status = Status::not_served;
  return std::nullopt;
}

void ServedBoard::opened(const ServedClient& client) { note(ServedNotice::Kind::opened, client); }

// The thread.

void ServedBoard::run() {
  uint64_t idle_since = HostTime::now();
  unsigned rounds = 0;
  unsigned looks = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (serve()) {
      looks = 0;
      if (++rounds % rounds_between_sockets == 0)
        look_at_sockets(0);
      continue;
    }
    if (looks++ == 0)
      idle_since = HostTime::now();
    if (looks % looks_before_yield != 0) {
      board::relax_processor();
      continue;
    }
    if (looks % looks_between_sockets == 0)
      look_at_sockets(0);
    if (HostTime::now() - idle_since > idle_before_sleep) {
      sleep();
      looks = 0;
    } else {
      sched_yield();
    }
  }
  clients_.clear();
}

// A round. False: nothing was there.
bool ServedBoard::serve() {
  bool worked = false;
  for (auto client = clients_.begin(); client != clients_.end();) {
    worked = client->serve(transactions_at_once) != 0 || worked;
    if (!client->is_nonsense()) {
      ++client;
      continue;
    }
    client->blame();
    note(ServedNotice::Kind::refused, *client);
    client = clients_.erase(client);
  }
  return board_->advance() || worked;
}

void ServedBoard::look_at_sockets(int timeout) {
  std::vector<pollfd> polled{{stop_event_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
  for (const ServedClient& client : clients_)
    polled.push_back({client.socket(), POLLIN, 0});
  if (poll(polled.data(), polled.size(), timeout) <= 0)
    return;
  size_t index = 2;
  for (auto client = clients_.begin(); client != clients_.end(); ++index) {
    if (polled[index].revents == 0 || client->hear(*this)) {
      ++client;
      continue;
    }
    if (client->function() != nullptr)
      note(client->reason().empty() ? ServedNotice::Kind::closed : ServedNotice::Kind::refused, *client);
    client = clients_.erase(client);
  }
  if (polled[1].revents != 0)
    welcome();
}

void ServedBoard::welcome() {
  link::Descriptor socket = SocketPath::accept(listening_.get());
  if (socket && clients_.size() < most_clients)
    clients_.emplace_back(std::move(socket));
}

// A client that puts something in from now on sends a message.
void ServedBoard::sleep() {
  look_at_sockets(may_sleep() ? -1 : 0);
  for (ServedClient& client : clients_)
    client.call_off_sleep();
}

bool ServedBoard::may_sleep() {
  return std::ranges::all_of(clients_, [](ServedClient& client) { return client.announce_sleep(); });
}

} // namespace fpga_verbs::served
