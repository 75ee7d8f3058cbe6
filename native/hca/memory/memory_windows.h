#pragma once

#include "hca/memory/key_table.h"
#include "spec/commands.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Memory windows: keys that are bound to a part of a memory region and taken back by work requests, in the
// order of their queue pair (InfiniBand volume 1, 10.6.7). A window of type 2 belongs to the queue pair that
// bound it (type 2B).
class MemoryWindows {
public:
  explicit MemoryWindows(KeyTable& keys) : keys_(keys) {}

  // The queue pair that binds, or invalidates.
  struct Owner {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
    uint32_t protection_domain = 0;
  };
  // `waits`: accesses with the key are in flight, and no new one begins; KeyTable::idle_count() tells when to
  // come again.
  enum class Outcome : uint8_t { done, waits, refused };

  // Binds the window that `key` names but for its variant, which it has from then on. A window of type 1 that
  // is bound is bound anew, and by no length unbound; of type 2 only one that is not bound. To do the same
  // once more is no error: a retry may.
  Outcome bind(const Owner& owner, uint32_t key, const spec::BindEntry& binding);

  // Takes back the key of a window of type 2. One that is not bound is no error.
  Outcome invalidate(const Owner& owner, uint32_t key);

private:
  bool is_bindable(const Owner& owner, const spec::MemoryKeyEntry& window,
                   const spec::BindEntry& binding) const;
  const spec::MemoryKeyEntry* region_of(const Owner& owner, const spec::BindEntry& binding);
  Outcome replace(uint32_t key, const spec::MemoryKeyEntry& entry);

  KeyTable& keys_;
};

} // namespace fpga_verbs::hca
