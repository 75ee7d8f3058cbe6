#include "test/served_ring_port.h"

#include "board/random.h"
#include "served/served_consumer.h"
#include "served/served_producer.h"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace fpga_verbs::test {

using board::MessageKind;
using served::ServedConsumer;
using served::ServedPage;
using served::ServedProducer;
using served::ServedTransaction;
using served::Taken;

namespace {

constexpr unsigned function = 3;

// The `number`th transaction of a client, which follows from number and seed.
struct Expected {
  Expected(uint64_t number, uint64_t seed) {
    board::Random random(seed + number * 7);
    kind = random.chance(0.1) ? MessageKind::read : MessageKind::write;
    const bool is_short = kind == MessageKind::read || random.chance(0.2);
    length = is_short ? 4 : 8 * (1 + random.below(board::message_bytes / 8));
    bar = static_cast<unsigned>(random.below(6));
    offset = number << 16 | random.below(1 << 13) * 8;
    for (uint8_t& byte : data)
      byte = static_cast<uint8_t>(random.next());
  }

  bool equals(const ServedTransaction& taken) const {
    return taken.kind == kind && taken.bar == bar && taken.offset == offset && taken.length == length &&
           (kind == MessageKind::read || std::memcmp(taken.data.data(), data.data(), length) == 0);
  }

  MessageKind kind = MessageKind::write;
  unsigned bar = 0;
  uint64_t offset = 0;
  size_t length = 0;
  std::array<uint8_t, board::message_bytes> data{};
};

void produce(ServedPage& page, uint64_t transactions, uint64_t seed, std::string& wrong) {
  ServedProducer producer(page, function);
  std::vector<uint64_t> asked; // numbers of the waiting reads
  const auto check_answers = [&] {
    while (page.answered.load() != producer.reads())
      std::this_thread::yield();
    for (size_t i = 0; i < asked.size(); ++i)
      if (producer.answer(static_cast<uint32_t>(asked.size() - 1 - i)) != static_cast<uint32_t>(asked[i]))
        wrong = "the answer of read " + std::to_string(asked[i]);
    asked.clear();
  };
  for (uint64_t number = 0; number < transactions; ++number) {
    const Expected each(number, seed);
    const auto push = [&] {
      return each.kind == MessageKind::write
                 ? producer.push_write(each.bar, each.offset, each.data.data(), each.length)
                 : producer.push_read(each.bar, each.offset);
    };
    while (!push())
      std::this_thread::yield();
    if (each.kind == MessageKind::write)
      continue;
    asked.push_back(number);
    if (asked.size() > number % ServedPage::most_reads)
      check_answers();
  }
  check_answers();
}

Napi::Value stress(const Napi::CallbackInfo& info) {
  const uint64_t transactions = info[0].As<Napi::Number>().Uint32Value();
  const uint64_t seed = info[1].As<Napi::Number>().Uint32Value();
  const auto page = std::make_unique<ServedPage>();
  std::string wrong;
  std::string wrong_answer;
  std::thread client([&] { produce(*page, transactions, seed, wrong_answer); });
  ServedConsumer consumer(*page, function);
  const auto taken = std::make_unique<ServedTransaction>();
  for (uint64_t number = 0; number < transactions;) {
    const Taken one = consumer.take(*taken);
    if (one == Taken::none) {
      std::this_thread::yield();
      continue;
    }
    if (wrong.empty() && (one == Taken::malformed || !Expected(number, seed).equals(*taken)))
      wrong = "transaction " + std::to_string(number) + ": " + consumer.malformed();
    if (one == Taken::malformed)
      break;
    if (taken->kind == MessageKind::read)
      consumer.answer(static_cast<uint32_t>(number));
    ++number;
  }
  client.join();
  if (wrong.empty() && (consumer.take(*taken) != Taken::none || !consumer.announce_sleep()))
    wrong = "the ring is not empty in the end";
  return Napi::String::New(info.Env(), wrong.empty() ? wrong_answer : wrong);
}

// Pushes a command, and removes the lines that a client would not have written if it died after `lines`
// lines.
Napi::Value half_written(const Napi::CallbackInfo& info) {
  const size_t length = info[0].As<Napi::Number>().Uint32Value();
  const uint64_t lines = info[1].As<Napi::Number>().Uint32Value();
  const auto page = std::make_unique<ServedPage>();
  const std::array<uint8_t, board::message_bytes> data{};
  ServedProducer(*page, function).push_write(2, 0, data.data(), length);
  const uint64_t all = board::TransactionLine::lines_for(length);
  for (uint64_t i = lines; i < all; ++i)
    page->ring[i].sequence.store(0);
  ServedConsumer consumer(*page, function);
  const auto taken = std::make_unique<ServedTransaction>();
  const bool is_taken = consumer.take(*taken) == Taken::one;
  Napi::Object result = Napi::Object::New(info.Env());
  result["lines"] = static_cast<double>(all);
  result["taken"] = is_taken;
  result["maySleep"] = consumer.announce_sleep();
  result["malformed"] = consumer.malformed();
  return result;
}

// The server's refusal of a first line with these fields; empty if the server would wait for more.
Napi::Value check_line(const Napi::CallbackInfo& info) {
  const Napi::Object fields = info[0].As<Napi::Object>();
  const auto number = [&](const char* name) { return fields.Get(name).As<Napi::Number>().Uint32Value(); };
  const auto page = std::make_unique<ServedPage>();
  board::TransactionLine& line = page->ring[0];
  line.kind = static_cast<MessageKind>(number("kind"));
  line.length = static_cast<uint16_t>(number("length"));
  line.count = static_cast<uint8_t>(number("count"));
  const uint64_t where =
      board::TransactionLine::where(number("underlyingFunction"), number("bar"), number("offset"));
  std::memcpy(line.bytes.data(), &where, sizeof where);
  line.sequence.store(board::TransactionLine::sequence_at(0));
  ServedConsumer consumer(*page, function);
  const bool may_sleep = consumer.announce_sleep();
  consumer.take(*std::make_unique<ServedTransaction>());
  return Napi::String::New(info.Env(), may_sleep ? "" : consumer.malformed());
}

} // namespace

void define_served_ring_port(Napi::Env env, Napi::Object exports) {
  exports.Set("servedRingStress", Napi::Function::New<stress>(env, "servedRingStress"));
  exports.Set("servedRingHalfWritten", Napi::Function::New<half_written>(env, "servedRingHalfWritten"));
  exports.Set("servedRingCheckLine", Napi::Function::New<check_line>(env, "servedRingCheckLine"));
}

} // namespace fpga_verbs::test
