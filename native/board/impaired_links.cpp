#include "board/impaired_links.h"

namespace fpga_verbs::board {

ImpairedLinks::ImpairedLinks(const Links& links, Links& attached, spec::LinkLayer link_layer,
                             const hca::Clock& clock, uint64_t frequency, uint64_t seed,
                             unsigned board_number) {
  Random seeds(seed ^ uint64_t{board_number} << 32);
  for (unsigned port = 0; port < spec::ports; ++port) {
    const uint64_t its_seed = seeds.next();
    if (links[port] != nullptr)
      ports_[port].emplace(*links[port], attached[port], link_layer, clock, frequency, its_seed);
  }
}

unsigned ImpairedLinks::add(const LinkImpairment& rule) {
  ++last_number_;
  for (auto& port : ports_)
    if (port)
      port->add(last_number_, rule);
  rules_.insert(last_number_);
  return last_number_;
}

bool ImpairedLinks::remove(unsigned number) {
  for (auto& port : ports_)
    if (port)
      port->remove(number);
  return rules_.erase(number) != 0;
}

void ImpairedLinks::clear() {
  for (auto& port : ports_)
    if (port)
      port->clear();
  rules_.clear();
}

bool ImpairedLinks::arrive(unsigned port, std::span<const uint8_t> packet) {
  if (port == 0 || port > ports_.size() || !ports_[port - 1])
    return false;
  ports_[port - 1]->arrive(packet);
  return true;
}

std::optional<LinkImpairmentCounters> ImpairedLinks::counters(unsigned number) const {
  if (!rules_.contains(number))
    return std::nullopt;
  LinkImpairmentCounters sum;
  for (const auto& port : ports_) {
    if (!port)
      continue;
    const LinkImpairmentCounters at_port = port->counters(number);
    sum.packets += at_port.packets;
    sum.lost += at_port.lost;
    sum.duplicated += at_port.duplicated;
    sum.corrupted += at_port.corrupted;
    sum.reordered += at_port.reordered;
  }
  return sum;
}

} // namespace fpga_verbs::board
