#include "pci/bar_faults.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <linux/memfd.h>
#include <mutex>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace fpga_verbs::pci {

namespace {

// Ranges of all functions of the process. The handler reads them without a lock: a range is valid when
// `owner` is set.
struct Range {
  std::atomic<BarFaults*> owner = nullptr;
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
};

constexpr size_t most_ranges = 1024;
std::array<Range, most_ranges> ranges;
std::mutex ranges_lock;
struct sigaction before;
uintptr_t page_bytes = 0;
int page_of_ones = -1; // a file

// Handles the fault as the kernel would have. If it has no handler, or is ignored, the process ends: the
// access is repeated without this handler.
void hand_on(int signal, siginfo_t* info, void* context) {
  const bool is_fault = info->si_code > 0;
  if ((before.sa_flags & SA_SIGINFO) != 0 || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)) {
    sigset_t usual;
    pthread_sigmask(SIG_BLOCK, &before.sa_mask, &usual);
    if ((before.sa_flags & SA_SIGINFO) != 0)
      before.sa_sigaction(signal, info, context);
    else
      before.sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &usual, nullptr);
    return;
  }
  if (!is_fault && before.sa_handler == SIG_IGN)
    return;
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  if (!is_fault)
    raise(signal); // delivered when this handler is left
}

void handle(int signal, siginfo_t* info, void* context) {
  const int reason = errno;
  if (info->si_code <= 0 || !BarFaults::cover(reinterpret_cast<uintptr_t>(info->si_addr)))
    hand_on(signal, info, context);
  errno = reason;
}

bool make_page_of_ones() {
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::vector<uint8_t> ones(page_bytes, 0xff);
  page_of_ones = memfd_create("fpga-verbs-all-ones", MFD_CLOEXEC);
  return page_of_ones >= 0 &&
         pwrite(page_of_ones, ones.data(), ones.size(), 0) == static_cast<ssize_t>(ones.size());
}

// The handler, and with it this code, stays for the lifetime of the process: the end of a worker unloads code
// that nothing else has loaded.
void keep_loaded() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&handle), &self) != 0 && self.dli_fname != nullptr)
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// Once per process, when the first BAR is mapped.
bool install() {
  static const bool installed = [] {
    if (!make_page_of_ones())
      return false;
    keep_loaded();
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, nullptr, &before) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  return installed;
}

} // namespace

BarFaults::BarFaults() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

BarFaults::~BarFaults() {
  forget();
  if (event_ >= 0)
    close(event_);
}

bool BarFaults::watch(volatile uint8_t* memory, size_t bytes) {
  if (!install())
    return false;
  const std::scoped_lock lock(ranges_lock);
  for (Range& range : ranges) {
    if (range.owner.load(std::memory_order_relaxed) != nullptr)
      continue;
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    range.begin.store(begin, std::memory_order_relaxed);
    range.end.store(begin + bytes, std::memory_order_relaxed);
    range.owner.store(this, std::memory_order_release);
    return true;
  }
  errno = ENOMEM;
  return false;
}

void BarFaults::forget() {
  const std::scoped_lock lock(ranges_lock);
  for (Range& range : ranges)
    if (range.owner.load(std::memory_order_relaxed) == this)
      range.owner.store(nullptr, std::memory_order_release);
}

// Does only what a signal handler may do. The page arrives filled with ones: no thread ever sees another
// value.
bool BarFaults::cover(uintptr_t address) {
  for (const Range& range : ranges) {
    BarFaults* const owner = range.owner.load(std::memory_order_acquire);
    if (owner == nullptr || address < range.begin.load(std::memory_order_relaxed) ||
        address >= range.end.load(std::memory_order_relaxed))
      continue;
    void* const page = reinterpret_cast<void*>(address - address % page_bytes);
    if (mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, page_of_ones, 0) ==
        MAP_FAILED)
      return false;
    owner->happened_.store(true, std::memory_order_relaxed);
    const uint64_t one = 1;
    return write(owner->event_, &one, sizeof one) == sizeof one || errno == EAGAIN;
  }
  return false;
}

} // namespace fpga_verbs::pci
