#pragma once

#include "board/dma_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fpga_verbs::board {

// How the stores to the prefetchable BAR reach the device.
enum class CommandMapping : uint8_t { write_combining, uncached };

// Facts about an open function that need no access to the device; for display.
struct BoardFacts {
  std::string backend;  // "emu"
  std::string progress; // "shared", "own" or "stepped"
  std::string clock;    // where the device clock comes from
  CommandMapping mapping = CommandMapping::write_combining;
  unsigned store_bytes = 64; // widest store that reaches the prefetchable BAR as one transaction
  std::string command_store =
      "messages"; // what commands are stored by: an instruction, or messages to the model
  unsigned underlying_function = 0;
  unsigned interrupt_vectors = 0;
};

class Observation;

// An open underlying function of a board, on any backend: BARs, memory that the device reaches, interrupts.
// One thread at a time uses it; another thread opens the function again.
class BoardFunction {
public:
  virtual ~BoardFunction() = default;

  virtual const BoardFacts& facts() const = 0;

  // Reads one DWORD and flushes all earlier writes. `offset` in bytes, a multiple of 4. All ones if the
  // function has no access or the device is gone.
  virtual uint32_t read32(unsigned bar, uint64_t offset) = 0;

  // Posted writes of 4 and 8 bytes, aligned to their size. Writes outside the function's regions are dropped.
  virtual void write32(unsigned bar, uint64_t offset, uint32_t value) = 0;
  virtual void write64(unsigned bar, uint64_t offset, uint64_t value) = 0;

  // Stores a command: makes the writes to host memory before it visible to the device, copies `bytes` (4 to
  // 320, a multiple of 4) in units of 64 B and the tail in stores of 8 B, never beyond `bytes` rounded up to
  // 8, and flushes write combining. `source` must be readable up to `bytes` rounded up to 8; `offset` 64 B
  // aligned.
  virtual void write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) = 0;

  // The two halves of write_command(), for measurements: the stores here, the flush in fence().
  virtual void store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) = 0;

  // Flushes write combining: stores before it reach the device before stores after it.
  virtual void fence() = 0;

  // Runs the device if polling drives it. False if the device is idle or runs on its own.
  virtual bool advance() = 0;

  // On a board whose time advances only on request, as a stepped board: advances time until the device has
  // something to do next, if it has nothing to do now.
  virtual void let_time_pass() {}

  // Allocates at least `bytes` (more than 0) of zeroed memory: whole pages at consecutive DMA addresses from
  // `address` on, mapped with all rights until unmap_dma(address). Empty: `failure` gives the reason.
  virtual DmaMemory allocate_dma(size_t bytes, uint64_t& address, std::string& failure);

  // The reason why map_dma does not accept the caller's memory; null if it does.
  virtual const char* foreign_memory_refusal() const { return nullptr; }

  // Maps `bytes` of the caller's memory for DMA of this function; the low 12 bits of the address are those of
  // `memory`. Each mapping has its own addresses and rights, even if several share a page. Empty if the
  // address space is exhausted or the backend cannot reach foreign memory.
  virtual std::optional<uint64_t> map_dma(void* memory, size_t bytes, DmaRights rights) = 0;

  // The reason of the last failure of map_dma.
  virtual std::string mapping_failure() const { return "no DMA address is left"; }

  // Removes the mapping at an address that map_dma returned; no DMA to it happens afterwards. False: no such
  // mapping.
  virtual bool unmap_dma(uint64_t address) = 0;

  // Stops DMA of this function before its memory is freed; no effect where unmapping is enough.
  virtual void stop_dma() {}

  // The eventfd that MSI-X vector `vector` signals, or a descriptor that is read like one, valid as long as
  // the function; -1 if there is no such vector.
  virtual int interrupt_event(unsigned vector) = 0;

  // A descriptor that becomes readable when the device is gone, valid as long as the function; -1: only a
  // read shows it.
  virtual int removal_event() { return -1; }

  // The reason of the loss, which completes the sentence "the device is gone: "; null: the backend does not
  // know it.
  virtual const char* loss() { return nullptr; }

  // For an observer: its access to the board's activity. Null: the function is open instead, or its backend
  // has no observers.
  virtual Observation* observation() { return nullptr; }

  // Called after the waiting callers were told that the device is gone: releases the kernel's resources, so
  // that the kernel can remove the device. The memory stays; reads return all ones from now on.
  virtual void give_up() {}
};

} // namespace fpga_verbs::board
