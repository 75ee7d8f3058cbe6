#include "pci/page_addresses.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace fpga_verbs::pci {

namespace {

// Linux, admin-guide/mm/pagemap: an entry of 64 bits for each page.
constexpr uint64_t present = uint64_t{1} << 63;
constexpr uint64_t frame = (uint64_t{1} << 55) - 1;

constexpr const char* no_addresses = "/proc/self/pagemap does not show physical addresses; expected: root, "
                                     "or CAP_SYS_ADMIN, or vfio: instead of pci:";

} // namespace

uint64_t system_page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

bool read_page_addresses(const void* memory, std::span<uint64_t> addresses, std::string& failure) {
  const uint64_t page_bytes = system_page_bytes();
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) {
    failure = errno == EMFILE || errno == ENFILE
                  ? std::string("no file descriptor is left: ") + std::strerror(errno)
                  : no_addresses;
    return false;
  }
  const auto at = static_cast<off_t>(reinterpret_cast<uintptr_t>(memory) / page_bytes * sizeof(uint64_t));
  size_t done = 0;
  ssize_t got = 1;
  while (done < addresses.size_bytes() && got > 0) {
    got = pread(pagemap, reinterpret_cast<uint8_t*>(addresses.data()) + done, addresses.size_bytes() - done,
                at + static_cast<off_t>(done));
    done += static_cast<size_t>(std::max<ssize_t>(got, 0));
  }
  close(pagemap);
  for (uint64_t& address : addresses)
    address = (address & present) == 0 ? 0 : (address & frame) * page_bytes;
  const bool is_known = done == addresses.size_bytes() && std::ranges::find(addresses, 0) == addresses.end();
  if (!is_known)
    failure = no_addresses;
  return is_known;
}

} // namespace fpga_verbs::pci
