#include "pci/sysfs_function.h"

#include "pci/configuration_space.h"

#include <cerrno>
#include <cstring>
#include <sys/file.h>
#include <utility>

namespace fpga_verbs::pci {

namespace {

bool write_one(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const bool written = write(file, "1", 1) == 1;
  const int reason = errno;
  close(file);
  errno = reason;
  return written;
}

} // namespace

std::shared_ptr<SysfsFunction> SysfsFunction::open(const SysfsFunctionSetup& setup, std::string& failure,
                                                   int& error) {
  const auto failed = [&failure, &error](const std::string& what) {
    error = errno;
    failure = what + ": " + std::strerror(error);
    return nullptr;
  };
  const int configuration = ::open(setup.configuration_path.c_str(), O_RDWR | O_CLOEXEC);
  if (configuration < 0)
    return failed(setup.configuration_path + " cannot be opened");
  // Held for the lifetime of process or guard: a process that finds no lock knows that the function is not
  // open and accesses no memory of a process.
  if (flock(configuration, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      errno = EBUSY;
    failed(setup.configuration_path + " is locked: another process has the function open");
    close(configuration);
    return nullptr;
  }
  // Before the reset, after which the kernel restores bus mastering if it was on.
  set_bus_master(configuration, 0, false);
  if (!setup.reset_path.empty() && !write_one(setup.reset_path)) {
    failed(setup.reset_path + " does not reset the function");
    close(configuration);
    return nullptr;
  }
  std::shared_ptr<SysfsFunction> function(new SysfsFunction(configuration, setup.underlying_function));
  if (setup.pins_pages) {
    function->pinned_pages_ = PinnedPages::make();
    function->pinning_error_ = errno;
  }
  for (const SysfsRange& range : setup.ranges) {
    const int file = ::open(range.path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0)
      return failed(range.path + " cannot be opened");
    BarRange mapped = BarRange::map(file, range.offset, range.bar, range.offset, range.bytes, range.mapping);
    const int reason = errno;
    close(file);
    errno = reason;
    if (!mapped)
      return failed(range.path + " cannot be mapped");
    if (!function->add(std::move(mapped)))
      return failed("faults of " + range.path + " cannot be handled");
  }
  return function;
}

SysfsFunction::SysfsFunction(int configuration, unsigned underlying_function)
    : MappedFunction("pci", underlying_function), configuration_(configuration),
      memory_(PhysicalMemory::make()) {}

SysfsFunction::~SysfsFunction() {
  stop_dma();
  guard_.reset();
  close(configuration_);
}

board::DmaMemory SysfsFunction::allocate_dma(size_t bytes, uint64_t& address, std::string& failure) {
  board::DmaMemory memory = memory_->allocate(bytes, address, failure);
  if (!memory || guard_ != nullptr)
    return memory;
  const int pins = pinned_pages_ == nullptr ? -1 : pinned_pages_->file();
  guard_ = DmaGuard::start({configuration_, memory_->file(), pins}, failure);
  if (guard_ == nullptr)
    return {};
  if (!set_bus_master(configuration_, 0, true)) {
    failure = "the function cannot be made bus master: its configuration space is not written; there is none";
    guard_.reset();
    return {};
  }
  return memory;
}

PinnedPages* SysfsFunction::pinned_pages() {
  errno = pinning_error_;
  return pinned_pages_.get();
}

const char* SysfsFunction::foreign_memory_refusal() const {
  return "memory of the process has no stable DMA address, because the function has no IOMMU; "
         "expected: memory of allocate(), or the function through vfio:";
}

std::optional<uint64_t> SysfsFunction::map_dma(void*, size_t, board::DmaRights) { return std::nullopt; }

// The device reaches physical memory whether it is mapped or not; there is no mapping to remove.
bool SysfsFunction::unmap_dma(uint64_t) { return true; }

void SysfsFunction::stop_dma() { set_bus_master(configuration_, 0, false); }

int SysfsFunction::interrupt_event(unsigned) { return -1; }

} // namespace fpga_verbs::pci
