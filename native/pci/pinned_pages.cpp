#include "pci/pinned_pages.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace fpga_verbs::pci {

namespace {

constexpr unsigned most_pins = 1 << 14;        // of a ring, by the kernel
constexpr size_t most_bytes = size_t{1} << 30; // of a pin, by the kernel
constexpr unsigned update_buffers = 16;        // IORING_REGISTER_BUFFERS_UPDATE
constexpr unsigned register_buffers = 0;       // IORING_REGISTER_BUFFERS

// struct io_uring_rsrc_update2, which headers before Linux 5.13 do not have.
struct BufferUpdate {
  uint32_t offset = 0;
  uint32_t reserved = 0;
  uint64_t data = 0;
  uint64_t tags = 0;
  uint32_t count = 1;
  uint32_t reserved_too = 0;
};

long change(int ring, unsigned operation, const void* argument, size_t count) {
  return syscall(SYS_io_uring_register, ring, operation, argument, count);
}

} // namespace

PinnedPages::PinnedPages(int ring) : ring_(ring) {
  free_.reserve(most_pins);
  for (unsigned place = most_pins; place-- > 0;)
    free_.push_back(place);
}

PinnedPages::~PinnedPages() { close(ring_); }

std::unique_ptr<PinnedPages> PinnedPages::make() {
  io_uring_params parameters{};
  const long ring = syscall(SYS_io_uring_setup, 1, &parameters);
  if (ring < 0)
    return nullptr;
  std::unique_ptr<PinnedPages> made(new PinnedPages(static_cast<int>(ring)));
  const std::vector<iovec> none(most_pins); // places for later
  return change(made->ring_, register_buffers, none.data(), none.size()) == 0 ? std::move(made) : nullptr;
}

int PinnedPages::pin(void* pages, size_t bytes, std::vector<unsigned>& pins) {
  auto* const begin = static_cast<char*>(pages);
  const size_t before = pins.size();
  int error = 0;
  for (size_t done = 0; done < bytes && error == 0; done += most_bytes) {
    error = free_.empty() ? ENOSPC : update(free_.back(), begin + done, std::min(bytes - done, most_bytes));
    if (error != 0)
      break;
    pins.push_back(free_.back());
    free_.pop_back();
  }
  if (error == 0)
    return 0;
  unpin({pins.begin() + static_cast<ptrdiff_t>(before), pins.end()});
  pins.resize(before);
  return error;
}

void PinnedPages::unpin(const std::vector<unsigned>& pins) {
  for (const unsigned place : pins)
    if (update(place, nullptr, 0) == 0)
      free_.push_back(place);
}

int PinnedPages::update(unsigned place, void* pages, size_t bytes) {
  const iovec buffer{pages, bytes};
  BufferUpdate update;
  update.offset = place;
  update.data = reinterpret_cast<uintptr_t>(&buffer);
  return change(ring_, update_buffers, &update, sizeof update) == 1 ? 0 : errno;
}

} // namespace fpga_verbs::pci
