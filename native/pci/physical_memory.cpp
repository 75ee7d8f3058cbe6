#include "pci/physical_memory.h"

#include "pci/page_addresses.h"
#include "spec/parameters.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fpga_verbs::pci {

namespace {

constexpr size_t page_bytes = spec::page_bytes;
constexpr size_t spare_pages = 16; // taken more than are needed, to find consecutive ones among them

constexpr const char* no_huge_pages = "no hugepage of 2 MiB is free; expected: some reserved by echo 64 > "
                                      "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages; there is none";
std::string no_descriptor() { return std::string("no file descriptor is left: ") + std::strerror(errno); }

// Physical address of the memory mapped at `memory`; 0: unknown, for the reason in `failure`.
uint64_t physical_address(const void* memory, std::string& failure) {
  uint64_t address = 0;
  return read_page_addresses(memory, {&address, 1}, failure) ? address : 0;
}

} // namespace

PhysicalMemory::~PhysicalMemory() {
  for (const std::unique_ptr<Run>& run : runs_)
    munmap(run->memory, run->bytes);
  if (file_ >= 0)
    close(file_);
}

board::DmaMemory PhysicalMemory::allocate(size_t bytes, uint64_t& address, std::string& failure) {
  if (bytes > SIZE_MAX / 2) {
    failure = "no memory is left";
    return {};
  }
  const size_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  for (const std::unique_ptr<Run>& run : runs_)
    if (board::DmaMemory memory = take(*run, whole, address))
      return memory;
  if (!add_run((whole + huge_page_bytes - 1) / huge_page_bytes, failure))
    return {};
  return take(*runs_.back(), whole, address);
}

// Allocates from the start of the first free piece that is large enough.
board::DmaMemory PhysicalMemory::take(Run& run, size_t bytes, uint64_t& address) {
  for (auto piece = run.free.begin(); piece != run.free.end(); ++piece) {
    const size_t offset = piece->first;
    const size_t free = piece->second;
    if (free < bytes)
      continue;
    run.free.erase(piece);
    if (free > bytes)
      run.free.emplace(offset + bytes, free - bytes);
    std::memset(run.memory + offset, 0, bytes);
    address = run.physical + offset;
    const auto release = [pool = shared_from_this(), taken = &run, at = offset, bytes](void*) {
      give_back(*taken, at, bytes);
    };
    void* const data = run.memory + offset;
    return {data, bytes, std::shared_ptr<void>(data, release)};
  }
  return {};
}

void PhysicalMemory::give_back(Run& run, size_t offset, size_t bytes) {
  const auto next = run.free.lower_bound(offset);
  size_t end = offset + bytes;
  if (next != run.free.end() && next->first == end)
    end += next->second;
  if (next != run.free.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset)
      offset = before->first;
  }
  if (next != run.free.end() && next->first < end)
    run.free.erase(next);
  run.free.insert_or_assign(offset, end - offset);
}

bool PhysicalMemory::add_run(size_t huge_pages, std::string& failure) {
  if (find_run(huge_pages))
    return true;
  if (!add_pages(huge_pages, failure))
    return false;
  while (!find_run(huge_pages)) {
    std::string nothing_more;
    if (add_pages(1, nothing_more) && free_pages_.size() < huge_pages * 2 + spare_pages)
      continue;
    failure = "no " + std::to_string(huge_pages) +
              " hugepages of 2 MiB are physically contiguous; expected: hugepages reserved at boot "
              "(hugepages=N), or vfio: instead of pci:; there is no memory";
    return false;
  }
  return true;
}

bool PhysicalMemory::add_pages(size_t count, std::string& failure) {
  if (file_ < 0)
    file_ = memfd_create("fpga-verbs", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
  if (file_ < 0 && (errno == EMFILE || errno == ENFILE)) {
    failure = no_descriptor();
    return false;
  }
  for (size_t added = 0; added < count; ++added) {
    const uint64_t offset = file_pages_ * huge_page_bytes;
    // Reserves and fills all pages here: a page missing later would cause SIGBUS.
    if (file_ < 0 || fallocate(file_, 0, static_cast<off_t>(offset), huge_page_bytes) != 0) {
      failure = no_huge_pages;
      return false;
    }
    void* const memory = mmap(nullptr, huge_page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                              file_, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) {
      failure = "no address space is left";
      return false;
    }
    const uint64_t physical = physical_address(memory, failure);
    munmap(memory, huge_page_bytes);
    if (physical == 0)
      return false;
    ++file_pages_; // one whose address is not known is the next again
    free_pages_.emplace(physical, offset);
  }
  return true;
}

// Maps the first hugepages of the file that are contiguous in physical memory at contiguous addresses.
bool PhysicalMemory::find_run(size_t huge_pages) {
  auto first = free_pages_.begin();
  size_t found = 0;
  for (auto page = first; page != free_pages_.end() && found < huge_pages; ++page) {
    if (found == 0 || page->first != first->first + found * huge_page_bytes) {
      first = page;
      found = 0;
    }
    ++found;
  }
  if (found < huge_pages)
    return false;
  const size_t bytes = huge_pages * huge_page_bytes;
  // Hugepages are mapped at multiples of their size.
  void* const room = mmap(nullptr, bytes + huge_page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    return false;
  const auto begin = reinterpret_cast<uintptr_t>(room);
  const size_t before = (huge_page_bytes - begin % huge_page_bytes) % huge_page_bytes;
  auto* const memory = static_cast<uint8_t*>(room) + before;
  if (before > 0)
    munmap(room, before);
  munmap(memory + bytes, huge_page_bytes - before);
  const uint64_t physical = first->first;
  for (size_t page = 0; page < huge_pages; ++page) {
    if (mmap(memory + page * huge_page_bytes, huge_page_bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_POPULATE, file_, static_cast<off_t>(first->second)) == MAP_FAILED) {
      munmap(memory, bytes);
      return false;
    }
    first = free_pages_.erase(first);
  }
  madvise(memory, bytes, MADV_DONTFORK);
  runs_.push_back(std::make_unique<Run>(Run{memory, bytes, physical, {{0, bytes}}}));
  return true;
}

} // namespace fpga_verbs::pci
