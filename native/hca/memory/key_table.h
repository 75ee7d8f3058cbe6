#pragma once

#include "hca/base/block.h"
#include "hca/base/object_facts.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "spec/contexts.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Values of memory_key_entry.window_type.
constexpr uint32_t window_type_1 = 1;
constexpr uint32_t window_type_2 = 2;

// The entries of memory keys in context memory, with a small direct-mapped cache. A key consists of the index
// of its entry and, in the low byte, a variant, which advances whenever the index becomes free, so that a
// stale key is invalid. Index 0 is never used, so key 0 is invalid.
class KeyTable {
  static constexpr unsigned variant_bits = 32 - spec::memory_key_index_bits;

public:
  static constexpr uint32_t reserved_indices = 1;

  static constexpr uint32_t index_of(uint32_t key) { return key >> variant_bits; }
  static constexpr uint32_t variant_of(uint32_t key) { return key & ((uint32_t{1} << variant_bits) - 1); }

  KeyTable(const HcaParameters& parameters, ContextMemory& context_memory);

  // Creates a key for the entry's function and fills in variant and valid. Nothing: all are in use, or
  // context memory is unreachable.
  std::optional<uint32_t> create(const spec::MemoryKeyEntry& entry);
  uint32_t keys_free() const { return free_count_; }

  // The entry of a key of this function; nullptr: it has no such key, or context memory is unreachable. Valid
  // until the next call.
  const spec::MemoryKeyEntry* find(unsigned underlying_function, uint32_t key);
  bool exists(unsigned underlying_function, uint32_t key) const {
    const uint32_t index = index_of(key);
    return index < directory_.size() && directory_[index].live && key_of(index) == key &&
           directory_[index].underlying_function == underlying_function;
  }

  // Changes whenever a key that permitted an access may no longer permit it, or refers to other memory.
  uint64_t version() const { return version_; }
  void change() { ++version_; }

  // Permits no new access. When none is in flight, take_quiet() returns the key.
  void quiesce(uint32_t key);
  bool is_quiesced(uint32_t key) const { return directory_[index_of(key)].quiesced; }
  std::optional<uint32_t> take_quiet();
  // Start and end of an access that lasts longer than a step. A removed key is no error.
  void begin_access(uint32_t key);
  void end_access(uint32_t key);
  uint32_t in_flight(uint32_t key) const { return directory_[index_of(key)].in_flight; }

  void destroy(uint32_t key);

  // For MemoryWindows. The key that the function has at this key's index, with any variant.
  std::optional<uint32_t> current(unsigned underlying_function, uint32_t key) const;
  // Replaces the entry, and with it the variant, of a valid key. A window counts at its parent. False:
  // context memory is unreachable.
  bool replace(uint32_t key, const spec::MemoryKeyEntry& entry);
  // Number of windows bound to this region.
  uint32_t windows(uint32_t key) const { return directory_[index_of(key)].windows; }
  // Whether no access with the key is in flight. If one is, no new access starts before it ends; then
  // idle_count() changes and the wakers are woken.
  bool is_idle(uint32_t key);
  bool is_awaited(uint32_t key) const { return directory_[index_of(key)].awaited; }
  uint32_t idle_count() const { return idle_count_; }
  void on_idle(Waker idle) { idle_.push_back(idle); }

  // The key at an index, for observers. Nothing: there is none, or its entry could not be read.
  uint32_t indices() const { return static_cast<uint32_t>(directory_.size()); }
  bool is_of(uint32_t index, uint32_t functions) const {
    return directory_[index].live && (functions >> directory_[index].underlying_function & 1) != 0;
  }
  std::optional<RegionFacts> facts_at(uint32_t index);

  void on_quiet(Waker quiet) { quiet_ = quiet; }
  void reset_function(unsigned underlying_function);
  void reset();

  // For tests: every index except 0 is either free or in use, once.
  bool verify() const;

private:
  static constexpr uint32_t none = ~uint32_t{0};
  static constexpr uint32_t cache_lines = 256;

  // State of an index without its entry.
  struct Place {
    uint32_t next = none; // in the free list, or among the quiet
    uint32_t in_flight = 0;
    uint32_t windows = 0; // of a region
    uint32_t parent = 0;  // of a window: index of its region; 0: it is not bound
    uint8_t variant = 0;
    uint8_t underlying_function = 0;
    bool live = false;
    bool quiesced = false;
    bool quiet = false;   // in the list of the quiet
    bool awaited = false; // a block waits until it is idle
  };
  struct List {
    uint32_t first = none;
    uint32_t last = none;
  };
  struct CachedEntry {
    uint32_t index = none;
    spec::MemoryKeyEntry entry;
  };

  uint32_t key_of(uint32_t index) const { return index << variant_bits | directory_[index].variant; }
  Place* live(uint32_t key);
  void append(List& list, uint32_t index);
  uint32_t take(List& list);
  void become_quiet(uint32_t index);
  void set_parent(Place& place, uint32_t parent);
  void end_waiting(Place& place);
  void free_index(uint32_t index);

  ContextMemory& context_memory_;
  std::vector<Place> directory_;
  std::array<CachedEntry, cache_lines> cache_{};
  List free_; // the one longest free is taken first
  List quiet_list_;
  uint32_t free_count_ = 0;
  uint32_t idle_count_ = 0;
  uint64_t version_ = 1;
  Waker quiet_;
  std::vector<Waker> idle_;
};

} // namespace fpga_verbs::hca
