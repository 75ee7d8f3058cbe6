#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/data_unit_counts.h"
#include "hca/port/lane_turn.h"
#include "hca/port/multicast_groups.h"
#include "hca/port/packet_memory.h"
#include "hca/port/packet_tap.h"
#include "hca/port/port_attributes.h"
#include "link/link.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

// The links that the board connects to its ports, and a tap. It outlives the device. The board may change it
// between steps of the device, so that a feature that is off costs nothing; each port keeps its link, or one
// that stands in front of it.
struct PortAttachments {
  std::array<link::Link*, spec::ports> links{}; // null: nothing
  PacketTap* tap = nullptr;                     // null: nothing looks at packets
};

// The physical ports. Finished packets leave through the port in their Packet: a packet to the device's own
// address returns into the device in the same buffer, any other goes to the link. A packet waits while its
// link is paused, and a request to the own address while it has no receive buffer, both up to the discard
// limit; responses have separate buffers. A packet to a multicast group goes to the link, and also returns if
// the device has group members; packet_receiver selects them. A packet that has arrived on a link stays there
// until there is a buffer for it. In both directions responses go first, with requests in between (LaneTurn).
class Port final : public Block, public UnitTaker<spec::PacketUnit> {
public:
  Port(Counters& counters, const Clock& clock, PacketMemory& packet_memory, const PortAttributes& attributes,
       const MulticastGroups& groups, const PortAttachments& attachments,
       const DataLink<spec::KickUnit>& kicks_collected, const DataLink<spec::KickUnit>& kicks_scheduled,
       DataLink<spec::PacketUnit>& requests_built, DataLink<spec::PacketUnit>& responses_built,
       DataLink<spec::PacketUnit>& packets_arrived);

  // Lets one packet leave or arrive, alternately if both can; of a train, several.
  bool step() override;

  // A response, while no other packet waits to leave.
  Taken take_at_once(const spec::PacketUnit& response) override {
    return take_at_once(link::Lane::responses, response);
  }

  // Takes a request likewise, if it is all of its message, and no command follows or was fetched from a send
  // queue: several requests leave as a train.
  auto* request_taker() { return &request_taker_; }

  // Whether no packet is known of that has arrived, or waits to leave, behind the one that is on its way.
  bool is_last() const { return arrived_ == 0 && !has_leaving(); }

  // Whether up to 16 packets to one destination leave in one step, if none waits on the other lane, and up to
  // 16 arrive, while none waits to leave. Forbidden at first.
  void allow_trains(bool allowed) { most_packets_ = allowed ? train_packets : 1; }

  // When the longest-waiting packet is discarded, or a packet in flight on a link arrives; ~0: none.
  uint64_t next_deadline() const {
    const uint64_t since = std::min(leaving_[0].since, leaving_[1].since);
    uint64_t deadline = since == never ? never : since + discard_limit_;
    for (const link::Link* const link : attachments_.links)
      if (link != nullptr && link->has_deadlines()) [[unlikely]]
        deadline = std::min(deadline, link->next_deadline());
    return deadline;
  }

  // A link has reported a packet, or room for one, or the deadline of one has arrived.
  void look_in() {
    arrived_ = every_port();
    unflushed_ = may_wait_;
  }
  void notice_deadline() { look_in(); }

  // The data units that leave this block are the packets that have left or arrived.
  void count_data_units(DataUnitCounts& counts) const;

  // Clock ticks.
  uint64_t discard_limit() const { return discard_limit_; }
  void set_discard_limit(uint64_t ticks) { discard_limit_ = ticks; }

private:
  static constexpr uint64_t never = ~uint64_t{0};
  static constexpr size_t train_packets = 16;

  class RequestTaker final : public UnitTaker<spec::PacketUnit> {
  public:
    explicit RequestTaker(Port& port) : port_(port) {}
    Taken take_at_once(const spec::PacketUnit& request) override {
      const bool is_alone = request.first() != 0 && request.last() != 0 &&
                            port_.kicks_collected_.size() <= 1 && port_.kicks_scheduled_.empty();
      return is_alone ? port_.take_at_once(link::Lane::requests, request) : Taken::no;
    }

  private:
    Port& port_;
  };

  // The packets that wait to leave on a lane.
  struct Leaving {
    DataLink<spec::PacketUnit>& built;
    uint64_t since = never; // when the first of them began to wait
  };

  Taken take_at_once(link::Lane lane, const spec::PacketUnit& unit);
  inline bool send_next();
  inline bool send_front(link::Lane lane);
  bool loop_back(link::Lane lane, const spec::PacketUnit& unit, PortAttributes::Owner to);
  bool send_to_group(link::Lane lane, const spec::PacketUnit& unit);
  bool loop_copy(uint16_t handle);
  bool wait(Leaving& leaving, spec::PortDiscard reason);
  inline void finish(Leaving& leaving);
  void discard(Leaving& leaving, spec::PortDiscard reason);
  [[gnu::always_inline]] inline link::SendResult send_alone(link::Lane lane, uint16_t handle,
                                                            link::Link& link);
  void note_sent(bool may_wait) {
    may_wait_ |= may_wait;
    unflushed_ |= may_wait;
  }
  bool send_train(Leaving& leaving, link::Lane lane, link::Link& link);
  bool send_shown(Leaving& leaving, link::Lane lane, link::Link& link);
  bool end_train(Leaving& leaving, link::SendResult result);
  void receive_more();
  inline size_t receive_train(size_t most);
  inline bool receive_next();
  inline bool receive_from(unsigned port, link::Link& link);
  bool drop_arrived(unsigned port, link::Link& link);
  bool has_leaving() const { return !leaving_[0].built.empty() || !leaving_[1].built.empty(); }
  unsigned every_port() const { return (1u << attributes_.ports()) - 1; }
  void note_arrived(unsigned port, bool more) {
    arrived_ = (arrived_ & ~(1u << (port - 1))) | unsigned{more} << (port - 1);
  }
  inline bool has_receive_buffer(link::Lane lane);
  inline void arrive(uint16_t handle, unsigned port, size_t bytes);
  inline void put_in_buffer(uint16_t handle, unsigned port, std::span<const uint8_t> packet);
  void count_out(unsigned port, uint16_t handle);
  void count_discard(unsigned port, spec::PortDiscard reason);
  PortCounters& counters_of(unsigned port) { return counters_.device.port[port - 1]; }

  Counters& counters_;
  const Clock& clock_;
  PacketMemory& packet_memory_;
  const PortAttributes& attributes_;
  const MulticastGroups& groups_;
  const PortAttachments& attachments_;
  const DataLink<spec::KickUnit>& kicks_collected_; // the first: of the command whose packet is built
  const DataLink<spec::KickUnit>& kicks_scheduled_;
  std::array<Leaving, link::lanes> leaving_; // by link::Lane: responses first
  DataLink<spec::PacketUnit>& packets_arrived_;
  uint64_t discard_limit_ = spec::port_discard_limit;
  size_t most_packets_ = 1;         // packets in a step
  unsigned arrived_ = every_port(); // a bit for each port whose link may have a packet
  unsigned receive_turn_ = 0;       // port that is looked at last
  bool send_turn_ = false;
  bool unflushed_ = true; // a link may have a packet that was put on it and has not left
  bool may_wait_ = false; // a link has taken a packet that it does not send before flush()
  LaneTurn out_;
  std::array<LaneTurn, spec::ports> in_; // by port
  RequestTaker request_taker_{*this};
};

} // namespace fpga_verbs::hca
