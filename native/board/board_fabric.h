#pragma once

#include "board/step_group.h"
#include "link/fabric.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace fpga_verbs::board {

// Emulated boards of this process with connected ports, and the state that they share. Thread-safe; kept
// alive by its boards.
class BoardFabric {
public:
  // Returns the fabric of this name in the process, creating it if necessary.
  static std::shared_ptr<BoardFabric> share(const std::string& name);

  link::Fabric& ports() { return ports_; }
  const std::shared_ptr<StepGroup>& steps() const { return steps_; }

  // Reserves a board number until it is returned: the wanted one, otherwise the lowest free one. Nothing: it
  // is in use.
  std::optional<unsigned> take_number(std::optional<unsigned> wanted);
  void give_back_number(unsigned number);

private:
  link::Fabric ports_;
  std::shared_ptr<StepGroup> steps_ = std::make_shared<StepGroup>();
  std::mutex mutex_;
  std::array<bool, link::board_numbers> numbers_used_{};
};

} // namespace fpga_verbs::board
