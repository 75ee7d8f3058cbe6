#include "hca/port/multicast_groups.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

constexpr wire::Gid none{};

} // namespace

MulticastGroups::Member* MulticastGroups::find(uint32_t queue_pair_number, const wire::Gid& group) {
  for (Member& member : members_)
    if (member.group == group && member.queue_pair_number == queue_pair_number)
      return &member;
  return nullptr;
}

MulticastGroups::~MulticastGroups() {
  for (Member& member : members_)
    if (member.group != none)
      free(member);
}

MulticastGroups::Attached MulticastGroups::attach(unsigned underlying_function, uint32_t queue_pair_number,
                                                  const wire::Gid& group) {
  if (find(queue_pair_number, group) != nullptr)
    return Attached::yes;
  Member* const member = find(0, none);
  if (member == nullptr)
    return Attached::full;
  if (!has_members(group) && !join(group))
    return Attached::unreachable;
  *member = {.group = group,
             .queue_pair_number = queue_pair_number,
             .underlying_function = static_cast<uint8_t>(underlying_function)};
  ++count_;
  return Attached::yes;
}

bool MulticastGroups::detach(uint32_t queue_pair_number, const wire::Gid& group) {
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

bool MulticastGroups::has_members(const wire::Gid& group) const {
  return std::ranges::find(members_, group, &Member::group) != members_.end();
}

// All links join, or none.
bool MulticastGroups::join(const wire::Gid& group) {
  for (link::Link* const link : links_) {
    if (link == nullptr || link->join(group))
      continue;
    leave(group);
    return false;
  }
  return true;
}

void MulticastGroups::leave(const wire::Gid& group) {
  for (link::Link* const link : links_)
    if (link != nullptr)
      link->leave(group);
}

void MulticastGroups::free(Member& member) {
  const wire::Gid group = member.group;
  member = {};
  --count_;
  if (!has_members(group))
    leave(group);
}

} // namespace fpga_verbs::hca
