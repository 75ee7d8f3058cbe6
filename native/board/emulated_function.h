#pragma once

#include "board/board.h"
#include "board/interrupts.h"
#include "board/transaction_ring.h"
#include "board/write_combining.h"
#include "link/descriptor.h"
#include "link/one_way_signal.h"

#include <array>
#include <memory>
#include <optional>
#include <set>

namespace fpga_verbs::board {

class EmulatedBoard;
class Progress;

// An open function of an emulated board: stores become messages to the device. When no process has the
// function open any more, the board resets it, as VFIO does, so that a killed driver leaves no state behind.
class EmulatedFunction final : public BoardFunction {
public:
  EmulatedFunction(std::shared_ptr<EmulatedBoard> board, unsigned underlying_function);
  ~EmulatedFunction() override;

  const BoardFacts& facts() const override { return facts_; }
  uint32_t read32(unsigned bar, uint64_t offset) override;
  void write32(unsigned bar, uint64_t offset, uint32_t value) override;
  void write64(unsigned bar, uint64_t offset, uint64_t value) override;
  void write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override;
  void store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override;
  void fence() override;
  bool advance() override;
  void let_time_pass() override;
  std::optional<uint64_t> map_dma(void* memory, size_t bytes, DmaRights rights) override;
  bool unmap_dma(uint64_t address) override;
  int interrupt_event(unsigned vector) override;

  // Entries of the function's table of DMA addresses that map_dma and unmap_dma have set and cleared.
  uint64_t table_entries_changed() const { return table_entries_changed_; }

  // As interrupt_event, for another process: a new descriptor at which a vector is signaled from now on,
  // instead of the previous one. The reader cannot hold up the device. None: there is no such vector, or no
  // descriptor is left.
  link::Descriptor interrupt_signal(unsigned vector);

  const std::shared_ptr<EmulatedBoard>& board() const { return board_; }

  // Function-level reset, even if other users have the function open.
  void reset();

private:
  void store(unsigned bar, uint64_t offset, const void* source, size_t bytes);
  void push(unsigned bar, uint64_t offset, const void* source, size_t bytes);

  std::shared_ptr<EmulatedBoard> board_;
  TransactionRing& ring_;
  Progress& progress_;
  unsigned underlying_function_;
  BoardFacts facts_;
  std::optional<WriteCombining> write_combining_; // where it is at its worst
  uint64_t table_entries_changed_ = 0;
  std::set<uint64_t> mapped_;                   // DMA addresses
  std::array<int, Interrupts::vectors> events_; // eventfds; -1: not asked for
  std::array<std::unique_ptr<link::OneWaySignal>, Interrupts::vectors> signals_;
};

} // namespace fpga_verbs::board
