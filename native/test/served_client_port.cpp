#include "test/served_client_port.h"

#include "board/random.h"
#include "link/descriptor_message.h"
#include "link/sealed_memory.h"
#include "served/served_connection.h"
#include "served/served_producer.h"
#include "spec/parameters.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fpga_verbs::test {

using board::TransactionLine;
using served::Request;
using served::RequestKind;
using served::ServedPage;

namespace {

constexpr unsigned virtual_collect_buffer_bar = 2;

// A client that writes anything to its ring and socket. It stays connected until it is released.
class Client {
public:
  Client(const std::string& path, uint32_t function, uint64_t seed)
      : random_(seed), connection_(make(path)), page_(open(function)),
        producer_(*static_cast<ServedPage*>(page_.data()), function), function_(function) {}

  // Whether the server ends the connection, as it should; the deadline covers the case that it does not.
  bool is_refused() {
    constexpr std::chrono::seconds deadline{60};
    const auto begin = std::chrono::steady_clock::now();
    while (!connection_.is_gone()) {
      if (std::chrono::steady_clock::now() - begin > deadline)
        return false;
      std::this_thread::yield();
    }
    return true;
  }

  void write_malformed() {
    auto* const ring = reinterpret_cast<uint8_t*>(page().ring.data());
    for (size_t i = 0; i < sizeof page().ring; ++i)
      ring[i] = static_cast<uint8_t>(random_.next());
    page().ring[0].sequence.store(TransactionLine::sequence_at(0));
    wake();
  }

