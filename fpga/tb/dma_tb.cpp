// dma beside the device model: commands of several queue pairs, of all opcodes, with data in the PCB or in
// host memory that keys may refuse or the host may fail to read; the host answers in any order, and late.
// At each context that the RTL reads, the model processes the same packet. Each packet must leave with the
// model's bytes and number, in the order of its queue pair, and each command with the model's status.
// Meanwhile queue pairs fail and are reset. Arguments: seed, clocks.
//
// With seed 1 it first sends messages back to back from a host that answers after 200 clocks, and prints the
// clocks that they take.
#include "Vdma.h"
#include "burst_read_host.h"
#include "dma_accesses.h"
#include "dma_commands.h"
#include "dma_surroundings.h"

#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vdma;
using spec::CompletionStatus;

constexpr uint32_t queue_pair_count = DmaModel::queue_pair_count;
constexpr uint64_t longest = 50'000; // clocks until all commands have ended, without a stall
constexpr uint32_t most_bytes = 512; // of a read
constexpr uint32_t most_of_command = 8;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), host_(seed), place_{.seed = seed}, clocks_(clocks), queue_pairs_(queue_pair_count) {}

  int run() {
    for (uint32_t buffer = 0; buffer < BUFFERS; ++buffer)
      free_buffers_.push_back(buffer);
    for (unsigned function = 0; function < DmaModel::functions; ++function)
      model_.create_region(function, 16);
    start_anew();
    if (place_.seed == 1)
      figures();
    const uint64_t begin = now_;
    while (now_ < begin + clocks_) {
      if (now_ % 128 == 0)
        choose_weights();
      if (now_ % 64 == 0)
        change_queue_pair();
      if (now_ % 8192 == 8191) {
        come_to_rest();
        rtl_.maximum_read_request = random_.below(6);
        reads_.latency = std::array{0U, 20U, 200U}[random_.below(3)];
      }
      if (!rtl_.execution && random_.percent(execution_))
        offer_some();
      step();
    }
    come_to_rest();
    std::printf(
        "%llu commands in %llu clocks, %llu packets, %llu ended without one: %llu of protection, %llu "
        "flushed, %llu of windows, %llu came failed, %llu abandoned; %llu faults, %llu accesses, %llu "
        "dropped, %llu beats out of turn\n",
        number(commands_), number(clocks_), number(packets_), number(ended_),
        number(statuses_[CompletionStatus::local_protection_error]),
        number(statuses_[CompletionStatus::work_request_flushed_error]),
        number(statuses_[CompletionStatus::memory_window_bind_error]),
        number(statuses_[CompletionStatus::local_length_error]), number(statuses_[CompletionStatus::success]),
        number(faults_), number(accesses_.accesses), number(dropped_), number(reads_.out_of_turn));
    return 0;
  }

