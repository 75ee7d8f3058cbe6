#include "test/sanitize/many_threads.h"

#include "board/hca_board.h"
#include "board/random.h"
#include "test/host/host_driver.h"
#include "test/host/host_queues.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fpga_verbs::test {

namespace {

constexpr unsigned boards = 2;
constexpr unsigned connected_functions = 3; // each connects one board to the other
constexpr unsigned reset_function = 3;      // is brought up and reset again and again
constexpr unsigned every_right = 0b1111;    // bits of spec::AccessFlag
constexpr unsigned message_bytes = 3000;    // three packets
constexpr unsigned window = 4;              // sends in flight
constexpr unsigned entries_log2 = 4;

// State that the threads share: when to stop, and the first failure.
class Outcome {
public:
  void fail(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    if (what_.empty())
      what_ = what;
    stopped_ = true;
  }
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  std::string take() {
    const std::scoped_lock lock(mutex_);
    return what_;
  }

private:
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::string what_;
};

std::span<const uint8_t> bytes_of(const spec::GatherEntry& entry) {
  return {reinterpret_cast<const uint8_t*>(&entry), sizeof entry};
}

// One end of a connection. Its function's driver creates its objects; one thread handles its traffic.
class End {
public:
  explicit End(HostDriver& driver)
      : protection_domain_(driver.make(spec::ManagementOpcode::create_protection_domain).value_or(0)),
        memory_(driver.function().allocate(size_t{3} * area_bytes)),
        key_(driver.register_memory(memory_, protection_domain_, every_right).value_or(0)),
        completion_queue_(driver, entries_log2 + 2),
        queue_pair_(driver, {.protection_domain = protection_domain_,
                             .completion_queue = completion_queue_.number(),
                             .entries_log2 = entries_log2}) {}

  bool made() const { return key_ != 0 && completion_queue_.number() != 0 && queue_pair_.number() != 0; }
  HostQueuePair& queue_pair() { return queue_pair_; }

  // The area that the peer may write and read.
  struct Remote {
    uint64_t address = 0;
    uint32_t key = 0;
  };
  Remote remote() const { return {memory_.address + size_t{2} * area_bytes, key_}; }

  // Exchanges `messages` with a peer that does the same, from one thread.
  void run(HostFunction& function, const Remote& remote, unsigned messages, unsigned seed, Outcome& outcome) {
    for (unsigned i = 0; i < window; ++i)
      post_receive();
    unsigned posted = 0;
    unsigned sent = 0;
    unsigned received = 0;
    while ((sent < messages || received < messages) && !outcome.stopped()) {
      if (posted < messages && posted - sent < window)
        post(function, remote, posted++, seed);
      const auto completion = completion_queue_.poll();
      if (!completion) {
        if ((sent + received) % 8 == 0)
          completion_queue_.arm(function);
        function.wait_a_little();
        continue;
      }
      if (completion->status() != spec::CompletionStatus::success)
        return outcome.fail(std::string(completion->work_queue() == 0 ? "send" : "receive") +
                            " work request " + std::to_string(completion->sequence_number()) +
                            " ended with " + spec::name(completion->status()));
      if (completion->work_queue() == 0)
        ++sent;
      else if (!is_right(received++))
        return outcome.fail("a message arrived with wrong bytes");
      else
        post_receive();
    }
  }

private:
  static constexpr size_t slot_bytes = spec::page_bytes;
  static constexpr size_t area_bytes = window * slot_bytes; // for sends, for receives, for the peer

  static uint8_t pattern(unsigned message, size_t at) { return static_cast<uint8_t>(message * 31 + at); }

  spec::GatherEntry entry(size_t at) const {
    spec::GatherEntry entry;
    entry.set_address(memory_.address + at);
    entry.set_length(message_bytes);
    entry.set_local_key(key_);
    return entry;
  }

  // Each message is a SEND; an unsignaled RDMA WRITE or READ precedes some of them.
  void post(HostFunction& function, const Remote& remote, unsigned message, unsigned seed) {
    const size_t slot = message % window * slot_bytes;
    const unsigned buffer = function.first_collect_buffer() + (message + seed) % function.collect_buffers();
    for (size_t at = 0; at < message_bytes; ++at)
      *memory_.at(slot + at) = pattern(message, at);
    spec::CommandHeader header;
    header.set_gather_count(1);
    const bool leads = (message + seed) % 3 == 0;
    if (leads) {
      header.set_opcode(spec::Opcode::rdma_write);
      header.set_remote_address(remote.address + slot);
      header.set_remote_key(remote.key);
      queue_pair_.post(function, buffer, header, bytes_of(entry(slot)));
    }
    header.set_opcode(spec::Opcode::send);
    header.set_signaled(1);
    queue_pair_.post(function, buffer, header, bytes_of(entry(slot)));
  }

  void post_receive() {
    const std::array scatter{entry(area_bytes + receives_++ % window * slot_bytes)};
    queue_pair_.post_receive(scatter);
  }

  bool is_right(unsigned message) const {
    const uint8_t* const bytes = memory_.at(area_bytes + message % window * slot_bytes);
    for (size_t at = 0; at < message_bytes; ++at)
      if (bytes[at] != pattern(message, at))
        return false;
    return true;
  }

