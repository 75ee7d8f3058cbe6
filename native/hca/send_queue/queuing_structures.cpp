#include "hca/send_queue/queuing_structures.h"

#include "spec/queues.h"

#include <algorithm>
#include <bit>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

constexpr uint32_t entries_log2_maximum = 16;
constexpr uint32_t index_mask = (1u << spec::queue_pair_index_bits) - 1;

unsigned function_of(unsigned structure) { return structure / spec::quality_of_service_levels; }
unsigned level_of(unsigned structure) { return structure % spec::quality_of_service_levels; }

// The first bit set after `last`, round robin.
unsigned next_bit(uint32_t bits, unsigned last) {
  const uint32_t behind = bits & (~uint32_t{1} << last);
  return static_cast<unsigned>(std::countr_zero(behind != 0 ? behind : bits));
}

} // namespace

QueuingStructures::QueuingStructures(const HcaParameters& parameters, Counters& counters, HostPort& host,
                                     EventPort& events)
    : counters_(counters), host_(host), events_(events), places_(parameters.queue_pairs) {}

unsigned QueuingStructures::index_of(unsigned underlying_function, spec::QualityOfServiceLevel level) {
  return underlying_function * spec::quality_of_service_levels + static_cast<unsigned>(level);
}

void QueuingStructures::set_address(unsigned underlying_function, spec::QualityOfServiceLevel level,
                                    uint64_t address) {
  all_[index_of(underlying_function, level)].address = address;
}

uint64_t QueuingStructures::address(unsigned underlying_function, spec::QualityOfServiceLevel level) const {
  return all_[index_of(underlying_function, level)].address;
}

uint32_t QueuingStructures::entries(unsigned structure) const {
  return uint32_t{1} << std::min(sizes_[function_of(structure)].entries_log2(), entries_log2_maximum);
}

uint64_t QueuingStructures::entry_address(unsigned structure, uint32_t sequence) const {
  const uint32_t slot = sequence & (entries(structure) - 1);
  return all_[structure].address + uint64_t{slot} * spec::QueuingStructureEntry::bytes;
}

void QueuingStructures::append(const spec::ScheduleRequest& request) {
  const unsigned index = index_of(request.underlying_function(), request.quality_of_service_level());
  Structure& structure = all_[index];
  const uint32_t number = request.queue_pair_number();
  Place& place = places_[number & index_mask];
  if (place.structure != nowhere)
    return;
  place.structure = static_cast<uint8_t>(index);
  place.generation = static_cast<uint8_t>(number >> spec::queue_pair_index_bits);
  ++structure.waiting;
  if (structure.condemned != Refusal::none)
    return;
  const uint64_t address = entry_address(index, structure.tail);
  if (structure.tail - structure.head == entries(index)) {
    condemn(index, Refusal::queuing_structure_fault);
    return;
  }
  spec::QueuingStructureEntry entry;
  entry.set_queue_pair_number(number);
  entry.set_valid(1);
  entry.set_sequence(structure.tail);
  if (host_.write(request.underlying_function(), address, &entry, sizeof(entry)) != DmaStatus::ok) {
    fault(index, address);
    return;
  }
  ++structure.tail;
  note_ready(index);
}

unsigned QueuingStructures::next_structure() {
  last_function_ = next_bit(ready_functions_, last_function_);
  uint8_t& last_level = last_level_[last_function_];
  last_level = static_cast<uint8_t>(next_bit(ready_levels_[last_function_], last_level));
  return last_function_ * spec::quality_of_service_levels + last_level;
}

