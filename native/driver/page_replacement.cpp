#include "driver/page_replacement.h"

#include "driver/mapped_ranges.h"
#include "driver/signals_blocked.h"
#include "spec/parameters.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace fpga_verbs::driver {

namespace {

// Held by a call and during a fork, which several threads may do at once: the child gets copies of all
// replaced pages.
std::mutex changing;

// Bytes frozen at a time: a thread that writes there waits for the copy of this amount.
constexpr size_t portion_bytes = size_t{64} << 10;
constexpr size_t page = spec::page_bytes;

struct Range {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  bool has(uintptr_t address) const { return address >= begin.load() && address < end.load(); }
};
Range frozen;                     // the portion that is being copied
std::atomic<uint64_t> freezes{0}; // portions that were frozen; counted when `frozen` has the portion

// The handler that the process had when this one was installed, and the one before that.
struct FormerHandler {
  struct sigaction action;
  const FormerHandler* before;
};
std::atomic<const FormerHandler*> former{nullptr};

// The last retried fault of a thread. Trivial, because a handler cannot allocate memory.
struct RetriedFault {
  uintptr_t address;
  uint64_t freezes;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit RetriedFault retried{0, 0};

// A later handler may call the one that it replaced, which is this one, with the same siginfo_t. Its last
// bytes, which the kernel clears, record the handler to which the signal was passed.
constexpr size_t note_at = sizeof(siginfo_t) - sizeof(const FormerHandler*);

// Null: the signal has not been passed on.
const FormerHandler* handed_to(const siginfo_t* info) {
  const FormerHandler* noted = nullptr;
  std::memcpy(&noted, reinterpret_cast<const uint8_t*>(info) + note_at, sizeof noted);
  const FormerHandler* handler = former.load();
  while (handler != nullptr && handler != noted)
    handler = handler->before;
  return handler;
}

void end_by_default(int signal, const siginfo_t* info) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr); // a fault comes again
  if (info->si_code <= 0)
    raise(signal); // a signal that was sent does not
}

void hand_on(int signal, siginfo_t* info, void* context) {
  const FormerHandler* const handed = handed_to(info);
  const FormerHandler* const to = handed != nullptr ? handed->before : former.load();
  if (to == nullptr)
    return end_by_default(signal, info);
  std::memcpy(reinterpret_cast<uint8_t*>(info) + note_at, &to, sizeof to);
  if ((to->action.sa_flags & SA_SIGINFO) != 0)
    to->action.sa_sigaction(signal, info, context);
  else if (to->action.sa_handler != SIG_DFL && to->action.sa_handler != SIG_IGN)
    to->action.sa_handler(signal);
  else if (to->action.sa_handler == SIG_DFL || info->si_code > 0)
    end_by_default(signal, info);
}

// A thread that wrote to a frozen portion may get its signal after the portion is writable again: it writes
// once more. If that fails at the same address, and no portion was frozen meanwhile, the fault belongs to the
// program.
void wait_or_hand_on(int signal, siginfo_t* info, void* context) {
  if (info->si_code == SEGV_ACCERR && handed_to(info) == nullptr) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    const uint64_t count = freezes.load();
    if (frozen.has(address)) {
      while (frozen.has(address))
        sched_yield();
      return;
    }
    if (retried.address != address || retried.freezes != count) {
      retried = {address, count};
      return;
    }
    retried = {0, 0};
  }
  hand_on(signal, info, context);
}

bool is_own(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == wait_or_hand_on;
}

bool is_same(const struct sigaction& one, const struct sigaction& other) {
  return one.sa_flags == other.sa_flags &&
         ((one.sa_flags & SA_SIGINFO) != 0 ? one.sa_sigaction == other.sa_sigaction
                                           : one.sa_handler == other.sa_handler);
}

