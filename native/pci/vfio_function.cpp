#include "pci/vfio_function.h"

#include "pci/configuration_space.h"
#include "pci/vfio_container.h"
#include "pci/vfio_control.h"
#include "pci/vfio_iommufd.h"

#include <cerrno>
#include <cstring>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace fpga_verbs::pci {

namespace {

vfio_region_info region_info(int device, unsigned index) {
  vfio_region_info info{};
  info.argsz = sizeof info;
  info.index = index;
  if (vfio_control(device, VFIO_DEVICE_GET_REGION_INFO, &info) != 0)
    info.size = 0;
  return info;
}

unsigned vectors_of(int device, unsigned index) {
  vfio_irq_info info{};
  info.argsz = sizeof info;
  info.index = index;
  return vfio_control(device, VFIO_DEVICE_GET_IRQ_INFO, &info) == 0 ? info.count : 0;
}

// Connects the first vectors to these eventfds.
bool signal_by(int device, unsigned index, const std::vector<int>& events) {
  std::vector<uint8_t> request(sizeof(vfio_irq_set) + events.size() * sizeof(int32_t));
  vfio_irq_set head{};
  head.argsz = static_cast<uint32_t>(request.size());
  head.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  head.index = index;
  head.count = static_cast<uint32_t>(events.size());
  std::memcpy(request.data(), &head, sizeof head);
  std::memcpy(request.data() + sizeof head, events.data(), events.size() * sizeof(int32_t));
  return vfio_control(device, VFIO_DEVICE_SET_IRQS, request.data()) == 0;
}

std::string locked_memory_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " B";
}

int new_event() { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

bool is_signalled(int event) {
  pollfd asked{event, POLLIN, 0};
  return event >= 0 && poll(&asked, 1, 0) == 1;
}

std::unique_ptr<VfioDomain> open_domain(const VfioFunctionSetup& setup, std::string& failure, int& error) {
  if (!setup.device_path.empty()) {
    std::unique_ptr<VfioDomain> domain =
        VfioIommufd::open(setup.iommu_path, setup.device_path, setup.address_bits, failure, error);
    if (domain != nullptr || !VfioIommufd::may_be_in_group(error))
      return domain;
  }
  return VfioContainer::open(setup.container_path, setup.group_path, setup.address, setup.address_bits,
                             failure, error);
}

} // namespace

std::shared_ptr<VfioFunction> VfioFunction::open(const VfioFunctionSetup& setup, std::string& failure,
                                                 int& error) {
  std::unique_ptr<VfioDomain> domain = open_domain(setup, failure, error);
  if (domain == nullptr)
    return nullptr;
  std::shared_ptr<VfioFunction> function(new VfioFunction(std::move(domain), setup.underlying_function));
  if (!function->map_bars(failure) || !function->enable_interrupts(failure) ||
      !function->watch_removal(failure)) {
    error = errno;
    return nullptr;
  }
  if (!function->set_master(true)) {
    error = EIO;
    failure = setup.address +
              " cannot be made bus master: its configuration space does not accept it; expected: a "
              "function that answers, and is not powered down";
    return nullptr;
  }
  return function;
}

VfioFunction::VfioFunction(std::unique_ptr<VfioDomain> domain, unsigned underlying_function)
    : MappedFunction("vfio", underlying_function), domain_(std::move(domain)) {}

VfioFunction::~VfioFunction() {
  give_up();
  for (const int event : events_)
    close(event);
  for (const int event : {request_, error_, removal_})
    if (event >= 0)
      close(event);
}

