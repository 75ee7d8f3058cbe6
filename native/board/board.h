#pragma once

#include "board/dma_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fpga_verbs::board {

// How the stores to the prefetchable BAR reach the device.
enum class CommandMapping : uint8_t { write_combining, uncached };

// Facts on an open function that are known without asking the device; for people to read.
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
// It is used by one thread at a time; another thread opens the function once more.
class BoardFunction {
public:
  virtual ~BoardFunction() = default;

  virtual const BoardFacts& facts() const = 0;

  // A read of one DWORD: flushes all writes before it. `offset` in bytes, a multiple of 4. All ones where the
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

  // The same in two halves for measuring: the stores, then the flush that fence() is.
  virtual void store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) = 0;

  // Flushes write combining: stores before it reach the device before stores after it.
  virtual void fence() = 0;

  // Lets the device work where polling drives it. False when the device has nothing to do, or works on its
  // own.
  virtual bool advance() = 0;

  // Where time passes only when it is told to, as on a stepped board: until the device has something to do
  // next, if it has nothing to do now.
  virtual void let_time_pass() {}

  // Memory of at least `bytes` (more than 0), zeroed, whole pages at consecutive DMA addresses from `address`
  // on, mapped with all rights until unmap_dma(address). Empty: `failure` says why.
  virtual DmaMemory allocate_dma(size_t bytes, uint64_t& address, std::string& failure);

  // Why map_dma takes no memory of the caller's; null where it does.
  virtual const char* foreign_memory_refusal() const { return nullptr; }

  // Maps `bytes` of the caller's memory for DMA of this function; the low 12 bits of the address are those of
  // `memory`. Each mapping has addresses and rights of its own, though several may lie on one page. Empty
  // when the address space is exhausted or the backend cannot reach foreign memory.
  virtual std::optional<uint64_t> map_dma(void* memory, size_t bytes, DmaRights rights) = 0;

  // Why map_dma has just given nothing.
  virtual std::string mapping_failure() const { return "no DMA address is left"; }

  // Takes back a mapping by the address that map_dma gave; no DMA to it happens afterwards. False: no such
  // mapping.
  virtual bool unmap_dma(uint64_t address) = 0;

  // No DMA of this function from now on, before its memory goes; where unmapping alone is enough, nothing.
  virtual void stop_dma() {}

  // The eventfd that MSI-X vector `vector` signals, or a descriptor that is read like one, valid as long as
  // the function; -1 when there is no such vector.
  virtual int interrupt_event(unsigned vector) = 0;

  // A descriptor that becomes readable when the device is gone, valid as long as the function; -1: only a
  // read tells.
  virtual int removal_event() { return -1; }

  // Why, when that is readable, in words that follow "the device is gone: "; null: the backend does not say.
  virtual const char* loss() { return nullptr; }

  // Of an observer: the facts that it is handed out; null: the function is open, or its backend hands out
  // nothing.
  virtual Observation* observation() { return nullptr; }

  // The waiting callers were told that the device is gone: gives back what the kernel has of it, so that it
  // can be taken out. The memory stays; reads give all ones from now on.
  virtual void give_up() {}
};

} // namespace fpga_verbs::board