std::optional<QueuingStructures::Waiting> QueuingStructures::take() {
  const unsigned index = next_structure();
  const unsigned function = function_of(index);
  Structure& structure = all_[index];
  const uint64_t address = entry_address(index, structure.head);
  spec::QueuingStructureEntry entry;
  if (host_.read(function, address, &entry, sizeof(entry)) != DmaStatus::ok) {
    fault(index, address);
    return std::nullopt;
  }
  const uint32_t number = entry.queue_pair_number();
  const uint32_t queue_pair = number & index_mask;
  const bool is_entry = entry.valid() != 0 && entry.reserved_is_zero() && entry.sequence() == structure.head;
  if (!is_entry || queue_pair >= places_.size() || places_[queue_pair].structure != index ||
      places_[queue_pair].generation != number >> spec::queue_pair_index_bits) {
    condemn(index, Refusal::queuing_structure_mismatch);
    return std::nullopt;
  }
  places_[queue_pair] = {};
  ++structure.head;
  --structure.waiting;
  note_ready(index);
  return Waiting{.underlying_function = function, .queue_pair_number = number};
}

std::optional<QueuingStructures::TurnedOut> QueuingStructures::turn_out() {
  const uint32_t queue_pair = next_turned_out_;
  next_turned_out_ = queue_pair + 1 == places_.size() ? 0 : queue_pair + 1;
  Place& place = places_[queue_pair];
  if (place.structure == nowhere || all_[place.structure].condemned == Refusal::none)
    return std::nullopt;
  Structure& structure = all_[place.structure];
  const uint32_t number = uint32_t{place.generation} << spec::queue_pair_index_bits | queue_pair;
  const TurnedOut turned_out{
      .waiting = {.underlying_function = function_of(place.structure), .queue_pair_number = number},
      .refusal = structure.condemned};
  place = {};
  if (--structure.waiting == 0) {
    structure.head = structure.tail;
    structure.condemned = Refusal::none;
    --condemned_count_;
  }
  return turned_out;
}

void QueuingStructures::condemn(unsigned structure, Refusal refusal) {
  all_[structure].condemned = refusal;
  ++condemned_count_;
  note_ready(structure);
}

void QueuingStructures::fault(unsigned structure, uint64_t address) {
  const unsigned function = function_of(structure);
  ++counters_.function[function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(function);
  event.set_detail(address);
  events_.report(event);
  condemn(structure, Refusal::queuing_structure_fault);
}

void QueuingStructures::note_ready(unsigned structure) {
  const Structure& changed = all_[structure];
  const unsigned function = function_of(structure);
  const auto level = static_cast<uint8_t>(1u << level_of(structure));
  uint8_t& levels = ready_levels_[function];
  const bool ready = changed.head != changed.tail && changed.condemned == Refusal::none;
  levels = static_cast<uint8_t>(ready ? levels | level : levels & ~level);
  const uint32_t bit = 1u << function;
  ready_functions_ = levels != 0 ? ready_functions_ | bit : ready_functions_ & ~bit;
}

void QueuingStructures::reset_function(unsigned underlying_function) {
  for (Place& place : places_)
    if (place.structure != nowhere && function_of(place.structure) == underlying_function)
      place = {};
  for (unsigned level = 0; level < spec::quality_of_service_levels; ++level) {
    const unsigned index = underlying_function * spec::quality_of_service_levels + level;
    condemned_count_ -= all_[index].condemned != Refusal::none ? 1 : 0;
    all_[index] = {};
    note_ready(index);
  }
  sizes_[underlying_function] = {};
}

bool QueuingStructures::verify() const {
  std::array<uint32_t, structures_> waiting{};
  for (const Place& place : places_)
    if (place.structure != nowhere)
      ++waiting[place.structure];
  unsigned condemned = 0;
  for (unsigned index = 0; index < structures_; ++index) {
    const Structure& structure = all_[index];
    const bool in_order = structure.condemned == Refusal::none;
    condemned += in_order ? 0 : 1;
    if (waiting[index] != structure.waiting || (!in_order && structure.waiting == 0))
      return false;
    if (in_order && structure.tail - structure.head != structure.waiting)
      return false;
    const bool ready = (ready_levels_[function_of(index)] >> level_of(index) & 1) != 0;
    if (ready != (in_order && structure.waiting != 0))
      return false;
  }
  return condemned == condemned_count_;
}

} // namespace fpga_verbs::hca
