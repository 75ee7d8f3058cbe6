#pragma once

#include "board/board.h"
#include "board/function_view.h"

namespace fpga_verbs::board {

// A function of a board of this process that is observed, not open: it drops all writes but those to inspect
// registers, and has no memory and no interrupts.
class ViewedFunction final : public BoardFunction {
public:
  ViewedFunction(FunctionView view, BoardFacts facts) : view_(std::move(view)), facts_(std::move(facts)) {}

  const BoardFacts& facts() const override { return facts_; }
  uint32_t read32(unsigned bar, uint64_t offset) override { return view_.read32(bar, offset); }
  void write32(unsigned bar, uint64_t offset, uint32_t value) override { view_.write32(bar, offset, value); }
  void write64(unsigned, uint64_t, uint64_t) override {}
  void write_command(unsigned, uint64_t, const void*, size_t) override {}
  void store_command(unsigned, uint64_t, const void*, size_t) override {}
  void fence() override {}
  bool advance() override { return false; }
  DmaMemory allocate_dma(size_t, uint64_t&, std::string& failure) override {
    failure = refusal;
    return {};
  }
  const char* foreign_memory_refusal() const override { return refusal; }
  std::optional<uint64_t> map_dma(void*, size_t, DmaRights) override { return std::nullopt; }
  bool unmap_dma(uint64_t) override { return false; }
  int interrupt_event(unsigned) override { return -1; }
  Observation* observation() override { return &view_; }

private:
  static constexpr const char* refusal = "the function is observed, not open; expected: an open function";

  FunctionView view_;
  BoardFacts facts_;
};

} // namespace fpga_verbs::board
