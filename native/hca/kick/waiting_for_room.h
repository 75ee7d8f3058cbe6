#pragma once

#include "hca/base/bit_mask.h"
#include "hca/base/block.h"
#include "hca/base/parameters.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// Queue pairs whose next command is not fetched because the lists of virtual_kick have no room for it. Each
// waits at one place for the missing resource, first come, first served. Every command takes constant time,
// except a reset.
class WaitingForRoom {
public:
  struct Waiter {
    unsigned underlying_function = 0;
    spec::QualityOfServiceLevel level{};
    uint32_t queue_pair_number = 0;
  };

  explicit WaitingForRoom(const HcaParameters& parameters)
      : entries_(parameters.queue_pairs), lists_(places), occupied_(places) {}

  // Places: for a lane to which the queue pair is bound, for any lane of its level, for an entry credit of
  // its function; and for those released from waiting.
  static constexpr unsigned of_lane(unsigned lane) { return lane; }
  static constexpr unsigned of_level(unsigned underlying_function, spec::QualityOfServiceLevel level) {
    return first_level + underlying_function * spec::quality_of_service_levels + static_cast<unsigned>(level);
  }
  static constexpr unsigned of_function(unsigned underlying_function) {
    return first_function + underlying_function;
  }
  static constexpr bool is_lane(unsigned place) { return place < first_level; }
  static constexpr bool is_level(unsigned place) { return place >= first_level && place < first_function; }
  static constexpr spec::RoomWait wait_at(unsigned place) {
    if (place >= let_go)
      return spec::RoomWait::none;
    if (is_lane(place))
      return spec::RoomWait::lane;
    return is_level(place) ? spec::RoomWait::level : spec::RoomWait::function;
  }
  static constexpr unsigned let_go = spec::transmit_virtual_lanes +
                                     spec::underlying_functions * spec::quality_of_service_levels +
                                     spec::underlying_functions;

  // Places where a queue pair waits.
  bool any() const { return occupied_.any(); }
  const BitMask& occupied() const { return occupied_; }

  // The resource that a queue pair waits for.
  spec::RoomWait wait_of(uint32_t queue_pair_number) const;

  // For a queue pair that does not wait yet.
  void append(unsigned place, const Waiter& waiter);
  // The longest-waiting queue pair at an occupied place.
  Waiter front(unsigned place) const { return waiter(lists_[place].first); }
  Waiter take(unsigned place);

  // Releases the queue pair from its lane: any lane of its level will do.
  void unbind(uint32_t queue_pair_number);
  // Moves the queue pair to those released from waiting.
  void release(uint32_t queue_pair_number);
  void reset_function(unsigned underlying_function);

  // Room may be available: wakes send_queue_scheduler if queue pairs wait.
  void notice() const {
    if (any())
      room_.wake();
  }
  void on_room(Waker room) { room_ = room; }

  // For tests.
  const char* verify() const;

private:
  static constexpr unsigned first_level = spec::transmit_virtual_lanes;
  static constexpr unsigned first_function =
      first_level + spec::underlying_functions * spec::quality_of_service_levels;
  static constexpr unsigned places = let_go + 1;
  static constexpr uint8_t nowhere = places;
  static constexpr uint32_t none = ~uint32_t{0};

  // By queue pair index.
  struct Entry {
    uint32_t previous = none;
    uint32_t next = none;
    uint8_t place = nowhere;
    uint8_t generation = 0;
    uint8_t underlying_function = 0;
    spec::QualityOfServiceLevel level{};
  };
  struct List {
    uint32_t first = none;
    uint32_t last = none;
  };

  Waiter waiter(uint32_t index) const;
  void link(unsigned place, uint32_t index);
  void unlink(uint32_t index);
  bool waits(uint32_t queue_pair_number) const;

  std::vector<Entry> entries_;
  std::vector<List> lists_; // by place
  BitMask occupied_;
  Waker room_;
};

} // namespace fpga_verbs::hca
