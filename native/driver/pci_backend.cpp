#include "driver/pci_backend.h"

#include "driver/board_regions.h"
#include "driver/pci_files.h"
#include "driver/pinned_memory.h"
#include "pci/sysfs_function.h"
#include "spec/parameters.h"
#include "spec/pci_functions.h"
#include "spec/registers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sstream>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fpga_verbs::driver {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds reset_time_limit{1}; // more than the 100 ms that a device has for it

// A function with mapped BARs: threads store to different pages, so all use it without a lock.
class PciBackend final : public Backend {
public:
  PciBackend(std::shared_ptr<pci::SysfsFunction> function, PciIdentity identity)
      : function_(std::move(function)), identity_(identity), memory_(*function_) {}

  std::shared_ptr<board::BoardFunction> open(std::string&) override { return function_; }
  bool advance() override { return false; }
  PciIdentity identity() const override { return identity_; }
  ProgramMemory* program_memory() override { return &memory_; }

private:
  std::shared_ptr<pci::SysfsFunction> function_;
  PciIdentity identity_;
  PinnedMemory memory_;
};

bool is_known(const fs::path& sysfs) {
  const auto fits = [&sysfs](int32_t wanted, const char* file) {
    return wanted < 0 || static_cast<uint32_t>(wanted) == number_in(sysfs / file);
  };
  return std::ranges::any_of(spec::pci_functions, [&fits](const spec::PciIdentification& each) {
    return fits(each.vendor, "vendor") && fits(each.device, "device") &&
           fits(each.subsystem_vendor, "subsystem_vendor") && fits(each.subsystem_device, "subsystem_device");
  });
}

// Reason why the function cannot be used, from its folder in sysfs; "": no obstacle there.
std::string obstacle(const std::string& address, const fs::path& sysfs, int& error) {
  std::error_code none;
  error = ENOTSUP;
  if (!is_known(sysfs))
    return address + " is no HCA; expected: a function that hca list names";
  if (fs::exists(sysfs / "iommu_group", none) && !text_in(sysfs / "iommu_group/type").starts_with("identity"))
    return address + " is behind an IOMMU, which maps no memory for sysfs; expected: vfio:" + address +
           " instead of pci:" + address;
  error = EBUSY;
  const std::string driver = link_name(sysfs / "driver");
  if (!driver.empty())
    return address + " is bound to the driver " + driver + "; expected: hca setup pci:" + address +
           " says what unbinds it";
  return "";
}

// As the kernel's file has them: a line with begin, end and flags for each.
std::vector<pci::SysfsRange> read_bars(const fs::path& sysfs) {
  constexpr unsigned bars = 6;                // what stands behind them are its ROM and bridge windows
  constexpr uint64_t memory_resource = 0x200; // Linux, include/linux/ioport.h
  std::istringstream lines(text_in(sysfs / "resource"));
  std::vector<pci::SysfsRange> ranges;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t flags = 0;
  lines >> std::hex; // with or without 0x
  for (unsigned bar = 0; bar < bars && lines >> begin >> end >> flags; ++bar) {
    if ((flags & memory_resource) == 0 || end <= begin)
      continue;
    const uint64_t pages = (end - begin) / spec::page_bytes + 1;
    ranges.push_back({.path = sysfs / ("resource" + std::to_string(bar)),
                      .bar = bar,
                      .offset = 0,
                      .bytes = pages * spec::page_bytes});
  }
  return ranges;
}

