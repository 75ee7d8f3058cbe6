#include "driver/page_replacement.h"

#include "driver/mapped_ranges.h"
#include "driver/signals_blocked.h"
#include "spec/parameters.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace fpga_verbs::driver {

namespace {

// Held by a call, and while the process forks, which several threads may do at once: a child has copies of
// all pages that were replaced.
std::mutex changing;

// Frozen at a time: a thread that writes there waits for the copy of so much.
constexpr size_t portion_bytes = size_t{64} << 10;
constexpr size_t page = spec::page_bytes;

struct Range {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  bool has(uintptr_t address) const { return address >= begin.load() && address < end.load(); }
};
Range replaced; // by the call that goes on
Range frozen;   // of it, the portion that is being copied
struct sigaction handler_before;

void wait_or_hand_on(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (replaced.has(address)) {
    while (frozen.has(address))
      sched_yield();
    return; // the write is done once more
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0)
    handler_before.sa_sigaction(signal, info, context);
  else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    handler_before.sa_handler(signal);
  else
    sigaction(SIGSEGV, &handler_before, nullptr); // the fault comes again
}

// Whole pages of a program hold more than its own objects: the address sanitizer, which looks at memcpy(),
// would refuse what lies between them.
__attribute__((no_sanitize("address"))) void copy_pages(void* to, const void* from, size_t bytes) {
  auto* words = static_cast<uint64_t*>(to);
  const auto* source = static_cast<const uint64_t*>(from);
  for (size_t word = 0; word < bytes / sizeof(uint64_t); ++word) {
    words[word] = source[word];
    asm volatile("" ::: "memory"); // else compilers make a memcpy() of it
  }
}

int replace_portion(uint8_t* pages, size_t bytes, void* shared, int protection) {
  const bool may_be_written = (protection & PROT_WRITE) != 0;
  if (may_be_written && mprotect(pages, bytes, PROT_READ) != 0)
    return errno;
  copy_pages(shared, pages, bytes);
  // A second mapping of what is shared, in one step: no thread finds nothing there.
  int error = mremap(shared, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == MAP_FAILED ? errno : 0;
  if (error == 0)
    madvise(pages, bytes, MADV_DOFORK);
  if ((error != 0 || !may_be_written) && mprotect(pages, bytes, protection) != 0)
    error = errno;
  return error;
}

// The ranges that a child copies, found before the fork: it allocates nothing itself.
std::string shared_name;
std::vector<MappedRange> to_copy;

void find_what_to_copy() {
  changing.lock();
  find_mapped(0, UINTPTR_MAX, to_copy);
  std::erase_if(to_copy, [](const MappedRange& range) { return !range.name.starts_with(shared_name); });
}

void go_on_in_parent() { changing.unlock(); }

void copy_in_child() {
  changing.unlock();
  for (const MappedRange& range : to_copy) {
    const size_t bytes = range.end - range.begin;
    void* const there = reinterpret_cast<void*>(range.begin);
    unsigned char is_here = 0;
    if (mincore(there, 1, &is_here) != 0)
      continue; // memory of the driver's own, which no child has
    void* const copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
      continue;
    copy_pages(copy, there, bytes);
    mprotect(copy, bytes, range.protection);
    mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, there);
  }
}

} // namespace

int replace_pages(void* pages, size_t bytes, void* shared, int protection) {
  const std::scoped_lock lock(changing);
  auto* const from = static_cast<uint8_t*>(pages);
  replaced.begin = reinterpret_cast<uintptr_t>(from);
  replaced.end = reinterpret_cast<uintptr_t>(from + bytes);
  struct sigaction action = {};
  action.sa_sigaction = wait_or_hand_on;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  if (sigaction(SIGSEGV, &action, &handler_before) != 0)
    return errno;
  int error = 0;
  for (size_t done = 0; done < bytes && error == 0; done += portion_bytes) {
    const size_t portion = std::min(portion_bytes, bytes - done);
    const SignalsBlocked blocked; // their handlers may write there, and would wait for this thread
    frozen.end = reinterpret_cast<uintptr_t>(from + done + portion);
    frozen.begin = reinterpret_cast<uintptr_t>(from + done);
    error = replace_portion(from + done, portion, static_cast<uint8_t*>(shared) + done, protection);
    frozen.begin = UINTPTR_MAX;
  }
  sigaction(SIGSEGV, &handler_before, nullptr);
  // realloc() has the kernel move a mapping and make it longer, and behind the end of shared memory there is
  // nothing. Where the last page is of another kind the kernel refuses that, and realloc() copies.
  if (bytes > page)
    madvise(from + bytes - page, page, MADV_RANDOM);
  return error;
}

void copy_in_children(const char* name) {
  shared_name = std::string("/memfd:") + name;
  pthread_atfork(find_what_to_copy, go_on_in_parent, copy_in_child);
}

} // namespace fpga_verbs::driver
