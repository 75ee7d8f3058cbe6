#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace fpga_verbs::pci {

// Pages of the process that the kernel keeps where they are, as it does for an adapter: neither swapped nor
// moved nor merged, and a forked child gets copies. They are registered buffers of an io_uring that does no
// I/O (Linux 5.13). Root pins any amount, other users as much as RLIMIT_MEMLOCK says. One thread at a time
// uses it.
class PinnedPages {
public:
  // Null: errno has the reason.
  static std::unique_ptr<PinnedPages> make();
  ~PinnedPages();
  PinnedPages(const PinnedPages&) = delete;
  PinnedPages& operator=(const PinnedPages&) = delete;

  // Pins whole pages, which the process may write and which are of one file or of none. Gives 0 and appends
  // what unpin() takes, or gives errno: EOPNOTSUPP for pages of a file on a disk (before Linux 6.5 for
  // private copies of such pages too); ENOSPC, too many pins.
  int pin(void* pages, size_t bytes, std::vector<unsigned>& pins);
  void unpin(const std::vector<unsigned>& pins);

  // While a process has this file open, the pages stay pinned.
  int file() const { return ring_; }

private:
  explicit PinnedPages(int ring);
  int update(unsigned place, void* pages, size_t bytes);

  int ring_;
  std::vector<unsigned> free_; // places in the ring's table of buffers
};

} // namespace fpga_verbs::pci