// Cuts out of the BARs what may be mapped write-combining: one part of a BAR, whole pages.
std::vector<pci::SysfsRange> combine(const std::vector<pci::SysfsRange>& bars, const BoardRegions& regions) {
  std::vector<pci::SysfsRange> ranges;
  const auto add_range = [&ranges](pci::SysfsRange range, uint64_t begin, uint64_t end) {
    range.offset = begin;
    range.bytes = end - begin;
    if (range.bytes > 0)
      ranges.push_back(std::move(range));
  };
  for (const pci::SysfsRange& bar : bars) {
    const std::string combined = bar.path + "_wc";
    const auto* const part = std::ranges::find_if(regions, [&bar](const BoardRegion& region) {
      return region.bytes > 0 && region.bar == bar.bar && region.may_combine_writes &&
             region.offset % spec::page_bytes == 0 && region.bytes % spec::page_bytes == 0 &&
             region.offset + region.bytes <= bar.bytes;
    });
    if (part == regions.end() || access(combined.c_str(), R_OK | W_OK) != 0) {
      ranges.push_back(bar);
      continue;
    }
    pci::SysfsRange combining = bar;
    combining.path = combined;
    combining.mapping = board::CommandMapping::write_combining;
    add_range(combining, part->offset, part->offset + part->bytes);
    add_range(bar, 0, part->offset);
    add_range(bar, part->offset + part->bytes, bar.bytes);
  }
  return ranges;
}

// Where the kernel cannot reset the function: by its control register.
bool reset(board::BoardFunction& function, const BoardRegions& regions) {
  const BoardRegion& control = region_of(regions, spec::RegionType::control);
  if (control.bytes == 0 || find_own_number(function, regions) != 0)
    return true;
  const uint64_t at = control.offset + spec::control::control;
  spec::control::Control asked;
  asked.set_reset(1);
  function.write32(control.bar, at, asked.bits);
  const auto given_up = std::chrono::steady_clock::now() + reset_time_limit;
  while (spec::control::Control{function.read32(control.bar, at)}.reset() != 0) {
    if (std::chrono::steady_clock::now() > given_up)
      return false;
    sched_yield();
  }
  return true;
}

bool enable(const fs::path& sysfs) {
  const int file = ::open((sysfs / "enable").c_str(), O_WRONLY | O_CLOEXEC);
  const bool is_enabled = file >= 0 && write(file, "1", 1) == 1;
  const int reason = errno;
  if (file >= 0)
    close(file);
  errno = reason;
  return is_enabled;
}

} // namespace

std::unique_ptr<Backend> open_pci(const std::string& given, int& error, std::string& failure) {
  std::string address = given;
  const fs::path sysfs = find_pci_function(address, error, failure);
  if (sysfs.empty())
    return nullptr;
  failure = obstacle(address, sysfs, error);
  if (!failure.empty())
    return nullptr;
  if (!enable(sysfs)) {
    error = errno;
    failure = (sysfs / "enable").string() + " may not be written: " + std::strerror(error) +
              "; expected: root, or vfio:, which needs none";
    return nullptr;
  }
  pci::SysfsFunctionSetup setup;
  setup.configuration_path = sysfs / "config";
  const std::vector<pci::SysfsRange> bars = read_bars(sysfs);
  setup.ranges = bars;
  std::shared_ptr<pci::SysfsFunction> function = pci::SysfsFunction::open(setup, failure, error);
  if (function == nullptr)
    return nullptr;
  const PciIdentity identity{number_in(sysfs / "vendor"), number_in(sysfs / "device")};
  // A function with another start of BAR 0 may be another vendor's: the driver refuses it without a reset.
  if (function->read32(0, spec::identity::magic) == spec::identity::magic_reset) {
    const BoardRegions regions = read_regions(*function);
    std::error_code none;
    const bool is_resettable = fs::exists(sysfs / "reset", none);
    if (!is_resettable && !reset(*function, regions)) {
      error = EIO;
      failure = "the reset by its control register does not complete; expected: power off and on";
      return nullptr;
    }
    function.reset();
    setup.reset_path = is_resettable ? sysfs / "reset" : fs::path();
    setup.ranges = combine(bars, regions);
    setup.pins_pages = true;
    function = pci::SysfsFunction::open(setup, failure, error);
    if (function == nullptr)
      return nullptr;
  }
  error = 0;
  return std::make_unique<PciBackend>(std::move(function), identity);
}

} // namespace fpga_verbs::driver
