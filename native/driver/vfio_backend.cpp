#include "driver/vfio_backend.h"

#include "pci/vfio_function.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
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

// Whether a text is DDDD:BB:DD.F.
bool is_address(std::string_view text) {
  constexpr std::string_view form = "0000:00:00.0";
  return text.size() == form.size() && std::ranges::equal(text, form, [](char each, char of_form) {
           return of_form == '0' ? std::isxdigit(static_cast<unsigned char>(each)) != 0 : each == of_form;
         });
}

// The last path component of a link's target; "": none.
std::string link_name(const fs::path& link) {
  std::error_code none;
  return fs::read_symlink(link, none).filename().string();
}

uint32_t number_in(const fs::path& file) {
  std::string text;
  std::ifstream(file) >> text;
  return static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 0));
}

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
  std::error_code none;
  if (!fs::exists(sysfs, none))
    return "there is no PCI function " + address + "; expected: an address that lspci -D prints";
  if (link_name(sysfs / "iommu_group").empty())
    return "no IOMMU stands before " + address +
           "; expected: VT-d or AMD-Vi on in the firmware and on the kernel command line";
  const std::string driver = link_name(sysfs / "driver");
  if (driver == "vfio-pci")
    return "";
  return address + (driver.empty() ? " is not bound to vfio-pci" : " is bound to " + driver) +
         "; expected: hca setup vfio:" + address + " says what binds it to vfio-pci";
}

} // namespace

std::unique_ptr<Backend> open_vfio(const std::string& given, int& error, std::string& failure) {
  error = EINVAL;
  failure = "PCI address \"" + given + "\"; expected: DDDD:BB:DD.F, as lspci -D prints it";
  if (!is_address(given))
    return nullptr;
  std::string address = given; // in lower case, as sysfs has it
  std::ranges::transform(address, address.begin(),
                         [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  const fs::path sysfs = fs::path("/sys/bus/pci/devices") / address;
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