// Installs the handler once and for good: a thread may get its signal any time after its write. Returns an
// errno.
int install_handler() {
  struct sigaction before = {};
  if (sigaction(SIGSEGV, nullptr, &before) != 0)
    return errno;
  if (is_own(before))
    return 0;
  const FormerHandler* const newest = former.load();
  if (newest == nullptr || !is_same(newest->action, before))
    former = new FormerHandler{before, newest}; // kept: a handler may be reading it
  struct sigaction action = {};
  action.sa_sigaction = wait_or_hand_on;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  return sigaction(SIGSEGV, &action, nullptr) == 0 ? 0 : errno;
}

// Whole pages contain more than the program's own objects: the address sanitizer, which checks memcpy(),
// would refuse the rest.
__attribute__((no_sanitize("address"))) void copy_pages(void* to, const void* from, size_t bytes) {
  auto* words = static_cast<uint64_t*>(to);
  const auto* source = static_cast<const uint64_t*>(from);
  for (size_t word = 0; word < bytes / sizeof(uint64_t); ++word) {
    words[word] = source[word];
    asm volatile("" ::: "memory"); // else compilers make a memcpy() of it
  }
}

// Memory that takes the place of pages: a mapping of shared memory, which stays where it is too, or private
// memory, which moves.
enum class Substitute : uint8_t { shared, moved };

int replace_portion(uint8_t* pages, size_t bytes, void* substitute, Substitute kind, int protection) {
  const bool may_be_written = (protection & PROT_WRITE) != 0;
  if (may_be_written && mprotect(pages, bytes, PROT_READ) != 0)
    return errno;
  copy_pages(substitute, pages, bytes);
  // In one step: no thread finds the range unmapped. Of 0 bytes, shared memory is mapped a second time.
  const size_t taken = kind == Substitute::shared ? 0 : bytes;
  int error =
      mremap(substitute, taken, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == MAP_FAILED ? errno : 0;
  if (error == 0)
    madvise(pages, bytes, MADV_DOFORK);
  if ((error != 0 || !may_be_written) && mprotect(pages, bytes, protection) != 0)
    error = errno;
  return error;
}

// Gives errno; `done` bytes are replaced.
int replace(uint8_t* pages, size_t bytes, uint8_t* substitute, Substitute kind, int protection,
            size_t& done) {
  const std::scoped_lock lock(changing);
  int error = install_handler();
  for (done = 0; done < bytes && error == 0;) {
    const size_t portion = std::min(portion_bytes, bytes - done);
    const SignalsBlocked blocked; // their handlers may write there, and would wait for this thread
    frozen.end = reinterpret_cast<uintptr_t>(pages + done + portion);
    frozen.begin = reinterpret_cast<uintptr_t>(pages + done);
    ++freezes;
    error = replace_portion(pages + done, portion, substitute + done, kind, protection);
    frozen.begin = UINTPTR_MAX;
    done += error == 0 ? portion : 0;
  }
  return error;
}

// Ranges that a child copies, collected before the fork, because the child cannot allocate.
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
  auto* const from = static_cast<uint8_t*>(pages);
  size_t done = 0;
  const int error = replace(from, bytes, static_cast<uint8_t*>(shared), Substitute::shared, protection, done);
  // realloc() lets the kernel move and extend a mapping, but shared memory has nothing after its end. If the
  // last page is of another kind, the kernel refuses, and realloc() copies.
  if (bytes > page)
    madvise(from + bytes - page, page, MADV_RANDOM);
  return error;
}

int detach_from_file(void* pages, size_t bytes, int protection) {
  void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return errno;
  auto* const copy = static_cast<uint8_t*>(made);
  size_t done = 0;
  const int error = replace(static_cast<uint8_t*>(pages), bytes, copy, Substitute::moved, protection, done);
  if (done < bytes) // other memory may lie by now where pages were moved from
    munmap(copy + done, bytes - done);
  return error;
}

void copy_in_children(const char* name) {
  shared_name = std::string("/memfd:") + name;
  pthread_atfork(find_what_to_copy, go_on_in_parent, copy_in_child);
}

} // namespace fpga_verbs::driver
