#pragma once

#include "hca/memory/key_table.h"
#include "spec/commands.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Memory windows: keys that work requests bind to a part of a memory region and invalidate, in the order of
// their queue pair (InfiniBand volume 1, 10.6.7). A window of type 2 belongs to the queue pair that bound it
// (type 2B).
class MemoryWindows {
public:
  explicit MemoryWindows(KeyTable& keys) : keys_(keys) {}

  // The queue pair that binds or invalidates.
  struct Owner {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
    uint32_t protection_domain = 0;
  };
  // `waits`: accesses with the key are in flight, and no new one starts; retry when KeyTable::idle_count()
  // changes.
  enum class Outcome : uint8_t { done, waits, refused };

  // Binds the window with the index of `key`; `key` becomes its R_Key, with a new variant. A bound window of
  // type 1 is bound again, or unbound by length 0; a window of type 2 must be unbound. Repeating a bind is no
  // error, because a retry may do so.
  Outcome bind(const Owner& owner, uint32_t key, const spec::BindEntry& binding);

  // Invalidates the key of a window of type 2. An unbound window is no error.
  Outcome invalidate(const Owner& owner, uint32_t key);

private:
  bool is_bindable(const Owner& owner, const spec::MemoryKeyEntry& window,
                   const spec::BindEntry& binding) const;
  const spec::MemoryKeyEntry* region_of(const Owner& owner, const spec::BindEntry& binding);
  Outcome replace(uint32_t key, const spec::MemoryKeyEntry& entry);

  KeyTable& keys_;
};

} // namespace fpga_verbs::hca
