#pragma once

#include "board/board.h"
#include "pci/bar_faults.h"
#include "pci/bar_range.h"
#include "pci/command_store.h"

#include <vector>

namespace fpga_verbs::pci {

// An open PCI function whose BARs are mapped into this process: loads and stores are the transactions. The
// backends implement DMA and interrupts.
class MappedFunction : public board::BoardFunction {
public:
  const board::BoardFacts& facts() const override { return facts_; }
  uint32_t read32(unsigned bar, uint64_t offset) override;
  void write32(unsigned bar, uint64_t offset, uint32_t value) override;
  void write64(unsigned bar, uint64_t offset, uint64_t value) override;
  void write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override;
  void store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override;
  void fence() override;
  bool advance() override { return false; }
  int removal_event() override { return faults_.event(); }
  const char* loss() override;
  void give_up() override;

protected:
  MappedFunction(const char* backend, unsigned underlying_function);

  // Adds a mapping. Addresses outside all mappings read as all ones and drop writes. False: errno has the
  // reason.
  bool add(BarRange&& range);
  int fault_event() const { return faults_.event(); }
  void set_interrupt_vectors(unsigned vectors) { facts_.interrupt_vectors = vectors; }
  const std::vector<BarRange>& ranges() const { return ranges_; }

private:
  volatile uint8_t* find(unsigned bar, uint64_t offset, size_t bytes) const;

  board::BoardFacts facts_;
  std::vector<BarRange> ranges_;
  BarFaults faults_; // ends before the ranges are unmapped
  const CommandStore* command_store_;
};

} // namespace fpga_verbs::pci
