#include "hca/multicast_groups.h"

namespace fpga_verbs::hca {

namespace {

constexpr Gid none{};

} // namespace

MulticastGroups::Member* MulticastGroups::find(uint32_t queue_pair_number, const Gid& group) {
  for (Member& member : members_)
    if (member.group == group && member.queue_pair_number == queue_pair_number)
      return &member;
  return nullptr;
}

bool MulticastGroups::attach(unsigned underlying_function, uint32_t queue_pair_number, const Gid& group) {
  if (find(queue_pair_number, group) != nullptr)
    return true;
  Member* const member = find(0, none);
  if (member == nullptr)
    return false;
  *member = {.group = group,
             .queue_pair_number = queue_pair_number,
             .underlying_function = static_cast<uint8_t>(underlying_function)};
  ++count_;
  return true;
}

bool MulticastGroups::detach(uint32_t queue_pair_number, const Gid& group) {
  Member* const member = find(queue_pair_number, group);
  if (member != nullptr)
    free(*member);
  return member != nullptr;
}

void MulticastGroups::remove(uint32_t queue_pair_number) {
  for (Member& member : members_)
    if (member.group != none && member.queue_pair_number == queue_pair_number)
      free(member);
}

void MulticastGroups::reset_function(unsigned underlying_function) {
  for (Member& member : members_)
    if (member.group != none && member.underlying_function == underlying_function)
      free(member);
}

void MulticastGroups::free(Member& member) {
  member = {};
  --count_;
}

} // namespace fpga_verbs::hca
