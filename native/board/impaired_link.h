#pragma once

#include "board/link_impairment.h"
#include "board/random.h"
#include "hca/base/clock.h"
#include "link/link.h"
#include "spec/enums.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::board {

// A link on which rules lose, delay, duplicate, reorder or damage arriving packets, with random numbers from
// a seed. It stands in front of the real link while there are rules or injected packets. Under the board's
// lock, except attach() and detach().
class ImpairedLink final : public link::Link {
public:
  // Sets `attached` to the link, and to this object while it stands in front. It and `clock` outlive this
  // object; `frequency` of the clock in hertz.
  ImpairedLink(link::Link& link, link::Link*& attached, spec::LinkLayer link_layer, const hca::Clock& clock,
               uint64_t frequency, uint64_t seed);

  void add(unsigned number, const LinkImpairment& rule);
  // Removes a rule. Packets that it delays arrive at their time.
  void remove(unsigned number);
  void clear();
  // Counters of a rule.
  LinkImpairmentCounters counters(unsigned number) const;

  // Injects a packet as if from the link, unchecked and past all rules.
  void arrive(std::span<const uint8_t> packet);

  void attach(link::LinkReceiver& receiver) override { link_.attach(receiver); }
  void detach() override { link_.detach(); }
  link::SendResult send(link::Lane lane, std::span<const uint8_t> packet) override {
    return link_.send(lane, packet);
  }
  void flush() override { link_.flush(); }
  std::optional<Source> source() const override { return link_.source(); }
  bool join(const link::NetworkAddress& group) override { return link_.join(group); }
  void leave(const link::NetworkAddress& group) override { link_.leave(group); }
  std::span<const uint8_t> front(link::Lane lane) override;
  void pop(link::Lane lane) override;
  bool has_arrived() override { return link_.has_arrived(); }
  bool is_connected() override { return link_.is_connected(); }
  uint64_t next_deadline() const override;

private:
  // Packets in flight on a lane; further ones wait at the other end.
  static constexpr size_t most_on_way = 4096;

  struct Rule {
    unsigned number = 0;
    LinkImpairment impairment{};
    LinkImpairmentCounters counters{};
    uint64_t matches = 0;
    uint64_t free_at = 0; // clock tick from which the next packet is carried at the rate
  };
  using OnWay = std::multimap<uint64_t, std::vector<uint8_t>>; // by the tick at which they are there

  void attach_what_is_needed();
  void take_in(link::Lane lane);
  void carry(link::Lane lane, std::span<const uint8_t> packet);
  Rule* rule_for(link::Lane lane, std::span<const uint8_t> packet);
  bool matches(const LinkImpairment& impairment, link::Lane lane, std::span<const uint8_t> packet) const;
  uint64_t carried_at(Rule& rule, size_t bytes);
  void corrupt(std::span<uint8_t> packet);
  OnWay& on_way(link::Lane lane) { return on_way_[static_cast<size_t>(lane)]; }

  link::Link& link_;
  link::Link*& attached_;
  spec::LinkLayer link_layer_;
  const hca::Clock& clock_;
  uint64_t frequency_;
  Random random_;
  std::vector<Rule> rules_;
  std::array<OnWay, link::lanes> on_way_;
  std::array<uint64_t, link::lanes> offered_at_{}; // clock tick up to which what is there was shown
};

} // namespace fpga_verbs::board
