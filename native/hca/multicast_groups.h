#pragma once

#include "hca/packet_gid.h"
#include "spec/parameters.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

// Which queue pairs are attached to which multicast groups (InfiniBand volume 1, 10.5): an entry for each
// queue pair and group.
class MulticastGroups {
public:
  struct Member {
    Gid group{}; // MGID; zero: the entry is free
    uint32_t queue_pair_number = 0;
    uint8_t underlying_function = 0;
  };

  // One that is attached stays so. False: no entry is left.
  bool attach(unsigned underlying_function, uint32_t queue_pair_number, const Gid& group);
  // False: it is not attached.
  bool detach(uint32_t queue_pair_number, const Gid& group);

  // All entries, those free too: a packet is compared with each.
  std::span<const Member> members() const { return members_; }
  bool empty() const { return count_ == 0; }

  // The queue pair is gone, and in no group any more.
  void remove(uint32_t queue_pair_number);
  void reset_function(unsigned underlying_function);

private:
  Member* find(uint32_t queue_pair_number, const Gid& group);
  void free(Member& member);

  std::vector<Member> members_ = std::vector<Member>(spec::multicast_members);
  uint32_t count_ = 0;
};

} // namespace fpga_verbs::hca
