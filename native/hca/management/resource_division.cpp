#include "hca/management/resource_division.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace fpga_verbs::hca {

namespace {

using Request = spec::ResourceAllocationRequest;
using Refused = std::optional<DivisionRefusal>;
using spec::ManagementStatus;
using spec::Resource;

constexpr unsigned low = 0;
constexpr unsigned high = 1;

constexpr uint64_t lane_bit(unsigned lane) { return uint64_t{1} << lane; }
constexpr unsigned count_of(uint64_t lanes) { return static_cast<unsigned>(std::popcount(lanes)); }

// The `count` lowest bits of `lanes`, or all of them.
constexpr uint64_t lowest_of(uint64_t lanes, unsigned count) {
  uint64_t taken = 0;
  for (; count != 0 && lanes != 0; --count, lanes &= lanes - 1)
    taken |= lanes & ~(lanes - 1);
  return taken;
}

// Lanes of a function: those of each level alone, and those that its levels share.
struct LaneParts {
  std::array<uint64_t, 2> alone{};
  uint64_t both = 0;

  explicit LaneParts(const LaneMap::Levels& levels)
      : alone{levels[low] & ~levels[high], levels[high] & ~levels[low]}, both(levels[low] & levels[high]) {}

  uint64_t all() const { return alone[low] | alone[high] | both; }
  LaneMap::Levels levels() const { return {alone[low] | both, alone[high] | both}; }
};

// One run of allocate().
class Allocation {
public:
  Allocation(ResourceDivision& division, unsigned requester)
      : division_(division), requester_(requester), before_(division) {}

  Refused run(std::span<const Request> requests);

private:
  struct Asked {
    const Request& request;
    uint64_t first_bit; // of the request, in the mailbox

    unsigned function() const { return request.underlying_function(); }
    unsigned level() const { return static_cast<unsigned>(request.quality_of_service_level()); }
    bool for_level() const { return request.for_level() != 0; }
    bool for_lane() const { return request.for_lane() != 0; }
    bool by_value() const { return request.by_value() != 0; }
    uint32_t amount() const { return request.amount(); }
    uint64_t which() const { return request.which(); }

    DivisionRefusal bad(uint64_t bit) const { return {.bit = first_bit + bit}; }
    DivisionRefusal short_of(uint32_t left) const {
      return {.status = ManagementStatus::no_resources,
              .resource = request.resource(),
              .asked = by_value() && request.resource() == Resource::transmit_virtual_lanes
                           ? count_of(which())
                           : amount(),
              .left = left};
    }
  };

  Refused check(const Asked& asked) const;
  bool is_permitted(const Asked& asked) const;
  unsigned rank(const Asked& asked) const;

  // Returned resources come first, because others may then get them.
  Refused vacate(const Asked& asked);
  Refused carry_out(const Asked& asked);
  Refused verify(const Asked& asked) const;

  Refused divide_virtual_collect_buffers(const Asked& asked);
  Refused divide_physical_collect_buffers(const Asked& asked);
  Refused divide_lanes(const Asked& asked);
  Refused divide_level_lanes(const Asked& asked);
  Refused divide_credits(const Asked& asked);
  Refused set_own_credits(const Asked& asked, unsigned lane);

  uint32_t& lane_value(Resource resource, unsigned lane);
  uint32_t value_of(const Asked& asked) const;
  uint64_t lanes_of(const Asked& asked) const;

