#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace fpga_verbs::driver {

// The folder of a PCI function in sysfs; `address` (DDDD:BB:DD.F) gets lower case, as there. Empty: it is no
// address, or no function is there, as `failure` and `error` say: EINVAL or ENODEV.
std::filesystem::path find_pci_function(std::string& address, int& error, std::string& failure);

// The last path component of a link's target; "": none.
std::string link_name(const std::filesystem::path& link);

// The text of a file; "": there is none, or it may not be read.
std::string text_in(const std::filesystem::path& file);
uint32_t number_in(const std::filesystem::path& file);

} // namespace fpga_verbs::driver
