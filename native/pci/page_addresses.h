#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fpga_verbs::pci {

// Physical addresses of the pages of the system that are mapped from `memory` on, which begins a page. From
// /proc/self/pagemap, which requires CAP_SYS_ADMIN. False: `failure` gives the reason and a remedy.
bool read_page_addresses(const void* memory, std::span<uint64_t> addresses, std::string& failure);

// Bytes of a page of the system.
uint64_t system_page_bytes();

} // namespace fpga_verbs::pci
