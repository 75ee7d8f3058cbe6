// manager_port beside the device model: a resource manager writes random commands to its registers, most of
// them about existing objects. Each must reach its block once, with the contents of the registers, and no
// other block. The bench answers as these blocks do, from the device model: queue_pair_state_cache, whose
// queue pairs traffic pins meanwhile, contexts, and the tables of ports and numbers. Arguments: seed, clocks.
//
// Finally writes rows of contexts at full speed, and prints the clocks that they take.
#include "Vmanager_port.h"
#include "managed_queue_pairs.h"
#include "manager_port_host.h"
#include "quiet_list_follow.h"
#include "spec/registers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {
namespace {

namespace registers = spec::manager_port;
using spec::ManagerCommand;

constexpr uint32_t contexts = CONTEXTS;
constexpr uint32_t index_mask = (1U << spec::queue_pair_index_bits) - 1;
constexpr uint32_t row_bytes = 64;
constexpr uint32_t rows = 7; // of a context
constexpr uint32_t okay = 0;
constexpr uint32_t slave_error = 2;
constexpr uint32_t last_command = static_cast<uint32_t>(ManagerCommand::set_partition_key);
using Row = std::array<uint8_t, row_bytes>;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks), model_(contexts, spec::LinkLayer::ethernet) {}

  int run() {
    if (!model_.open())
      differ(place_, "bytes of context memory", 0, 1);
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < contexts + 1; ++clock)
      step();
    expect(place_, "clearing", rtl_.clearing, 0);
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 512 == 0)
        choose();
      offer();
      step();
    }
    finish();
    compare_tables();
    stream();
    std::printf("%llu commands in %llu clocks, %llu not done, %llu refused, %llu pins, %llu quiet, "
                "%llu of them taken, %llu context rows, %llu table entries\n",
                number(commands_), number(clocks_), number(not_done_), number(refused_),
                number(queue_pairs_.pins), number(quiets_), number(taken_), number(context_rows_),
                number(table_entries_));
    return 0;
  }

