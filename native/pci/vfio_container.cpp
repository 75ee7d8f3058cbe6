#include "pci/vfio_container.h"

#include "pci/vfio_control.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/vfio.h>
#include <unistd.h>

namespace fpga_verbs::pci {

std::unique_ptr<VfioContainer> VfioContainer::open(const std::string& container_path,
                                                   const std::string& group_path, const std::string& address,
                                                   unsigned address_bits, std::string& failure, int& error) {
  const int container = ::open(container_path.c_str(), O_RDWR | O_CLOEXEC);
  if (container < 0) {
    error = errno;
    failure = container_path + " cannot be opened: " + std::strerror(error) +
              "; expected: the module vfio loaded, and permission to open the file";
    return nullptr;
  }
  const int group = ::open(group_path.c_str(), O_RDWR | O_CLOEXEC);
  if (group < 0) {
    error = errno;
    close(container);
    failure =
        group_path + " cannot be opened: " + std::strerror(error) +
        (error == EBUSY ? "; expected: no other process has a function of the group open"
                        : "; expected: a function that is bound to vfio-pci, and you as the file's owner");
    return nullptr;
  }
  std::unique_ptr<VfioContainer> opened(new VfioContainer(container, group));
  if (opened->prepare(group_path, address, failure)) {
    opened->set_ranges(opened->query_ranges(), address_bits);
    return opened;
  }
  error = errno;
  return nullptr;
}

VfioContainer::~VfioContainer() {
  close_device();
  close(group_);
  close(container_);
}

bool VfioContainer::prepare(const std::string& group_path, const std::string& address, std::string& failure) {
  // Some arguments are numbers, passed where the others have their address.
  const auto number = [](uintptr_t value) { return reinterpret_cast<void*>(value); };
  if (vfio_control(container_, VFIO_GET_API_VERSION, nullptr) != VFIO_API_VERSION ||
      vfio_control(container_, VFIO_CHECK_EXTENSION, number(VFIO_TYPE1v2_IOMMU)) <= 0) {
    errno = ENOTSUP;
    failure = "this system's VFIO has no type 1 IOMMU; expected: the module vfio_iommu_type1 loaded";
    return false;
  }
  vfio_group_status status{};
  status.argsz = sizeof status;
  if (vfio_control(group_, VFIO_GROUP_GET_STATUS, &status) != 0 ||
      (status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0) {
    errno = EPERM;
    failure = group_path + " is not viable; expected: every function of the group bound to vfio-pci, or to "
                           "no driver";
    return false;
  }
  if (vfio_control(group_, VFIO_GROUP_SET_CONTAINER, &container_) != 0 ||
      vfio_control(container_, VFIO_SET_IOMMU, number(VFIO_TYPE1v2_IOMMU)) != 0) {
    const int reason = errno;
    failure = group_path + " is not accepted by the IOMMU: " + std::strerror(reason) +
              "; expected: an IOMMU that remaps interrupts, or the module parameter "
              "allow_unsafe_interrupts of vfio_iommu_type1";
    errno = reason;
    return false;
  }
  std::string name = address;
  const int device = vfio_control(group_, VFIO_GROUP_GET_DEVICE_FD, name.data());
  if (device < 0) {
    const int reason = errno;
    failure = address + " is not available from its group: " + std::strerror(reason) +
              "; expected: a function that is bound to vfio-pci";
    errno = reason;
    return false;
  }
  set_device(device);
  return true;
}

// A container that does not report them accepts all.
std::vector<AddressRange> VfioContainer::query_ranges() const {
  constexpr uint64_t last_address = ~uint64_t{0};
  std::vector<AddressRange> ranges;
  vfio_iommu_type1_info head{};
  head.argsz = sizeof head;
  if (vfio_control(container_, VFIO_IOMMU_GET_INFO, &head) != 0)
    return {{0, last_address}};
  std::vector<uint8_t> answer(head.argsz);
  std::memcpy(answer.data(), &head, sizeof head);
  if (vfio_control(container_, VFIO_IOMMU_GET_INFO, answer.data()) != 0)
    return {{0, last_address}};
  std::memcpy(&head, answer.data(), sizeof head);
  uint32_t at = (head.flags & VFIO_IOMMU_INFO_CAPS) != 0 ? head.cap_offset : 0;
  while (at != 0 && at + sizeof(vfio_iommu_type1_info_cap_iova_range) <= answer.size()) {
    vfio_info_cap_header capability{};
    std::memcpy(&capability, answer.data() + at, sizeof capability);
    if (capability.id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE) {
      vfio_iommu_type1_info_cap_iova_range list;
      std::memcpy(&list, answer.data() + at, sizeof list);
      size_t entry = at + sizeof list;
      for (uint32_t i = 0; i < list.nr_iovas && entry + sizeof(vfio_iova_range) <= answer.size(); ++i) {
        vfio_iova_range range{};
        std::memcpy(&range, answer.data() + entry, sizeof range);
        entry += sizeof range;
        ranges.push_back({range.start, range.end});
      }
    }
    at = capability.next;
  }
  if (ranges.empty())
    ranges.push_back({0, last_address});
  return ranges;
}

bool VfioContainer::map_pages(uint64_t memory, uint64_t address, uint64_t bytes, board::DmaRights rights) {
  vfio_iommu_type1_dma_map request{};
  request.argsz = sizeof request;
  const auto allowed = static_cast<unsigned>(rights);
  if ((allowed & static_cast<unsigned>(board::DmaRights::read)) != 0)
    request.flags |= VFIO_DMA_MAP_FLAG_READ;
  if ((allowed & static_cast<unsigned>(board::DmaRights::write)) != 0)
    request.flags |= VFIO_DMA_MAP_FLAG_WRITE;
  request.vaddr = memory;
  request.iova = address;
  request.size = bytes;
  return vfio_control(container_, VFIO_IOMMU_MAP_DMA, &request) == 0;
}

bool VfioContainer::unmap_pages(uint64_t address, uint64_t bytes) {
  vfio_iommu_type1_dma_unmap request{};
  request.argsz = sizeof request;
  request.iova = address;
  request.size = bytes;
  return vfio_control(container_, VFIO_IOMMU_UNMAP_DMA, &request) == 0;
}

} // namespace fpga_verbs::pci
