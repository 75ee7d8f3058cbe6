// burst_writer beside the device model: pieces from any offset in a beat to any address of the memory of the
// model's board. The host accepts and answers bursts after random times. At rest, memory must equal that of
// the model's DMA; pieces must be answered in order, as failed if the model's DMA is refused. Arguments:
// seed, clocks.
//
// First writes pieces back to back to a host that answers after 200 clocks, and prints the clocks that they
// take.
#include "Vburst_writer.h"
#include "burst_host.h"

#include <bit>
#include <cstdio>
#include <deque>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vburst_writer;

constexpr uint32_t beat_bytes = BEAT_BYTES;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), host_(seed), model_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    start_anew();
    for (const uint32_t lane : {0U, beat_bytes / 2, 1U})
      stream(4096, lane);
    stream(beat_bytes, 0);
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 128 == 0)
        choose_weights();
      // Sizes change while nothing is in flight.
      if (place_.clock % 2048 == 2047) {
        come_to_rest();
        rtl_.maximum_payload = random_.below(6);
        latency_ = std::array{0U, 20U, 100U}[random_.below(3)];
        step(0);
      }
      step(write_);
    }
    come_to_rest();
    std::printf("%llu writes in %llu clocks, %llu failed, %llu bursts, at most %zu under way\n",
                number(pieces_), number(clocks_), number(failed_), number(bursts_), most_under_way_);
    return 0;
  }

