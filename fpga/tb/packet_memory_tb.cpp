// packet_memory beside the device model: buffers of all uses are allocated, written, read and released at
// random. The RTL has no buffer for a use if the model has none, and has one some clocks after the model; it
// gives no buffer twice; each buffer keeps the bytes of the model's. Arguments: seed, clocks.
#include "Vpacket_memory.h"
#include "beats.h"

#include "hca/port/packet_memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vpacket_memory;

constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint32_t uses = USES;
constexpr uint32_t buffers_of_use = BUFFERS_OF_USE;
constexpr uint32_t places = spec::packet_buffer_bytes / beat_bytes;
constexpr uint32_t clocks_to_return = 6; // from the release of a buffer to its next allocation
constexpr uint32_t clocks_to_read = 3;
static_assert(uses == 2 ? buffers_of_use == spec::request_packet_buffers &&
                              buffers_of_use == spec::response_packet_buffers
                        : buffers_of_use == spec::receive_packet_buffers);

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    last_return_ = now_ + uses * buffers_of_use; // all are released, one after the other
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 256 == 0)
        allocate_ = std::array{20U, 50U, 100U}[random_.below(3)];
      begin_clock();
      step();
      if (place_.clock % 1024 == 1023)
        compare_at_rest();
    }
    std::printf("%llu buffers taken in %llu clocks, %llu where a use had none, %llu beats compared\n",
                number(taken_), number(clocks_), number(refused_), number(compared_));
    return 0;
  }

private:
  struct Buffer {
    uint16_t model = 0;
    std::vector<bool> is_known = std::vector<bool>(places * beat_bytes); // byte by byte
  };
  struct Read {
    uint64_t due = 0;
    std::array<uint8_t, beat_bytes> bytes;
    uint64_t known = 0;
  };

  static unsigned long long number(uint64_t value) { return value; }
  static hca::PacketUse use_of(uint32_t use) {
    return uses == 1 ? hca::PacketUse::receive : static_cast<hca::PacketUse>(use);
  }

  void begin_clock() {
    rtl_.allocate = rtl_.give_back = rtl_.write = 0;
    rtl_.eval();
    if (random_.percent(allocate_))
      allocate(random_.below(uses));
    if (live_.empty())
      return;
    if (random_.percent(50)) // often at the rate of releases, so that each use runs out
      give_back();
    if (live_.empty())
      return;
    const uint32_t written = some_live();
    const uint32_t place = some_place();
    const bool writes = random_.percent(80);
    if (writes)
      write(written, place);
    const uint32_t read = some_live();
    const uint32_t read_place = random_.once(2) ? last_place_ : some_place();
    rtl_.read_packet = read;
    rtl_.read_place = read_place;
    if (!writes || read != written || read_place != place)
      expect_read(read, read_place);
    if (writes)
      note_written(written, place);
    last_place_ = place;
  }

  uint32_t some_live() { return live_[random_.below(static_cast<uint32_t>(live_.size()))]; }
  // Mostly one of few beats, so that a beat read was often written; the first and the last are among them.
  uint32_t some_place() {
    if (random_.once(8))
      return random_.below(places);
    return random_.once(2) ? random_.below(4) : places - 1 - random_.below(4);
  }

  void allocate(uint32_t use) {
    const bool has = (rtl_.has_free >> use & 1) != 0;
    const uint32_t of_model = model_.free(use_of(use));
    if (has)
      expect(place_, "a use has a free buffer", has, of_model != 0);
    else if (of_model != 0 && now_ > last_return_ + clocks_to_return)
      differ(place_, "a use has a free buffer", has, of_model);
    if (!has) {
      ++refused_;
      return;
    }
    const uint32_t packet = rtl_.free_packet;
    if (buffers_[packet].has_value())
      differ(place_, "a buffer that is given twice", packet, 0);
    rtl_.allocate = 1;
    rtl_.allocate_use = use;
    buffers_[packet] = Buffer{.model = *model_.allocate(use_of(use))};
    live_.push_back(packet);
    ++taken_;
  }

  void give_back() {
    const uint32_t index = random_.below(static_cast<uint32_t>(live_.size()));
    const uint32_t packet = live_[index];
    if (rtl_.allocate && packet == rtl_.free_packet)
      return; // in the clock of its allocation
    live_.erase(live_.begin() + index);
    rtl_.give_back = 1;
    rtl_.give_back_packet = packet;
    model_.release(buffers_[packet]->model);
    buffers_[packet].reset();
    last_return_ = std::max(last_return_, now_);
  }

  void write(uint32_t packet, uint32_t place) {
    std::array<uint8_t, beat_bytes> beat;
    fill(random_, beat);
    const uint64_t strobe = random_.once(2) ? keep_of(beat_bytes) : random_.bits() & keep_of(beat_bytes);
    std::memcpy(&rtl_.write_data, beat.data(), beat_bytes);
    rtl_.write = 1;
    rtl_.write_packet = packet;
    rtl_.write_place = place;
    rtl_.write_strobe = strobe;
    written_ = beat;
    strobe_ = strobe;
  }

  void note_written(uint32_t packet, uint32_t place) {
    Buffer& buffer = *buffers_[packet];
    for (uint32_t lane = 0; lane < beat_bytes; ++lane)
      if ((strobe_ >> lane & 1) != 0) {
        model_.bytes(buffer.model)[place * beat_bytes + lane] = written_[lane];
        buffer.is_known[place * beat_bytes + lane] = true;
      }
  }

  void expect_read(uint32_t packet, uint32_t place) {
    const Buffer& buffer = *buffers_[packet];
    Read read{.due = now_ + clocks_to_read};
    for (uint32_t lane = 0; lane < beat_bytes; ++lane) {
      read.bytes[lane] = model_.bytes(buffer.model)[place * beat_bytes + lane];
      read.known |= uint64_t{buffer.is_known[place * beat_bytes + lane]} << lane;
    }
    reads_.push_back(read);
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    if (!reads_.empty() && reads_.front().due == now_) {
      std::array<uint8_t, beat_bytes> beat;
      std::memcpy(beat.data(), &rtl_.read_data, beat_bytes);
      for (uint32_t lane = 0; lane < beat_bytes; ++lane)
        if ((reads_.front().known >> lane & 1) != 0)
          expect(place_, "byte", beat[lane], reads_.front().bytes[lane]);
      compared_ += reads_.front().known != 0;
      reads_.pop_front();
    }
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
  }

  void compare_at_rest() {
    rtl_.allocate = rtl_.give_back = rtl_.write = 0;
    for (uint32_t clock = 0; clock < clocks_to_return; ++clock)
      step();
    constexpr uint32_t bits = 32 - __builtin_clz(buffers_of_use);
    for (uint32_t use = 0; use < uses; ++use)
      expect(place_, "free buffers of a use", rtl_.free >> use * bits & ((1U << bits) - 1),
             model_.free(use_of(use)));
  }

  Rtl rtl_;
  hca::PacketMemory model_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint64_t now_ = 0;
  uint64_t last_return_ = 0;
  uint32_t allocate_ = 100;
  uint32_t last_place_ = 0;
  std::array<uint8_t, beat_bytes> written_;
  uint64_t strobe_ = 0;
  std::array<std::optional<Buffer>, uses * buffers_of_use>
      buffers_; // by handle of the RTL: those that are allocated
  std::vector<uint32_t> live_;
  std::deque<Read> reads_;
  uint64_t taken_ = 0;
  uint64_t refused_ = 0;
  uint64_t compared_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
