#pragma once

#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/memory/memory_translation.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

// DMA to memory that a key names, after the key was checked.
class MemoryAccess {
public:
  MemoryAccess(Counters& counters, HostPort& host, MemoryTranslation& translation, EventPort& events)
      : counters_(counters), host_(host), translation_(translation), events_(events) {}

  // Checks the whole access, then reads or writes its bytes, access.length of them; nothing is written when
  // the check fails. No bytes: no check, and nothing is touched. `unreachable`: a page is not mapped for DMA;
  // it is counted and an event, and what was written before that page remains. Accesses one after the other
  // to memory that lies together, as those of a message, are checked and translated once.
  AccessFault check(const KeyAccess& access) { return translation_.check(access); }
  AccessFault read(const KeyAccess& access, void* destination);
  AccessFault write(const KeyAccess& access, const void* source);

private:
  template <class Transfer> AccessFault transfer(const KeyAccess& access, Transfer&& transfer_piece);
  void report_fault(unsigned underlying_function, uint64_t address);

  Counters& counters_;
  HostPort& host_;
  MemoryTranslation& translation_;
  EventPort& events_;
};

} // namespace fpga_verbs::hca
