#include "hca/management/check_address_vector.h"

#include "hca/management/management_answer.h"
#include "spec/parameters.h"

namespace fpga_verbs::hca {

std::optional<spec::ManagementCompletion> check_address_vector(const spec::AddressVector& address_vector,
                                                               uint64_t first_bit,
                                                               const HcaParameters& parameters) {
  using F = spec::AddressVector;
  if (address_vector.port() < 1 || address_vector.port() > parameters.ports)
    return bad_input(first_bit + F::port_bit);
  if (address_vector.gid_index() >= spec::gid_table_entries)
    return bad_input(first_bit + F::gid_index_bit);
  if (!address_vector.reserved_is_zero())
    return bad_input(reserved_field);
  return std::nullopt;
}

} // namespace fpga_verbs::hca
