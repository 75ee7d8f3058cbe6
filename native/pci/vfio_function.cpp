#include "pci/vfio_function.h"

#include "pci/configuration_space.h"

#include <cerrno>
#include <cstring>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace fpga_verbs::pci {

namespace {

vfio_region_info region_info(int device, unsigned index) {
  vfio_region_info info{};
  info.argsz = sizeof info;
  info.index = index;
  if (ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &info) != 0)
    info.size = 0;
  return info;
}

unsigned vectors_of(int device, unsigned index) {
  vfio_irq_info info{};
  info.argsz = sizeof info;
  info.index = index;
  return ioctl(device, VFIO_DEVICE_GET_IRQ_INFO, &info) == 0 ? info.count : 0;
}

// Lets the first vectors signal these eventfds.
bool signal_by(int device, unsigned index, const std::vector<int>& events) {
  std::vector<uint8_t> request(sizeof(vfio_irq_set) + events.size() * sizeof(int32_t));
  vfio_irq_set head{};
  head.argsz = static_cast<uint32_t>(request.size());
  head.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  head.index = index;
  head.count = static_cast<uint32_t>(events.size());
  std::memcpy(request.data(), &head, sizeof head);
  std::memcpy(request.data() + sizeof head, events.data(), events.size() * sizeof(int32_t));
  return ioctl(device, VFIO_DEVICE_SET_IRQS, request.data()) == 0;
}

std::string locked_memory_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " B";
}

} // namespace

std::shared_ptr<VfioFunction> VfioFunction::open(const VfioFunctionSetup& setup, std::string& failure,
                                                 int& error) {
  std::unique_ptr<VfioContainer> container =
      VfioContainer::open(setup.container_path, setup.group_path, setup.address_bits, failure, error);
  if (container == nullptr)
    return nullptr;
  const int device = container->open_device(setup.address);
  if (device < 0) {
    error = errno;
    failure = setup.address + " is not given by its group: " + std::strerror(error) +
              "; expected: a function that is bound to vfio-pci";
    return nullptr;
  }
  std::shared_ptr<VfioFunction> function(
      new VfioFunction(std::move(container), device, setup.underlying_function));
  if (!function->map_bars(failure) || !function->enable_interrupts(failure)) {
    error = errno;
    return nullptr;
  }
  function->set_master(true);
  return function;
}

VfioFunction::VfioFunction(std::unique_ptr<VfioContainer> container, int device, unsigned underlying_function)
    : MappedFunction("vfio", underlying_function), container_(std::move(container)), device_(device) {}

VfioFunction::~VfioFunction() {
  stop_dma();
  close(device_);
  for (const int event : events_)
    close(event);
}

// VFIO maps BARs uncached.
bool VfioFunction::map_bars(std::string& failure) {
  for (unsigned bar = VFIO_PCI_BAR0_REGION_INDEX; bar <= VFIO_PCI_BAR5_REGION_INDEX; ++bar) {
    const vfio_region_info info = region_info(device_, bar);
    if (info.size == 0 || (info.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0)
      continue;
    BarRange range = BarRange::map(device_, info.offset, bar, 0, info.size, board::CommandMapping::uncached);
    if (!range) {
      const int reason = errno;
      failure = "BAR " + std::to_string(bar) + " cannot be mapped: " + std::strerror(reason);
      errno = reason;
      return false;
    }
    add(std::move(range));
  }
  return true;
}

// All vectors at once, as the kernel takes no more later. MSI where there is no MSI-X.
bool VfioFunction::enable_interrupts(std::string& failure) {
  unsigned index = VFIO_PCI_MSIX_IRQ_INDEX;
  unsigned vectors = vectors_of(device_, index);
  if (vectors == 0) {
    index = VFIO_PCI_MSI_IRQ_INDEX;
    vectors = vectors_of(device_, index);
  }
  for (unsigned vector = 0; vector < vectors; ++vector) {
    const int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (event < 0) {
      failure = "no eventfd is left for an interrupt vector";
      return false;
    }
    events_.push_back(event);
  }
  if (vectors > 0 && !signal_by(device_, index, events_)) {
    const int reason = errno;
    failure = std::to_string(vectors) + " interrupt vectors are not to be had: " + std::strerror(reason);
    errno = reason;
    return false;
  }
  set_interrupt_vectors(vectors);
  return true;
}

board::DmaMemory VfioFunction::allocate_dma(size_t bytes, uint64_t& address, std::string& failure) {
  board::DmaMemory memory = board::DmaMemory::allocate(bytes);
  if (!memory) {
    failure = "no memory is left";
    return memory;
  }
  const std::optional<uint64_t> mapped = map_dma(memory.data(), memory.bytes(), board::DmaRights::read_write);
  if (mapped) {
    address = *mapped;
    return memory;
  }
  failure = mapping_failure();
  return {};
}

std::optional<uint64_t> VfioFunction::map_dma(void* memory, size_t bytes, board::DmaRights rights) {
  const std::optional<uint64_t> mapped = container_->map(memory, bytes, rights);
  if (!mapped)
    mapping_error_ = errno;
  return mapped;
}

std::string VfioFunction::mapping_failure() const {
  if (mapping_error_ == ENOMEM)
    return "the limit of locked memory (RLIMIT_MEMLOCK) is " + locked_memory_limit() +
           ", and memory that the device reaches is locked; expected: a higher one (ulimit -l, or memlock in "
           "/etc/security/limits.conf); there is none";
  if (mapping_error_ == ENOSPC)
    return MappedFunction::mapping_failure();
  return std::string("the IOMMU takes no mapping: ") + std::strerror(mapping_error_) + ",";
}

bool VfioFunction::unmap_dma(uint64_t address) { return container_->unmap(address); }

void VfioFunction::stop_dma() { set_master(false); }

void VfioFunction::set_master(bool master) {
  set_bus_master(device_, region_info(device_, VFIO_PCI_CONFIG_REGION_INDEX).offset, master);
}

int VfioFunction::interrupt_event(unsigned vector) { return vector < events_.size() ? events_[vector] : -1; }

} // namespace fpga_verbs::pci
