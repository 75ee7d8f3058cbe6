#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fpga_verbs::driver {

// A part of this process' address space, as /proc/self/maps has it.
struct MappedRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int protection = 0; // PROT_…
  bool is_shared = false;
  uint64_t offset = 0; // in its file
  uint64_t inode = 0;  // 0: it has no file
  std::string name;    // of the file, or as "[stack]"
};

// The ranges that are mapped from `begin` to `end`, in order, cut to that. False: the system does not tell.
bool find_mapped(uintptr_t begin, uintptr_t end, std::vector<MappedRange>& found);

// The same, of memory that is mapped as a whole. Gives 0, or what a verb gives, and `failure` says why.
int find_whole(uintptr_t begin, uintptr_t end, std::vector<MappedRange>& found, std::string& failure);

} // namespace fpga_verbs::driver
