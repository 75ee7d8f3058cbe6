#include "hca/collect/collect_group_table.h"

#include <algorithm>
#include <cassert>

namespace fpga_verbs::hca {

namespace {

using spec::CollectGroup;

constexpr unsigned function_shared_default = 4;

constexpr unsigned index(CollectGroup group) { return static_cast<unsigned>(group); }
constexpr unsigned shared = index(CollectGroup::function_shared);

} // namespace

CollectGroupTable::CollectGroupTable(const HcaParameters& parameters)
    : pool_(parameters.physical_collect_buffers) {
  const unsigned each = std::min(function_shared_default, pool_ / parameters.underlying_functions);
  for (unsigned function = 0; function < parameters.underlying_functions; ++function)
    functions_[function].total[shared] = each;
  shared_total_ = pool_ - each * parameters.underlying_functions;
}

bool CollectGroupTable::set_allotment(unsigned underlying_function, const CollectAllotment& allotment) {
  Function& function = functions_[underlying_function];
  const unsigned has = function.total[0] + function.total[1] + function.total[2];
  const unsigned asks = allotment.low + allotment.high + allotment.shared;
  if (asks > has + shared_total_)
    return false;
  shared_total_ = has + shared_total_ - asks;
  borrowed_ -= function.borrowed();
  function.total = {allotment.low, allotment.high, allotment.shared};
  function.beyond_levels = function.count_beyond_levels();
  borrowed_ += function.borrowed();
  return true;
}

unsigned CollectGroupTable::Function::count_beyond_levels() const {
  const unsigned low = index(CollectGroup::low);
  const unsigned high = index(CollectGroup::high);
  return beyond(taken[low], total[low]) + beyond(taken[high], total[high]) + taken[shared];
}

CollectAllotment CollectGroupTable::allotment(unsigned underlying_function) const {
  const auto& total = functions_[underlying_function].total;
  return {total[0], total[1], total[2]};
}

unsigned CollectGroupTable::total(unsigned underlying_function, CollectGroup group) const {
  return functions_[underlying_function].total[index(group)];
}

unsigned CollectGroupTable::in_use(unsigned underlying_function, CollectGroup group) const {
  const Function& function = functions_[underlying_function];
  const unsigned wanted =
      group == CollectGroup::function_shared ? function.beyond_levels : function.taken[index(group)];
  return std::min(wanted, function.total[index(group)]);
}

unsigned CollectGroupTable::available(unsigned underlying_function, CollectGroup group) const {
  return total(underlying_function, group) - in_use(underlying_function, group);
}

unsigned CollectGroupTable::taken(unsigned underlying_function, CollectGroup part) const {
  return functions_[underlying_function].taken[index(part)];
}

bool CollectGroupTable::verify() const {
  unsigned owned = shared_total_;
  unsigned borrowed = 0;
  for (const Function& function : functions_) {
    owned += function.total[0] + function.total[1] + function.total[2];
    if (function.beyond_levels != function.count_beyond_levels())
      return false;
    borrowed += function.borrowed();
  }
  return owned == pool_ && borrowed == borrowed_;
}

} // namespace fpga_verbs::hca