  uint32_t protection_domain_;
  HostMemory memory_;
  uint32_t key_;
  HostCompletionQueue completion_queue_;
  HostQueuePair queue_pair_;
  unsigned receives_ = 0;
};

// Creates and destroys memory regions, completion queues and queue pairs of a function whose queue pairs are
// busy.
void make_and_unmake(HostDriver& driver, Outcome& outcome) {
  const uint32_t protection_domain =
      driver.make(spec::ManagementOpcode::create_protection_domain).value_or(0);
  while (!outcome.stopped()) {
    const HostMemory memory = driver.function().allocate(spec::page_bytes);
    const auto key = driver.register_memory(memory, protection_domain, every_right);
    HostCompletionQueue completion_queue(driver, entries_log2);
    HostQueuePair queue_pair(
        driver, {.protection_domain = protection_domain, .completion_queue = completion_queue.number()});
    const bool made = key && completion_queue.number() != 0 && queue_pair.number() != 0;
    if (!made || !queue_pair.destroy(driver) ||
        !driver.unmake(spec::ManagementOpcode::destroy_completion_queue, completion_queue.number()) ||
        !driver.unmake(spec::ManagementOpcode::deregister_memory, *key))
      return outcome.fail("an object of a busy function could not be made or unmade");
    driver.function().free(memory);
  }
}

// Brings a function up, lets one of its queue pairs send to itself, and resets the function meanwhile.
void come_and_go(board::EmulatedBoard& board, Outcome& outcome) {
  while (!outcome.stopped()) {
    HostDriver driver(board, reset_function);
    if (!driver.ready())
      return outcome.fail("a function that was reset does not come up");
    End end(driver);
    const HostPeer self{.queue_pair_number = end.queue_pair().number(),
                        .address =
                            address_of(spec::LinkLayer::ethernet, board.board_number(), reset_function)};
    if (!end.made() || !end.queue_pair().connect(driver, self))
      return outcome.fail("the queue pair of a function that was reset could not be connected");
    spec::CommandHeader header;
    header.set_opcode(spec::Opcode::rdma_write);
    header.set_remote_address(end.remote().address);
    header.set_remote_key(end.remote().key);
    header.set_inline_data(1);
    constexpr std::array<uint8_t, 64> data{};
    for (unsigned i = 0; i < window; ++i)
      end.queue_pair().post(driver.function(), driver.function().first_collect_buffer() + i, header, data);
    if (!driver.function().reset())
      return outcome.fail("the reset of a function does not end");
  }
}

// The work of an observer.
void look_on(board::EmulatedBoard& board, Outcome& outcome) {
  while (!outcome.stopped()) {
    board.start_trace(64);
    board.start_packet_trace(64);
    static_cast<void>(board.counters());
    static_cast<void>(board.now());
    std::this_thread::yield();
    board.stop_trace();
    board.stop_packet_trace();
    static_cast<void>(board.take_trace());
    static_cast<void>(board.take_packets());
    static_cast<void>(board.take_dma_faults());
  }
}

std::shared_ptr<board::EmulatedBoard> make_board(const ManyThreadsOptions& options) {
  board::HcaBoardOptions made;
  made.board.progress = options.progress;
  made.board.seed = options.seed;
  made.board.stores = board::StoreModel::adversarial;
  made.board.ports.fabric = "many threads";
  made.hca.queue_pairs = 64;
  made.hca.queue_pair_contexts_cached = 8;
  made.hca.completion_queues = 64;
  made.hca.memory_keys = 256;
  made.hca.page_table_entries = 4096;
  std::string failure;
  return board::make_hca_board(made, failure);
}

} // namespace

std::string run_many_threads(const ManyThreadsOptions& options) {
  struct Side {
    std::shared_ptr<board::EmulatedBoard> board;
    std::vector<std::unique_ptr<HostDriver>> drivers;
    std::vector<std::unique_ptr<End>> ends;
  };
  std::array<Side, boards> sides;
  for (Side& side : sides) {
    side.board = make_board(options);
    for (unsigned function = 0; function < connected_functions; ++function) {
      side.drivers.push_back(std::make_unique<HostDriver>(*side.board, function));
      side.ends.push_back(std::make_unique<End>(*side.drivers.back()));
      if (!side.drivers.back()->ready() || !side.ends.back()->made())
        return "a function does not come up";
    }
  }
  for (unsigned number = 0; number < boards; ++number)
    for (unsigned function = 0; function < connected_functions; ++function) {
      Side& here = sides[number];
      Side& there = sides[boards - 1 - number];
      const HostPeer peer{.queue_pair_number = there.ends[function]->queue_pair().number(),
                          .address =
                              address_of(spec::LinkLayer::ethernet, there.board->board_number(), function)};
      if (!here.ends[function]->queue_pair().connect(*here.drivers[function], peer))
        return "a queue pair could not be connected";
    }

  Outcome outcome;
  std::vector<std::thread> others;
  for (Side& side : sides) {
    for (const auto& driver : side.drivers)
      others.emplace_back([&outcome, &driver = *driver] { make_and_unmake(driver, outcome); });
    others.emplace_back([&outcome, &board = *side.board] { come_and_go(board, outcome); });
    others.emplace_back([&outcome, &board = *side.board] { look_on(board, outcome); });
  }
  std::vector<std::thread> ends;
  for (unsigned number = 0; number < boards; ++number)
    for (unsigned function = 0; function < connected_functions; ++function)
      ends.emplace_back([&, number, function] {
        HostFunction own(*sides[number].board, function);
        const End::Remote remote = sides[boards - 1 - number].ends[function]->remote();
        sides[number].ends[function]->run(own, remote, options.messages, options.seed + function, outcome);
      });
  for (std::thread& thread : ends)
    thread.join();
  outcome.stop();
  for (std::thread& thread : others)
    thread.join();
  return outcome.take();
}

} // namespace fpga_verbs::test
