#include "test/transaction_ring_port.h"

#include "board/random.h"
#include "board/transaction_ring.h"

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace fpga_verbs::test {

using board::Message;
using board::MessageKind;

namespace {

// The `number`th message of a producer, which follows from producer, number and seed.
struct Expected {
  Expected(unsigned producer, uint64_t number, uint64_t seed) {
    board::Random random(seed + producer * 1'000'003 + number * 7);
    kind = random.chance(0.2) ? MessageKind::partial_write : MessageKind::write;
    const uint64_t most = kind == MessageKind::write ? board::message_bytes : 64;
    length = 4 * (1 + random.below(most / 4));
    bar = static_cast<unsigned>(random.below(6));
    offset = number << 16 | random.below(1 << 16);
    byte_enables = random.next();
    for (uint8_t& byte : data)
      byte = static_cast<uint8_t>(random.next());
  }

  bool equals(const Message& message) const {
    return message.kind == kind && message.bar == bar && message.offset == offset &&
           message.length == length && (kind == MessageKind::write || message.byte_enables == byte_enables) &&
           std::memcmp(message.data.data(), data.data(), length) == 0;
  }

  MessageKind kind = MessageKind::write;
  unsigned bar = 0;
  uint64_t offset = 0;
  uint64_t byte_enables = 0;
  size_t length = 0;
  std::array<uint8_t, board::message_bytes> data{};
};

void produce(board::TransactionRing& ring, unsigned producer, uint64_t messages, uint64_t seed) {
  for (uint64_t number = 0; number < messages; ++number) {
    const Expected message(producer, number, seed);
    const auto push = [&] {
      return message.kind == MessageKind::write
                 ? ring.push_write(producer, message.bar, message.offset, message.data.data(), message.length)
                 : ring.push_partial_write(producer, message.bar, message.offset, message.byte_enables,
                                           message.data.data(), message.length);
    };
    while (!push())
      std::this_thread::yield();
  }
}

std::string consume(board::TransactionRing& ring, unsigned producers, uint64_t messages, uint64_t seed) {
  std::vector<uint64_t> next(producers, 0);
  std::string wrong;
  auto message = std::make_unique<Message>();
  for (uint64_t left = producers * messages; left != 0;) {
    if (!ring.pop(*message)) {
      std::this_thread::yield();
      continue;
    }
    --left;
    const unsigned producer = message->underlying_function;
    if (!wrong.empty())
      continue; // the producers must finish
    if (producer >= producers)
      wrong = "a message of producer " + std::to_string(producer);
    else if (!Expected(producer, next[producer], seed).equals(*message))
      wrong = "message " + std::to_string(next[producer]) + " of producer " + std::to_string(producer);
    else
      ++next[producer];
  }
  if (wrong.empty() && (ring.pop(*message) || ring.arriving() || ring.claimed()))
    wrong = "the ring is not empty in the end";
  return wrong;
}

Napi::Value stress(const Napi::CallbackInfo& info) {
  const unsigned producers = info[0].As<Napi::Number>().Uint32Value();
  const uint64_t messages = info[1].As<Napi::Number>().Uint32Value();
  const uint64_t seed = info[2].As<Napi::Number>().Uint32Value();
  const auto ring = std::make_unique<board::TransactionRing>();
  std::vector<std::thread> threads;
  for (unsigned producer = 0; producer < producers; ++producer)
    threads.emplace_back(produce, std::ref(*ring), producer, messages, seed);
  const std::string wrong = consume(*ring, producers, messages, seed);
  for (std::thread& thread : threads)
    thread.join();
  return Napi::String::New(info.Env(), wrong);
}

} // namespace

void define_transaction_ring_port(Napi::Env env, Napi::Object exports) {
  exports.Set("transactionRingStress", Napi::Function::New<stress>(env, "transactionRingStress"));
}

} // namespace fpga_verbs::test
