#pragma once

#include "hca/base/bit_mask.h"
#include "spec/parameters.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// The protection domains of each function, numbered from 1, and the number of objects that use each.
class ProtectionDomains {
public:
  static constexpr uint32_t per_function = 4095;

  // Allocates a number; nothing: all are in use.
  std::optional<uint32_t> create(unsigned underlying_function);
  bool exists(unsigned underlying_function, uint32_t protection_domain) const;
  void destroy(unsigned underlying_function, uint32_t protection_domain);

  // Counts queue pairs and keys of the domain.
  void add_user(unsigned underlying_function, uint32_t protection_domain) {
    ++functions_[underlying_function].users[protection_domain];
  }
  void remove_user(unsigned underlying_function, uint32_t protection_domain) {
    --functions_[underlying_function].users[protection_domain];
  }
  uint32_t users(unsigned underlying_function, uint32_t protection_domain) const {
    return functions_[underlying_function].users[protection_domain];
  }

  void reset_function(unsigned underlying_function);

private:
  struct Function {
    Function() { free.clear(0); }

    BitMask free = BitMask(per_function + 1, true); // number 0 stands for none
    std::vector<uint32_t> users = std::vector<uint32_t>(per_function + 1);
  };

  std::vector<Function> functions_ = std::vector<Function>(spec::underlying_functions);
};

} // namespace fpga_verbs::hca
