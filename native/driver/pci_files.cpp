#include "driver/pci_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

namespace fpga_verbs::driver {

namespace {

namespace fs = std::filesystem;

// Whether a text is DDDD:BB:DD.F.
bool is_address(std::string_view text) {
  constexpr std::string_view form = "0000:00:00.0";
  return text.size() == form.size() && std::ranges::equal(text, form, [](char each, char of_form) {
           return of_form == '0' ? std::isxdigit(static_cast<unsigned char>(each)) != 0 : each == of_form;
         });
}

} // namespace

fs::path find_pci_function(std::string& address, int& error, std::string& failure) {
  if (!is_address(address)) {
    error = EINVAL;
    failure = "PCI address \"" + address + "\"; expected: DDDD:BB:DD.F, as lspci -D prints it";
    return {};
  }
  std::ranges::transform(address, address.begin(),
                         [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  const fs::path folder = fs::path("/sys/bus/pci/devices") / address;
  std::error_code none;
  if (fs::exists(folder, none))
    return folder;
  error = ENODEV;
  failure = "there is no PCI function " + address + "; expected: an address that lspci -D prints";
  return {};
}

std::string link_name(const fs::path& link) {
  std::error_code none;
  return fs::read_symlink(link, none).filename().string();
}

std::string text_in(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

uint32_t number_in(const fs::path& file) {
  return static_cast<uint32_t>(std::strtoul(text_in(file).c_str(), nullptr, 0));
}

} // namespace fpga_verbs::driver
