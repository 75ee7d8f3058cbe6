#pragma once

#include "board/step_group.h"
#include "link/fabric.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace fpga_verbs::board {

// Emulated boards of this process whose ports are connected, and what they share. Thread-safe; its boards
// keep it.
class BoardFabric {
public:
  // The fabric of this name in the process, made when there is none.
  static std::shared_ptr<BoardFabric> share(const std::string& name);

  link::Fabric& ports() { return ports_; }
  const std::shared_ptr<StepGroup>& steps() const { return steps_; }

  // Takes a board number until it is given back: the wanted one, else the lowest that is free. Nothing: it is
  // in use.
  std::optional<unsigned> take_number(std::optional<unsigned> wanted);
  void give_back_number(unsigned number);

private:
  link::Fabric ports_;
  std::shared_ptr<StepGroup> steps_ = std::make_shared<StepGroup>();
  std::mutex mutex_;
  std::array<bool, link::board_numbers> numbers_used_{};
};

} // namespace fpga_verbs::board
