#include "test/vfio_stand_in.h"

#include "addon/pci_functions.h"
#include "pci/iommufd.h"
#include "pci/vfio_control.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/vfio.h>
#include <map>
#include <string>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace fpga_verbs::test {

namespace {

namespace iommufd = pci::iommufd;

constexpr uint64_t page = 4096;
constexpr uint64_t bar_bytes = 0x2000;
constexpr uint64_t configuration_offset = 0x10000;
constexpr uint64_t configuration_bytes = 0x100;
constexpr uint64_t nowhere = uint64_t{1} << 63; // an offset beyond every file
constexpr unsigned vectors = 2;
// As for an IOMMU, without the range of message signaled interrupts.
constexpr iommufd::AddressSpaceRange allowed[] = {{0, 0xfedf'ffff}, {0xfef0'0000, 0x7f'ffff'ffff'ffff}};

struct Mapping {
  uint64_t memory = 0;
  uint64_t bytes = 0;
  bool device_reads = false;
  bool device_writes = false;
};

// The kernel's state as its documents describe it (driver-api/vfio, userspace-api/iommufd, linux/vfio.h). Its
// files are ordinary ones with known paths: the device's file holds BAR 0, followed by configuration space.
struct StandIn {
  std::map<std::string, std::string> paths; // of container, group, device, iommu, cdev
  int refused_bind = 0;                     // errno
  bool has_configuration = true;
  bool group_in_container = false;
  bool container_has_iommu = false;
  int bound = -1; // the cdev that is bound
  uint32_t address_spaces = 0;
  uint32_t attached = 0;
  std::map<uint64_t, Mapping> mappings; // by DMA address
  std::map<uint32_t, int> interrupts;   // eventfd of the first vector, by index
};

StandIn stand_in;

bool is_file(int file, const char* name) {
  struct stat one{};
  struct stat other{};
  const auto path = stand_in.paths.find(name);
  return path != stand_in.paths.end() && fstat(file, &one) == 0 && stat(path->second.c_str(), &other) == 0 &&
         one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

int fail(int reason) {
  errno = reason;
  return -1;
}

template <class Request> Request& as(void* argument) { return *static_cast<Request*>(argument); }

int map(uint64_t memory, uint64_t address, uint64_t bytes, bool reads, bool writes) {
  if (bytes == 0 || (memory | address | bytes) % page != 0 || !(reads || writes))
    return fail(EINVAL);
  const bool is_allowed = std::ranges::any_of(allowed, [&](const iommufd::AddressSpaceRange& range) {
    return address >= range.first && address + bytes - 1 <= range.last;
  });
  if (!is_allowed)
    return fail(EINVAL);
  const auto next = stand_in.mappings.lower_bound(address);
  if (next != stand_in.mappings.end() && next->first < address + bytes)
    return fail(EEXIST);
  if (next != stand_in.mappings.begin()) {
    const auto last = std::prev(next);
    if (last->first + last->second.bytes > address)
      return fail(EEXIST);
  }
  stand_in.mappings.emplace(address, Mapping{memory, bytes, reads, writes});
  return 0;
}

// Mappings are not split.
int unmap(uint64_t address, uint64_t bytes) {
  const auto found = stand_in.mappings.find(address);
  if (found == stand_in.mappings.end())
    return fail(ENOENT);
  if (found->second.bytes != bytes)
    return fail(EINVAL);
  stand_in.mappings.erase(found);
  return 0;
}

int container_control(unsigned long request, void* argument) {
  switch (request) {
  case VFIO_GET_API_VERSION:
    return VFIO_API_VERSION;
  case VFIO_CHECK_EXTENSION:
    return reinterpret_cast<uintptr_t>(argument) == VFIO_TYPE1v2_IOMMU ? 1 : 0;
  case VFIO_SET_IOMMU:
    if (!stand_in.group_in_container)
      return fail(EINVAL);
    stand_in.container_has_iommu = true;
    return 0;
  case VFIO_IOMMU_GET_INFO: {
    constexpr size_t list = sizeof(vfio_iommu_type1_info);
    constexpr size_t whole = list + sizeof(vfio_iommu_type1_info_cap_iova_range) + sizeof allowed;
    auto& info = as<vfio_iommu_type1_info>(argument);
    const bool fits = info.argsz >= whole;
    info.argsz = whole;
    info.flags = VFIO_IOMMU_INFO_CAPS;
    info.cap_offset = 0;
    if (!fits)
      return 0;
    info.cap_offset = list;
    auto* const at = static_cast<uint8_t*>(argument) + list;
    auto& capability = as<vfio_iommu_type1_info_cap_iova_range>(at);
    capability.header = {.id = VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, .version = 0, .next = 0};
    capability.nr_iovas = static_cast<uint32_t>(std::size(allowed));
    capability.reserved = 0;
    std::memcpy(at + sizeof capability, allowed, sizeof allowed);
    return 0;
  }
  case VFIO_IOMMU_MAP_DMA: {
    const auto& asked = as<vfio_iommu_type1_dma_map>(argument);
    return map(asked.vaddr, asked.iova, asked.size, (asked.flags & VFIO_DMA_MAP_FLAG_READ) != 0,
               (asked.flags & VFIO_DMA_MAP_FLAG_WRITE) != 0);
  }
  case VFIO_IOMMU_UNMAP_DMA: {
    const auto& asked = as<vfio_iommu_type1_dma_unmap>(argument);
    return unmap(asked.iova, asked.size);
  }
  default:
    return fail(ENOTTY);
  }
}

int group_control(unsigned long request, void* argument) {
  switch (request) {
  case VFIO_GROUP_GET_STATUS:
    as<vfio_group_status>(argument).flags = VFIO_GROUP_FLAGS_VIABLE;
    return 0;
  case VFIO_GROUP_SET_CONTAINER:
    stand_in.group_in_container = is_file(as<int>(argument), "container");
    return stand_in.group_in_container ? 0 : fail(EINVAL);
  case VFIO_GROUP_GET_DEVICE_FD:
    if (!stand_in.container_has_iommu)
      return fail(EINVAL);
    return open(stand_in.paths["device"].c_str(), O_RDWR | O_CLOEXEC);
  default:
    return fail(ENOTTY);
  }
}

int iommu_control(unsigned long request, void* argument) {
  const auto is_known = [](uint32_t space) { return space != 0 && space <= stand_in.address_spaces; };
  switch (request) {
  case iommufd::allocate_address_space:
    as<iommufd::AllocateAddressSpace>(argument).address_space = ++stand_in.address_spaces;
    return 0;
  case iommufd::address_ranges: {
    auto& asked = as<iommufd::AddressRanges>(argument);
    if (!is_known(asked.address_space))
      return fail(ENOENT);
    const uint32_t room = asked.ranges;
    asked.ranges = static_cast<uint32_t>(std::size(allowed));
    asked.alignment = page;
    if (room < asked.ranges)
      return fail(EMSGSIZE);
    std::memcpy(reinterpret_cast<void*>(asked.list), allowed, sizeof allowed);
    return 0;
  }
  case iommufd::map_memory: {
    const auto& asked = as<iommufd::MapMemory>(argument);
    if (!is_known(asked.address_space))
      return fail(ENOENT);
    if ((asked.flags & iommufd::at_this_address) == 0 || asked.reserved != 0 || asked.bytes != sizeof asked)
      return fail(EINVAL);
    return map(asked.memory, asked.address, asked.length, (asked.flags & iommufd::device_reads) != 0,
               (asked.flags & iommufd::device_writes) != 0);
  }
  case iommufd::unmap_memory: {
    const auto& asked = as<iommufd::UnmapMemory>(argument);
    return is_known(asked.address_space) ? unmap(asked.address, asked.length) : fail(ENOENT);
  }
  default:
    return fail(ENOTTY);
  }
}

int bind(int file, const iommufd::BindDevice& asked) {
  if (stand_in.refused_bind != 0)
    return fail(stand_in.refused_bind);
  const bool is_bound = stand_in.bound >= 0 && stand_in.bound != file && is_file(stand_in.bound, "cdev");
  if (is_bound || asked.bytes != sizeof asked || asked.flags != 0 || !is_file(asked.iommufd, "iommu"))
    return fail(EINVAL);
  stand_in.bound = file;
  stand_in.attached = 0;
  return 0;
}

int set_interrupts(const void* argument) {
  vfio_irq_set head{};
  std::memcpy(&head, argument, sizeof head);
  if (head.flags != (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER) || head.count == 0 ||
      head.argsz != sizeof head + head.count * sizeof(int32_t))
    return fail(EINVAL);
  std::memcpy(&stand_in.interrupts[head.index], static_cast<const uint8_t*>(argument) + sizeof head,
              sizeof(int32_t));
  return 0;
}

int device_control(unsigned long request, void* argument) {
  switch (request) {
  case VFIO_DEVICE_GET_REGION_INFO: {
    auto& info = as<vfio_region_info>(argument);
    info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
    info.size = info.offset = 0;
    if (info.index == VFIO_PCI_BAR0_REGION_INDEX) {
      info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
      info.size = bar_bytes;
    }
    if (info.index == VFIO_PCI_CONFIG_REGION_INDEX) {
      info.size = configuration_bytes;
      info.offset = stand_in.has_configuration ? configuration_offset : nowhere;
    }
    return info.index < VFIO_PCI_NUM_REGIONS ? 0 : fail(EINVAL);
  }
  case VFIO_DEVICE_GET_IRQ_INFO: {
    auto& info = as<vfio_irq_info>(argument);
    info.flags = VFIO_IRQ_INFO_EVENTFD;
    info.count = info.index == VFIO_PCI_MSIX_IRQ_INDEX ? vectors : 1;
    return info.index < VFIO_PCI_NUM_IRQS ? 0 : fail(EINVAL);
  }
  case VFIO_DEVICE_SET_IRQS:
    return set_interrupts(argument);
  default:
    return fail(ENOTTY);
  }
}

// Every request fails until the device is bound.
int cdev_control(int file, unsigned long request, void* argument) {
  if (request == iommufd::bind_device)
    return bind(file, as<iommufd::BindDevice>(argument));
  if (stand_in.bound != file)
    return fail(EINVAL);
  if (request != iommufd::attach_device)
    return device_control(request, argument);
  const auto& asked = as<iommufd::AttachDevice>(argument);
  if (asked.address_space == 0 || asked.address_space > stand_in.address_spaces)
    return fail(ENOENT);
  stand_in.attached = asked.address_space;
  return 0;
}

int control(int file, unsigned long request, void* argument) {
  if (is_file(file, "container"))
    return container_control(request, argument);
  if (is_file(file, "group"))
    return group_control(request, argument);
  if (is_file(file, "iommu"))
    return iommu_control(request, argument);
  if (is_file(file, "cdev"))
    return cdev_control(file, request, argument);
  return is_file(file, "device") ? device_control(request, argument) : fail(ENOTTY);
}

Napi::Value mappings(const Napi::CallbackInfo& info) {
  Napi::Array list = Napi::Array::New(info.Env());
  for (const auto& [address, mapping] : stand_in.mappings) {
    Napi::Object object = Napi::Object::New(info.Env());
    object["address"] = Napi::BigInt::New(info.Env(), address);
    object["memory"] = Napi::BigInt::New(info.Env(), mapping.memory);
    object["bytes"] = static_cast<double>(mapping.bytes);
    object["rights"] = std::string(mapping.device_reads ? "r" : "") + (mapping.device_writes ? "w" : "");
    list.Set(list.Length(), object);
  }
  return list;
}

// Signals an interrupt by its name, as the kernel does. Returns false if it has no eventfd.
Napi::Value signal(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>().Utf8Value();
  const auto index = static_cast<uint32_t>(name == "request" ? VFIO_PCI_REQ_IRQ_INDEX
                                           : name == "error" ? VFIO_PCI_ERR_IRQ_INDEX
                                                             : VFIO_PCI_MSIX_IRQ_INDEX);
  const auto found = stand_in.interrupts.find(index);
  return Napi::Boolean::New(info.Env(),
                            found != stand_in.interrupts.end() && eventfd_write(found->second, 1) == 0);
}

// ({paths, refusedBind, hasConfiguration})
Napi::Value use_stand_in(const Napi::CallbackInfo& info) {
  stand_in = {};
  const auto options = info[0].As<Napi::Object>();
  const auto paths = options.Get("paths").As<Napi::Object>();
  const Napi::Array names = paths.GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = names.Get(i).As<Napi::String>().Utf8Value();
    stand_in.paths[name] = paths.Get(name).As<Napi::String>().Utf8Value();
  }
  if (options.Has("refusedBind"))
    stand_in.refused_bind = options.Get("refusedBind").As<Napi::Number>().Int32Value();
  if (options.Has("hasConfiguration"))
    stand_in.has_configuration = options.Get("hasConfiguration").ToBoolean();
  pci::replace_vfio_control(control);
  Napi::Object object = Napi::Object::New(info.Env());
  object["mappings"] = Napi::Function::New<mappings>(info.Env());
  object["signal"] = Napi::Function::New<signal>(info.Env());
  return object;
}

} // namespace

void define_vfio_stand_in(Napi::Env env, Napi::Object exports) {
  addon::define_pci_functions(env, exports);
  exports.Set("useVfioStandIn", Napi::Function::New<use_stand_in>(env, "useVfioStandIn"));
}

} // namespace fpga_verbs::test
