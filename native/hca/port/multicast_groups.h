#pragma once

#include "link/link.h"
#include "spec/parameters.h"
#include "wire/packet_gid.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

// The multicast groups of the queue pairs (InfiniBand volume 1, 10.5): one entry for each queue pair and
// group. The links of the ports join the groups that have members.
class MulticastGroups {
public:
  using Links = std::span<link::Link* const, spec::ports>; // null: nothing

  struct Member {
    wire::Gid group{}; // MGID; zero: the entry is free
    uint32_t queue_pair_number = 0;
    uint8_t underlying_function = 0;
  };

  enum class Attached : uint8_t {
    yes,
    full,        // no entry is left
    unreachable, // a link does not have the group
  };

  // The links outlive it.
  explicit MulticastGroups(Links links) : links_(links) {}
  MulticastGroups(const MulticastGroups&) = delete;
  MulticastGroups& operator=(const MulticastGroups&) = delete;
  ~MulticastGroups();

  // Attaching twice has no further effect.
  Attached attach(unsigned underlying_function, uint32_t queue_pair_number, const wire::Gid& group);
  // False: not attached.
  bool detach(uint32_t queue_pair_number, const wire::Gid& group);

  // All entries, including free ones: a packet is compared with each.
  std::span<const Member> members() const { return members_; }
  bool empty() const { return count_ == 0; }

  // Removes a destroyed queue pair from all groups.
  void remove(uint32_t queue_pair_number);
  void reset_function(unsigned underlying_function);

private:
  Member* find(uint32_t queue_pair_number, const wire::Gid& group);
  bool has_members(const wire::Gid& group) const;
  bool join(const wire::Gid& group);
  void leave(const wire::Gid& group);
  void free(Member& member);

  Links links_;
  std::vector<Member> members_ = std::vector<Member>(spec::multicast_members);
  uint32_t count_ = 0;
};

} // namespace fpga_verbs::hca