// VFIO maps BARs uncached.
bool VfioFunction::map_bars(std::string& failure) {
  for (unsigned bar = VFIO_PCI_BAR0_REGION_INDEX; bar <= VFIO_PCI_BAR5_REGION_INDEX; ++bar) {
    const vfio_region_info info = region_info(domain_->device(), bar);
    if (info.size == 0 || (info.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0)
      continue;
    BarRange range =
        BarRange::map(domain_->device(), info.offset, bar, 0, info.size, board::CommandMapping::uncached);
    if (!range) {
      const int reason = errno;
      failure = "BAR " + std::to_string(bar) + " cannot be mapped: " + std::strerror(reason);
      errno = reason;
      return false;
    }
    if (!add(std::move(range))) {
      const int reason = errno;
      failure = "faults of BAR " + std::to_string(bar) + " cannot be handled: " + std::strerror(reason);
      errno = reason;
      return false;
    }
  }
  return true;
}

// Sets up all vectors at once, because the kernel accepts no more later. Uses MSI if there is no MSI-X.
bool VfioFunction::enable_interrupts(std::string& failure) {
  unsigned index = VFIO_PCI_MSIX_IRQ_INDEX;
  unsigned vectors = vectors_of(domain_->device(), index);
  if (vectors == 0) {
    index = VFIO_PCI_MSI_IRQ_INDEX;
    vectors = vectors_of(domain_->device(), index);
  }
  for (unsigned vector = 0; vector < vectors; ++vector) {
    const int event = new_event();
    if (event < 0) {
      failure = "no eventfd is left for an interrupt vector";
      return false;
    }
    events_.push_back(event);
  }
  if (vectors > 0 && !signal_by(domain_->device(), index, events_)) {
    const int reason = errno;
    failure = std::to_string(vectors) + " interrupt vectors are not available: " + std::strerror(reason);
    errno = reason;
    return false;
  }
  set_interrupt_vectors(vectors);
  return true;
}

// The kernel has both interrupts since 4.0; without them only a read detects the removal.
bool VfioFunction::watch_removal(std::string& failure) {
  request_ = new_event();
  error_ = new_event();
  removal_ = epoll_create1(EPOLL_CLOEXEC);
  for (const int event : {fault_event(), request_, error_}) {
    epoll_event asked{};
    asked.events = EPOLLIN;
    if (event >= 0 && removal_ >= 0 && epoll_ctl(removal_, EPOLL_CTL_ADD, event, &asked) == 0)
      continue;
    failure = "no eventfd is left for the kernel's removal request";
    return false;
  }
  const int device = domain_->device();
  for (const auto& [index, event] :
       {std::pair{VFIO_PCI_REQ_IRQ_INDEX, request_}, std::pair{VFIO_PCI_ERR_IRQ_INDEX, error_}}) {
    if (vectors_of(device, static_cast<unsigned>(index)) == 0)
      continue;
    if (signal_by(device, static_cast<unsigned>(index), {event}))
      continue;
    const int reason = errno;
    failure = std::string("the interrupt for the kernel's removal request is not available: ") +
              std::strerror(reason);
    errno = reason;
    return false;
  }
  return true;
}

const char* VfioFunction::loss() {
  if (is_signalled(request_))
    return "the kernel requests the function back, for removal or to unbind it from vfio-pci";
  if (is_signalled(error_))
    return "the function has reported an uncorrected error (PCIe AER)";
  return MappedFunction::loss();
}

// The kernel releases the device file only after its BARs are unmapped too, and continues then.
void VfioFunction::give_up() {
  stop_dma();
  MappedFunction::give_up();
  domain_.reset();
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
  if (domain_ == nullptr) {
    mapping_error_ = ENODEV;
    return std::nullopt;
  }
  const std::optional<uint64_t> mapped = domain_->map(memory, bytes, rights);
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
  if (mapping_error_ == ENODEV)
    return "the device is gone; there is no address";
  return std::string("the IOMMU accepts no mapping: ") + std::strerror(mapping_error_) + ",";
}

bool VfioFunction::unmap_dma(uint64_t address) { return domain_ == nullptr || domain_->unmap(address); }

void VfioFunction::stop_dma() {
  if (domain_ != nullptr)
    set_master(false);
}

bool VfioFunction::set_master(bool master) {
  const int device = domain_->device();
  const uint64_t begin = region_info(device, VFIO_PCI_CONFIG_REGION_INDEX).offset;
  if (!set_bus_master(device, begin, master))
    return false;
  const std::optional<uint16_t> after = read_command_register(device, begin);
  return after && ((*after & PCI_COMMAND_MASTER) != 0) == master;
}

int VfioFunction::interrupt_event(unsigned vector) { return vector < events_.size() ? events_[vector] : -1; }

} // namespace fpga_verbs::pci
