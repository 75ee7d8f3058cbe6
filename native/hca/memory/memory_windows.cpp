#include "hca/memory/memory_windows.h"

#include "hca/memory/access_rights.h"

#include <optional>

namespace fpga_verbs::hca {

namespace {

using spec::AccessFlag;
using spec::MemoryKeyEntry;

constexpr uint32_t zero_based = right(AccessFlag::zero_based);
constexpr uint32_t window_rights = remote_rights | zero_based;
constexpr uint32_t changes = right(AccessFlag::remote_write) | right(AccessFlag::remote_atomic);

bool is_bound(const MemoryKeyEntry& window) { return window.parent() != 0; }

MemoryKeyEntry unbound(const MemoryKeyEntry& window) {
  MemoryKeyEntry entry;
  entry.set_valid(1);
  entry.set_is_window(1);
  entry.set_window_type(window.window_type());
  entry.set_variant(window.variant());
  entry.set_underlying_function(window.underlying_function());
  entry.set_protection_domain(window.protection_domain());
  return entry;
}

MemoryKeyEntry bound(const MemoryKeyEntry& window, uint32_t key, const MemoryKeyEntry& region,
                     uint32_t region_index, const MemoryWindows::Owner& owner,
                     const spec::BindEntry& binding) {
  MemoryKeyEntry entry = unbound(window);
  entry.set_variant(KeyTable::variant_of(key));
  if (binding.length() == 0)
    return entry;
  entry.set_access_flags(binding.access_flags());
  entry.set_base((binding.access_flags() & zero_based) != 0 ? 0 : binding.address());
  entry.set_length(binding.length());
  entry.set_parent(region_index);
  if (entry.window_type() == window_type_2)
    entry.set_bound_queue_pair(owner.queue_pair_number);
  // The pages are those of the region.
  entry.set_page_log2(region.page_log2());
  entry.set_page_table(region.page_table());
  entry.set_first_page_offset(region.first_page_offset());
  entry.set_region_offset(binding.address() - region.base());
  return entry;
}

} // namespace

MemoryWindows::Outcome MemoryWindows::bind(const Owner& owner, uint32_t key, const spec::BindEntry& binding) {
  const std::optional<uint32_t> current = keys_.current(owner.underlying_function, key);
  const MemoryKeyEntry* const found = current ? keys_.find(owner.underlying_function, *current) : nullptr;
  if (found == nullptr || keys_.is_quiesced(*current))
    return Outcome::refused;
  const MemoryKeyEntry window = *found;
  if (!is_bindable(owner, window, binding))
    return Outcome::refused;
  MemoryKeyEntry region;
  if (binding.length() != 0) {
    const MemoryKeyEntry* const its_region = region_of(owner, binding);
    if (its_region == nullptr)
      return Outcome::refused;
    region = *its_region;
  }
  const MemoryKeyEntry entry =
      bound(window, key, region, KeyTable::index_of(binding.region_key()), owner, binding);
  if (entry == window)
    return Outcome::done;
  if (is_bound(window) && window.window_type() == window_type_2)
    return Outcome::refused;
  return replace(*current, entry);
}

bool MemoryWindows::is_bindable(const Owner& owner, const MemoryKeyEntry& window,
                                const spec::BindEntry& binding) const {
  const uint32_t rights = binding.access_flags();
  if (window.is_window() == 0 || window.protection_domain() != owner.protection_domain ||
      !binding.reserved_is_zero() || (rights & ~window_rights) != 0)
    return false;
  return window.window_type() == window_type_2 ? binding.length() != 0 : (rights & zero_based) == 0;
}

// The region, if the window may be bound to this part of it; else null.
const MemoryKeyEntry* MemoryWindows::region_of(const Owner& owner, const spec::BindEntry& binding) {
  const MemoryKeyEntry* const region = keys_.find(owner.underlying_function, binding.region_key());
  if (region == nullptr || region->is_window() != 0 || keys_.is_quiesced(binding.region_key()) ||
      region->protection_domain() != owner.protection_domain)
    return nullptr;
  const uint32_t rights = region->access_flags();
  const bool needs_local_write = (binding.access_flags() & changes) != 0;
  if ((rights & right(AccessFlag::memory_window_bind)) == 0 || (rights & zero_based) != 0 ||
      (needs_local_write && (rights & right(AccessFlag::local_write)) == 0))
    return nullptr;
  // Avoids a sum of two 64-bit numbers, which could overflow.
  const uint64_t offset = binding.address() - region->base();
  const bool is_inside = binding.address() >= region->base() && offset <= region->length() &&
                         binding.length() <= region->length() - offset;
  return is_inside ? region : nullptr;
}

MemoryWindows::Outcome MemoryWindows::invalidate(const Owner& owner, uint32_t key) {
  const MemoryKeyEntry* const window = keys_.find(owner.underlying_function, key);
  if (window == nullptr || keys_.is_quiesced(key) || window->is_window() == 0 ||
      window->window_type() != window_type_2 || window->protection_domain() != owner.protection_domain)
    return Outcome::refused;
  if (!is_bound(*window))
    return Outcome::done;
  if (window->bound_queue_pair() != owner.queue_pair_number)
    return Outcome::refused;
  return replace(key, unbound(*window));
}

MemoryWindows::Outcome MemoryWindows::replace(uint32_t key, const MemoryKeyEntry& entry) {
  if (!keys_.is_idle(key))
    return Outcome::waits;
  return keys_.replace(key, entry) ? Outcome::done : Outcome::refused;
}

} // namespace fpga_verbs::hca
