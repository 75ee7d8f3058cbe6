#include "driver/pinned_memory.h"

#include "driver/mapped_ranges.h"
#include "driver/page_replacement.h"
#include "pci/page_addresses.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <sys/mman.h>
#include <utility>

namespace fpga_verbs::driver {

namespace {

size_t bytes_of(const MappedRange& range) { return range.end - range.begin; }
void* memory_of(const MappedRange& range) { return reinterpret_cast<void*>(range.begin); }

// The kernel pins pages for reading and writing. Pages that the program may only read are writable while they
// are pinned.
class Writable {
public:
  explicit Writable(std::span<const MappedRange> ranges) {
    for (const MappedRange& range : ranges) {
      if ((range.protection & PROT_WRITE) != 0)
        continue;
      if (mprotect(memory_of(range), bytes_of(range), range.protection | PROT_WRITE) != 0) {
        error_ = errno;
        return;
      }
      changed_.push_back(&range);
    }
  }
  ~Writable() {
    for (const MappedRange* const range : changed_)
      mprotect(memory_of(*range), bytes_of(*range), range->protection);
  }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;

  int error() const { return error_; }

private:
  std::vector<const MappedRange*> changed_;
  int error_ = 0;
};

int refuse_code(const std::vector<MappedRange>& ranges, std::string& failure) {
  for (const MappedRange& range : ranges) {
    if ((range.protection & PROT_EXEC) == 0)
      continue;
    failure = "memory of code (" + range.name +
              ") cannot be pinned; expected: memory from malloc or mmap, or static memory";
    return EOPNOTSUPP;
  }
  return 0;
}

// The kernel pins pages of one file at a time, or of none.
size_t end_of_part(const std::vector<MappedRange>& ranges, size_t first) {
  size_t end = first + 1;
  while (ranges[first].inode == 0 && end < ranges.size() && ranges[end].inode == 0)
    ++end;
  return end;
}

// Before Linux 6.5 the kernel pins no pages of files on a disk, not even the program's private copies, as
// those of initialized static memory. Gives errno; what is pinned before stays so.
int pin_part(pci::PinnedPages& pages, std::span<const MappedRange> part, std::vector<unsigned>& pins) {
  const MappedRange& first = part.front();
  const auto try_it = [&] {
    const Writable writable(part);
    return writable.error() != 0 ? writable.error()
                                 : pages.pin(memory_of(first), part.back().end - first.begin, pins);
  };
  const int error = try_it();
  if (error != EOPNOTSUPP || first.inode == 0 || first.is_shared)
    return error;
  const int not_detached = detach_from_file(memory_of(first), bytes_of(first), first.protection);
  return not_detached != 0 ? not_detached : try_it();
}

std::string reason_of(int error) {
  if (error == ENOMEM)
    return "the memory cannot be pinned: the limit of locked memory (RLIMIT_MEMLOCK) is too low, or no "
           "memory "
           "is left; expected: a higher limit (ulimit -l), or a smaller region";
  if (error == ENOSPC)
    return "16384 regions, or parts of 1 GiB, are pinned, which is the most; expected: fewer regions";
  if (error == EOPNOTSUPP || error == EACCES)
    return "memory that the program shares with a file cannot be pinned; expected: memory from malloc or "
           "mmap, static memory, or memory of shm_open or memfd_create";
  return std::string("the memory cannot be pinned: ") + std::strerror(error) +
         "; expected: memory from malloc or mmap, or static memory";
}

} // namespace

int PinnedMemory::pin(const Ranges& ranges, Pins& pins, std::string& failure) {
  pci::PinnedPages* const pages = function_.pinned_pages();
  if (pages == nullptr) {
    failure = std::string("memory is pinned through io_uring, which cannot be set up: ") +
              std::strerror(errno) +
              "; expected: Linux 5.13 or later, where sysctl kernel.io_uring_disabled is 0 or 1, or vfio: "
              "instead of pci:";
    return EOPNOTSUPP;
  }
  int error = refuse_code(ranges, failure);
  if (error != 0)
    return error;
  for (size_t first = 0; first < ranges.size() && error == 0;) {
    const size_t end = end_of_part(ranges, first);
    error = pin_part(*pages, std::span(ranges).subspan(first, end - first), pins);
    first = end;
  }
  if (error == 0)
    return 0;
  pages->unpin(pins);
  failure = reason_of(error);
  return error == EACCES || error == ENOSPC ? EOPNOTSUPP : error;
}

int PinnedMemory::map(void* memory, size_t bytes, std::vector<DmaPiece>& pieces, uint64_t& mapping,
                      std::string& failure) {
  const std::scoped_lock lock(mutex_);
  const uint64_t page = pci::system_page_bytes();
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = address / page * page;
  const uintptr_t end = (address + bytes + page - 1) / page * page;
  Ranges ranges;
  if (const int error = find_whole(begin, end, ranges, failure))
    return error;
  Pins pins;
  if (const int error = pin(ranges, pins, failure))
    return error;
  std::vector<uint64_t> addresses((end - begin) / page);
  if (!pci::read_page_addresses(memory_of(ranges.front()), addresses, failure)) {
    function_.pinned_pages()->unpin(pins);
    return EOPNOTSUPP;
  }
  pieces.clear();
  for (const uint64_t each : addresses)
    add(pieces, each, page);
  pieces.front().address += address - begin;
  pieces.front().bytes -= address - begin;
  pieces.back().bytes -= end - (address + bytes);
  mapping = ++last_;
  mappings_.emplace(mapping, std::move(pins));
  return 0;
}

void PinnedMemory::unmap(uint64_t mapping) {
  const std::scoped_lock lock(mutex_);
  const auto found = mappings_.find(mapping);
  if (found == mappings_.end())
    return;
  function_.pinned_pages()->unpin(found->second);
  mappings_.erase(found);
}

} // namespace fpga_verbs::driver
