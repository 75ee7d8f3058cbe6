// The cost of an operation, for a tool that counts instructions. Arguments: OPERATION TIMES. Two boards of
// one fabric, and one thread that posts and polls on both; no Node. Prints the steps of blocks on both
// boards. The cost of one operation is the difference of two runs, divided by the difference of their TIMES.
// See scripts/instruction_counts.mjs.
#include "test/counts/station.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fpga_verbs::test {

namespace {

constexpr uint32_t short_message = 64;
constexpr uint32_t atomic_operand = 8;
constexpr uint32_t long_message = 1 << 20;
constexpr uint32_t inline_message = 96;
constexpr unsigned burst = 16;

using Operate = bool (*)(Station& here, Station& there);

// Half of a round trip; the other half is the same in the opposite direction.
bool send(Station& here, Station& there) {
  there.post_receive(short_message);
  here.store(spec::Opcode::send, there, short_message, true);
  here.ring();
  return there.complete() && here.complete();
}

template <spec::Opcode opcode, uint32_t bytes> bool one_sided(Station& here, Station& there) {
  here.store(opcode, there, bytes, true);
  here.ring();
  return here.complete();
}

enum class Fences : uint8_t { one, each };

// Sixteen commands; the last one is signaled.
template <Fences fences> bool write_burst(Station& here, Station& there) {
  for (unsigned i = 0; i < burst; ++i) {
    here.store(spec::Opcode::rdma_write, there, short_message, i + 1 == burst);
    if (fences == Fences::each || i + 1 == burst)
      here.ring();
  }
  return here.complete();
}

// The same with the data inline, and with kick records.
bool kick_burst(Station& here, Station& there) {
  for (unsigned i = 0; i < burst; ++i)
    here.store_inline(spec::Opcode::rdma_write, there, inline_message, i + 1 == burst);
  here.ring();
  return here.complete() && here.take_kick_records(burst);
}

enum class Seen : uint8_t { by_none, by_its_driver, by_observers };

struct Operation {
  std::string_view name;
  Operate operate;
  Seen seen = Seen::by_none;
};

constexpr std::array operations{
    Operation{"send", send},
    Operation{"write", one_sided<spec::Opcode::rdma_write, short_message>},
    Operation{"write_posts", write_burst<Fences::each>},
    Operation{"write_burst", write_burst<Fences::one>},
    Operation{"read", one_sided<spec::Opcode::rdma_read, short_message>},
    Operation{"atomic", one_sided<spec::Opcode::atomic_fetch_and_add, atomic_operand>},
    Operation{"write_long", one_sided<spec::Opcode::rdma_write, long_message>},
    Operation{"kick", kick_burst, Seen::by_its_driver},
    Operation{"send_watched", send, Seen::by_observers},
};

int run(std::string_view name, unsigned times) {
  const auto* const operation = std::ranges::find(operations, name, &Operation::name);
  Station one;
  Station other;
  if (operation == operations.end() || !one.made() || !other.made() || !one.connect(other) ||
      !other.connect(one))
    return EXIT_FAILURE;
  for (Station* const station : {&one, &other}) {
    if (operation->seen == Seen::by_its_driver)
      station->record_kicks();
    if (operation->seen == Seen::by_observers && !station->be_watched())
      return EXIT_FAILURE;
  }
  const uint64_t before = one.steps() + other.steps();
  for (unsigned i = 0; i < times; ++i)
    if (!(i % 2 == 0 ? operation->operate(one, other) : operation->operate(other, one)))
      return EXIT_FAILURE;
  std::printf("%llu\n", static_cast<unsigned long long>(one.steps() + other.steps() - before));
  return EXIT_SUCCESS;
}

} // namespace

} // namespace fpga_verbs::test

int main(int count, char** arguments) {
  if (count != 3)
    return EXIT_FAILURE;
  return fpga_verbs::test::run(arguments[1], static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10)));
}
