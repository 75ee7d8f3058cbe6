#pragma once

#include "board/watch_memory.h"

#include <memory>
#include <optional>

namespace fpga_verbs::board {

// Where watches are kept, by the process that writes their rings.
class WatchKeeper {
public:
  virtual ~WatchKeeper() = default;
  virtual void pause_watch(unsigned underlying_function, WatchKind kind) = 0;
  virtual void resume_watch(unsigned underlying_function, WatchKind kind) = 0;
  // Returns the memory if no other watch uses it.
  virtual std::optional<WatchMemory> end_watch(unsigned underlying_function, WatchKind kind) = 0;
};

// A watch on a board of this process; keeps the board alive.
class BoardWatch final : public Watch {
public:
  BoardWatch(std::shared_ptr<WatchKeeper> keeper, unsigned underlying_function, WatchKind kind,
             const WatchMemory& memory);
  ~BoardWatch() override;
  BoardWatch(const BoardWatch&) = delete;
  BoardWatch& operator=(const BoardWatch&) = delete;

  WatchReader& reader() override { return reader_; }
  std::span<const uint8_t> preamble() const override { return memory_.preamble(); }
  // Pauses the watch: the device writes nothing for it until resume(). The watch keeps its memory, which
  // another process may have mapped.
  void pause();
  void resume();
  // Ends the watch. Returns the memory if no other watch uses it.
  std::optional<WatchMemory> end();
  // Descriptor of its memory, for another process.
  int descriptor() const { return memory_.descriptor(); }

private:
  std::shared_ptr<WatchKeeper> keeper_; // null: it has ended
  unsigned underlying_function_;
  WatchKind kind_;
  const WatchMemory& memory_;
  bool is_paused_ = false;
  WatchReader reader_;
};

} // namespace fpga_verbs::board
