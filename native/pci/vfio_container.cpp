#include "pci/vfio_container.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fpga_verbs::pci {

std::unique_ptr<VfioContainer> VfioContainer::open(const std::string& container_path,
                                                   const std::string& group_path, unsigned address_bits,
                                                   std::string& failure, int& error) {
  const int container = ::open(container_path.c_str(), O_RDWR | O_CLOEXEC);
  if (container < 0) {
    error = errno;
    failure = container_path + " cannot be opened: " + std::strerror(error) +
              "; expected: the module vfio loaded, and leave to open the file";
    return nullptr;
  }
  const int group = ::open(group_path.c_str(), O_RDWR | O_CLOEXEC);
  if (group < 0) {
    error = errno;
    close(container);
    failure =
        group_path + " cannot be opened: " + std::strerror(error) +
        (error == EBUSY ? "; expected: nobody else has a function of the group open"
                        : "; expected: a function that is bound to vfio-pci, and you as the file's owner");
    return nullptr;
  }
  std::unique_ptr<VfioContainer> opened(new VfioContainer(container, group));
  if (opened->prepare(address_bits, group_path, failure))
    return opened;
  error = errno;
  return nullptr;
}

VfioContainer::VfioContainer(int container, int group)
    : container_(container), group_(group), page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

VfioContainer::~VfioContainer() {
  close(group_);
  close(container_);
}

bool VfioContainer::prepare(unsigned address_bits, const std::string& group_path, std::string& failure) {
  if (ioctl(container_, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
      ioctl(container_, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) <= 0) {
    errno = ENOTSUP;
    failure = "this system's VFIO has no type 1 IOMMU; expected: the module vfio_iommu_type1 loaded";
    return false;
  }
  vfio_group_status status{};
  status.argsz = sizeof status;
  if (ioctl(group_, VFIO_GROUP_GET_STATUS, &status) != 0 || (status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0) {
    errno = EPERM;
    failure = group_path + " is not viable; expected: every function of the group bound to vfio-pci, or to "
                           "no driver";
    return false;
  }
  if (ioctl(group_, VFIO_GROUP_SET_CONTAINER, &container_) != 0 ||
      ioctl(container_, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) != 0) {
    const int reason = errno;
    failure = group_path + " is not taken by the IOMMU: " + std::strerror(reason) +
              "; expected: an IOMMU that remaps interrupts, or the module parameter "
              "allow_unsafe_interrupts of vfio_iommu_type1";
    errno = reason;
    return false;
  }
  constexpr unsigned widest = 64;
  const uint64_t last = address_bits >= widest ? ~uint64_t{0} : (uint64_t{1} << address_bits) - 1;
  addresses_.emplace(query_ranges(last), page_bytes_);
  return true;
}

// The ranges that the IOMMU takes, as far as the device can say them. What does not tell them takes all.
std::vector<AddressRange> VfioContainer::query_ranges(uint64_t last_address) {
  std::vector<AddressRange> ranges;
  vfio_iommu_type1_info head{};
  head.argsz = sizeof head;
  if (ioctl(container_, VFIO_IOMMU_GET_INFO, &head) != 0)
    return {{0, last_address}};
  std::vector<uint8_t> answer(head.argsz);
  std::memcpy(answer.data(), &head, sizeof head);
  if (ioctl(container_, VFIO_IOMMU_GET_INFO, answer.data()) != 0)
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
        if (range.start <= last_address)
          ranges.push_back({range.start, range.end < last_address ? range.end : last_address});
      }
    }
    at = capability.next;
  }
  if (ranges.empty())
    ranges.push_back({0, last_address});
  return ranges;
}

int VfioContainer::open_device(const std::string& address) const {
  return ioctl(group_, VFIO_GROUP_GET_DEVICE_FD, address.c_str());
}

std::optional<uint64_t> VfioContainer::map(void* memory, size_t bytes, board::DmaRights rights) {
  const auto virtual_address = reinterpret_cast<uintptr_t>(memory);
  const uint64_t in_page = virtual_address % page_bytes_;
  const uint64_t begin = virtual_address - in_page;
  const uint64_t whole = (in_page + bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
  uint64_t address = begin;
  if (!addresses_->take(begin, whole)) {
    const std::optional<uint64_t> other = addresses_->take_any(whole);
    if (!other) {
      errno = ENOSPC;
      return std::nullopt;
    }
    address = *other;
  }
  vfio_iommu_type1_dma_map request{};
  request.argsz = sizeof request;
  const auto allowed = static_cast<unsigned>(rights);
  if ((allowed & static_cast<unsigned>(board::DmaRights::read)) != 0)
    request.flags |= VFIO_DMA_MAP_FLAG_READ;
  if ((allowed & static_cast<unsigned>(board::DmaRights::write)) != 0)
    request.flags |= VFIO_DMA_MAP_FLAG_WRITE;
  request.vaddr = begin;
  request.iova = address;
  request.size = whole;
  if (ioctl(container_, VFIO_IOMMU_MAP_DMA, &request) != 0) {
    const int reason = errno;
    addresses_->give_back(address);
    errno = reason;
    return std::nullopt;
  }
  return address + in_page;
}

bool VfioContainer::unmap(uint64_t address) {
  const uint64_t begin = address - address % page_bytes_;
  const uint64_t bytes = addresses_->give_back(begin);
  if (bytes == 0)
    return false;
  vfio_iommu_type1_dma_unmap request{};
  request.argsz = sizeof request;
  request.iova = begin;
  request.size = bytes;
  return ioctl(container_, VFIO_IOMMU_UNMAP_DMA, &request) == 0;
}

} // namespace fpga_verbs::pci
