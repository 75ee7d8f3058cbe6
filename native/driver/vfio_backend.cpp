#include "driver/vfio_backend.h"

#include "driver/pci_files.h"
#include "pci/vfio_function.h"

#include <cerrno>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace fpga_verbs::driver {

namespace {

namespace fs = std::filesystem;

// A function with mapped BARs: threads store to different pages, so all use it without a lock.
class VfioBackend final : public Backend {
public:
  VfioBackend(std::shared_ptr<pci::VfioFunction> function, PciIdentity identity)
      : function_(std::move(function)), identity_(identity) {}

  std::shared_ptr<board::BoardFunction> open(std::string&) override { return function_; }
  bool advance() override { return false; }
  PciIdentity identity() const override { return identity_; }

private:
  std::shared_ptr<pci::VfioFunction> function_;
  PciIdentity identity_;
};

// The files of iommufd, if the kernel has them and the process may open them.
void add_iommufd(const fs::path& sysfs, pci::VfioFunctionSetup& setup) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(sysfs / "vfio-dev", none)) {
    const std::string device = "/dev/vfio/devices/" + entry.path().filename().string();
    const std::string iommu = "/dev/iommu";
    if (access(device.c_str(), R_OK | W_OK) != 0 || access(iommu.c_str(), R_OK | W_OK) != 0)
      return;
    setup.device_path = device;
    setup.iommu_path = iommu;
    return;
  }
}

// Reason why the function is not available, from its folder in sysfs; "": no obstacle there.
std::string obstacle(const std::string& address, const fs::path& sysfs) {
  if (link_name(sysfs / "iommu_group").empty())
    return address + " is not behind an IOMMU; expected: VT-d or AMD-Vi on in the firmware and on the kernel "
                     "command line";
  const std::string driver = link_name(sysfs / "driver");
  if (driver == "vfio-pci")
    return "";
  return address + (driver.empty() ? " is not bound to vfio-pci" : " is bound to " + driver) +
         "; expected: hca setup vfio:" + address + " says what binds it to vfio-pci";
}

} // namespace

std::unique_ptr<Backend> open_vfio(const std::string& given, int& error, std::string& failure) {
  std::string address = given;
  const fs::path sysfs = find_pci_function(address, error, failure);
  if (sysfs.empty())
    return nullptr;
  error = ENODEV;
  failure = obstacle(address, sysfs);
  if (!failure.empty())
    return nullptr;
  pci::VfioFunctionSetup setup;
  setup.container_path = "/dev/vfio/vfio";
  setup.group_path = "/dev/vfio/" + link_name(sysfs / "iommu_group");
  setup.address = address;
  add_iommufd(sysfs, setup);
  std::shared_ptr<pci::VfioFunction> function = pci::VfioFunction::open(setup, failure, error);
  if (function == nullptr)
    return nullptr;
  error = 0;
  return std::make_unique<VfioBackend>(std::move(function),
                                       PciIdentity{number_in(sysfs / "vendor"), number_in(sysfs / "device")});
}

} // namespace fpga_verbs::driver
