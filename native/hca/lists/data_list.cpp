#include "hca/lists/data_list.h"

namespace fpga_verbs::hca {

const char* DataList::verify(std::vector<uint16_t>& owners) const {
  const auto free = static_cast<uint16_t>(lists());
  owners.assign(entries(), free);
  size_t on_lists = 0;
  for (uint16_t number = 0; number < lists(); ++number) {
    const List& list = lists_[number];
    bool peek_found = list.peek == no_entry;
    uint16_t entry = list.head;
    for (unsigned place = 0; place < list.count; ++place) {
      if (entry == no_entry)
        return "a list ends before its data unit counter";
      if (owners[entry] != free)
        return "an entry is on a list twice";
      if (!used(entry))
        return "an entry on a list is marked free";
      owners[entry] = number;
      peek_found = peek_found || entry == list.peek;
      if (place + 1U == list.count && entry != list.tail)
        return "a tail pointer is not at the last data unit";
      entry = next_[entry];
    }
    if (entry != no_entry)
      return "a list goes on behind its data unit counter";
    if (!peek_found)
      return "a peek pointer is not on its list";
    on_lists += list.count;
  }
  for (uint16_t entry = 0; entry < entries(); ++entry)
    if (used(entry) != (owners[entry] != free))
      return "an entry marked used is on no list";
  return free_entries_ + on_lists == entries() ? nullptr
                                               : "free entries and entries on lists are not all there are";
}

} // namespace fpga_verbs::hca