private:
  // A command as the registers hold it.
  struct Command {
    ManagerCommand what = ManagerCommand::look;
    registers::Subject subject;
    registers::Place place;
    bool is_in_reach = false;
    bool is_begun = false; // in its block
    bool is_over = false;  // its block has answered
  };
  static unsigned long long number(uint64_t value) { return value; }

  void choose() {
    host_.ready = std::array{15U, 60U, 100U}[random_.below(3)];
    block_ready_ = std::array{20U, 60U, 100U}[random_.below(3)];
    pin_ = std::array{0U, 10U, 100U}[random_.below(3)];
    unpin_ = std::array{0U, 10U, 100U}[random_.below(3)];
    stray_quiet_ = std::array{0U, 0U, 60U}[random_.below(3)];
    take_quiet_ = std::array{0U, 10U, 60U}[random_.below(3)];
  }

  // The manager.

  void offer() {
    if (!host_.writes() && !host_.reads())
      begin_write();
    // A read is answered after the write that the RTL has accepted.
    else if (!host_.reads() && (host_.is_write_taken() || !host_.writes()) && random_.percent(20))
      begin_read();
  }

  void write(uint32_t address, uint32_t value) {
    const uint32_t strobes = random_.once(100) ? random_.below(15) : 15;
    host_.begin_write(rtl_, {.address = address, .value = value, .strobes = strobes, .begun = now_});
    if (strobes != 15)
      return;
    if (address < registers::data + sizeof data_ && address % 4 == 0)
      std::memcpy(data_.data() + address, &value, 4);
    else if (address == registers::subject)
      subject_.bits = value;
    else if (address == registers::place)
      port_place_.bits = value & 0xffff;
    else if (address == registers::command && value <= last_command)
      begin_command(static_cast<ManagerCommand>(value));
  }

  void begin_write() {
    if (random_.once(40)) {
      // An unknown register or command.
      if (random_.once(2))
        write(registers::command,
              random_.once(2) ? last_command + 1 + random_.below(9) : 1U << (8 + random_.below(24)));
      else
        write(std::array{registers::status, registers::quiet, registers::quiet + 4, registers::bytes - 4,
                         registers::place + 2, registers::data + 1}[random_.below(6)],
              static_cast<uint32_t>(random_.bits()));
      return;
    }
    switch (random_.below(6)) {
    case 0:
      write(registers::data + 4 * random_.below(registers::data_count),
            static_cast<uint32_t>(random_.bits()));
      break;
    case 1:
    case 2:
      write(registers::subject, some_subject().bits);
      break;
    case 3:
      write(registers::place, some_place().bits);
      break;
    default:
      write(registers::command, random_.once(3) ? random_.below(5) : random_.below(last_command + 1));
    }
  }

  registers::Subject some_subject() {
    registers::Subject subject;
    subject.set_underlying_function(random_.once(16) ? random_.bits() & 0xff
                                                     : random_.below(DestinationModel::functions));
    subject.set_number(random_.once(3) || queue_pairs_.is_empty() ? queue_pairs_.free_number(contexts)
                                                                  : queue_pairs_.some_number());
    if (random_.once(8))
      subject.set_number(random_.once(2) ? random_.bits() & 0xff'ffff
                                         : subject.number() ^ 1 << random_.below(24));
    return subject;
  }
  registers::Place some_place() {
    registers::Place place;
    place.bits = random_.once(8) ? static_cast<uint32_t>(random_.bits()) : 0;
    place.set_index(random_.once(6) ? random_.below(256) : random_.below(random_.once(2) ? 16 : rows));
    place.set_port(random_.once(8) ? random_.below(256) : 1 + random_.below(spec::ports));
    return place;
  }
  void begin_read() {
    static constexpr std::array others{registers::subject,   registers::place,     registers::command,
                                       registers::status,    registers::quiet + 4, registers::bytes - 4,
                                       registers::place + 2, registers::data + 1};
    const uint32_t address = random_.percent(take_quiet_) ? registers::quiet
                             : random_.once(2)            ? others[random_.below(others.size())]
                                               : registers::data + 4 * random_.below(registers::data_count);
    host_.begin_read(rtl_, {.address = address, .begun = now_});
  }

  // A clock.

  void step() {
    serve();
    host_.offer(rtl_);
    rtl_.clock = 0;
    rtl_.eval();
    if (!rtl_.reset) {
      take_actions();
      if (rtl_.register_rvalid && !was_read_)
        quiet_.see_read(now_);
      was_read_ = rtl_.register_rvalid && !rtl_.register_rready;
      host_.take(rtl_);
      if (const auto access = host_.take_written(place_, rtl_))
        compare_write(*access);
      if (const auto access = host_.take_read(place_, rtl_))
        compare_read(*access);
    }
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
  }

  // The answers of the blocks in this clock, and their traffic.
  void serve() {
    rtl_.control_ready = random_.percent(block_ready_);
    rtl_.row_write_ready = random_.percent(block_ready_);
    rtl_.row_read_ready = random_.percent(block_ready_);
    rtl_.controlled = rtl_.row_written = rtl_.row_answer = rtl_.quiet = 0;
    if (is_controlling_ && random_.percent(block_ready_))
      answer_control();
    else if (rtl_.reset == 0)
      queue_pairs_.pass_traffic(pin_, unpin_);
    if (written_row_ && random_.percent(block_ready_)) {
      rtl_.row_written = 1;
      written_row_ = false;
      command_->is_over = true;
    }
    if (read_row_ && random_.percent(block_ready_)) {
      rtl_.row_answer = 1;
      data_ = row(command_->subject.number(), command_->place.index());
      std::memcpy(&rtl_.row_answer_data, data_.data(), row_bytes);
      read_row_ = false;
      command_->is_over = true;
    }
    if (const auto quiet = model_.queue_pairs.take_quiet())
      become_quiet(quiet->queue_pair_number);
    else if (random_.percent(stray_quiet_) && rtl_.reset == 0)
      become_quiet(static_cast<uint32_t>(random_.bits() & 0xff) << spec::queue_pair_index_bits |
                   random_.below(contexts));
  }
  void become_quiet(uint32_t queue_pair) {
    rtl_.quiet = 1;
    rtl_.quiet_number = queue_pair;
    quiet_.arrive(queue_pair, now_);
    ++quiets_;
  }

  // The command takes effect, in the model as in its block.
  void answer_control() {
    Command& command = *command_;
    status_ = queue_pairs_.perform(command.what, command.subject);
    rtl_.controlled = 1;
    rtl_.controlled_done = status_.done();
    rtl_.controlled_quiescing = status_.quiescing();
    rtl_.controlled_underlying_function = status_.underlying_function();
    rtl_.controlled_pins = status_.pins();
    is_controlling_ = false;
    // A destroy ends when the context is cleared, which begins now.
    const bool destroyed = command.what == ManagerCommand::destroy && status_.done();
    command.is_over = !destroyed;
    command.is_begun = !destroyed;
  }

  // Requests of the RTL to the blocks.

  void begin_command(ManagerCommand what) {
    Command command{.what = what, .subject = subject_, .place = port_place_};
    const bool is_of_number = what <= ManagerCommand::end_time_wait;
    const bool is_row = what == ManagerCommand::read_context || what == ManagerCommand::write_context;
    const bool has_entry = what == ManagerCommand::set_gid || what == ManagerCommand::set_partition_key;
    const bool has_owner = what == ManagerCommand::create || what == ManagerCommand::set_gid ||
                           what == ManagerCommand::set_local_identifier;
    command.is_in_reach = (is_of_number ? (subject_.number() & index_mask) < contexts
                                        : port_place_.port() >= 1 && port_place_.port() <= spec::ports) &&
                          (!is_row || port_place_.index() < rows) &&
                          (!has_entry || port_place_.index() < spec::gid_table_entries) &&
                          (!has_owner || subject_.underlying_function() < DestinationModel::functions);
    status_ = {};
    status_.set_done(command.is_in_reach);
    command_ = command;
  }

  // The command in progress, which this request must belong to.
  Command& begun(const char* what, bool is_so) {
    if (!command_ || !command_->is_in_reach || command_->is_begun || !is_so)
      differ(place_, what, 1, 0);
    command_->is_begun = true;
    expect(place_, what, 1, is_so);
    return *command_;
  }

  void take_actions() {
    if (rtl_.control && rtl_.control_ready) {
      const Command& command =
          begun("command of the directory", command_ && command_->what <= ManagerCommand::destroy);
      expect(place_, "create", rtl_.control_create, command.what == ManagerCommand::create);
      expect(place_, "quiesce", rtl_.control_quiesce, command.what == ManagerCommand::quiesce);
      expect(place_, "resume", rtl_.control_resume, command.what == ManagerCommand::resume);
      expect(place_, "destroy", rtl_.control_destroy, command.what == ManagerCommand::destroy);
      expect(place_, "number of a command", rtl_.control_number, command.subject.number());
      if (command.what == ManagerCommand::create)
        expect(place_, "owner", rtl_.control_underlying_function, command.subject.underlying_function());
      is_controlling_ = true;
    }
    if (rtl_.row_write && rtl_.row_write_ready)
      take_row();
    if (rtl_.row_read && rtl_.row_read_ready) {
      const Command& command =
          begun("row that is read", command_ && command_->what == ManagerCommand::read_context);
      expect(place_, "context that is read", rtl_.row_read_context,
             command.subject.number() & (contexts - 1));
      expect(place_, "row that is read", rtl_.row_read_row, command.place.index());
      read_row_ = true;
      ++context_rows_;
    }
    if (rtl_.bind_write) {
      const Command& command =
          begun("number that is bound", command_ && (command_->what == ManagerCommand::bind_number ||
                                                     command_->what == ManagerCommand::unbind_number));
      expect(place_, "bound", rtl_.bind_bound, command.what == ManagerCommand::bind_number);
      expect(place_, "bound number", rtl_.bind_number, command.subject.number());
      if (rtl_.bind_bound)
        expect(place_, "queue pair of a number", rtl_.bind_queue_pair, data_word() & 0xff'ffff);
      end_table();
    }
    if (rtl_.wait_write) {
      const Command& command =
          begun("number in time-wait", command_ && (command_->what == ManagerCommand::begin_time_wait ||
                                                    command_->what == ManagerCommand::end_time_wait));
      expect(place_, "waits", rtl_.wait_waits, command.what == ManagerCommand::begin_time_wait);
      expect(place_, "waiting number", rtl_.wait_number, command.subject.number());
      end_table();
    }
    if (rtl_.gid_write || rtl_.identifier_write || rtl_.key_write)
      take_table_entry();
  }

  void take_row() {
    const Command& command =
        begun("row that is written", command_ && (command_->what == ManagerCommand::write_context ||
                                                  command_->what == ManagerCommand::destroy));
    Row bytes;
    std::memcpy(bytes.data(), &rtl_.row_write_data, row_bytes);
    const bool clears = command.what == ManagerCommand::destroy;
    expect(place_, "context that is written", rtl_.row_write_context,
           command.subject.number() & (contexts - 1));
    expect(place_, "row that is written", rtl_.row_write_row, clears ? 0 : command.place.index());
    const Row expected = clears ? Row{} : data_;
    for (uint32_t byte = 0; byte < row_bytes; ++byte)
      if (bytes[byte] != expected[byte])
        differ(place_, "byte of a context", uint64_t{byte} << 32 | bytes[byte],
               uint64_t{byte} << 32 | expected[byte]);
    row(command.subject.number(), rtl_.row_write_row) = bytes;
    written_row_ = true;
    ++context_rows_;
  }

  // Writes the model's tables, as the block does.
  void take_table_entry() {
    const ManagerCommand what = rtl_.gid_write          ? ManagerCommand::set_gid
                                : rtl_.identifier_write ? ManagerCommand::set_local_identifier
                                                        : ManagerCommand::set_partition_key;
    expect(place_, "tables at a time", rtl_.gid_write + rtl_.identifier_write + rtl_.key_write, 1);
    const Command& command = begun("entry of a table", command_ && command_->what == what);
    const unsigned port = rtl_.write_port + 1U;
    std::array<uint8_t, 16> entry;
    std::memcpy(entry.data(), &rtl_.write_data, entry.size());
    expect(place_, "port of a table", port, command.place.port());
    if (what != ManagerCommand::set_partition_key)
      expect(place_, "function of a table", rtl_.write_underlying_function,
             command.subject.underlying_function());
    if (what == ManagerCommand::set_gid) {
      wire::Gid gid; // first byte highest there
      std::ranges::reverse_copy(entry, gid.begin());
      model_.attributes.set_gid(port, rtl_.write_underlying_function, rtl_.write_index, gid);
      std::copy_n(data_.begin(), gid.size(),
                  gids_[{port, command.subject.underlying_function(), command.place.index()}].begin());
    } else if (what == ManagerCommand::set_partition_key) {
      model_.attributes.set_partition_key(port, rtl_.write_index,
                                          static_cast<uint16_t>(entry[0] | entry[1] << 8));
      keys_[{port, command.place.index()}] = static_cast<uint16_t>(data_word());
    } else
      expect(place_, "local identifier", entry[0] | entry[1] << 8, data_word() & 0xffff);
    end_table();
  }
  void end_table() {
    command_->is_over = true;
    ++table_entries_;
  }

  Row& row(uint32_t queue_pair, uint32_t at) { return memory_[(queue_pair & (contexts - 1)) * rows + at]; }
  uint32_t data_word() const {
    uint32_t word = 0;
    std::memcpy(&word, data_.data(), sizeof word);
    return word;
  }

  // Answers.

  void compare_write(const ManagerHost<Vmanager_port>::Access& access) {
    const bool is_data = access.address < registers::data + sizeof data_ && access.address % 4 == 0;
    const bool is_command = access.address == registers::command && access.value <= last_command;
    const bool is_there = access.strobes == 15 && (is_data || access.address == registers::subject ||
                                                   access.address == registers::place || is_command);
    expect(place_, "response to a write", access.response, is_there ? okay : slave_error);
    refused_ += !is_there;
    if (!is_there || !is_command)
      return;
    expect(place_, "a command is done when it is answered", 1, command_->is_over || !command_->is_in_reach);
    ++commands_;
    not_done_ += !status_.done();
    command_.reset();
  }

  void compare_read(const ManagerHost<Vmanager_port>::Access& access) {
    uint32_t response = okay;
    uint32_t expected = 0;
    if (access.address == registers::quiet)
      return compare_quiet(access);
    if (access.address < registers::data + sizeof data_ && access.address % 4 == 0)
      std::memcpy(&expected, data_.data() + access.address, 4);
    else if (access.address == registers::subject)
      expected = subject_.bits;
    else if (access.address == registers::place)
      expected = port_place_.bits;
    else if (access.address == registers::status)
      expected = status_.bits;
    else if (access.address != registers::command)
      response = slave_error;
    expect(place_, "response to a read", access.response, response);
    if (response == okay)
      expect(place_, "register", access.value | uint64_t{access.address} << 32,
             expected | uint64_t{access.address} << 32);
  }

  void compare_quiet(const ManagerHost<Vmanager_port>::Access& access) {
    expect(place_, "response to a read", access.response, okay);
    registers::Quiet read;
    read.bits = access.value;
    if (!read.valid()) {
      expect(place_, "a queue pair that became quiet is told", 0, quiet_.has_settled());
      expect(place_, "nothing", access.value, 0);
      return;
    }
    if (quiet_.is_empty())
      differ(place_, "queue pairs that became quiet", read.number(), 0);
    expect(place_, "queue pair that became quiet", read.number(), quiet_.take());
    ++taken_;
  }

  // At rest.

  void finish() {
    host_.ready = block_ready_ = 100;
    pin_ = unpin_ = stray_quiet_ = 0;
    const auto is_waiting = [&] { return host_.writes() || host_.reads(); };
    for (uint32_t clock = 0; is_waiting(); ++clock) {
      if (clock > 1000)
        differ(place_, "accesses that are answered", 0, 1);
      step();
    }
    // All quiet queue pairs are reported, and then none.
    for (uint32_t clock = 0; clock < 8; ++clock)
      step();
    for (;;) {
      const uint64_t before = taken_;
      host_.begin_read(rtl_, {.address = registers::quiet, .begun = now_});
      while (host_.reads())
        step();
      if (taken_ == before)
        break;
    }
    expect(place_, "interrupt for what is quiet", rtl_.quiet_waits, 0);
  }

  void compare_tables() {
    for (const auto& [at, gid] : gids_) {
      const auto [port, function, index] = at;
      expect(place_, "GID of the model", model_.attributes.gids(port, function)[index] == gid, 1);
    }
    for (const auto& [at, key] : keys_)
      expect(place_, "P_Key of the model", model_.attributes.partition_keys(at.first)[at.second], key);
  }

  // A manager without pauses.
  void stream() {
    const uint64_t begin = now_;
    const auto put = [&](uint32_t address, uint32_t value) {
      host_.begin_write(rtl_, {.address = address, .value = value, .begun = now_});
      if (address == registers::subject)
        subject_.bits = value;
      else if (address == registers::place)
        port_place_.bits = value;
      else if (address == registers::command)
        begin_command(static_cast<ManagerCommand>(value));
      else
        std::memcpy(data_.data() + address, &value, 4);
      while (host_.writes())
        step();
    };
    put(registers::subject, 2);
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t word = 0; word < registers::data_count; ++word)
        put(registers::data + word * 4, static_cast<uint32_t>(random_.bits()));
      put(registers::place, row);
      put(registers::command, static_cast<uint32_t>(ManagerCommand::write_context));
    }
    std::printf("%u rows of a context in %llu clocks\n", rows, number(now_ - begin));
  }

  Vmanager_port rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint64_t now_ = 0;
  DestinationModel model_;
  ManagedQueuePairs queue_pairs_{random_, place_, model_};
  ManagerHost<Vmanager_port> host_{random_};
  uint32_t block_ready_ = 100;
  uint32_t pin_ = 0;
  uint32_t unpin_ = 0;
  uint32_t stray_quiet_ = 0;
  uint32_t take_quiet_ = 50;
  // The registers.
  Row data_{};
  registers::Subject subject_;
  registers::Place port_place_;
  registers::Status status_;
  std::optional<Command> command_;
  // The blocks.
  std::vector<Row> memory_ = std::vector<Row>(contexts * rows);
  bool is_controlling_ = false;
  bool written_row_ = false;
  bool read_row_ = false;
  std::map<std::tuple<unsigned, unsigned, uint32_t>, wire::Gid> gids_; // by port, function and index
  std::map<std::pair<unsigned, uint32_t>, uint16_t> keys_;             // by port and index
  QuietFollow quiet_{contexts};
  bool was_read_ = false;
  uint64_t commands_ = 0;
  uint64_t not_done_ = 0;
  uint64_t refused_ = 0;
  uint64_t quiets_ = 0;
  uint64_t taken_ = 0;
  uint64_t context_rows_ = 0;
  uint64_t table_entries_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
