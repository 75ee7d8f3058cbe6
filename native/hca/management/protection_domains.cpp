#include "hca/management/protection_domains.h"

namespace fpga_verbs::hca {

std::optional<uint32_t> ProtectionDomains::create(unsigned underlying_function) {
  Function& function = functions_[underlying_function];
  if (!function.free.any())
    return std::nullopt;
  const size_t number = function.free.find_first();
  function.free.clear(number);
  return static_cast<uint32_t>(number);
}

bool ProtectionDomains::exists(unsigned underlying_function, uint32_t protection_domain) const {
  return protection_domain != 0 && protection_domain <= per_function &&
         !functions_[underlying_function].free.test(protection_domain);
}

void ProtectionDomains::destroy(unsigned underlying_function, uint32_t protection_domain) {
  functions_[underlying_function].free.set(protection_domain);
}

void ProtectionDomains::reset_function(unsigned underlying_function) { functions_[underlying_function] = {}; }

} // namespace fpga_verbs::hca
