#include "served/served_client.h"

#include "link/descriptor_message.h"
#include "served/served_board.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <sys/socket.h>
#include <utility>

namespace fpga_verbs::served {

using board::BoardFacts;
using link::SealedMemory;

namespace {

constexpr unsigned messages_at_once = 16; // of which all but the last only wake
// Freeing more than this takes long and happens elsewhere.
constexpr size_t most_given_back_at_once = size_t{2} << 20;
constexpr size_t page_bytes = 4096;
constexpr size_t most_allocations = 8000; // each is a mapping of the server, which may have 65,530

pid_t process_at(int socket) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

} // namespace

ServedClient::ServedClient(link::Descriptor socket, uint64_t since)
    : socket_(std::move(socket)), process_(process_at(socket_.get())), since_(since) {}

// The server has the control function open as well, so the client is never the last to close it.
ServedClient::~ServedClient() {
  if (function_ != nullptr && socket_) // else it has left
    function_->reset();
}

void ServedClient::refuse(const char* reason) {
  if (reason_.empty())
    reason_ = *reason == '\0' && consumer_ ? consumer_->malformed() : reason;
}

bool ServedClient::take_messages(ServedBoard& board) {
  for (unsigned i = 0; i < messages_at_once; ++i) {
    Request request;
    const auto message = std::as_writable_bytes(std::span(&request, 1));
    const std::optional<link::ReceivedMessage> received =
        link::receive_message(socket_.get(), message, {}, MSG_DONTWAIT);
    if (!received)
      return true; // that was all
    if (received->bytes == 0)
      return false;
    if (!received->whole || received->bytes != sizeof request || request.magic != protocol_magic) {
      reason_ = "a message that is not a request of this version";
      return false;
    }
    if (request.kind == RequestKind::wake)
      continue;
    board.count_work(1);
    if (!reply_to(request, board)) {
      if (reason_.empty())
        reason_ = "it does not read its replies";
      return false;
    }
    return true; // the next one when the others have had their turn
  }
  return true;
}

void ServedClient::leave() {
  socket_ = {};
  consumer_.reset();
  if (function_ != nullptr)
    function_->reset();
}

bool ServedClient::give_back(ServedBoard& board) {
  for (std::unique_ptr<board::BoardWatch>& watch : watches_)
    if (std::optional<board::WatchMemory> memory =
            watch ? std::exchange(watch, nullptr)->end() : std::nullopt)
      board.reclaimer().take(std::move(*memory).take(), reclaiming_);
  if (!memory_.empty())
    unmap(memory_.begin(), board);
  return !memory_.empty() || reclaiming_->load() != 0;
}

bool ServedClient::reply_to(const Request& request, ServedBoard& board) {
  switch (request.kind) {
  case RequestKind::look:
    return send(board.describe());
  case RequestKind::open:
    return open(request.number, board);
  case RequestKind::allocate:
    return allocate(request.value, board);
  case RequestKind::release:
    return release(request.value, board);
  case RequestKind::interrupt:
    return interrupt(request.number);
  case RequestKind::observe:
    return observe(request.number, board);
  case RequestKind::watch:
    return watch(request.number);
  case RequestKind::unwatch:
    return unwatch(request.number);
  case RequestKind::queue_pairs:
    return list(request.number, &board::Observation::queue_pairs, board);
  case RequestKind::regions:
    return list(request.number, &board::Observation::regions, board);
  case RequestKind::wake:
    break;
  }
  reason_ = "a request of an unknown kind";
  return false;
}

bool ServedClient::open(uint32_t number, ServedBoard& board) {
  Reply reply = board.describe();
  if (has_function()) {
    reply.status = Status::invalid;
    return send(reply);
  }
  std::optional<SealedMemory> page = SealedMemory::make("fpga-verbs-bar", sizeof(ServedPage));
  std::shared_ptr<board::EmulatedFunction> function = board.open(number, reply);
  if (function == nullptr || !page) {
    if (function != nullptr)
      reply.status = Status::exhausted;
    return send(reply);
  }
  const BoardFacts& facts = function->facts();
  reply.number = facts.underlying_function;
  reply.mapping = static_cast<uint32_t>(facts.mapping);
  reply.store_bytes = facts.store_bytes;
  reply.interrupt_vectors = facts.interrupt_vectors;
  std::memcpy(reply.clock.data(), facts.clock.data(), std::min(facts.clock.size(), reply.clock.size() - 1));
  if (!send(reply, page->descriptor()))
    return false;
  page->drop_descriptor();
  page_ = std::move(page);
  consumer_.emplace(*static_cast<ServedPage*>(page_->data()), facts.underlying_function);
  function_ = std::move(function);
  board.opened(*this);
  return true;
}

bool ServedClient::observe(uint32_t number, ServedBoard& board) {
  Reply reply = board.describe();
  if (has_function()) {
    reply.status = Status::invalid;
    return send(reply);
  }
  std::optional<SealedMemory> page = SealedMemory::make("fpga-verbs-bar", sizeof(ServedPage));
  std::unique_ptr<board::ObserverView> view = board.observe(number, reply);
  if (view == nullptr || !page) {
    if (view != nullptr)
      reply.status = Status::exhausted;
    return send(reply);
  }
  reply.number = view->underlying_function();
  if (!send(reply, page->descriptor()))
    return false;
  page->drop_descriptor();
  page_ = std::move(page);
  consumer_.emplace(*static_cast<ServedPage*>(page_->data()), reply.number);
  view_ = std::move(view);
  board.observed();
  return true;
}

// All observers of the same records share one ring. A client that watches again gets its former ring, which
// it may still have mapped.
bool ServedClient::watch(uint32_t kind) {
  if (view_ == nullptr || kind >= watches_.size())
    return send({.status = Status::invalid});
  std::unique_ptr<board::BoardWatch>& watch = watches_[kind];
  if (watch == nullptr)
    watch = view_->watch_board(static_cast<board::WatchKind>(kind));
  else
    watch->resume();
  if (watch == nullptr)
    return send({.status = Status::not_served});
  return send({}, watch->descriptor());
}

bool ServedClient::unwatch(uint32_t kind) {
  if (kind < watches_.size() && watches_[kind] != nullptr)
    watches_[kind]->pause();
  return true;
}

template <class Facts>
bool ServedClient::list(uint32_t from, uint32_t (board::Observation::*find)(uint32_t, std::vector<Facts>&),
                        ServedBoard& board) {
  std::vector<Facts> found;
  Reply reply;
  if (view_ != nullptr) {
    reply.value = (view_.get()->*find)(from, found);
    reply.number = static_cast<uint32_t>(found.size());
  } else {
    reply.status = Status::invalid;
  }
  board.count_work(found.size());
  std::vector<std::byte> message(sizeof reply + found.size() * sizeof(Facts));
  std::memcpy(message.data(), &reply, sizeof reply);
  if (!found.empty())
    std::memcpy(message.data() + sizeof reply, found.data(), found.size() * sizeof(Facts));
  return link::send_message(socket_.get(), message);
}

bool ServedClient::allocate(uint64_t bytes, ServedBoard& board) {
  const uint64_t limit = board.options().memory_per_client;
  const uint64_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  if (function_ == nullptr || bytes == 0)
    return send({.status = Status::invalid});
  if (bytes > limit || whole > limit - memory_bytes_ || memory_.size() == most_allocations)
    return send({.status = Status::exhausted});
  std::optional<SealedMemory> memory = SealedMemory::make("fpga-verbs-memory", whole);
  const uint64_t before = function_->table_entries_changed();
  const std::optional<uint64_t> address =
      memory ? function_->map_dma(memory->data(), whole, board::DmaRights::read_write) : std::nullopt;
  board.count_work(function_->table_entries_changed() - before);
  if (!address)
    return send({.status = Status::exhausted});
  const int descriptor = memory->descriptor();
  SealedMemory& kept = memory_.emplace(*address, std::move(*memory)).first->second;
  memory_bytes_ += whole;
  if (!send({.value = *address}, descriptor))
    return false;
  kept.drop_descriptor();
  return true;
}

bool ServedClient::release(uint64_t address, ServedBoard& board) {
  const auto found = memory_.find(address);
  if (found == memory_.end())
    return send({.status = Status::invalid});
  unmap(found, board);
  return send({});
}

void ServedClient::unmap(Memory::iterator memory, ServedBoard& board) {
  const uint64_t before = function_->table_entries_changed();
  function_->unmap_dma(memory->first);
  board.count_work(1 + function_->table_entries_changed() - before);
  const size_t bytes = memory->second.bytes();
  memory_bytes_ -= bytes;
  if (bytes > most_given_back_at_once)
    board.reclaimer().take(std::move(memory->second), reclaiming_);
  else
    board.count_work(bytes / page_bytes);
  memory_.erase(memory);
}

bool ServedClient::interrupt(uint32_t vector) {
  const link::Descriptor far_end =
      function_ == nullptr ? link::Descriptor() : function_->interrupt_signal(vector);
  return far_end ? send({}, far_end.get()) : send({.status = Status::invalid});
}

bool ServedClient::send(const Reply& reply, int descriptor) {
  const std::span descriptors(&descriptor, descriptor < 0 ? 0 : 1);
  return link::send_message(socket_.get(), std::as_bytes(std::span(&reply, 1)), descriptors);
}

unsigned ServedClient::serve(unsigned limit) {
  if (!consumer_)
    return 0;
  unsigned done = 0;
  while (done < limit && !is_refused() && consumer_->take(transaction_) == Taken::one) {
    if (view_ != nullptr)
      look(transaction_);
    else
      execute(transaction_);
    ++done;
  }
  return done;
}

// Fences each write: the client's order stays, however the board writes.
void ServedClient::execute(const ServedTransaction& transaction) {
  const unsigned bar = transaction.bar;
  if (transaction.kind == board::MessageKind::read) {
    consumer_->answer(function_->read32(bar, transaction.offset));
  } else if (transaction.length == sizeof(uint32_t)) {
    uint32_t value = 0;
    std::memcpy(&value, transaction.data.data(), sizeof value);
    function_->write32(bar, transaction.offset, value);
    function_->fence();
  } else {
    function_->write_command(bar, transaction.offset, transaction.data.data(), transaction.length);
  }
}

void ServedClient::look(const ServedTransaction& transaction) {
  if (transaction.kind == board::MessageKind::read) {
    consumer_->answer(view_->read32(transaction.bar, transaction.offset));
    return;
  }
  uint32_t value = 0;
  std::memcpy(&value, transaction.data.data(), sizeof value);
  if (transaction.length != sizeof value || !view_->write32(transaction.bar, transaction.offset, value))
    reason_ = "a write by an observer";
}

} // namespace fpga_verbs::served