private:
  struct Burst {
    unsigned function = 0;
    uint64_t address = 0;
    uint32_t beats = 0;
    uint64_t due = 0; // 0: data incomplete
    bool failed = false;
  };
  struct Data {
    std::array<uint8_t, beat_bytes> bytes;
    uint64_t strobe = 0;
  };
  struct Expected {
    uint32_t user = 0;
    bool failed = false;
  };

  static unsigned long long number(uint64_t value) { return value; }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.maximum_payload = 2;
    rtl_.write = rtl_.data_valid = rtl_.memory_awready = rtl_.memory_wready = rtl_.memory_bvalid = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      tick();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
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
    write_ = weight();
    give_ = weight();
    address_ = weight();
    data_ = weight();
    answer_ = weight();
  }

  void come_to_rest() {
    for (uint32_t clock = 0; !rtl_.idle || rtl_.write; ++clock) {
      if (clock > 100'000)
        differ(place_, "pieces that were answered", pieces_ - expected_.size(), pieces_);
      step(0);
    }
    expect(place_, "pieces under way when idle", expected_.size(), 0);
    expect(place_, "beats that were not taken", beats_.size(), 0);
    expect(place_, "bursts that were not answered", under_way_.size() + data_of_burst_.size(), 0);
    for (size_t byte = 0; byte < host_.all().size(); ++byte)
      if (host_.all()[byte] != model_.all()[byte])
        differ(place_, "memory", uint64_t{host_.all()[byte]} << 32 | byte,
               uint64_t{model_.all()[byte]} << 32 | byte);
  }

  void offer(const Piece& piece) {
    rtl_.write = 1;
    rtl_.write_underlying_function = piece.function;
    rtl_.write_address = piece.address;
    rtl_.write_bytes = piece.bytes;
    rtl_.write_lane = piece.lane;
    rtl_.write_user = piece.user;
    offered_ = piece;
  }

  void step(uint32_t write) {
    if (!rtl_.write && random_.percent(write))
      offer(some_piece(random_, beat_bytes, static_cast<uint32_t>(pieces_)));
    if (!rtl_.data_valid && !beats_.empty() && random_.percent(give_))
      put_beat();
    rtl_.memory_awready = random_.percent(address_);
    rtl_.memory_wready = random_.percent(data_);
    if (!rtl_.memory_bvalid && random_.percent(answer_))
      give();
    advance();
  }

  void put_beat() {
    std::memcpy(&rtl_.data, beats_.front().data(), beat_bytes);
    beats_.pop_front();
    rtl_.data_valid = 1;
  }

  // A clock with the inputs of the host and the clients.
  void advance() {
    rtl_.clock = 0;
    rtl_.eval();
    const bool begins = rtl_.write && rtl_.write_ready;
    const bool goes_in = rtl_.data_valid && rtl_.data_ready;
    const bool gives = rtl_.memory_bvalid && rtl_.memory_bready;
    if (begins)
      begin();
    if (rtl_.memory_awvalid && rtl_.memory_awready)
      take_address();
    if (rtl_.memory_wvalid && rtl_.memory_wready)
      take_beat();
    if (rtl_.answer)
      compare();
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    if (begins)
      rtl_.write = 0;
    if (goes_in)
      rtl_.data_valid = 0;
    if (gives)
      rtl_.memory_bvalid = 0;
  }

  void begin() {
    std::vector<uint8_t> bytes(offered_.bytes);
    fill(random_, bytes);
    const bool is_whole = model_.write_pages(offered_.function, offered_.address, bytes.data(), bytes.size());
    expected_.push_back({.user = offered_.user, .failed = !is_whole});
    failed_ += !is_whole;
    ++pieces_;
    for (uint32_t done = 0, begin = offered_.lane; done < bytes.size(); begin = 0) {
      const uint32_t part =
          std::min<uint32_t>(beat_bytes - begin, static_cast<uint32_t>(bytes.size()) - done);
      beats_.push_back(some_beat<beat_bytes>(random_, std::span(bytes).subspan(done, part), begin));
      done += part;
    }
  }

  void take_address() {
    const Burst burst{
        .function = rtl_.memory_awuser, .address = rtl_.memory_awaddr, .beats = rtl_.memory_awlen + 1U};
    const uint64_t most = burst_bytes(rtl_.maximum_payload, MOST_BYTES, beat_bytes);
    const uint64_t end = burst.address / beat_bytes * beat_bytes + uint64_t{burst.beats} * beat_bytes;
    expect(place_, "size of a burst's beats", 1U << rtl_.memory_awsize, beat_bytes);
    expect(place_, "a burst keeps within its largest size", (end - 1) / most, burst.address / most);
    under_way_.push_back(burst);
    most_under_way_ = std::max(most_under_way_, under_way_.size());
    ++bursts_;
    write_what_is_there();
  }

  void take_beat() {
    Data data{.strobe = rtl_.memory_wstrb};
    std::memcpy(data.bytes.data(), &rtl_.memory_wdata, beat_bytes);
    data_of_burst_.push_back(data);
    if (!rtl_.memory_wlast)
      return;
    whole_.push_back(std::exchange(data_of_burst_, {}));
    write_what_is_there();
  }

  // Writes bursts whose data are complete, possibly before their address.
  void write_what_is_there() {
    for (Burst& burst : under_way_) {
      if (whole_.empty())
        return;
      if (burst.due != 0)
        continue;
      const std::vector<Data> data = whole_.front();
      whole_.pop_front();
      expect(place_, "beats of a burst", data.size(), burst.beats);
      for (size_t beat = 0; beat < data.size(); ++beat)
        write(burst, burst.address / beat_bytes * beat_bytes + beat * beat_bytes, data[beat]);
      burst.due = now_ + 1 + latency_;
    }
  }

  void write(Burst& burst, uint64_t address, const Data& data) {
    const int begin = std::countr_zero(data.strobe);
    const int bytes = std::popcount(data.strobe);
    expect(place_, "strobes without a gap", data.strobe, keep_of(static_cast<uint32_t>(bytes)) << begin);
    if (!host_.write(burst.function, address + static_cast<uint64_t>(begin), data.bytes.data() + begin,
                     static_cast<size_t>(bytes)))
      burst.failed = true;
  }

  void give() {
    if (under_way_.empty() || under_way_.front().due == 0 || under_way_.front().due > now_)
      return;
    rtl_.memory_bresp = under_way_.front().failed ? 2 + random_.below(2) : 0;
    rtl_.memory_bvalid = 1;
    under_way_.pop_front();
  }

  // Compares the answer.
  void compare() {
    if (expected_.empty())
      differ(place_, "pieces that were answered", pieces_ + 1, pieces_);
    expect(place_, "user", rtl_.answer_user, expected_.front().user);
    expect(place_, "failed", rtl_.answer_failed, expected_.front().failed);
    expected_.pop_front();
  }

  // Writes pieces of this size from the start of a page, from a lane, at full speed.
  void stream(uint32_t bytes, uint32_t lane) {
    constexpr uint32_t beats = 4096;
    const uint32_t count = beats * beat_bytes / bytes;
    latency_ = 200;
    rtl_.memory_awready = rtl_.memory_wready = 1;
    uint32_t asked = 0;
    uint32_t clocks = 0;
    for (; asked < count || !rtl_.idle || rtl_.write; ++clocks) {
      if (!rtl_.write && asked < count) {
        offer({.function = 0, .address = BurstHost::base, .bytes = bytes, .lane = lane});
        ++asked;
      }
      if (!rtl_.data_valid && !beats_.empty())
        put_beat();
      if (!rtl_.memory_bvalid)
        give();
      advance();
      if (clocks > 100 * beats)
        differ(place_, "writes on end", pieces_ - expected_.size(), count);
    }
    std::printf("%u writes of %u bytes from lane %u: %u clocks\n", count, bytes, lane, clocks);
    latency_ = 0;
  }

  Rtl rtl_;
  Random random_;
  BurstHost host_;
  BurstHost model_;
  Place place_;
  uint64_t clocks_;
  uint64_t now_ = 0;
  uint32_t latency_ = 0;
  uint32_t write_ = 100;
  uint32_t give_ = 100;
  uint32_t address_ = 100;
  uint32_t data_ = 100;
  uint32_t answer_ = 100;
  Piece offered_;
  std::deque<std::array<uint8_t, beat_bytes>> beats_;
  std::deque<Expected> expected_;
  std::deque<Burst> under_way_;
  std::vector<Data> data_of_burst_;
  std::deque<std::vector<Data>> whole_;
  uint64_t pieces_ = 0;
  uint64_t failed_ = 0;
  uint64_t bursts_ = 0;
  size_t most_under_way_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
