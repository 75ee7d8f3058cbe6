// packet_builder beside the device model: commands of all opcodes of RC, UC and UD queue pairs, whole,
// resumed, failed and stale, over both link layers, with pauses on all sides. At each context that the RTL
// reads, the model works on the same packet. In this order the packets must leave byte by byte, each from its
// port and after the announcement of its message; and commands end, messages begin, built_psn is written. The
// packets of a queue pair stay in order, and queue pairs take turns. Meanwhile queue pairs go back for
// retries, and bits in the lists flip. Arguments: seed, clocks.
//
// With seed 1 it first sends messages without pauses, and prints the clocks that they take.
#include "packet_builder_commands.h"
#include "packet_builder_surroundings.h"

#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vpacket_builder;
using Model = PacketBuilderModel;
using Command = PacketBuilderCommands::Command;

constexpr uint32_t queue_pair_count = Model::queue_pair_count;
constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint64_t longest = 200'000; // clocks until all commands have ended, without a stall
constexpr uint32_t most_turns = 8;    // of another queue pair before one that waits
constexpr bool has_list_for_each = LISTS >= 64;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks),
        model_(random_, seed % 2 == 0, static_cast<uint16_t>(seed % 3 == 0 ? 0x1234 : 0)),
        queue_pairs_(queue_pair_count) {}

  int run() {
    for (uint32_t buffer = 0; buffer < BUFFERS; ++buffer)
      free_buffers_.push_back(buffer);
    start_anew();
    if (place_.seed == 1)
      figures();
    const uint64_t begin = now_;
    while (now_ < begin + clocks_) {
      if (now_ % 128 == 0)
        choose_weights();
      if (now_ % 16384 == 16383)
        change_addresses();
      if (random_.percent(command_))
        begin_some();
      if (!rtl_.gathered && random_.percent(gathered_))
        offer_some();
      if (!rtl_.rewind && random_.once(100))
        retry_some();
      flip_some();
      step();
    }
    come_to_rest();
    std::printf("%llu commands in %llu clocks: %llu sent, %llu failed; %llu packets of %zu opcodes in %zu "
                "framings, %llu "
                "with a pad, %llu after others; %llu resumed, %llu stale, %llu without a queue pair, %llu "
                "rewinds, %llu "
                "flipped bits, %llu packets lost\n",
                number(commands_), number(clocks_), number(sent_), number(failed_), number(packets_),
                opcodes_.size(), framings_.size(), number(padded_), number(waited_),
                number(generator_.resumed), number(unwritten_), number(absent_), number(rewinds_),
                number(flips_), number(corrupted_));
    return 0;
  }

