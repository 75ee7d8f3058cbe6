#include "hca/memory/memory_access.h"

#include <algorithm>

namespace fpga_verbs::hca {

// Calls `transfer_piece(DMA address, offset in the access, bytes)` for each piece of memory in turn.
template <class Transfer>
AccessFault MemoryAccess::transfer(const KeyAccess& access, Transfer&& transfer_piece) {
  if (const AccessFault fault = translation_.check(access); fault != AccessFault::none)
    return fault;
  translation_.remember(access);
  for (uint64_t done = 0; done < access.length;) {
    const std::optional<MemoryPiece> piece =
        translation_.locate(access.underlying_function, access.key, access.address + done);
    if (!piece)
      return AccessFault::unreachable;
    const auto bytes = static_cast<size_t>(std::min(piece->bytes, access.length - done));
    if (transfer_piece(piece->address, done, bytes) == DmaStatus::fault) {
      report_fault(access.underlying_function, piece->address);
      return AccessFault::unreachable;
    }
    done += bytes;
  }
  return AccessFault::none;
}

AccessFault MemoryAccess::read_checked(const KeyAccess& access, void* destination) {
  return transfer(access, [&](uint64_t address, uint64_t offset, size_t bytes) {
    return host_.read(access.underlying_function, address, static_cast<std::byte*>(destination) + offset,
                      bytes);
  });
}

AccessFault MemoryAccess::write_checked(const KeyAccess& access, const void* source) {
  return transfer(access, [&](uint64_t address, uint64_t offset, size_t bytes) {
    return host_.write(access.underlying_function, address, static_cast<const std::byte*>(source) + offset,
                       bytes);
  });
}

void MemoryAccess::report_fault(unsigned underlying_function, uint64_t address) {
  ++counters_.function[underlying_function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(underlying_function);
  event.set_detail(address);
  events_.report(event);
}

} // namespace fpga_verbs::hca