  // Sends requests and reads no replies.
  void send_requests(RequestKind kind) {
    const Request request{.kind = kind, .number = 0, .value = 0};
    const int socket = connection_.socket();
    for (unsigned i = 0; i < 10'000 && !connection_.is_gone(); ++i)
      if (!link::send_message(socket, std::as_bytes(std::span(&request, 1))))
        std::this_thread::yield();
  }

  void send_garbage() {
    std::array<uint8_t, 80> garbage;
    for (uint8_t& byte : garbage)
      byte = static_cast<uint8_t>(random_.next());
    link::send_message(connection_.socket(),
                       std::as_bytes(std::span(garbage.data(), 1 + random_.below(garbage.size()))));
  }

  // Fills the ring, and writes only part of the last command.
  void fill_ring() {
    constexpr unsigned most = 2000; // if the server keeps up
    for (unsigned i = 0; i < most && write_command(board::message_bytes); ++i) {
    }
    write_part(board::message_bytes);
    wake();
  }

  // A sequence of typical driver accesses, then part of a command.
  void live() {
    const uint64_t actions = random_.below(40);
    for (uint64_t i = 0; i < actions; ++i)
      act();
    write_part(8 * (1 + random_.below(board::message_bytes / 8)));
  }

private:
  static served::ServedConnection make(const std::string& path) {
    std::string failure;
    auto connection = served::ServedConnection::make(path, failure);
    if (!connection)
      throw std::runtime_error(failure);
    return std::move(*connection);
  }

  link::SealedMemory open(uint32_t function) {
    link::Descriptor descriptor;
    connection_.ask({.kind = RequestKind::open, .number = function}, descriptor);
    auto memory = link::SealedMemory::adopt(std::move(descriptor), sizeof(ServedPage));
    if (!memory)
      throw std::runtime_error("the server does not open function " + std::to_string(function));
    return std::move(*memory);
  }

  ServedPage& page() { return *static_cast<ServedPage*>(page_.data()); }

  void wake() {
    if (producer_.should_wake())
      connection_.wake();
  }

  uint64_t command_offset() {
    return random_.below(spec::virtual_collect_buffers) * spec::virtual_collect_buffer_stride;
  }

  bool write_command(size_t length) {
    std::array<uint8_t, board::message_bytes> data;
    for (uint8_t& byte : data)
      byte = static_cast<uint8_t>(random_.next());
    if (!producer_.push_write(virtual_collect_buffer_bar, command_offset(), data.data(), length))
      return false;
    tail_ += TransactionLine::lines_for(length);
    return true;
  }

  void act() {
    const uint64_t what = random_.below(6);
    link::Descriptor descriptor;
    const uint32_t value = static_cast<uint32_t>(random_.next());
    if (what == 0)
      connection_.ask({.kind = RequestKind::allocate, .value = 1 + random_.below(100'000)}, descriptor);
    else if (what == 1)
      connection_.ask({.kind = RequestKind::interrupt, .number = value % 8}, descriptor);
    else if (what == 2 && producer_.push_read(0, random_.below(1000) * 4))
      ++tail_;
    else if (what == 3 && producer_.push_write(static_cast<unsigned>(random_.below(6)),
                                               random_.below(1 << 18) * 4, &value, 4))
      ++tail_;
    else
      write_command(8 * (1 + random_.below(board::message_bytes / 8)));
    wake();
  }

  // The first lines of a command, at most all but the last.
  void write_part(size_t length) {
    const uint64_t lines = TransactionLine::lines_for(length);
    const uint64_t written = random_.below(lines);
    const uint64_t where = TransactionLine::where(function_, virtual_collect_buffer_bar, command_offset());
    if (tail_ + lines - page().head.load() > ServedPage::lines)
      return;
    for (uint64_t i = 0; i < written; ++i) {
      TransactionLine& line = page().ring[(tail_ + i) % ServedPage::lines];
      line.kind = board::MessageKind::write;
      line.length = static_cast<uint16_t>(length);
      line.count = static_cast<uint8_t>(lines);
      std::memcpy(line.bytes.data(), &where, sizeof where);
      line.sequence.store(TransactionLine::sequence_at(tail_ + i));
    }
  }

  board::Random random_;
  served::ServedConnection connection_;
  link::SealedMemory page_;
  served::ServedProducer producer_;
  uint32_t function_;
  uint64_t tail_ = 0;
};

std::vector<std::unique_ptr<Client>>& clients() {
  static std::vector<std::unique_ptr<Client>> all;
  return all;
}

Client& make_client(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  const uint32_t function = info[1].As<Napi::Number>().Uint32Value();
  const uint64_t seed = info[2].As<Napi::Number>().Uint32Value();
  try {
    return *clients().emplace_back(std::make_unique<Client>(path, function, seed));
  } catch (const std::runtime_error& error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
}

Napi::Value misbehave(const Napi::CallbackInfo& info) {
  const std::string way = info[3].As<Napi::String>();
  Client& client = make_client(info);
  bool refused = false;
  if (way == "writes malformed messages") {
    client.write_malformed();
    refused = client.is_refused();
  } else if (way == "takes no replies") {
    client.send_requests(RequestKind::look);
    refused = client.is_refused();
  } else if (way == "asks for what there is not") {
    client.send_requests(static_cast<RequestKind>(77));
    refused = client.is_refused();
  } else if (way == "sends garbage") {
    client.send_garbage();
    refused = client.is_refused();
  } else if (way == "fills its ring") {
    client.fill_ring();
  } else if (way == "stops") {
    client.live();
  }
  return Napi::Boolean::New(info.Env(), refused);
}

void let_go(const Napi::CallbackInfo&) { clients().clear(); }

// Returns the signal that ended the process.
Napi::Value die(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  const uint32_t function = info[1].As<Napi::Number>().Uint32Value();
  const uint64_t seed = info[2].As<Napi::Number>().Uint32Value();
  const pid_t child = fork();
  if (child == 0) {
    try {
      Client client(path, function, seed);
      client.live();
      std::raise(SIGKILL);
    } catch (const std::runtime_error&) {
      _exit(1);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return Napi::Number::New(info.Env(), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

} // namespace

void define_served_client_port(Napi::Env env, Napi::Object exports) {
  exports.Set("servedMisbehave", Napi::Function::New<misbehave>(env, "servedMisbehave"));
  exports.Set("servedLetGo", Napi::Function::New<let_go>(env, "servedLetGo"));
  exports.Set("servedDie", Napi::Function::New<die>(env, "servedDie"));
}

} // namespace fpga_verbs::test
