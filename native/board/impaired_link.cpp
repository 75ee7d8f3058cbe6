#include "board/impaired_link.h"

#include "link/address.h"
#include "wire/packet_parse.h"

#include <algorithm>
#include <tuple>

namespace fpga_verbs::board {

namespace {

constexpr uint64_t bits_per_byte = 8;

// Whether a packet belongs to the queue pairs that an impairment names.
bool is_of_flow(const LinkImpairment& impairment, spec::LinkLayer link_layer,
                std::span<const uint8_t> packet) {
  const auto& [to, from] = std::tie(impairment.queue_pair, impairment.source_queue_pair);
  if (!to && !from)
    return true;
  wire::ParsedPacket parsed;
  return wire::parse_copy(link_layer, packet, parsed) == spec::PacketDrop::none &&
         parsed.destination_queue_pair == to.value_or(parsed.destination_queue_pair) &&
         (!from ||
          (parsed.traits().has(spec::ExtendedHeader::datagram) && parsed.fields.source_queue_pair == *from));
}

} // namespace

ImpairedLink::ImpairedLink(link::Link& link, link::Link*& attached, spec::LinkLayer link_layer,
                           const hca::Clock& clock, uint64_t frequency, uint64_t seed)
    : Link(true), link_(link), attached_(attached), link_layer_(link_layer), clock_(clock),
      frequency_(frequency), random_(seed) {
  attach_what_is_needed();
}

void ImpairedLink::attach_what_is_needed() {
  const bool is_plain = rules_.empty() && std::ranges::all_of(on_way_, &OnWay::empty);
  attached_ = is_plain ? &link_ : this;
}

void ImpairedLink::add(unsigned number, const LinkImpairment& rule) {
  rules_.push_back({.number = number, .impairment = rule});
  attach_what_is_needed();
}

void ImpairedLink::remove(unsigned number) {
  std::erase_if(rules_, [number](const Rule& rule) { return rule.number == number; });
  attach_what_is_needed();
}

void ImpairedLink::clear() {
  rules_.clear();
  attach_what_is_needed();
}

LinkImpairmentCounters ImpairedLink::counters(unsigned number) const {
  return std::ranges::find(rules_, number, &Rule::number)->counters;
}

void ImpairedLink::arrive(std::span<const uint8_t> packet) {
  wire::ParsedPacket parsed;
  const bool is_response = wire::parse_copy(link_layer_, packet, parsed) == spec::PacketDrop::none &&
                           parsed.traits().is_response();
  on_way(is_response ? link::Lane::responses : link::Lane::requests)
      .emplace(clock_.now(), std::vector<uint8_t>(packet.begin(), packet.end()));
  attach_what_is_needed();
}

std::span<const uint8_t> ImpairedLink::front(link::Lane lane) {
  if (!rules_.empty())
    take_in(lane);
  const OnWay& here = on_way(lane);
  if (here.empty())
    return rules_.empty() ? link_.front(lane) : std::span<const uint8_t>{};
  const uint64_t now = clock_.now();
  offered_at_[static_cast<size_t>(lane)] = now;
  const auto first = here.begin();
  return first->first <= now ? std::span<const uint8_t>(first->second) : std::span<const uint8_t>{};
}

void ImpairedLink::pop(link::Lane lane) {
  OnWay& here = on_way(lane);
  if (here.empty()) {
    link_.pop(lane);
    return;
  }
  here.erase(here.begin());
  attach_what_is_needed();
}

uint64_t ImpairedLink::next_deadline() const {
  uint64_t deadline = link_.next_deadline();
  for (size_t lane = 0; lane < link::lanes; ++lane) {
    // A packet shown and not taken waits for room, not for a time.
    const OnWay& here = on_way_[lane];
    if (!here.empty() && here.begin()->first > offered_at_[lane])
      deadline = std::min(deadline, here.begin()->first);
  }
  return deadline;
}

void ImpairedLink::take_in(link::Lane lane) {
  while (on_way(lane).size() < most_on_way) {
    const std::span<const uint8_t> packet = link_.front(lane);
    if (packet.empty())
      return;
    carry(lane, packet);
    link_.pop(lane);
  }
}

void ImpairedLink::carry(link::Lane lane, std::span<const uint8_t> packet) {
  Rule* const rule = rule_for(lane, packet);
  std::vector<uint8_t> bytes(packet.begin(), packet.end());
  if (rule == nullptr) {
    on_way(lane).emplace(clock_.now(), std::move(bytes));
    return;
  }
  const LinkImpairment& impairment = rule->impairment;
  ++rule->counters.packets;
  uint64_t at = carried_at(*rule, bytes.size());
  if (random_.chance(impairment.loss)) {
    ++rule->counters.lost;
    return;
  }
  if (random_.chance(impairment.duplication)) {
    ++rule->counters.duplicated;
    on_way(lane).emplace(at, bytes);
  }
  if (random_.chance(impairment.reordering)) {
    ++rule->counters.reordered;
    at += impairment.reorder_delay;
  }
  if (random_.chance(impairment.corruption)) {
    ++rule->counters.corrupted;
    corrupt(bytes);
  }
  on_way(lane).emplace(at, std::move(bytes));
}

ImpairedLink::Rule* ImpairedLink::rule_for(link::Lane lane, std::span<const uint8_t> packet) {
  for (Rule& rule : rules_) {
    if (!matches(rule.impairment, lane, packet))
      continue;
    const uint64_t match = rule.matches++;
    const LinkImpairment& impairment = rule.impairment;
    if (match >= impairment.nth && (impairment.count == 0 || match - impairment.nth < impairment.count))
      return &rule;
  }
  return nullptr;
}

bool ImpairedLink::matches(const LinkImpairment& impairment, link::Lane lane,
                           std::span<const uint8_t> packet) const {
  if (impairment.lane && *impairment.lane != lane)
    return false;
  if (impairment.from_board) {
    const link::Address first = link::first_address(link_layer_, *impairment.from_board);
    if (link::source_of(link_layer_, packet) - first >= link::addresses_per_board)
      return false;
  }
  return is_of_flow(impairment, link_layer_, packet);
}

// Arrival time of the last bit of the packet.
uint64_t ImpairedLink::carried_at(Rule& rule, size_t bytes) {
  const LinkImpairment& impairment = rule.impairment;
  const uint64_t now = clock_.now();
  if (impairment.rate == 0)
    return now + impairment.delay;
  const double seconds = static_cast<double>(bytes * bits_per_byte) / static_cast<double>(impairment.rate);
  rule.free_at =
      std::max(rule.free_at, now) + static_cast<uint64_t>(seconds * static_cast<double>(frequency_));
  return rule.free_at + impairment.delay;
}

void ImpairedLink::corrupt(std::span<uint8_t> packet) {
  const uint64_t bit = random_.below(packet.size() * bits_per_byte);
  packet[bit / bits_per_byte] ^= static_cast<uint8_t>(1u << bit % bits_per_byte);
}

} // namespace fpga_verbs::board
