#pragma once

#include "board/emulated_board.h"
#include "board/function_view.h"
#include "served/served_source.h"

#include <utility>

namespace fpga_verbs::served {

// An emulated board that a server holds and advances.
class BoardSource : public ServedSource {
public:
  explicit BoardSource(std::shared_ptr<board::EmulatedBoard> board) : board_(std::move(board)) {}

  unsigned functions() const override { return board_->options().underlying_functions; }
  std::shared_ptr<board::EmulatedFunction> open(unsigned number) override { return board_->open(number); }
  std::unique_ptr<board::ObserverView> observe(unsigned number) override {
    return std::make_unique<board::FunctionView>(board_, number);
  }
  bool advance() override { return board_->advance(); }

private:
  std::shared_ptr<board::EmulatedBoard> board_;
};

// Only the observation of an emulated board, by a process that has a function of it open: of all functions
// where that is the control function.
class SharedBoardSource final : public BoardSource {
public:
  SharedBoardSource(std::shared_ptr<board::EmulatedBoard> board, unsigned underlying_function)
      : BoardSource(std::move(board)), underlying_function_(underlying_function) {}

  std::shared_ptr<board::EmulatedFunction> open(unsigned) override { return nullptr; }
  std::unique_ptr<board::ObserverView> observe(unsigned number) override {
    const bool is_seen = underlying_function_ == 0 || number == underlying_function_;
    return is_seen ? BoardSource::observe(number) : nullptr;
  }
  unsigned first_observed() const override { return underlying_function_; }
  bool advance() override { return false; } // its users advance it

private:
  unsigned underlying_function_;
};

} // namespace fpga_verbs::served
