#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fpga_verbs::test {

// The bytes of a golden structure, made with the setters of its format; empty for an unknown name.
std::vector<uint8_t> encode_golden(std::string_view name);

// The first field that the getters read differently from the golden structure, "reserved" where a reserved
// bit is set, "name" for an unknown name; empty when there is no difference.
std::string_view golden_mismatch(std::string_view name, std::span<const uint8_t> bytes);

} // namespace fpga_verbs::test
