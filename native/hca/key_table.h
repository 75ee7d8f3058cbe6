#pragma once

#include "hca/block.h"
#include "hca/context_memory.h"
#include "hca/parameters.h"
#include "spec/contexts.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// The entries of memory keys in context memory, behind a small direct-mapped cache. A key is the index of its
// entry and, in the low byte, a variant, which advances whenever the index comes free: a former key is
// refused. Index 0 is never used, so that key 0 names nothing.
class KeyTable {
public:
  static constexpr uint32_t reserved_indices = 1;

  KeyTable(const HcaParameters& parameters, ContextMemory& context_memory);

  // Makes a key of the entry's function; its variant and valid are filled in. Nothing: all are in use, or
  // context memory could not be reached.
  std::optional<uint32_t> create(const spec::MemoryKeyEntry& entry);
  uint32_t keys_free() const { return free_count_; }

  // The entry of a key of this function; nullptr: it has no such key, or context memory could not be reached.
  // Good until the next call.
  const spec::MemoryKeyEntry* find(unsigned underlying_function, uint32_t key);
  bool exists(unsigned underlying_function, uint32_t key) const;

  // No new access from now on. When none is in flight any more, the key comes out of take_quiet().
  void quiesce(uint32_t key);
  bool is_quiesced(uint32_t key) const { return directory_[index_of(key)].quiesced; }
  std::optional<uint32_t> take_quiet();
  // An access that lasts longer than a step begins, and ends. A key that is gone is no error.
  void begin_access(uint32_t key);
  void end_access(uint32_t key);
  uint32_t in_flight(uint32_t key) const { return directory_[index_of(key)].in_flight; }

  void destroy(uint32_t key);

  void connect(Waker quiet) { quiet_ = quiet; }
  void reset_function(unsigned underlying_function);
  void reset();

  // For tests: every index but 0 is free or in use once.
  bool verify() const;

private:
  static constexpr unsigned variant_bits = 32 - spec::memory_key_index_bits;
  static constexpr uint32_t none = ~uint32_t{0};
  static constexpr uint32_t cache_lines = 256;

  // What is known of an index without its entry.
  struct Place {
    uint32_t next = none; // in the free list, or among the quiet
    uint32_t in_flight = 0;
    uint8_t variant = 0;
    uint8_t underlying_function = 0;
    bool live = false;
    bool quiesced = false;
    bool quiet = false; // in the list of the quiet
  };
  struct List {
    uint32_t first = none;
    uint32_t last = none;
  };
  struct CachedEntry {
    uint32_t index = none;
    spec::MemoryKeyEntry entry;
  };

  static constexpr uint32_t index_of(uint32_t key) { return key >> variant_bits; }
  uint32_t key_of(uint32_t index) const { return index << variant_bits | directory_[index].variant; }
  Place* live(uint32_t key);
  void append(List& list, uint32_t index);
  uint32_t take(List& list);
  void become_quiet(uint32_t index);
  void free_index(uint32_t index);

  ContextMemory& context_memory_;
  std::vector<Place> directory_;
  std::array<CachedEntry, cache_lines> cache_{};
  List free_; // the one longest free is taken first
  List quiet_list_;
  uint32_t free_count_ = 0;
  Waker quiet_;
};

} // namespace fpga_verbs::hca