private:
  struct Waiting {
    Model::Gathered gathered;
    unsigned function = 0;
  };
  struct QueuePair {
    std::deque<Command> commands;           // not wholly offered
    size_t offered = 0;                     // packets of the first one
    std::deque<Waiting> waiting;            // in the RTL, before their turn
    std::map<uint32_t, uint32_t> overtaken; // since the oldest one waits: turns of others
  };
  struct Asked {
    uint32_t which = 0;
    uint64_t due = 0;
    bool is_corrupted = false;
  };
  struct Packet {
    std::vector<uint8_t> bytes;
    uint32_t port = 0;
    uint64_t ends = 0; // messages up to its own
    uint64_t writes = 0;
  };
  struct Write {
    uint32_t number = 0;
    uint32_t psn = 0;
  };

  static unsigned long long number(uint64_t value) { return value; }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.is_infiniband = model_.is_infiniband();
    rtl_.udp_source_port = model_.attributes().source(0, model_.some_vector(), 0).udp_source_port;
    for (uint32_t clock = 0; clock < 2; ++clock)
      step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; rtl_.clearing || clock < 4; ++clock) {
      step();
      if (clock > 10'000)
        differ(place_, "clearing", 1, 0);
    }
    write_addresses();
  }

  // The tables of the ports.
  void write_addresses() {
    const hca::PortAttributes& attributes = model_.attributes();
    for (unsigned port = 0; port < Model::ports; ++port) {
      rtl_.write_port = port;
      for (unsigned function = 0; function < Model::functions; ++function) {
        rtl_.write_underlying_function = function;
        for (unsigned index = 0; index < spec::gid_table_entries; ++index) {
          wire::Gid gid = attributes.gids(port + 1, function)[index];
          std::ranges::reverse(gid);
          write_address(rtl_.gid_write, index, gid);
        }
        wire::MacAddress mac = attributes.mac(port + 1, function);
        std::ranges::reverse(mac);
        write_address(rtl_.mac_write, random_.below(spec::gid_table_entries), mac);
        write_number(rtl_.identifier_write, random_.below(spec::gid_table_entries),
                     attributes.local_identifier(port + 1, function));
      }
      for (unsigned index = 0; index < spec::partition_key_table_entries; ++index)
        write_number(rtl_.key_write, index, attributes.partition_keys(port + 1)[index]);
    }
  }
  void write_number(CData& write, uint32_t index, uint16_t value) {
    write_address(write, index, std::array{static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8)});
  }
  template <class Bytes> void write_address(CData& write, uint32_t index, const Bytes& bytes) {
    std::array<uint8_t, 16> data;
    fill(random_, data);
    std::ranges::copy(bytes, data.begin());
    std::memcpy(&rtl_.write_data, data.data(), data.size());
    rtl_.write_index = index;
    write = 1;
    step();
    write = 0;
  }
  void change_addresses() {
    come_to_rest();
    model_.write_addresses();
    write_addresses();
    for (uint32_t which = 0; which + 1 < queue_pair_count; ++which)
      model_.connect(which);
  }

  void choose_weights() {
    const auto weight = [&] { return std::array{5U, 30U, 60U, 100U, 100U}[random_.below(5)]; };
    command_ = weight();
    gathered_ = weight();
    context_ = weight();
    end_ = weight();
    take_ = weight();
    surroundings_.ready = weight();
  }

  void begin_some() {
    if (free_buffers_.empty() || rtl_.execution)
      return;
    const uint32_t which = random_.below(queue_pair_count);
    if (queue_pairs_[which].commands.size() < 3)
      begin(generator_.fill_some(which, take_buffer()));
  }
  uint32_t take_buffer() {
    std::swap(free_buffers_[random_.below(static_cast<uint32_t>(free_buffers_.size()))],
              free_buffers_.back());
    const uint32_t buffer = free_buffers_.back();
    free_buffers_.pop_back();
    return buffer;
  }
  // dma takes the command.
  void begin(Command command) {
    rtl_.execution = 1;
    std::memcpy(&rtl_.execution_unit, &command.kick, sizeof command.kick);
    queue_pairs_[command.which].commands.push_back(std::move(command));
    ++commands_;
  }

  void offer_some() {
    const uint32_t which = random_.below(queue_pair_count);
    if (!queue_pairs_[which].commands.empty())
      offer(which);
  }
  void offer(uint32_t which) {
    QueuePair& queue_pair = queue_pairs_[which];
    Command& command = queue_pair.commands.front();
    const Model::Gathered& gathered = command.packets[queue_pair.offered];
    if (gathered.has_packet && surroundings_.free() == 0)
      return;
    const auto buffer = static_cast<uint32_t>(command.kick.physical_collect_buffer());
    spec::PacketUnit unit;
    unit.set_packet(gathered.has_packet ? surroundings_.take(gathered.payload) : hca::no_packet);
    unit.set_physical_collect_buffer(buffer);
    unit.set_underlying_function(command.kick.underlying_function());
    unit.set_first(queue_pair.offered == 0);
    unit.set_last(gathered.last);
    unit.set_queue_pair_number(model_.queue_pairs[which].number);
    std::memcpy(&rtl_.gathered_unit, &unit, sizeof unit);
    rtl_.gathered = 1;
    rtl_.gathered_bytes =
        gathered.has_packet ? static_cast<uint32_t>(gathered.payload.size()) : random_.below(4097);
    rtl_.gathered_number = gathered.number;
    rtl_.gathered_status =
        static_cast<uint8_t>(gathered.last ? gathered.status : spec::CompletionStatus::success);
    offered_ = {.gathered = gathered, .function = static_cast<unsigned>(command.kick.underlying_function())};
    offered_which_ = which;
    if (++queue_pair.offered == command.packets.size()) {
      queue_pair.commands.pop_front();
      queue_pair.offered = 0;
    }
  }

  // A queue pair goes back for a retry: queue_pair_fetch writes its epoch, and tells the PSN to go back to.
  void retry_some() {
    const uint32_t which = random_.below(queue_pair_count - 1);
    hca::TransportRequester& requester = model_.parts(which)->transport().requester();
    requester.set_retry_epoch((requester.retry_epoch() + 1) % 128);
    rtl_.rewind = 1;
    rtl_.rewind_number = model_.queue_pairs[which].number;
    rtl_.rewind_psn = random_.below(1 << 24);
  }

  // Bits of an entry of the lists flip: one, which is corrected, or two. The entry must have been written
  // since its last bits flipped.
  void flip_some() {
    rtl_.scrub = random_.once(4);
    if (rtl_.inject_error || !random_.once(flipped_bits_ != 0 ? 1 : 60))
      return;
    if (flipped_bits_ == 0) {
      const uint32_t entry = random_.below(ENTRIES);
      if (flipped_.contains(entry) && pushes_ - flipped_[entry] < 3 * ENTRIES)
        return;
      flipped_[entry] = pushes_;
      flipped_bits_ = 1 + random_.below(2);
      doubles_ += flipped_bits_ == 2;
      rtl_.inject_error_entry = entry;
      rtl_.inject_error_bit = random_.below(36);
    } else {
      rtl_.inject_error_bit = 36 + random_.below(36);
    }
    rtl_.inject_error = 1;
    --flipped_bits_;
    ++flips_;
  }

  void come_to_rest() {
    const uint64_t begin = now_;
    const auto has_work = [&] {
      for (const QueuePair& each : queue_pairs_)
        if (!each.commands.empty() || !each.waiting.empty())
          return true;
      return rtl_.gathered || rtl_.rewind || !expected_.empty() || !ends_.empty() ||
             !surroundings_.is_at_rest();
    };
    choose_weights();
    context_ = end_ = take_ = surroundings_.ready = 100;
    while (has_work()) {
      for (uint32_t which = 0; which < queue_pair_count && !rtl_.gathered; ++which)
        if (!queue_pairs_[which].commands.empty())
          offer(which);
      step();
      if (now_ > begin + longest)
        differ(place_, "commands that are not over", commands_ - sent_ - failed_, 0);
    }
    for (uint32_t clock = 0; clock < 32; ++clock)
      step();
    expect(place_, "commands that are over", sent_ + failed_, commands_);
    expect(place_, "PCBs that are free", free_buffers_.size(), BUFFERS);
    expect(place_, "writes of built_psn that did not come", writes_.size(), 0);
    if (corrupted_ > doubles_)
      differ(place_, "packets lost to two flipped bits", corrupted_, doubles_);
  }

  void step() {
    drive();
    rtl_.clock = 0;
    rtl_.eval();
    const bool gathers = rtl_.gathered && rtl_.gathered_ready;
    const bool rewinds = rtl_.rewind && rtl_.rewind_ready;
    if (!rtl_.reset)
      observe(gathers, rewinds);
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    place_.clock = now_;
    rtl_.context_answer = rtl_.execution = 0;
    if (gathers)
      rtl_.gathered = 0;
    if (rewinds)
      rtl_.rewind = 0;
  }

  void drive() {
    if (rtl_.error_injected)
      rtl_.inject_error = 0;
    surroundings_.serve(rtl_);
    rtl_.context_read_ready = random_.percent(context_);
    rtl_.finish_sent_ready = random_.percent(end_);
    rtl_.record_ready = random_.percent(end_);
    rtl_.message_ready = random_.percent(end_);
    rtl_.whole_tready = random_.percent(take_);
    if (asked_ && asked_->due <= now_)
      answer();
  }

  // The context of a queue pair, and with it the model works on its oldest packet.
  void answer() {
    const Asked asked = *asked_;
    asked_.reset();
    QueuePair& queue_pair = queue_pairs_[asked.which];
    hca::QueuePairParts* const parts = model_.parts(asked.which);
    spec::QueuePairControl control;
    spec::QueuePairRequester requester;
    if (parts != nullptr) {
      control = parts->control;
      requester.set_retry_epoch(parts->transport().requester().retry_epoch());
    }
    rtl_.context_answer = 1;
    rtl_.context_found = parts != nullptr;
    std::memcpy(&rtl_.context_control, &control, sizeof control);
    std::memcpy(&rtl_.context_requester, &requester, sizeof requester);
    const Waiting waiting = std::move(queue_pair.waiting.front());
    queue_pair.waiting.pop_front();
    const bool has_queue_pair =
        parts != nullptr && waiting.function == model_.queue_pairs[asked.which].function;
    const Model::Step step = model_.step(asked.which, waiting.gathered, waiting.function, asked.is_corrupted);
    if (step.end)
      ends_.push_back(*step.end);
    ends_expected_ += step.end.has_value();
    const uint32_t number = model_.queue_pairs[asked.which].number;
    if (step.built_psn) {
      writes_.push_back({.number = number, .psn = *step.built_psn});
      ++writes_expected_;
    }
    absent_ += waiting.gathered.has_packet && !has_queue_pair;
    corrupted_ += asked.is_corrupted;
    if (step.packet) {
      unwritten_ += !step.built_psn;
      opcodes_.insert(step.parsed.fields.opcode);
      framings_.insert({step.parsed.framing, step.parsed.transport_offset});
      expected_.push_back(
          {.bytes = *step.packet, .port = step.port, .ends = ends_expected_, .writes = writes_expected_});
    }
    padded_ += waiting.gathered.payload.size() % 4 != 0;
    note_turn(asked.which);
  }
  // A queue pair that waits sees few turns of each other one.
  void note_turn(uint32_t which) {
    waited_ += queue_pairs_[which].overtaken.size() != 0;
    queue_pairs_[which].overtaken.clear();
    for (QueuePair& each : queue_pairs_)
      if (!each.waiting.empty() && &each != &queue_pairs_[which] && ++each.overtaken[which] > most_turns &&
          has_list_for_each)
        differ(place_, "turns of another queue pair", each.overtaken[which], most_turns);
  }

  uint32_t which_of(uint32_t queue_pair) const {
    for (uint32_t which = 0; which < queue_pair_count; ++which)
      if (model_.queue_pairs[which].number == queue_pair)
        return which;
    differ(place_, "number of a queue pair", queue_pair, 0);
  }

  void observe(bool gathers, bool rewinds) {
    surroundings_.observe(rtl_, now_);
    if (rtl_.packet_corrupted)
      is_corrupted_ = true;
    if (rtl_.context_read && rtl_.context_read_ready)
      ask();
    if (gathers)
      enter();
    if (rtl_.builder_write)
      compare_write();
    if (rewinds) {
      expect(place_, "writes of older packets behind a rewind", writes_.size(), 0);
      writes_.push_back({.number = rtl_.rewind_number, .psn = rtl_.rewind_psn});
      ++writes_expected_;
      ++rewinds_;
    }
    if (rtl_.release_buffer)
      release();
    if (rtl_.counted_sent || rtl_.counted_failed)
      count();
    if (rtl_.message && rtl_.message_ready)
      compare_message();
    if (rtl_.finish_sent && rtl_.finish_sent_ready)
      compare_finish();
    if (rtl_.record && rtl_.record_ready)
      compare_record();
    while (!ends_.empty() && finishes_ > first_end_ && records_ > first_end_ && messages_ > first_end_ &&
           releases_ > first_end_ && counts_ > first_end_) {
      ends_.pop_front();
      ++first_end_;
    }
    if (rtl_.whole_tvalid && rtl_.whole_tready)
      compare_beat();
  }

  void enter() {
    size_t waiting = 0;
    for (const QueuePair& each : queue_pairs_)
      waiting += each.waiting.size();
    pushes_ += waiting >= 3; // beside the one at work and the next one
    queue_pairs_[offered_which_].waiting.push_back(offered_);
  }

  void ask() {
    const uint32_t which = which_of(rtl_.context_read_number);
    if (queue_pairs_[which].waiting.empty())
      differ(place_, "packets of a queue pair whose context is read", 1, 0);
    asked_ = {.which = which,
              .due = now_ + 1 + (is_smooth_ ? 5 : random_.below(12)),
              .is_corrupted = std::exchange(is_corrupted_, false)};
  }

  const Model::End& end_at(uint64_t place, const char* what) {
    if (place >= first_end_ + ends_.size())
      differ(place_, what, place + 1, first_end_ + ends_.size());
    return ends_[place - first_end_];
  }

  void compare_write() {
    if (writes_.empty())
      differ(place_, "writes of built_psn", 1, 0);
    spec::QueuePairRequester requester;
    std::memcpy(&requester, &rtl_.builder_requester, sizeof requester);
    expect(place_, "queue pair of a built_psn", rtl_.builder_number, writes_.front().number);
    expect(place_, "built_psn", requester.built_psn(), writes_.front().psn);
    writes_.pop_front();
    ++writes_done_;
  }
  // From now on the PCB may hold another command, with another plan.
  void release() {
    const auto buffer =
        static_cast<uint32_t>(end_at(releases_++, "released PCBs").finish.physical_collect_buffer());
    expect(place_, "PCB", rtl_.release_physical_collect_buffer, buffer);
    free_buffers_.push_back(buffer);
    fill(random_, model_.pcb(buffer).data);
    model_.pcb(buffer).execution = {};
  }
  void count() {
    const Model::End& end = end_at(counts_++, "counted commands");
    expect(place_, "command that is sent", rtl_.counted_sent, end.is_sent);
    expect(place_, "command that failed", rtl_.counted_failed, !end.is_sent);
    expect(place_, "function that counts", rtl_.counted_underlying_function,
           end.finish.underlying_function());
    ++(end.is_sent ? sent_ : failed_);
  }
  void compare_finish() {
    expect_dwords("finish", end_at(finishes_++, "finishes").finish, &rtl_.finish_sent_unit);
  }
  void compare_message() {
    expect(place_, "messages before the end of their command", messages_ < finishes_, 1);
    expect_dwords("message", end_at(messages_++, "messages").message, &rtl_.message_unit);
  }
  template <class Unit> void expect_dwords(const char* what, const Unit& model, const void* rtl) {
    Unit unit;
    std::memcpy(&unit, rtl, sizeof unit);
    for (size_t dword = 0; dword < unit.dwords.size(); ++dword)
      expect(place_, what, unit.dwords[dword], model.dwords[dword]);
  }
  void compare_record() {
    const spec::KickRecord& model = end_at(records_++, "kick records").record;
    spec::KickUnit kick;
    std::memcpy(&kick, &rtl_.record_unit, sizeof kick);
    expect(place_, "function of a record", kick.underlying_function(), model.underlying_function());
    expect(place_, "level of a record", static_cast<uint64_t>(kick.quality_of_service_level()),
           static_cast<uint64_t>(model.quality_of_service_level()));
    expect(place_, "origin of a record", static_cast<uint64_t>(kick.origin()),
           static_cast<uint64_t>(model.origin()));
    expect(place_, "status of a record", static_cast<uint64_t>(kick.status()),
           static_cast<uint64_t>(model.status()));
    expect(place_, "number of a record", kick.kick_number(), model.kick_number());
    expect(place_, "PCB of a record", kick.physical_collect_buffer(), model.physical_collect_buffer());
    expect(place_, "lane of a record", kick.transmit_virtual_lane(), model.transmit_virtual_lane());
    expect(place_, "sequence number of a record", kick.send_queue_sequence_number(),
           model.send_queue_sequence_number());
    expect(place_, "queue pair of a record", kick.queue_pair_number(), model.queue_pair_number());
    expect(place_, "length of a record", kick.length(), model.length());
    expect(place_, "opcode of a record", rtl_.record_opcode, static_cast<uint64_t>(model.opcode()));
    expect(place_, "begin of a record", rtl_.record_begin, model.begin());
  }

  // Compares the output beat.
  void compare_beat() {
    if (expected_.empty())
      differ(place_, "packets that came out", packets_ + 1, packets_);
    const Packet& packet = expected_.front();
    // From its first beat on the packet may be answered.
    expect(place_, "messages that completion knows", messages_ >= packet.ends, 1);
    expect(place_, "built_psn before its packet", writes_done_ >= packet.writes, 1);
    const auto bytes = static_cast<uint32_t>(std::min<size_t>(beat_bytes, packet.bytes.size() - done_));
    std::array<uint8_t, beat_bytes> beat;
    std::memcpy(beat.data(), &rtl_.whole_tdata, beat_bytes);
    for (uint32_t byte = 0; byte < bytes; ++byte)
      if (beat[byte] != packet.bytes[done_ + byte])
        differ(place_, "byte", uint64_t{done_ + byte} << 32 | beat[byte],
               uint64_t{done_ + byte} << 32 | packet.bytes[done_ + byte]);
    expect(place_, "bytes of a beat", rtl_.whole_tkeep, keep_of(bytes));
    expect(place_, "port", rtl_.whole_tuser, packet.port);
    done_ += bytes;
    expect(place_, "last beat", rtl_.whole_tlast, done_ == packet.bytes.size());
    ++beats_;
    if (done_ != packet.bytes.size())
      return;
    expected_.pop_front();
    done_ = 0;
    ++packets_;
  }
  // Sends messages without pauses, and prints the clocks that they take.
  void stream(const char* what, uint32_t count, uint32_t packets, uint32_t bytes, uint32_t parties) {
    const uint64_t begin = now_;
    const uint64_t ended = packets_;
    const uint64_t beats = beats_;
    uint32_t made = 0;
    uint64_t first = 0;
    uint32_t next = 0;
    while (packets_ != ended + uint64_t{count} * packets) {
      if (made < count && !free_buffers_.empty() && !rtl_.execution)
        begin_send(made++ % parties, packets, bytes);
      for (uint32_t attempts = 0; attempts < parties && !rtl_.gathered && surroundings_.free() > 112;
           ++attempts) {
        next = (next + 1) % parties;
        if (!queue_pairs_[next].commands.empty())
          offer(next);
      }
      step();
      first = first == 0 && beats_ != beats ? now_ : first;
      if (now_ > begin + 2'000'000)
        differ(place_, "messages behind each other", packets_ - ended, uint64_t{count} * packets);
    }
    std::printf("%s: %u packets of %u bytes, %llu beats in %llu clocks, the first after %llu\n", what,
                count * packets, bytes, number(beats_ - beats), number(now_ - first), number(first - begin));
    come_to_rest();
  }
  void begin_send(uint32_t which, uint32_t packets, uint32_t bytes) {
    begin(generator_.fill_send(which, take_buffer(), packets, bytes));
  }
  void figures() {
    is_smooth_ = true;
    come_to_rest();
    context_ = end_ = take_ = surroundings_.ready = 100;
    stream("one queue pair, long messages", 4, 20, 4096, 1);
    stream("five queue pairs, long messages", 10, 8, 4096, 5);
    stream("one queue pair, messages of a packet", 200, 1, 64, 1);
    stream("five queue pairs, messages of a packet", 200, 1, 64, 5);
    stream("five queue pairs, messages of a packet", 200, 1, 1024, 5);
    stream("one message", 1, 1, 64, 1);
    is_smooth_ = false;
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  PacketBuilderModel model_;
  PacketBuilderCommands generator_{random_, model_};
  PacketBuilderSurroundings surroundings_{place_, random_, model_};
  uint64_t now_ = 0;
  bool is_smooth_ = false;
  uint32_t command_ = 100;
  uint32_t gathered_ = 100;
  uint32_t context_ = 100;
  uint32_t end_ = 100;
  uint32_t take_ = 100;
  std::vector<QueuePair> queue_pairs_;
  std::vector<uint32_t> free_buffers_;
  Waiting offered_;
  uint32_t offered_which_ = 0;
  std::optional<Asked> asked_;
  bool is_corrupted_ = false;
  std::deque<Packet> expected_;
  size_t done_ = 0; // bytes of the output packet
  std::deque<Write> writes_;
  uint64_t writes_expected_ = 0;
  uint64_t writes_done_ = 0;
  // Ends of commands that have not wholly come, and how many of each part have.
  std::deque<Model::End> ends_;
  uint64_t first_end_ = 0;
  uint64_t ends_expected_ = 0;
  uint64_t finishes_ = 0;
  uint64_t records_ = 0;
  uint64_t messages_ = 0;
  uint64_t releases_ = 0;
  uint64_t counts_ = 0;
  uint32_t flipped_bits_ = 0;            // still to come
  std::map<uint32_t, uint64_t> flipped_; // entries, and the pushes before
  uint64_t pushes_ = 0;                  // that have certainly been into the lists
  uint64_t doubles_ = 0;
  uint64_t flips_ = 0;
  uint64_t commands_ = 0;
  uint64_t sent_ = 0;
  uint64_t failed_ = 0;
  uint64_t packets_ = 0;
  uint64_t beats_ = 0;
  uint64_t padded_ = 0;
  uint64_t waited_ = 0;
  uint64_t unwritten_ = 0;
  uint64_t absent_ = 0;
  uint64_t rewinds_ = 0;
  uint64_t corrupted_ = 0;
  std::set<spec::PacketOpcode> opcodes_;
  std::set<std::pair<wire::PacketFraming, uint32_t>> framings_;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
