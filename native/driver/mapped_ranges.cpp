#include "driver/mapped_ranges.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sys/mman.h>

namespace fpga_verbs::driver {

namespace {

bool read_line(const char* line, MappedRange& range) {
  unsigned long begin = 0;
  unsigned long end = 0;
  unsigned long long offset = 0;
  unsigned long long inode = 0;
  char rights[5] = "";
  char name[256] = "";
  if (std::sscanf(line, "%lx-%lx %4s %llx %*s %llu %255[^\n]", &begin, &end, rights, &offset, &inode, name) <
      5)
    return false;
  range = {.begin = begin,
           .end = end,
           .protection = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
                         (rights[2] == 'x' ? PROT_EXEC : 0),
           .is_shared = rights[3] == 's',
           .offset = offset,
           .inode = inode,
           .name = name};
  return true;
}

} // namespace

bool find_mapped(uintptr_t begin, uintptr_t end, std::vector<MappedRange>& found) {
  found.clear();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  if (maps == nullptr)
    return false;
  char line[512];
  MappedRange range;
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    if (!read_line(line, range) || range.end <= begin)
      continue;
    if (range.begin >= end)
      break;
    if (range.begin < begin) {
      range.offset += begin - range.begin;
      range.begin = begin;
    }
    range.end = std::min(range.end, end);
    found.push_back(range);
  }
  return true;
}

int find_whole(uintptr_t begin, uintptr_t end, std::vector<MappedRange>& found, std::string& failure) {
  if (!find_mapped(begin, end, found)) {
    failure = "/proc/self/maps, which lists the program's memory, cannot be read";
    return EOPNOTSUPP;
  }
  uintptr_t covered = begin; // the program may have unmapped some of it since it was looked at
  for (const MappedRange& range : found)
    covered = range.begin == covered ? range.end : covered;
  if (covered == end)
    return 0;
  failure = "part of the memory is not mapped";
  return EFAULT;
}

} // namespace fpga_verbs::driver
