#pragma once

#include "hca/bit_mask.h"
#include "spec/parameters.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// The protection domains of each function, numbered from 1, and how many objects use each.
class ProtectionDomains {
public:
  static constexpr uint32_t per_function = 4095;

  // A new number; nothing: the function has all.
  std::optional<uint32_t> create(unsigned underlying_function);
  bool exists(unsigned underlying_function, uint32_t protection_domain) const;
  void destroy(unsigned underlying_function, uint32_t protection_domain);

  void add_user(unsigned underlying_function, uint32_t protection_domain);
  void remove_user(unsigned underlying_function, uint32_t protection_domain);
  uint32_t users(unsigned underlying_function, uint32_t protection_domain) const;
  uint32_t left(unsigned underlying_function) const;

  void reset_function(unsigned underlying_function);

private:
  struct Function {
    BitMask used{per_function + 1}; // number 0 stands for none
    std::vector<uint32_t> users = std::vector<uint32_t>(per_function + 1);
    uint32_t count = 0;
  };

  std::vector<Function> functions_ = std::vector<Function>(spec::underlying_functions);
};

} // namespace fpga_verbs::hca
