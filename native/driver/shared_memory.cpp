#include "driver/shared_memory.h"

#include "driver/mapped_ranges.h"
#include "driver/page_replacement.h"
#include "spec/parameters.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>

namespace fpga_verbs::driver {

namespace {

constexpr uintptr_t page = spec::page_bytes;

bool is_of_this_stack(const MappedRange& range) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return false;
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<uintptr_t>(lowest);
  return range.name == "[stack]" || (range.begin < begin + bytes && range.end > begin);
}

bool is_of_a_server(const MappedRange& range) { return range.name.starts_with("/memfd:fpga-verbs-memory"); }

} // namespace

SharedMemory::SharedMemory(board::BoardFunction& function) : function_(function) {
  static const bool once = (copy_in_children("fpga-verbs-memory"), true);
  static_cast<void>(once);
}

// Null: the memory is private to the program. This includes memory that was shared until its deregistration.
std::shared_ptr<SharedMemory::Segment> SharedMemory::segment_of(const MappedRange& range) {
  const auto found = is_of_a_server(range) ? segments_.find(range.inode) : segments_.end();
  return found == segments_.end() ? nullptr : found->second.lock();
}

int SharedMemory::refuse(const Ranges& ranges, std::string& failure) {
  const char* const instead = "; expected: memory from malloc or mmap, or static memory";
  for (const MappedRange& range : ranges) {
    if (range.is_shared && !is_of_a_server(range))
      failure = "memory that is shared already (" + range.name +
                ") cannot be shared with the board's server" + instead;
    else if (is_of_this_stack(range))
      failure = std::string("a stack cannot be shared with the board's server") + instead;
    else if ((range.protection & PROT_EXEC) != 0)
      failure = "memory of code (" + range.name + ") cannot be shared with the board's server" + instead;
    else
      continue;
    return EOPNOTSUPP;
  }
  return 0;
}

// Adjacent ranges get one common segment.
int SharedMemory::share(const MappedRange* first, const MappedRange* end, Segments& segments,
                        std::string& failure) {
  const uintptr_t begin = first->begin;
  const size_t bytes = (end - 1)->end - begin;
  uint64_t address = 0;
  board::DmaMemory memory = function_.allocate_dma(bytes, address, failure);
  if (!memory)
    return ENOMEM;
  auto* const data = static_cast<uint8_t*>(memory.data());
  const auto segment = std::make_shared<Segment>(function_, std::move(memory), address);
  for (const MappedRange* range = first; range != end; ++range) {
    void* const pages = reinterpret_cast<void*>(range->begin);
    if (const int error = replace_pages(pages, range->end - range->begin, data + (range->begin - begin),
                                        range->protection)) {
      failure = std::string("pages cannot be replaced by such that the board's server shares: ") +
                std::strerror(error);
      return error;
    }
  }
  std::vector<MappedRange> own;
  find_mapped(reinterpret_cast<uintptr_t>(data), reinterpret_cast<uintptr_t>(data) + 1, own);
  if (!own.empty())
    segments_[own.front().inode] = segment;
  segments.push_back(segment);
  return 0;
}

int SharedMemory::map(void* memory, size_t bytes, std::vector<DmaPiece>& pieces, uint64_t& mapping,
                      std::string& failure) {
  const std::scoped_lock lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = address / page * page;
  const uintptr_t end = (address + bytes + page - 1) / page * page;
  Ranges ranges;
  if (const int error = find_whole(begin, end, ranges, failure))
    return error;
  if (const int error = refuse(ranges, failure))
    return error;
  Segments segments;
  for (auto range = ranges.begin(); range != ranges.end();) {
    if (std::shared_ptr<Segment> known = segment_of(*range)) {
      add(pieces, known->address + range->offset, range->end - range->begin);
      segments.push_back(std::move(known));
      ++range;
      continue;
    }
    auto after = range + 1;
    while (after != ranges.end() && segment_of(*after) == nullptr)
      ++after;
    if (const int error = share(&*range, &*range + (after - range), segments, failure))
      return error;
    add(pieces, segments.back()->address, (after - 1)->end - range->begin);
    range = after;
  }
  pieces.front().address += address - begin;
  pieces.front().bytes -= address - begin;
  pieces.back().bytes -= end - (address + bytes);
  mapping = ++last_;
  mappings_.emplace(mapping, std::move(segments));
  std::erase_if(segments_, [](const auto& each) { return each.second.expired(); });
  return 0;
}

void SharedMemory::unmap(uint64_t mapping) {
  const std::scoped_lock lock(mutex_);
  mappings_.erase(mapping);
}

} // namespace fpga_verbs::driver
