#pragma once

#include "board/watch_memory.h"

#include <memory>
#include <optional>

namespace fpga_verbs::board {

class EmulatedBoard;

// A watch on a board of this process, which it keeps.
class BoardWatch final : public Watch {
public:
  BoardWatch(std::shared_ptr<EmulatedBoard> board, unsigned underlying_function, WatchKind kind,
             const WatchMemory& memory);
  ~BoardWatch() override;
  BoardWatch(const BoardWatch&) = delete;
  BoardWatch& operator=(const BoardWatch&) = delete;

  WatchReader& reader() override { return reader_; }
  std::span<const uint8_t> preamble() const override { return memory_.preamble(); }
  // Nothing is written for it until it goes on. It keeps its memory: another process may have that mapped.
  void pause();
  void resume();
  // It ends. Gives the memory, where no other has the same.
  std::optional<WatchMemory> end();
  // Of its memory, for another process.
  int descriptor() const { return memory_.descriptor(); }

private:
  std::shared_ptr<EmulatedBoard> board_; // null: it has ended
  unsigned underlying_function_;
  WatchKind kind_;
  const WatchMemory& memory_;
  bool is_paused_ = false;
  WatchReader reader_;
};

} // namespace fpga_verbs::board
