// Explores the interleavings of the writer of an observers' ring and a reader. Prints a line for each
// program; exit code 1: one is wrong.
#include "board/watch_ring.h"
#include "test/interleavings/checked_platform.h"

#include <array>
#include <cstdio>
#include <cstring>

namespace fpga_verbs::interleavings {

namespace {

struct Cast {
  const char* name;
  unsigned messages;
  size_t room; // maximum bytes that the reader takes at once
};

// The ring has room for two messages.
constexpr Cast casts[] = {
    {.name = "as many as there is room for", .messages = 2, .room = 16},
    {.name = "one more", .messages = 3, .room = 16},
    {.name = "twice as many", .messages = 4, .room = 8},
};

// The reader may start at any time.
class Ring final : public Program {
public:
  explicit Ring(const Cast& cast) : cast_(cast) {}

  uint64_t state() const override { return 0; }

  std::vector<std::function<void()>> threads() override {
    return {[this] { write(); }, [this] { read(); }};
  }

  const char* wrong_at_rest() const override { return nullptr; }

private:
  static constexpr size_t words = 4;

  static uint64_t payload(uint64_t number) { return 1000 + number; }

  void write() {
    board::BasicWatchWriter<CheckedPlatform> writer(header_, words_);
    for (uint64_t number = 0; number < cast_.messages; ++number) {
      const uint64_t word = payload(number);
      std::array<uint8_t, sizeof word> bytes;
      std::memcpy(bytes.data(), &word, sizeof word);
      writer.put(std::span<const uint8_t>(bytes));
    }
    done_.store(1, std::memory_order_release);
  }

  // Reads until the writer has finished and the ring is empty.
  void read() {
    Explorer& explorer = Explorer::here();
    board::BasicWatchReader<CheckedPlatform> reader(header_, words_);
    uint64_t taken = 0;
    uint64_t last = 0;
    CheckedPlatform::Loop loop;
    for (;;) {
      loop.again(reader.state() * 31 + taken * 7 + last);
      const bool is_last = done_.load(std::memory_order_acquire) != 0;
      std::array<uint8_t, 16> to{};
      size_t bytes = 0;
      while ((bytes = reader.take(std::span(to).first(cast_.room))) != 0)
        for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
          uint64_t word = 0;
          std::memcpy(&word, to.data() + at, sizeof word);
          if (word < payload(0) || word >= payload(cast_.messages))
            explorer.fail("the reader has what was never written");
          if (word <= last)
            explorer.fail("the reader has a message again, or in another order");
          last = word;
          ++taken;
        }
      if (is_last)
        break;
    }
    const uint64_t known = taken + reader.lost();
    if (known > cast_.messages)
      explorer.fail("the reader counts more messages than there were");
    if (taken != 0 && known < payload(cast_.messages) - 1 - last + taken)
      explorer.fail("messages behind the last are lost, and not counted");
  }

  const Cast& cast_;
  board::BasicWatchRingHeader<CheckedPlatform> header_;
  std::array<CheckedPlatform::Atomic<uint64_t>, words> words_;
  CheckedPlatform::Atomic<uint32_t> done_{0};
};

bool check(const char* wanted) {
  bool right = true;
  for (const Cast& cast : casts) {
    if (wanted != nullptr && std::strcmp(wanted, cast.name) != 0)
      continue;
    const Explorer::Result result =
        Explorer::here().explore([&]() -> std::unique_ptr<Program> { return std::make_unique<Ring>(cast); });
    std::printf("%s: %zu states, %zu runs: %s\n", cast.name, result.states, result.runs,
                result.failure.empty() ? "right" : result.failure.c_str());
    std::fflush(stdout);
    right = right && result.failure.empty();
  }
  return right;
}

} // namespace

} // namespace fpga_verbs::interleavings

// The name of one program, or all.
int main(int count, char** arguments) {
  return fpga_verbs::interleavings::check(count > 1 ? arguments[1] : nullptr) ? 0 : 1;
}
