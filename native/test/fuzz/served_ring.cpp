#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_targets.h"

#include "served/served_consumer.h"

#include <cstring>
#include <memory>

namespace fpga_verbs::test {

using board::MessageKind;
using board::TransactionLine;
using served::ServedPage;
using served::ServedTransaction;
using served::Taken;

namespace {

constexpr unsigned function = 1;

bool is_legal(const ServedTransaction& taken) {
  const unsigned alignment = taken.length == 4 ? 4 : 8;
  return (taken.kind == MessageKind::write || (taken.kind == MessageKind::read && taken.length == 4)) &&
         taken.bar < 6 && taken.length != 0 && taken.length <= board::message_bytes &&
         taken.length % alignment == 0 && taken.offset % alignment == 0;
}

// Most lines look like a client's, so that they reach the code behind the first checks.
void fill(TransactionLine& line, uint64_t position, FuzzInput& input) {
  const uint8_t what = input.byte();
  line.kind = (what & 1) != 0 ? static_cast<MessageKind>(input.byte()) : MessageKind::write;
  line.length = (what & 2) != 0 ? input.take<uint16_t>() : static_cast<uint16_t>(8 * input.below(64));
  line.count = (what & 4) != 0 ? input.byte() : static_cast<uint8_t>(TransactionLine::lines_for(line.length));
  const uint64_t where = (what & 8) != 0
                             ? input.take<uint64_t>()
                             : TransactionLine::where(function, input.below(6), 8U * input.byte());
  std::memcpy(line.bytes.data(), &where, sizeof where);
  const uint64_t sequence_of = (what & 16) != 0 ? input.take<uint32_t>() : position;
  line.sequence.store(TransactionLine::sequence_at(sequence_of));
}

} // namespace

std::string fuzz_served_ring(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  const auto page = std::make_unique<ServedPage>();
  const auto taken = std::make_unique<ServedTransaction>();
  served::ServedConsumer consumer(*page, function);
  uint64_t position = 0;
  uint64_t before = 0;
  while (!input.empty()) {
    fill(page->ring[position % ServedPage::lines], position, input);
    ++position;
    const Taken one = consumer.take(*taken);
    const uint64_t head = page->head.load();
    if (one == Taken::one && !is_legal(*taken))
      return "a transaction that is not legal was taken";
    if (one == Taken::one && head != before + TransactionLine::lines_for(taken->length))
      return "not the lines of the transaction were taken";
    if (one != Taken::one && head != before)
      return "lines were taken of no transaction";
    if (one == Taken::malformed &&
        (*consumer.malformed() == '\0' || consumer.take(*taken) != Taken::malformed))
      return "the malformed message is forgotten";
    before = head;
    consumer.announce_sleep();
  }
  return "";
}

} // namespace fpga_verbs::test