  ResourceDivision& division_;
  unsigned requester_;
  ResourceDivision before_;
};

bool is_for_lanes(Resource resource) {
  switch (resource) {
  case Resource::execution_credits:
  case Resource::completion_credits:
  case Resource::execution_credits_cap:
  case Resource::completion_credits_cap:
  case Resource::list_size:
    return true;
  default:
    return false;
  }
}

Refused Allocation::check(const Asked& asked) const {
  const Resource resource = asked.request.resource();
  const bool for_lanes = is_for_lanes(resource);
  const bool selects =
      resource == Resource::virtual_collect_buffers || resource == Resource::transmit_virtual_lanes;
  if (!for_lanes && !selects && resource != Resource::physical_collect_buffers &&
      resource != Resource::entry_credits)
    return asked.bad(Request::resource_bit);
  if (!asked.for_lane() && asked.function() >= division_.underlying_functions)
    return asked.bad(Request::underlying_function_bit);
  if (asked.level() >= spec::quality_of_service_levels || (!asked.for_level() && asked.level() != low))
    return asked.bad(Request::quality_of_service_level_bit);
  if (asked.for_level() && (asked.for_lane() || resource == Resource::entry_credits))
    return asked.bad(Request::for_level_bit);
  if (asked.for_lane() && !for_lanes)
    return asked.bad(Request::for_lane_bit);
  if (asked.request.transmit_virtual_lane() >= (asked.for_lane() ? division_.transmit_virtual_lanes : 1u))
    return asked.bad(Request::transmit_virtual_lane_bit);
  if (asked.by_value() && (!selects || (asked.for_level() && resource == Resource::virtual_collect_buffers)))
    return asked.bad(Request::by_value_bit);
  if (!asked.request.reserved_is_zero())
    return DivisionRefusal{.bit = std::numeric_limits<uint64_t>::max()};
  if (!is_permitted(asked))
    return DivisionRefusal{.status = ManagementStatus::not_permitted};
  return std::nullopt;
}

// A guest divides its own resources: among its levels, and its lanes' credits among its own lanes.
bool Allocation::is_permitted(const Asked& asked) const {
  if (requester_ == 0)
    return true;
  const Resource resource = asked.request.resource();
  if (asked.for_lane())
    return (division_.lane_map.lanes(requester_) & lane_bit(asked.request.transmit_virtual_lane())) != 0 &&
           (resource == Resource::execution_credits || resource == Resource::completion_credits);
  return asked.function() == requester_ && asked.for_level() && !is_for_lanes(resource);
}

// The current amount of the target.
uint32_t Allocation::value_of(const Asked& asked) const {
  const ResourceDivision::Function& function = division_.functions[asked.function()];
  const CollectAllotment& buffers = function.physical_collect_buffers;
  const VirtualCollectBufferBar& bar = function.bar;
  switch (asked.request.resource()) {
  case Resource::virtual_collect_buffers:
    return !asked.for_level() ? bar.count : asked.level() == low ? bar.low : bar.count - bar.high;
  case Resource::physical_collect_buffers:
    return !asked.for_level()     ? buffers.low + buffers.high + buffers.shared
           : asked.level() == low ? buffers.low
                                  : buffers.high;
  case Resource::transmit_virtual_lanes: {
    const LaneParts parts(division_.lane_map.functions[asked.function()]);
    return count_of(asked.for_level() ? parts.alone[asked.level()] : parts.all());
  }
  default:
    return 0;
  }
}

// Levels return resources to their function before the function returns them to the shared pool, and take
// after it has taken.
unsigned Allocation::rank(const Asked& asked) const {
  if (is_for_lanes(asked.request.resource()))
    return 4;
  const uint32_t wanted = asked.by_value() && asked.request.resource() == Resource::transmit_virtual_lanes
                              ? count_of(asked.which())
                              : asked.amount();
  const bool takes = wanted > value_of(asked);
  return asked.for_level() ? (takes ? 3 : 0) : (takes ? 2 : 1);
}

Refused Allocation::run(std::span<const Request> requests) {
  constexpr unsigned ranks = 5;
  const auto asked_of = [&](size_t index) { return Asked{requests[index], index * Request::bytes * 8}; };
  for (size_t index = 0; index < requests.size(); ++index) {
    if (const Refused refused = check(asked_of(index)))
      return refused;
    if (const Refused refused = vacate(asked_of(index)))
      return refused;
  }
  std::array<std::array<uint8_t, spec::resource_allocation_requests>, ranks> order{};
  std::array<size_t, ranks> counts{};
  for (size_t index = 0; index < requests.size(); ++index) {
    const unsigned place = rank(asked_of(index));
    order[place][counts[place]++] = static_cast<uint8_t>(index);
  }
  for (unsigned place = 0; place < ranks; ++place)
    for (size_t each = 0; each < counts[place]; ++each)
      if (const Refused refused = carry_out(asked_of(order[place][each])))
        return refused;
  for (size_t index = 0; index < requests.size(); ++index)
    if (const Refused refused = verify(asked_of(index)))
      return refused;
  return std::nullopt;
}

// VCBs and lanes named individually: a function that loses some releases them before another takes them.
Refused Allocation::vacate(const Asked& asked) {
  if (!asked.by_value())
    return std::nullopt;
  if (asked.request.resource() == Resource::transmit_virtual_lanes) {
    if (!asked.for_level()) {
      LaneMap::Levels& levels = division_.lane_map.functions[asked.function()];
      const uint64_t lost = (levels[low] | levels[high]) & ~asked.which();
      levels = {levels[low] & ~lost, levels[high] & ~lost};
      division_.lane_map.shared |= lost;
    }
    return std::nullopt;
  }
  VirtualCollectBufferBar& bar = division_.functions[asked.function()].bar;
  const uint64_t begin = std::max<uint64_t>(bar.base, asked.which());
  const uint64_t end = std::min<uint64_t>(bar.base + bar.count, asked.which() + asked.amount());
  bar = {.base = bar.base, .count = 0, .low = 0, .high = 0};
  if (begin < end && asked.which() <= division_.virtual_collect_buffers)
    bar = {.base = static_cast<unsigned>(begin),
           .count = static_cast<unsigned>(end - begin),
           .low = 0,
           .high = 0};
  return std::nullopt;
}

Refused Allocation::carry_out(const Asked& asked) {
  switch (asked.request.resource()) {
  case Resource::virtual_collect_buffers:
    return divide_virtual_collect_buffers(asked);
  case Resource::physical_collect_buffers:
    return divide_physical_collect_buffers(asked);
  case Resource::transmit_virtual_lanes:
    return asked.for_level() ? divide_level_lanes(asked) : divide_lanes(asked);
  case Resource::entry_credits:
    if (asked.amount() == 0 || asked.amount() > division_.list_entries)
      return asked.short_of(division_.list_entries);
    division_.functions[asked.function()].entry_credits = asked.amount();
    return std::nullopt;
  default:
    return divide_credits(asked);
  }
}

Refused Allocation::divide_virtual_collect_buffers(const Asked& asked) {
  VirtualCollectBufferBar& bar = division_.functions[asked.function()].bar;
  const VirtualCollectBufferBar old = before_.functions[asked.function()].bar;
  const uint32_t amount = asked.amount();
  if (asked.for_level()) {
    const unsigned other = asked.level() == low ? bar.count - bar.high : bar.low;
    if (amount > bar.count - other)
      return asked.short_of(bar.count - other);
    (asked.level() == low ? bar.low : bar.high) = asked.level() == low ? amount : bar.count - amount;
    return std::nullopt;
  }
  unsigned base = old.base;
  if (asked.by_value()) {
    if (asked.which() > division_.virtual_collect_buffers)
      return asked.bad(Request::which_bit);
    base = static_cast<unsigned>(asked.which());
    if (amount > division_.virtual_collect_buffers ||
        !division_.is_free_for(asked.function(), base, amount)) {
      bar = {.base = base, .count = 0, .low = 0, .high = 0};
      return asked.short_of(division_.room(asked.function()));
    }
  } else if (amount > division_.room(asked.function())) {
    return asked.short_of(division_.room(asked.function()));
  }
  // The levels keep their VCBs as far as possible: the low level at the start, the high level at the end.
  const unsigned kept_low = std::min(old.low, amount);
  const unsigned kept_high = std::min(old.count - old.high, amount - kept_low);
  bar = {.base = base, .count = amount, .low = kept_low, .high = amount - kept_high};
  return std::nullopt;
}

Refused Allocation::divide_physical_collect_buffers(const Asked& asked) {
  CollectAllotment& has = division_.functions[asked.function()].physical_collect_buffers;
  const uint32_t amount = asked.amount();
  if (asked.for_level()) {
    unsigned& own = asked.level() == low ? has.low : has.high;
    if (amount > own + has.shared)
      return asked.short_of(own + has.shared);
    has.shared = own + has.shared - amount;
    own = amount;
    return std::nullopt;
  }
  const unsigned all = has.low + has.high + has.shared;
  if (amount > all + division_.shared_physical_collect_buffers)
    return asked.short_of(all + division_.shared_physical_collect_buffers);
  division_.shared_physical_collect_buffers = all + division_.shared_physical_collect_buffers - amount;
  // An increase goes to the part that the levels share (US8484392, 74); a decrease comes from that part
  // first.
  has.high = std::min(has.high, amount);
  has.low = std::min(has.low, amount - has.high);
  has.shared = amount - has.high - has.low;
  return std::nullopt;
}

Refused Allocation::divide_lanes(const Asked& asked) {
  LaneMap& map = division_.lane_map;
  LaneParts parts(map.functions[asked.function()]);
  const uint64_t has = parts.all();
  uint64_t wanted = asked.which();
  if (!asked.by_value()) {
    if (asked.amount() > count_of(has | map.shared))
      return asked.short_of(count_of(has | map.shared));
    // Lanes of a single level are kept longest.
    const uint64_t alone = lowest_of(parts.alone[low] | parts.alone[high], asked.amount());
    wanted = alone | lowest_of(parts.both, asked.amount() - count_of(alone));
    wanted |= lowest_of(map.shared & ~has, asked.amount() - count_of(wanted));
  } else if ((wanted & ~(has | map.shared)) != 0) {
    return asked.short_of(count_of(wanted & (has | map.shared)));
  }
  map.shared = (map.shared | has) & ~wanted;
  const uint64_t gained = wanted & ~has;
  for (uint64_t& levels : map.functions[asked.function()])
    levels = (levels & wanted) | gained;
  return std::nullopt;
}

Refused Allocation::divide_level_lanes(const Asked& asked) {
  LaneMap::Levels& levels = division_.lane_map.functions[asked.function()];
  LaneParts parts(levels);
  uint64_t& alone = parts.alone[asked.level()];
  const uint64_t reach = alone | parts.both;
  uint64_t wanted = asked.which();
  if (!asked.by_value()) {
    if (asked.amount() > count_of(reach))
      return asked.short_of(count_of(reach));
    wanted = lowest_of(alone, asked.amount());
    wanted |= lowest_of(parts.both, asked.amount() - count_of(wanted));
  } else if ((wanted & ~reach) != 0) {
    return asked.short_of(count_of(wanted & reach));
  }
  parts.both = reach & ~wanted;
  alone = wanted;
  levels = parts.levels();
  return std::nullopt;
}

uint64_t Allocation::lanes_of(const Asked& asked) const {
  if (asked.for_lane())
    return lane_bit(asked.request.transmit_virtual_lane());
  const LaneMap::Levels& levels = division_.lane_map.functions[asked.function()];
  return asked.for_level() ? levels[asked.level()] : levels[low] | levels[high];
}

uint32_t& Allocation::lane_value(Resource resource, unsigned lane) {
  ResourceDivision::Lane& values = division_.lanes[lane];
  switch (resource) {
  case Resource::execution_credits:
    return values.execution.own;
  case Resource::completion_credits:
    return values.completion.own;
  case Resource::execution_credits_cap:
    return values.execution.shared_cap;
  case Resource::completion_credits_cap:
    return values.completion.shared_cap;
  default:
    return values.list_size;
  }
}

// The fields of lane_state limit credits and caps.
Refused Allocation::divide_credits(const Asked& asked) {
  constexpr uint32_t own_maximum = 31;
  constexpr uint32_t cap_maximum = 127;
  const Resource resource = asked.request.resource();
  const bool is_own = resource == Resource::execution_credits || resource == Resource::completion_credits;
  const uint32_t maximum = is_own                            ? own_maximum
                           : resource == Resource::list_size ? division_.list_entries
                                                             : cap_maximum;
  if (asked.amount() > maximum)
    return asked.short_of(maximum);
  for (uint64_t lanes = lanes_of(asked); lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    if (!is_own)
      lane_value(resource, lane) = asked.amount();
    else if (const Refused refused = set_own_credits(asked, lane))
      return refused;
  }
  return std::nullopt;
}

// A lane's own credits come from the shared ones and return there (US8484392, 65).
Refused Allocation::set_own_credits(const Asked& asked, unsigned lane) {
  const Resource resource = asked.request.resource();
  uint32_t& own = lane_value(resource, lane);
  uint32_t& shared = resource == Resource::execution_credits ? division_.shared_execution_credits
                                                             : division_.shared_completion_credits;
  if (asked.amount() > own + shared)
    return asked.short_of(own + shared);
  shared = own + shared - asked.amount();
  own = asked.amount();
  return std::nullopt;
}

// Checks the whole division: every level has a lane, every lane can get a credit of each kind, and a guest
// has no more than before.
Refused Allocation::verify(const Asked& asked) const {
  const Resource resource = asked.request.resource();
  if (resource == Resource::transmit_virtual_lanes &&
      !division_.lane_map.serves(division_.underlying_functions))
    return asked.short_of(value_of(asked));
  if (!is_for_lanes(resource))
    return std::nullopt;
  const auto serves = [](const LaneCreditDivision& credits, uint32_t shared) {
    return credits.own != 0 || (shared != 0 && credits.shared_cap != 0);
  };
  for (unsigned lane = 0; lane < division_.transmit_virtual_lanes; ++lane) {
    const ResourceDivision::Lane& values = division_.lanes[lane];
    if (!serves(values.execution, division_.shared_execution_credits) ||
        !serves(values.completion, division_.shared_completion_credits) || values.list_size == 0)
      return asked.bad(Request::amount_bit);
  }
  if (requester_ == 0)
    return std::nullopt;
  const bool executes = resource == Resource::execution_credits;
  const uint32_t had = executes ? before_.shared_execution_credits : before_.shared_completion_credits;
  const uint32_t has = executes ? division_.shared_execution_credits : division_.shared_completion_credits;
  if (has < had)
    return asked.short_of(asked.amount() - std::min(asked.amount(), had - has));
  return std::nullopt;
}

} // namespace

unsigned ResourceDivision::room(unsigned underlying_function) const {
  const unsigned base = functions[underlying_function].bar.base;
  unsigned end = virtual_collect_buffers;
  for (unsigned other = 0; other < underlying_functions; ++other) {
    const VirtualCollectBufferBar& bar = functions[other].bar;
    if (other != underlying_function && bar.count != 0 && bar.base + bar.count > base)
      end = std::min(end, std::max(bar.base, base));
  }
  return end - std::min(base, end);
}

bool ResourceDivision::is_free_for(unsigned underlying_function, unsigned base, unsigned count) const {
  if (base + count > virtual_collect_buffers)
    return false;
  for (unsigned other = 0; other < underlying_functions; ++other) {
    const VirtualCollectBufferBar& bar = functions[other].bar;
    if (other != underlying_function &&
        std::max(bar.base, base) < std::min(bar.base + bar.count, base + count))
      return false;
  }
  return true;
}

Refused allocate(ResourceDivision& division, unsigned requester, std::span<const Request> requests) {
  return Allocation(division, requester).run(requests);
}

} // namespace fpga_verbs::hca