private:
  struct Command {
    spec::KickUnit kick;
    bool is_begun = false; // in the model
    bool is_done = false;
    uint64_t since = 0;
  };
  struct QueuePair {
    std::deque<Command> commands;
    std::deque<DmaModel::Packet> expected;
    uint32_t fails = 0; // failures without an answer
    bool send_error = false;
    bool is_changed = false;
  };
  struct Context {
    uint32_t number = 0;
    uint64_t due = 0;
  };

  static unsigned long long number(uint64_t value) { return value; }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.maximum_read_request = 2;
    rtl_.execution = rtl_.context_answer = rtl_.failed = rtl_.local_done = rtl_.burst = rtl_.memory_rvalid =
        0;
    tick();
    tick();
    rtl_.reset = 0;
    for (uint32_t clock = 0; rtl_.clearing || clock < 2 * TAGS; ++clock) {
      tick();
      if (clock > 10'000)
        differ(place_, "clearing", 1, 0);
    }
  }
  void tick() {
    rtl_.clock = 0;
    rtl_.eval();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void choose_weights() {
    const auto weight = [&] { return std::array{25U, 60U, 100U, 100U}[random_.below(4)]; };
    execution_ = weight();
    take_ = weight();
    address_ = weight();
    give_ = weight();
    context_ = weight();
    surroundings_.ready = weight();
    accesses_.ready = weight();
    accesses_.latency = std::array{1U, 20U, 100U}[random_.below(3)];
  }

  // A queue pair fails, retries, or is quiescing; later it is as before.
  void change_queue_pair() {
    const uint32_t which = random_.below(queue_pair_count - 1);
    hca::QueuePairParts& parts = *model_.parts(which);
    if (queue_pairs_[which].commands.empty()) {
      queue_pairs_[which].is_changed = false;
      parts.control.set_state(spec::QueuePairState::ready_to_send);
      parts.control.set_destroying(0);
      model_.cache().set_send_error(model_.queue_pairs[which].function, model_.queue_pairs[which].number,
                                    false);
      queue_pairs_[which].send_error = false;
      return;
    }
    const uint32_t change = random_.below(120);
    queue_pairs_[which].is_changed |= change < 3;
    switch (change) {
    case 0:
      return parts.control.set_state(spec::QueuePairState::error);
    case 1:
      return parts.control.set_destroying(1);
    case 2:
      return parts.transport().completion().set_retry_epoch(
          (parts.transport().completion().retry_epoch() + 1) % 128);
    case 3:
      return parts.control.set_state(spec::QueuePairState::send_queue_drained);
    default:
      return;
    }
  }

  void offer_some() {
    if (free_buffers_.empty())
      return;
    const uint32_t which = random_.below(queue_pair_count);
    const QueuePair& queue_pair = queue_pairs_[which];
    // A flushed or abandoned command ends soon. Few commands are such, so that more of the others run.
    if ((queue_pair.is_changed || queue_pair.send_error || which + 1 == queue_pair_count) &&
        !random_.once(200))
      return;
    offer(which, generator_.fill_some(which, take_buffer()));
  }
  uint32_t take_buffer() {
    std::swap(free_buffers_[random_.below(static_cast<uint32_t>(free_buffers_.size()))],
              free_buffers_.back());
    const uint32_t buffer = free_buffers_.back();
    free_buffers_.pop_back();
    return buffer;
  }
  void offer(uint32_t which, const spec::KickUnit& kick) {
    const hca::PhysicalCollectBuffer& pcb = model_.pcb(static_cast<uint32_t>(kick.physical_collect_buffer()));
    const spec::CommandHeader& header = pcb.header();
    rtl_.execution = 1;
    rtl_.execution_physical_collect_buffer = kick.physical_collect_buffer();
    rtl_.execution_underlying_function = kick.underlying_function();
    rtl_.execution_queue_pair = kick.queue_pair_number();
    rtl_.execution_status = static_cast<uint8_t>(kick.status());
    const uint64_t count = hca::is_local_operation(header.opcode()) ? 0 : hca::gather_list(pcb).size();
    rtl_.execution_plan = pcb.execution.message_length << 21 | uint64_t{pcb.execution.retry_epoch} << 14 |
                          static_cast<uint64_t>(header.opcode()) << 6 | uint64_t{header.inline_data()} << 5 |
                          count;
    offered_ = {.kick = kick, .since = now_};
    offered_which_ = which;
  }

  void come_to_rest() {
    const uint64_t begin = now_;
    const auto is_over = [&] {
      for (const QueuePair& each : queue_pairs_)
        if (!each.commands.empty())
          return false;
      return !rtl_.execution && accesses_.is_idle() && rtl_.idle;
    };
    choose_weights();
    execution_ = take_ = address_ = give_ = context_ = surroundings_.ready = accesses_.ready = 100;
    while (!is_over() || surroundings_.taken() != 0) {
      step();
      if (now_ > begin + longest)
        differ(place_, "commands that are not over", commands_ - ended_commands_, 0);
    }
    for (uint32_t clock = 0; clock < 32; ++clock)
      step();
    expect(place_, "faults that are not told", expected_faults_.size(), 0);
    expect(place_, "PCBs that are free", free_buffers_.size(), BUFFERS);
  }

  void step() {
    drive();
    rtl_.clock = 0;
    rtl_.eval();
    observe();
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    place_.clock = now_;
    surroundings_.end(rtl_);
    accesses_.end(rtl_);
    rtl_.context_answer = rtl_.failed = 0;
    if (executes_)
      rtl_.execution = 0;
    if (gives_)
      rtl_.memory_rvalid = 0;
  }

  void drive() {
    surroundings_.serve(rtl_);
    accesses_.serve(rtl_, now_);
    rtl_.context_read_ready = !asked_ && random_.percent(context_);
    rtl_.fail_ready = random_.percent(context_);
    rtl_.dma_fault_ready = random_.percent(take_);
    rtl_.gathered_ready = random_.percent(take_);
    rtl_.memory_arready = random_.percent(address_);
    if (!rtl_.memory_rvalid && random_.percent(give_))
      reads_.give(rtl_, now_);
    if (asked_ && asked_->due <= now_)
      answer();
    if (failing_ && failing_->due <= now_) {
      rtl_.failed = 1;
      queue_pairs_[which_of(failing_->number)].send_error = true;
      failing_.reset();
    }
    while (!held_.empty() && held_.front().due <= now_) {
      surroundings_.release(held_.front().number);
      held_.pop_front();
    }
  }

  uint32_t which_of(uint32_t queue_pair) const {
    for (uint32_t which = 0; which < queue_pair_count; ++which)
      if (model_.queue_pairs[which].number == queue_pair)
        return which;
    differ(place_, "number of a queue pair", queue_pair, 0);
  }

  // The context of a queue pair, and with it the next packet of the model.
  void answer() {
    const uint32_t which = which_of(asked_->number);
    asked_.reset();
    QueuePair& queue_pair = queue_pairs_[which];
    hca::QueuePairParts* const parts = model_.parts(which);
    rtl_.context_answer = 1;
    rtl_.context_found = parts != nullptr;
    spec::QueuePairControl control;
    uint32_t epoch = random_.below(128);
    if (parts != nullptr) {
      control = parts->control;
      epoch = parts->transport().completion().retry_epoch();
    }
    rtl_.context_underlying_function = control.underlying_function();
    rtl_.context_state = static_cast<uint8_t>(control.state());
    rtl_.context_send_error = queue_pair.send_error;
    rtl_.context_destroying = control.destroying();
    rtl_.context_retry_epoch = epoch;
    rtl_.context_protection_domain = control.protection_domain();
    rtl_.context_path_mtu = static_cast<uint8_t>(control.path_mtu());
    if (queue_pair.commands.empty())
      differ(place_, "commands of a queue pair whose context is read", 1, 0);
    Command& command = queue_pair.commands.front();
    expect(place_, "packets of a command under way when one more is",
           queue_pair.expected.size() <= most_of_command, 1);
    // A failure does not count again for the packets behind it.
    if (command.is_done) {
      ++dropped_;
      return;
    }
    if (!command.is_begun)
      model_.start(which, command.kick);
    command.is_begun = true;
    const hca::Execution& execution =
        model_.pcb(static_cast<uint32_t>(command.kick.physical_collect_buffer())).execution;
    const bool is_abandoned = parts == nullptr ||
                              control.underlying_function() != command.kick.underlying_function() ||
                              control.destroying() != 0 || execution.retry_epoch != epoch;
    const uint64_t faults = model_.faults;
    DmaModel::Packet packet = model_.step(which);
    command.is_done = packet.unit.last() != 0;
    if (model_.faults != faults)
      expected_faults_.insert({model_.fault_function, model_.fault_address});
    const bool is_bad = packet.unit.packet() == hca::no_packet &&
                        packet.status != CompletionStatus::success &&
                        packet.status != CompletionStatus::work_request_flushed_error;
    queue_pair.fails += is_bad && !is_abandoned;
    queue_pair.expected.push_back(std::move(packet));
  }

  void observe() {
    executes_ = rtl_.execution && rtl_.execution_ready;
    gives_ = rtl_.memory_rvalid && rtl_.memory_rready;
    surroundings_.take(rtl_);
    const bool reads = rtl_.memory_arvalid && rtl_.memory_arready;
    accesses_.take(rtl_, now_, reads, gives_ && rtl_.memory_rlast, rtl_.memory_rid);
    if (reads)
      reads_.take_address(rtl_, now_);
    if (executes_) {
      queue_pairs_[offered_which_].commands.push_back(offered_);
      ++commands_;
    }
    if (rtl_.context_read && rtl_.context_read_ready)
      asked_ = {.number = rtl_.context_read_number, .due = now_ + 1 + (is_smooth_ ? 6 : random_.below(12))};
    if (rtl_.local_operation && rtl_.local_operation_ready)
      begin_local();
    if (rtl_.fail && rtl_.fail_ready)
      fail();
    if (rtl_.dma_fault && rtl_.dma_fault_ready)
      tell_fault();
    if (rtl_.gathered && rtl_.gathered_ready)
      compare();
  }

  void begin_local() {
    const uint32_t which = which_of(rtl_.local_operation_queue_pair);
    const QueuePair& queue_pair = queue_pairs_[which];
    if (queue_pair.expected.empty())
      differ(place_, "local operations of a queue pair", 1, 0);
    const DmaModel::Packet& packet = queue_pair.expected.front();
    const auto buffer = static_cast<uint32_t>(packet.unit.physical_collect_buffer());
    expect(place_, "PCB of a local operation", rtl_.local_operation_physical_collect_buffer, buffer);
    expect(place_, "opcode of a local operation",
           hca::is_local_operation(model_.pcb(buffer).header().opcode()), 1);
    expect(place_, "function of a local operation", rtl_.local_operation_underlying_function,
           model_.queue_pairs[which].function);
    expect(place_, "domain of a local operation", rtl_.local_operation_protection_domain,
           model_.queue_pairs[which].domain);
    surroundings_.begin_local(buffer, packet.status == CompletionStatus::memory_window_bind_error);
  }

  void fail() {
    const uint32_t which = which_of(rtl_.fail_number);
    if (queue_pairs_[which].fails == 0)
      differ(place_, "work requests that failed", 1, 0);
    --queue_pairs_[which].fails;
    expect(place_, "function of a work request that failed", rtl_.fail_underlying_function,
           model_.queue_pairs[which].function);
    failing_ = {.number = rtl_.fail_number, .due = now_ + 1 + random_.below(12)};
  }

  void tell_fault() {
    const auto found = expected_faults_.find({rtl_.dma_fault_underlying_function, rtl_.dma_fault_address});
    if (found == expected_faults_.end())
      differ(place_, "address of a fault", rtl_.dma_fault_address,
             expected_faults_.empty() ? 0 : expected_faults_.begin()->second);
    expected_faults_.erase(found);
    ++faults_;
  }

  // Compares the packet that the RTL hands on.
  void compare() {
    spec::PacketUnit unit;
    const uint64_t value = rtl_.gathered_unit;
    std::memcpy(&unit, &value, sizeof value);
    const uint32_t which = which_of(static_cast<uint32_t>(unit.queue_pair_number()));
    QueuePair& queue_pair = queue_pairs_[which];
    if (queue_pair.expected.empty())
      differ(place_, "packets of a queue pair", 1, 0);
    const DmaModel::Packet& model = queue_pair.expected.front();
    const bool has_packet = unit.packet() != hca::no_packet;
    expect(place_, "whether there is a packet", has_packet, model.unit.packet() != hca::no_packet);
    expect(place_, "PCB", unit.physical_collect_buffer(), model.unit.physical_collect_buffer());
    expect(place_, "function", unit.underlying_function(), model.unit.underlying_function());
    expect(place_, "first packet", unit.first(), model.unit.first());
    expect(place_, "last packet", unit.last(), model.unit.last());
    expect(place_, "status", rtl_.gathered_status, static_cast<uint64_t>(model.status));
    if (has_packet) {
      const auto packet = static_cast<uint32_t>(unit.packet());
      expect(place_, "packet that is taken", surroundings_.is_taken(packet), 1);
      expect(place_, "bytes of a packet", rtl_.gathered_bytes, model.payload.size());
      expect(place_, "number of a packet", rtl_.gathered_number, model.number);
      const uint8_t* const bytes = surroundings_.payload(packet);
      for (size_t at = 0; at < model.payload.size(); ++at)
        if (bytes[at] != model.payload[at])
          differ(place_, "byte of a packet", bytes[at], model.payload[at]);
      held_.push_back({.number = packet, .due = now_ + 1 + (is_smooth_ ? 0 : random_.below(20))});
      std::ranges::sort(held_, {}, &Context::due);
      ++packets_;
    } else {
      ++ended_;
      ++statuses_[model.status];
    }
    const bool is_last = unit.last() != 0;
    if (is_last) {
      expect(place_, "failed work requests that are not told", queue_pair.fails, 0);
      free_buffers_.push_back(static_cast<uint32_t>(unit.physical_collect_buffer()));
      queue_pair.commands.pop_front();
      ++ended_commands_;
    }
    queue_pair.expected.pop_front();
  }

  // Sends this number of messages at full speed, and prints the clocks that they take.
  template <class Make> void stream(const char* what, uint32_t count, uint32_t bytes, Make&& make) {
    const uint64_t begin = now_;
    const uint64_t before = packets_;
    const uint64_t ended = ended_commands_;
    uint32_t made = 0;
    while (ended_commands_ != ended + count) {
      if (!rtl_.execution && made < count && !free_buffers_.empty())
        make(made++);
      step();
      if (now_ > begin + 2'000'000)
        differ(place_, "messages behind each other", ended_commands_ - ended, count);
    }
    std::printf("%s: %llu packets of %u bytes in %llu clocks\n", what, number(packets_ - before), bytes,
                number(now_ - begin));
    accesses_.held.reset();
    come_to_rest();
  }
  spec::GatherEntry whole_entry(uint32_t which, uint32_t bytes, uint32_t at) const {
    const DmaModel::Region& region =
        model_.regions[model_.regions.size() - DmaModel::functions + model_.queue_pairs[which].function];
    spec::GatherEntry entry;
    entry.set_local_key(region.key);
    entry.set_address(region.base + at);
    entry.set_length(bytes);
    return entry;
  }
  void figures() {
    constexpr std::array large{0U, 1U, 2U, 3U, 5U};
    constexpr std::array small{0U, 1U, 2U, 3U, 5U, 6U, 7U, 8U, 9U, 10U};
    const auto write = [&](uint32_t which, uint32_t bytes, uint32_t at) {
      const spec::GatherEntry entry = whole_entry(which, bytes, at);
      offer(which, generator_.fill_list(which, take_buffer(), spec::Opcode::rdma_write, {&entry, 1}));
    };
    generator_.is_sound = accesses_.is_smooth = is_smooth_ = reads_.is_in_order = true;
    reads_.latency = 200;
    stream("one queue pair, messages of 15 packets", 8, 4096, [&](uint32_t) { write(0, 15 * 4096, 0); });
    stream("one queue pair, messages of 120 packets", 2, 4096, [&](uint32_t) {
      const std::vector<spec::GatherEntry> list(8, whole_entry(0, 15 * 4096, 0));
      offer(0, generator_.fill_list(0, take_buffer(), spec::Opcode::rdma_write, list));
    });
    stream("one queue pair, messages of 15 packets, not aligned", 8, 4096,
           [&](uint32_t) { write(0, 15 * 4096, 1027); });
    stream("five queue pairs, messages of a packet", 100, 4096,
           [&](uint32_t at) { write(large[at % large.size()], 4096, 0); });
    stream("five queue pairs, messages of 15 packets", 10, 4096,
           [&](uint32_t at) { write(large[at % large.size()], 15 * 4096, 0); });
    stream("ten queue pairs, messages of a packet", 400, 64,
           [&](uint32_t at) { write(small[at % small.size()], 64, 64 * (at % 64)); });
    stream("one queue pair, messages of a packet", 40, 64, [&](uint32_t) { write(0, 64, 0); });
    const std::vector<uint8_t> data(64);
    stream("ten queue pairs, inline messages", 400, 64, [&](uint32_t at) {
      const uint32_t which = small[at % small.size()];
      offer(which, generator_.fill_inline(which, take_buffer(), spec::Opcode::send, data));
    });
    write(0, 15 * 4096, 0);
    accesses_.held = model_.queue_pairs[0].number;
    while (rtl_.execution)
      step();
    stream("nine queue pairs, messages of a packet, beside one that waits", 360, 64,
           [&](uint32_t at) { write(small[1 + at % (small.size() - 1)], 64, 64 * (at % 64)); });
    generator_.is_sound = accesses_.is_smooth = is_smooth_ = reads_.is_in_order = false;
  }

  Rtl rtl_;
  Random random_;
  BurstHost host_;
  Place place_;
  uint64_t clocks_;
  DmaModel model_{random_, host_};
  DmaCommands generator_{random_, model_};
  DmaAccesses accesses_{place_, random_, model_};
  DmaSurroundings surroundings_{place_, random_, model_};
  BurstReadHost<Rtl> reads_{place_, random_, host_, most_bytes};
  uint64_t now_ = 0;
  bool is_smooth_ = false;
  uint32_t execution_ = 100;
  uint32_t take_ = 100;
  uint32_t address_ = 100;
  uint32_t give_ = 100;
  uint32_t context_ = 100;
  std::vector<QueuePair> queue_pairs_;
  std::vector<uint32_t> free_buffers_;
  Command offered_;
  uint32_t offered_which_ = 0;
  std::optional<Context> asked_;
  std::optional<Context> failing_;
  std::deque<Context> held_; // packets until they come back
  std::multiset<std::pair<unsigned, uint64_t>> expected_faults_;
  bool executes_ = false;
  bool gives_ = false;
  uint64_t commands_ = 0;
  uint64_t ended_commands_ = 0;
  uint64_t packets_ = 0;
  uint64_t ended_ = 0;
  uint64_t faults_ = 0;
  uint64_t dropped_ = 0;
  std::map<CompletionStatus, uint64_t> statuses_;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
