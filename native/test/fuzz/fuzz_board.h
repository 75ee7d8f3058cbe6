#pragma once

#include "board/emulated_board.h"
#include "board/hca_device.h"
#include "spec/enums.h"
#include "test/fuzz/fuzz_input.h"
#include "test/host/host_driver.h"
#include "test/host/host_queues.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace fpga_verbs::test {

// A small stepped board with few resources, and the properties that hold whatever a client does to it.
class FuzzBoard {
public:
  static constexpr unsigned underlying_functions = 3;
  static constexpr unsigned virtual_collect_buffers = 12;

  explicit FuzzBoard(spec::LinkLayer link_layer = spec::LinkLayer::ethernet);

  board::EmulatedBoard& board() { return *board_; }
  // Name of the fabric of its port.
  const std::string& fabric() const { return fabric_; }

  void step(unsigned count) { board_->stepped()->step(count); }
  // A quarter of a second in total: RNR retries may have no limit.
  void advance(uint64_t ticks) {
    constexpr uint64_t ticks_in_all = uint64_t{1} << 28;
    board_->stepped()->advance_to(std::min(board_->now() + ticks, std::max(board_->now(), ticks_in_all)));
  }

  // Empty, or an inconsistency: PCBs, credits, pins or entries that do not add up.
  std::string check() const;
  // Acts until the input is used up, at most `actions` times. Checks only sometimes, because checks take
  // longer than actions.
  template <class Act> std::string act_and_check(const FuzzInput& input, unsigned actions, Act&& act) {
    constexpr unsigned actions_between_checks = 16;
    for (unsigned i = 0; i < actions && !input.empty(); ++i) {
      act();
      if (i % actions_between_checks != 0)
        continue;
      if (std::string wrong = check(); !wrong.empty())
        return wrong;
    }
    return run_until_idle();
  }

  // The same once the board is idle, which may never happen.
  std::string run_until_idle();

private:
  std::string fabric_;
  const board::HcaDevice* device_ = nullptr; // the board's
  std::shared_ptr<board::EmulatedBoard> board_;
};

// A function with two queue pairs that are connected to each other.
class FuzzFunction {
public:
  FuzzFunction(FuzzBoard& board, unsigned underlying_function,
               spec::LinkLayer link_layer = spec::LinkLayer::ethernet);

  // Whether the function came up.
  bool ready() const;

  HostDriver& driver() { return driver_; }
  HostQueuePair& queue_pair(unsigned index) { return index == 0 ? first_ : second_; }
  HostCompletionQueue& completion_queue() { return completion_queue_; }
  uint32_t protection_domain() const { return protection_domain_; }
  // A page with all rights, and its key.
  const HostMemory& memory() const { return memory_; }
  uint32_t key() const { return key_; }
  // Memory, all or a part of it.
  spec::GatherEntry entry(uint32_t offset, uint32_t length) const;

  // Sends a message from the first queue pair to the second. Returns an empty text, or the failure.
  std::string send_message();

private:
  HostDriver driver_;
  uint32_t protection_domain_;
  HostMemory memory_;
  uint32_t key_;
  HostCompletionQueue completion_queue_;
  HostQueuePair first_;
  HostQueuePair second_;
  bool connected_;
};

// All access flags.
inline constexpr unsigned every_right = 0b1111;

} // namespace fpga_verbs::test
