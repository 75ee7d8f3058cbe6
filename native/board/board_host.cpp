#include "board/board_host.h"

#include "board/processor.h"
#include "hca/base/store_line.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace fpga_verbs::board {

using hca::DmaStatus;

namespace {

constexpr size_t double_word = 4;
constexpr size_t cache_line = 64;

// Stores 8 B at a time in increasing order up to the last aligned DWORD, which a reader polls. For long data
// one copy stores all before it: no reader looks at the middle yet.
void store_in_order(uint8_t* destination, const uint8_t* source, size_t bytes) {
  constexpr size_t in_order_bytes = 256;
  const auto place = reinterpret_cast<uintptr_t>(destination);
  const uintptr_t aligned_end = (place + bytes) / double_word * double_word;
  if (aligned_end < place + double_word) {
    std::memcpy(destination, source, bytes);
    return;
  }
  const size_t last = aligned_end - double_word - place;
  size_t done = 0;
  if (place % sizeof(uint64_t) == 0 && bytes <= in_order_bytes) {
    for (; done + sizeof(uint64_t) <= last; done += sizeof(uint64_t)) {
      uint64_t chunk = 0;
      std::memcpy(&chunk, source + done, sizeof chunk);
      std::atomic_ref(*reinterpret_cast<uint64_t*>(destination + done))
          .store(chunk, std::memory_order_release);
    }
  }
  std::memcpy(destination + done, source + done, last - done);
  uint32_t final_double_word = 0;
  std::memcpy(&final_double_word, source + last, double_word);
  std::atomic_ref(*reinterpret_cast<uint32_t*>(destination + last))
      .store(final_double_word, std::memory_order_release);
  std::memcpy(destination + last + double_word, source + last + double_word, bytes - last - double_word);
}

// Loads a record of one DWORD or 8 B whole, as the host stores it.
void load(const uint8_t* source, uint8_t* destination, size_t bytes) {
  const auto place = reinterpret_cast<uintptr_t>(source);
  if (bytes == sizeof(uint32_t) && place % sizeof(uint32_t) == 0) {
    auto* const word = reinterpret_cast<uint32_t*>(const_cast<uint8_t*>(source));
    const uint32_t value = std::atomic_ref(*word).load(std::memory_order_acquire);
    std::memcpy(destination, &value, sizeof value);
  } else if (bytes == sizeof(uint64_t) && place % sizeof(uint64_t) == 0) {
    auto* const word = reinterpret_cast<uint64_t*>(const_cast<uint8_t*>(source));
    const uint64_t value = std::atomic_ref(*word).load(std::memory_order_acquire);
    std::memcpy(destination, &value, sizeof value);
  } else {
    std::memcpy(destination, source, bytes);
  }
}

size_t up_to_page_end(uint64_t address, size_t bytes) {
  return std::min<uint64_t>(bytes, IommuDomain::page_bytes - address % IommuDomain::page_bytes);
}

} // namespace

BoardHost::BoardHost(unsigned underlying_functions, const ReadLatency& latency, uint64_t seed,
                     FaultRules& faults, BoardCounters& counters, const hca::Clock& clock)
    : faults_(faults), counters_(counters), clock_(clock), latency_(latency), random_(seed) {
  reads_take_time_ = latency.most != 0;
  for (unsigned i = 0; i < underlying_functions; ++i)
    domains_[i] = std::make_unique<IommuDomain>(i);
}

DmaStatus BoardHost::read(unsigned underlying_function, uint64_t address, void* destination, size_t bytes) {
  if (const uint8_t* const memory = at_once(underlying_function, address, bytes, DmaRights::read)) {
    load(memory, static_cast<uint8_t*>(destination), bytes);
    return DmaStatus::ok;
  }
  return read_pages(underlying_function, address, destination, bytes);
}

uint64_t BoardHost::read_latency(unsigned underlying_function, uint64_t address, size_t bytes) {
  const uint64_t usual = latency_.least + random_.below(latency_.most - latency_.least + 1);
  const FaultRule* const rule =
      faults_.happens({FaultKind::slow_dma}, {underlying_function, std::nullopt, address, bytes});
  return usual + (rule != nullptr ? rule->ticks : 0);
}

