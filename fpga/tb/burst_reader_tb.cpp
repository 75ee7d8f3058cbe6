// burst_reader beside the device model: pieces of the memory of the model's board, at any address and of any
// length. The host answers the bursts in any order, after random times. Each piece must return the bytes that
// the model's DMA reads; it must fail if the model's DMA is refused or the host fails a beat. Arguments:
// seed, clocks.
//
// First reads pieces back to back from a host that answers after 200 clocks, and prints the clocks that they
// take.
#include "Vburst_reader.h"
#include "burst_read_host.h"

#include <cstdio>
#include <deque>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vburst_reader;

constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint32_t tags = TAGS;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), host_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    start_anew();
    for (const uint32_t lane : {0U, beat_bytes / 2, 1U})
      stream(4096, lane);
    stream(beat_bytes, 0);
    reads_.spoil_beats(16);
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 128 == 0)
        choose_weights();
      // Sizes change while nothing is in flight.
      if (place_.clock % 4096 == 4095) {
        come_to_rest();
        rtl_.maximum_read_request = random_.below(6);
        reads_.latency = std::array{0U, 20U, 100U}[random_.below(3)];
        step(0);
      }
      step(read_);
    }
    come_to_rest();
    std::printf("%llu reads in %llu clocks, %llu failed, %llu bursts, at most %zu under way, %llu beats out "
                "of turn\n",
                number(pieces_), number(clocks_), number(failed_), number(reads_.bursts),
                reads_.most_under_way, number(reads_.out_of_turn));
    return 0;
  }

private:
  struct Expected {
    Piece piece;
    std::vector<uint8_t> bytes;
    bool failed = false;
    uint32_t done = 0; // bytes received
  };

  static unsigned long long number(uint64_t value) { return value; }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.maximum_read_request = 2;
    rtl_.read = rtl_.data_ready = rtl_.memory_arready = rtl_.memory_rvalid = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      tick();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < 2 * tags; ++clock)
      tick();
  }

  void tick() {
    rtl_.clock = 0;
    rtl_.eval();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void choose_weights() {
    const auto weight = [&] { return std::array{10U, 50U, 100U, 100U}[random_.below(4)]; };
    read_ = weight();
    take_ = weight();
    address_ = weight();
    give_ = weight();
  }

  void come_to_rest() {
    for (uint32_t clock = 0; !rtl_.idle || rtl_.read; ++clock) {
      if (clock > 100'000)
        differ(place_, "pieces that came out", pieces_ - expected_.size(), pieces_);
      step(0);
    }
    expect(place_, "pieces under way when idle", expected_.size(), 0);
  }

  void offer(const Piece& piece) {
    rtl_.read = 1;
    rtl_.read_underlying_function = piece.function;
    rtl_.read_address = piece.address;
    rtl_.read_bytes = piece.bytes;
    rtl_.read_lane = piece.lane;
    rtl_.read_user = piece.user;
    offered_ = piece;
  }

  void step(uint32_t read) {
    if (!rtl_.read && random_.percent(read))
      offer(some_piece(random_, beat_bytes, static_cast<uint32_t>(pieces_)));
    rtl_.data_ready = random_.percent(take_);
    rtl_.memory_arready = random_.percent(address_);
    if (!rtl_.memory_rvalid && random_.percent(give_))
      reads_.give(rtl_, now_);
    advance();
  }

  // A clock with the inputs of the host and the clients.
  void advance() {
    rtl_.clock = 0;
    rtl_.eval();
    const bool begins = rtl_.read && rtl_.read_ready;
    const bool gives = rtl_.memory_rvalid && rtl_.memory_rready;
    if (begins)
      begin();
    if (rtl_.memory_arvalid && rtl_.memory_arready)
      reads_.take_address(rtl_, now_);
    if (rtl_.data_valid && rtl_.data_ready)
      compare();
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    if (begins)
      rtl_.read = 0;
    if (gives)
      rtl_.memory_rvalid = 0;
  }

  void begin() {
    Expected expected{.piece = offered_, .bytes = std::vector<uint8_t>(offered_.bytes)};
    expected.failed = !host_.read(offered_.function, offered_.address, expected.bytes.data(), offered_.bytes);
    expected.failed |= reads_.is_any_spoilt(offered_.function, offered_.address, offered_.bytes);
    failed_ += expected.failed;
    ++pieces_;
    expected_.push_back(std::move(expected));
  }

  // Compares the output beat.
  void compare() {
    if (expected_.empty())
      differ(place_, "beats that came out", 1, 0);
    Expected& now = expected_.front();
    const uint32_t begin = now.done == 0 ? now.piece.lane : 0;
    const uint32_t bytes = std::min(beat_bytes - begin, now.piece.bytes - now.done);
    const bool is_last = now.done + bytes == now.piece.bytes;
    expect(place_, "user", rtl_.data_user, now.piece.user);
    expect(place_, "bytes of a beat", rtl_.data_strobe, keep_of(bytes) << begin);
    expect(place_, "first beat", rtl_.data_first, now.done == 0);
    expect(place_, "last beat", rtl_.data_last, is_last);
    if (is_last)
      expect(place_, "failed", rtl_.data_failed, now.failed);
    std::array<uint8_t, beat_bytes> beat;
    std::memcpy(beat.data(), &rtl_.data, beat_bytes);
    for (uint32_t byte = 0; byte < bytes && !now.failed; ++byte)
      expect(place_, "byte", beat[begin + byte], now.bytes[now.done + byte]);
    now.done += bytes;
    if (is_last)
      expected_.pop_front();
  }

  // Reads pieces of this size from the start of a page, to a lane, at full speed.
  void stream(uint32_t bytes, uint32_t lane) {
    constexpr uint32_t beats = 4096;
    const uint32_t count = beats * beat_bytes / bytes;
    reads_.latency = 200;
    reads_.is_in_order = true;
    rtl_.data_ready = rtl_.memory_arready = 1;
    uint32_t asked = 0;
    uint32_t clocks = 0;
    const uint64_t before = pieces_;
    for (; asked < count || !expected_.empty() || rtl_.read; ++clocks) {
      if (!rtl_.read && asked < count) {
        offer({.function = 0, .address = BurstHost::base, .bytes = bytes, .lane = lane});
        ++asked;
      }
      if (!rtl_.memory_rvalid)
        reads_.give(rtl_, now_);
      advance();
      if (clocks > 100 * beats)
        differ(place_, "reads on end", pieces_ - before, count);
    }
    std::printf("%u reads of %u bytes to lane %u: %u clocks\n", count, bytes, lane, clocks);
    reads_.latency = 0;
    reads_.is_in_order = false;
  }

  Rtl rtl_;
  Random random_;
  BurstHost host_;
  Place place_;
  BurstReadHost<Rtl> reads_{place_, random_, host_, MOST_BYTES};
  uint64_t clocks_;
  uint64_t now_ = 0;
  uint32_t read_ = 100;
  uint32_t take_ = 100;
  uint32_t address_ = 100;
  uint32_t give_ = 100;
  Piece offered_;
  std::deque<Expected> expected_;
  uint64_t pieces_ = 0;
  uint64_t failed_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
