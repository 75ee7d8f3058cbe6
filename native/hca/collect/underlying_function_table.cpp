#include "hca/collect/underlying_function_table.h"

namespace fpga_verbs::hca {

UnderlyingFunctionTable::UnderlyingFunctionTable(const HcaParameters& parameters)
    : owners_(parameters.virtual_collect_buffers) {
  const unsigned count = parameters.virtual_collect_buffers / parameters.underlying_functions;
  for (unsigned function = 0; function < parameters.underlying_functions; ++function)
    set(function, {.base = function * count, .count = count, .low = 0, .high = count});
}

bool UnderlyingFunctionTable::allows(unsigned underlying_function, const VirtualCollectBufferBar& bar) const {
  if (bar.low > bar.high || bar.high > bar.count || bar.base + bar.count > owners_.size())
    return false;
  for (unsigned buffer = bar.base; buffer < bar.base + bar.count; ++buffer) {
    const uint8_t owner = owners_[buffer].underlying_function;
    if (owner != no_function && owner != underlying_function)
      return false;
  }
  return true;
}

void UnderlyingFunctionTable::set(unsigned underlying_function, const VirtualCollectBufferBar& bar) {
  const VirtualCollectBufferBar& old = bars_[underlying_function];
  for (unsigned offset = 0; offset < old.count; ++offset)
    owners_[old.base + offset] = {};
  bars_[underlying_function] = bar;
  for (unsigned offset = 0; offset < bar.count; ++offset) {
    Owner& owner = owners_[bar.base + offset];
    owner.underlying_function = static_cast<uint8_t>(underlying_function);
    owner.part = offset < bar.low    ? spec::CollectGroup::low
                 : offset < bar.high ? spec::CollectGroup::function_shared
                                     : spec::CollectGroup::high;
  }
}

} // namespace fpga_verbs::hca
