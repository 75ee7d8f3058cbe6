#pragma once

#include "hca/base/clock.h"
#include "hca/base/parameters.h"
#include "spec/contexts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fpga_verbs::hca {

// Whether the queue pair is one end of a connection.
inline bool is_connection(const spec::QueuePairControl& control) {
  return control.service_type() == spec::ServiceType::reliable_connection ||
         control.service_type() == spec::ServiceType::unreliable_connection;
}

// Virtual queue pairs (US7095750): the numbers that peers know. Packets name them; commands, completions and
// events have the queue pair's own number. The number of a connection that has ended is in time-wait, as long
// as packets of it may still come: they find no queue pair, whatever their PSN, while the queue pair itself
// goes on at once, with another number or with another peer.
//
// A queue pair is given a number when it is created, equal to its own, so that a program can tell its peer
// before it connects. The number is bound from RTR on, of a datagram service from creation on. Found without
// search: a number's low bits are its place, which holds one number at a time. Another number of a queue pair
// has the same place and another generation; where all of these are in time-wait, a place that is free.
class VirtualQueuePairs {
public:
  VirtualQueuePairs(const HcaParameters& parameters, const Clock& clock);

  // The queue pair that the number is bound to; 0: none.
  uint32_t find(uint32_t number) const {
    const Place& place = places_[number & place_mask_];
    return place.number == number ? place.queue_pair : 0;
  }
  // The queue pair that has the number, bound or not; 0: none.
  uint32_t owner(uint32_t number) const;
  // Whether packets to the number are of a former connection, and dropped as such.
  bool is_waiting(uint32_t number) { return end_of_wait(number) != 0; }

  // Whether a queue pair can be created with this number.
  bool can_give(uint32_t number);
  // To a new queue pair of this number, or as another one to a queue pair.
  void give(uint32_t number, unsigned underlying_function, uint32_t queue_pair_number);
  // A number for a queue pair beside `number`, which it has; nothing: all that there are wait.
  std::optional<uint32_t> another(uint32_t number, uint32_t queue_pair_number);

  // From now on packets find the queue pair.
  void bind(uint32_t number);
  // The clock tick from which on the number can be bound to a peer: before, packets of a former connection
  // with that peer may come. 0: now. Those of another peer have another source.
  uint64_t earliest_bind(uint32_t number, const spec::AddressVector& peer);
  // The peer, timeout, and retries of the connection, as far as they are known.
  void describe(uint32_t number, const spec::QueuePairControl& control);

  // The connection has ended: the number, if it was bound, is in time-wait. A number that is kept is the
  // queue pair's when it is connected again.
  enum class Keep : bool { no, yes };
  void end(uint32_t number, Keep keep);
  void end_all(unsigned underlying_function);

  // Time-wait of connections that end, in microseconds; 0: by their timeout and retries.
  uint32_t time_wait() const { return time_wait_; }
  void set_time_wait(uint32_t microseconds) { time_wait_ = microseconds; }

  // Numbers in time-wait.
  uint32_t waiting();
  // The tick at which the first of them is free again; 0: none waits.
  uint64_t first_free();
  // Microseconds until a tick, at least 1.
  uint32_t microseconds_until(uint64_t tick) const;

  // The first number in time-wait from `from` on, for observers.
  struct Waiting {
    uint32_t number = 0;
    uint32_t queue_pair = 0; // that had it
    unsigned underlying_function = 0;
    uint32_t microseconds_left = 0;
  };
  std::optional<Waiting> waiting_from(uint32_t from);

  void reset_function(unsigned underlying_function) { end_all(underlying_function); }
  // A reset of the device ends all connections, and no time-wait.
  void outlast_reset(VirtualQueuePairs& before);

private:
  // Where packets of a connection come from.
  struct Peer {
    std::array<uint8_t, 16> gid{};
    uint16_t local_identifier = 0;
    bool is_global = false;
  };
  struct Place {
    uint32_t number = 0;     // 0: it is free
    uint32_t queue_pair = 0; // that the number is bound to, or 0
  };
  struct Given {
    uint32_t queue_pair = 0;
    unsigned underlying_function = 0;
    uint64_t lifetime = 0; // ticks for which copies of its packets may be under way
    Peer peer{};
    bool has_time_wait = false;
  };
  struct Wait {
    uint64_t end = 0;
    uint32_t queue_pair = 0;
    unsigned underlying_function = 0;
    Peer peer{};
    bool has_several_peers = false;
  };

  static Peer peer_of(const spec::AddressVector& address_vector);
  bool may_be_confused(const Peer& one, const Peer& other) const;
  uint64_t lifetime_of(const spec::QueuePairControl& control) const;
  uint64_t ticks_of(uint64_t microseconds) const;
  uint64_t end_of_wait(uint32_t number);
  void begin_wait(uint32_t number, const Given& given);
  void add_wait(uint32_t number, const Wait& wait);
  void expire();
  std::optional<uint32_t> another_at(uint32_t place, uint32_t current);

  const HcaParameters& parameters_;
  const Clock& clock_;
  uint32_t place_mask_;
  std::vector<Place> places_;
  std::unordered_map<uint32_t, Given> given_;    // by number
  std::map<uint32_t, Wait> waits_;               // by number
  std::set<std::pair<uint64_t, uint32_t>> ends_; // of waits_: tick and number
  uint32_t hand_; // the place looked at last for a number that is not at its queue pair's own
  uint32_t time_wait_ = 0;
};

} // namespace fpga_verbs::hca
