#include "board/board_watch.h"

#include <utility>

namespace fpga_verbs::board {

BoardWatch::BoardWatch(std::shared_ptr<WatchKeeper> keeper, unsigned underlying_function, WatchKind kind,
                       const WatchMemory& memory)
    : keeper_(std::move(keeper)), underlying_function_(underlying_function), kind_(kind), memory_(memory),
      reader_(memory.header(), memory.words()) {}

BoardWatch::~BoardWatch() { end(); }

void BoardWatch::pause() {
  if (!std::exchange(is_paused_, true))
    keeper_->pause_watch(underlying_function_, kind_);
}

void BoardWatch::resume() {
  if (std::exchange(is_paused_, false))
    keeper_->resume_watch(underlying_function_, kind_);
}

std::optional<WatchMemory> BoardWatch::end() {
  if (keeper_ != nullptr)
    resume();
  const std::shared_ptr<WatchKeeper> keeper = std::exchange(keeper_, nullptr);
  return keeper == nullptr ? std::nullopt : keeper->end_watch(underlying_function_, kind_);
}

} // namespace fpga_verbs::board