DmaStatus BoardHost::read_pages(unsigned underlying_function, uint64_t address, void* destination,
                                size_t bytes) {
  if (!allowed(underlying_function, address, bytes, DmaRights::read))
    return DmaStatus::fault;
  DmaRefusal refusal = DmaRefusal::none;
  auto* to = static_cast<uint8_t*>(destination);
  while (bytes != 0) {
    const size_t part = up_to_page_end(address, bytes);
    const uint8_t* const from =
        domains_[underlying_function]->translate(address, part, DmaRights::read, refusal);
    if (from == nullptr) { // taken back by tables of another machine, since they were looked at
      refuse(underlying_function, address, part, DmaRights::read, refusal);
      return DmaStatus::fault;
    }
    load(from, to, part);
    address += part;
    to += part;
    bytes -= part;
  }
  return DmaStatus::ok;
}

DmaStatus BoardHost::write(unsigned underlying_function, uint64_t address, const void* source, size_t bytes) {
  if (uint8_t* const memory = at_once(underlying_function, address, bytes, DmaRights::write)) {
    if (bytes == cache_line && address % double_word == 0) {
      hca::store_line_in_order(memory, static_cast<const uint8_t*>(source));
    } else {
      store_in_order(memory, static_cast<const uint8_t*>(source), bytes);
    }
    return DmaStatus::ok;
  }
  return write_pages(underlying_function, address, source, bytes);
}

DmaStatus BoardHost::write_pages(unsigned underlying_function, uint64_t address, const void* source,
                                 size_t bytes) {
  if (!allowed(underlying_function, address, bytes, DmaRights::write))
    return DmaStatus::fault;
  DmaRefusal refusal = DmaRefusal::none;
  const auto* from = static_cast<const uint8_t*>(source);
  while (bytes != 0) {
    const size_t part = up_to_page_end(address, bytes);
    uint8_t* const to = domains_[underlying_function]->translate(address, part, DmaRights::write, refusal);
    if (to == nullptr) { // taken back by tables of another machine, since they were looked at
      refuse(underlying_function, address, part, DmaRights::write, refusal);
      return DmaStatus::fault;
    }
    store_in_order(to, from, part);
    address += part;
    from += part;
    bytes -= part;
  }
  return DmaStatus::ok;
}

// The line crosses from the polling CPU while the device prepares its content.
uint8_t* BoardHost::expect_line(unsigned underlying_function, uint64_t address) {
  uint8_t* const memory = at_once(underlying_function, address, cache_line, DmaRights::write);
  if (memory != nullptr)
    prefetch_for_write(memory);
  return memory;
}

void BoardHost::interrupt(unsigned underlying_function, unsigned vector) {
  if (faults_.any() && faults_.happens({FaultKind::lose_interrupt},
                                       {underlying_function, std::nullopt, vector, 1}) != nullptr) {
    ++counters_.interrupts_lost;
    return;
  }
  ++counters_.interrupts;
  interrupts_.signal(underlying_function, vector);
}

std::deque<DmaFault> BoardHost::take_faults() { return std::exchange(log_, {}); }

// Checks the whole access first: a refused access changes nothing.
bool BoardHost::allowed(unsigned underlying_function, uint64_t address, uint64_t bytes, DmaRights right) {
  DmaRefusal refusal = DmaRefusal::none;
  if (underlying_function >= domains_.size() || domains_[underlying_function] == nullptr ||
      address + bytes < address)
    refusal = DmaRefusal::not_mapped;
  else if (faults_.any() &&
           faults_.happens({FaultKind::fault_dma}, {underlying_function, std::nullopt, address, bytes}))
    refusal = DmaRefusal::injected;
  else
    for (uint64_t done = 0; done < bytes && refusal == DmaRefusal::none;) {
      const size_t part = up_to_page_end(address + done, bytes - done);
      domains_[underlying_function]->translate(address + done, part, right, refusal);
      done += part;
    }
  if (refusal == DmaRefusal::none)
    return true;
  refuse(underlying_function, address, bytes, right, refusal);
  return false;
}

void BoardHost::refuse(unsigned underlying_function, uint64_t address, uint64_t bytes, DmaRights right,
                       DmaRefusal reason) {
  ++counters_.dma_faults;
  if (log_.size() == faults_kept)
    log_.pop_front();
  log_.push_back({address, bytes, clock_.now(), static_cast<uint8_t>(underlying_function),
                  right == DmaRights::write, reason});
}

} // namespace fpga_verbs::board
