#pragma once

#include "board/board_counters.h"
#include "board/fault_rules.h"
#include "board/interrupts.h"
#include "board/iommu.h"
#include "hca/base/clock.h"
#include "hca/base/host_port.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

namespace fpga_verbs::board {

// A DMA that the IOMMU refused.
struct DmaFault {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t time = 0; // clock ticks
  uint8_t underlying_function = 0;
  bool write = false;
  DmaRefusal reason = DmaRefusal::none;
};

// Time of a read of payload, in clock ticks, from the seed.
struct ReadLatency {
  uint64_t least = 0;
  uint64_t most = 0; // at least `least`
  bool operator==(const ReadLatency&) const = default;
};

// The host as the device reaches it: memory behind an IOMMU with a domain per function, and interrupts. A
// refused DMA accesses nothing, is recorded, and is reported to the device. Under the board's lock.
class BoardHost final : public hca::HostPort {
public:
  BoardHost(unsigned underlying_functions, const ReadLatency& latency, uint64_t seed, FaultRules& faults,
            BoardCounters& counters, const hca::Clock& clock);

  hca::DmaStatus read(unsigned underlying_function, uint64_t address, void* destination,
                      size_t bytes) override;
  hca::DmaStatus write(unsigned underlying_function, uint64_t address, const void* source,
                       size_t bytes) override;
  uint64_t read_latency(unsigned underlying_function, uint64_t address, size_t bytes) override;
  uint8_t* expect_line(unsigned underlying_function, uint64_t address) override;
  void interrupt(unsigned underlying_function, unsigned vector) override;

  IommuDomain& domain(unsigned underlying_function) { return *domains_[underlying_function]; }
  Interrupts& interrupts() { return interrupts_; }

  // From now on reads may take time, because of a rule of slow_dma.
  void slow_down() { reads_take_time_ = true; }

  // The newest faults since the last call, at most 1,024.
  std::deque<DmaFault> take_faults();

private:
  static constexpr size_t faults_kept = 1024;

  // Fast path: an access to contiguous memory that is fully permitted. Null: use the slow path.
  uint8_t* at_once(unsigned underlying_function, uint64_t address, size_t bytes, DmaRights right) {
    if (faults_.any() || underlying_function >= domains_.size() || domains_[underlying_function] == nullptr ||
        bytes == 0)
      return nullptr;
    IommuDomain& domain = *domains_[underlying_function];
    if (uint8_t* const memory = domain.find(address, bytes, right)) [[likely]]
      return memory;
    if (address % IommuDomain::page_bytes + bytes > IommuDomain::page_bytes)
      return nullptr;
    DmaRefusal refusal = DmaRefusal::none;
    return domain.translate(address, bytes, right, refusal);
  }
  // Page by page, where an access has to be looked at closer.
  [[gnu::noinline]] hca::DmaStatus read_pages(unsigned underlying_function, uint64_t address,
                                              void* destination, size_t bytes);
  [[gnu::noinline]] hca::DmaStatus write_pages(unsigned underlying_function, uint64_t address,
                                               const void* source, size_t bytes);
  bool allowed(unsigned underlying_function, uint64_t address, uint64_t bytes, DmaRights right);
  void refuse(unsigned underlying_function, uint64_t address, uint64_t bytes, DmaRights right,
              DmaRefusal reason);

  std::array<std::unique_ptr<IommuDomain>, spec::underlying_functions> domains_;
  Interrupts interrupts_;
  FaultRules& faults_;
  BoardCounters& counters_;
  const hca::Clock& clock_;
  std::deque<DmaFault> log_;
  ReadLatency latency_;
  Random random_;
};

} // namespace fpga_verbs::board
