#include "served/shared_view.h"

#include "spec/mailboxes.h"
#include "spec/registers.h"

#include <algorithm>
#include <cstring>

namespace fpga_verbs::served {

using spec::RegionType;

namespace {

namespace own = spec::underlying_function;
namespace control = spec::control;

constexpr uint32_t all_ones = ~uint32_t{0};
constexpr size_t most_registers = 256; // of a command

// The registers that show a queue pair lie in the same order on a function's page and on the control page.
constexpr uint32_t inspect_begin = own::inspect_queue_pair;
constexpr uint32_t inspect_end = own::inspect_queue_pair_numbers + sizeof(uint64_t);
constexpr uint32_t to_control = own::inspect_queue_pair - control::inspect_queue_pair;
static_assert(own::inspect_queue_pair_state - to_control == control::inspect_queue_pair_state &&
              own::inspect_queue_pair_positions - to_control == control::inspect_queue_pair_positions &&
              own::inspect_queue_pair_lane - to_control == control::inspect_queue_pair_lane &&
              own::inspect_queue_pair_numbers - to_control == control::inspect_queue_pair_numbers);

bool is_inspected(uint32_t offset) { return offset >= inspect_begin && offset < inspect_end; }

hca::QueuePairFacts facts_of(const spec::InspectedQueuePair& listed) {
  hca::QueuePairFacts facts{
      .number = listed.queue_pair_number(),
      .virtual_queue_pair = listed.virtual_queue_pair(),
      .time_wait_left = listed.time_wait_left(),
      .underlying_function = listed.underlying_function(),
      .service_type = listed.service_type(),
      .state = listed.state(),
      .level = listed.quality_of_service_level(),
      .hold = listed.hold(),
      .protection_domain = listed.protection_domain(),
      .port = listed.port(),
      .send_completion_queue = listed.send_completion_queue(),
      .receive_completion_queue = listed.receive_completion_queue(),
      .shared_receive_queue = listed.shared_receive_queue(),
      .destination_queue_pair = listed.destination_queue_pair(),
      .destination_local_identifier = static_cast<uint16_t>(listed.destination_local_identifier()),
      .next = static_cast<uint16_t>(listed.next()),
      .posted = static_cast<uint16_t>(listed.posted()),
      .acknowledged = static_cast<uint16_t>(listed.acknowledged()),
      .receive_head = static_cast<uint16_t>(listed.receive_head()),
      .receive_tail = static_cast<uint16_t>(listed.receive_tail()),
      .next_psn = listed.next_psn(),
      .expected_psn = listed.expected_psn(),
  };
  std::ranges::copy(listed.destination_gid(), facts.destination_gid.begin());
  return facts;
}

hca::RegionFacts facts_of(const spec::InspectedRegion& listed) {
  return {.key = listed.key(),
          .underlying_function = listed.underlying_function(),
          .protection_domain = listed.protection_domain(),
          .access_flags = listed.access_flags(),
          .base = listed.base(),
          .length = listed.length(),
          .page_log2 = listed.page_log2(),
          .in_flight = listed.in_flight(),
          .windows = listed.windows(),
          .is_window = listed.is_window() != 0,
          .quiesced = listed.quiesced() != 0};
}

} // namespace

bool SharedView::is_own_page(const Register& place) const {
  return place.region == RegionType::underlying_function && place.page == underlying_function_;
}

bool SharedView::selects(const Register& place) const {
  if (place.region == RegionType::control)
    return underlying_function_ == 0 &&
           (place.offset == control::inspect_select || place.offset == control::inspect_queue_pair);
  return is_own_page(place) && place.offset == own::inspect_queue_pair;
}

uint32_t SharedView::read32(unsigned bar, uint64_t offset) {
  board::RegisterAccess access{.place = static_cast<uint32_t>(offset)};
  this->access(bar, std::span(&access, 1));
  return access.value;
}

bool SharedView::write32(unsigned bar, uint64_t offset, uint32_t value) {
  const auto place = observation_->function().find(bar, offset);
  if (!place || !selects(*place))
    return false;
  const auto found = std::ranges::find_if(selections_, [&place](const SharedFunction::Selection& each) {
    return each.place.region == place->region && each.place.offset == place->offset;
  });
  if (found != selections_.end())
    found->value = value;
  else
    selections_.push_back({*place, value});
  return true;
}

// Registers of the function's page are read together, those between two writes.
void SharedView::access(unsigned bar, std::span<board::RegisterAccess> accesses) {
  std::vector<board::RegisterAccess*> of_page;
  for (board::RegisterAccess& access : accesses) {
    const auto place = observation_->function().find(bar, access.offset());
    if (access.is_write()) {
      write32(bar, access.offset(), access.value);
    } else if (!place) {
      access.value = all_ones;
    } else if (place->region == RegionType::identity) {
      access.value = observation_->function().read(*place);
    } else if (place->region == RegionType::control) {
      access.value = underlying_function_ == 0 ? read_inspected(*place) : all_ones;
    } else if (!is_own_page(*place)) {
      access.value = all_ones;
    } else if (!is_inspected(place->offset)) {
      of_page.push_back(&access);
    } else if (has_control()) {
      access.value = inspect_of_control(place->offset);
    } else {
      access.value = read_inspected(*place);
    }
  }
  for (std::span<board::RegisterAccess*> left = of_page; !left.empty();) {
    const size_t count = std::min(left.size(), most_registers);
    read_page(left.first(count));
    left = left.subspan(count);
  }
}

uint32_t SharedView::read_inspected(const Register& place) {
  std::vector<SharedFunction::Selection> selections;
  for (const SharedFunction::Selection& selection : selections_)
    if (selection.place.region == place.region)
      selections.push_back(selection);
  return observation_->function().read_selected(place, selections);
}

// The control function finds queue pairs of all functions; an observer of one function sees its own.
uint32_t SharedView::inspect_of_control(uint32_t offset) {
  const auto selected = std::ranges::find_if(selections_, [](const SharedFunction::Selection& each) {
    return each.place.region == RegionType::underlying_function;
  });
  const uint32_t number = selected == selections_.end() ? 0 : selected->value;
  if (offset == own::inspect_queue_pair)
    return number;
  const std::vector<SharedFunction::Selection> selections{
      {{RegionType::control, 0, control::inspect_queue_pair}, number}};
  SharedFunction& function = observation_->function();
  const control::InspectQueuePairState state{
      function.read_selected({RegionType::control, 0, control::inspect_queue_pair_state}, selections)};
  if (state.found() == 0 || state.underlying_function() != underlying_function_)
    return 0;
  return function.read_selected({RegionType::control, 0, offset - to_control}, selections);
}

void SharedView::read_page(std::span<board::RegisterAccess*> reads) {
  spec::InspectRegistersInput input;
  input.set_underlying_function(underlying_function_);
  input.set_count(static_cast<uint32_t>(reads.size()));
  std::vector<uint8_t> mailbox(sizeof input + reads.size() * sizeof(uint32_t));
  std::memcpy(mailbox.data(), &input, sizeof input);
  const uint64_t page = observation_->function().page_offset(underlying_function_);
  for (size_t i = 0; i < reads.size(); ++i) {
    const auto offset = static_cast<uint32_t>(reads[i]->offset() - page);
    std::memcpy(mailbox.data() + sizeof input + i * sizeof offset, &offset, sizeof offset);
  }
  const auto answer = observation_->management().ask(spec::ManagementOpcode::inspect_registers, mailbox);
  const bool whole = answer && answer->content.size() == reads.size() * sizeof(uint32_t);
  if (!answer)
    observation_->lose();
  for (size_t i = 0; i < reads.size(); ++i) {
    reads[i]->value = all_ones;
    if (whole)
      std::memcpy(&reads[i]->value, answer->content.data() + i * sizeof(uint32_t), sizeof(uint32_t));
  }
}

// Nothing: the device does not answer.
template <class Format>
std::optional<std::vector<Format>> SharedView::list(spec::ManagementOpcode opcode, uint32_t from,
                                                    uint32_t& next) {
  spec::InspectInput input;
  input.set_functions(underlying_function_ == 0 ? all_ones : uint32_t{1} << underlying_function_);
  input.set_from(from);
  const std::span bytes(reinterpret_cast<const uint8_t*>(&input), sizeof input);
  const auto answer = observation_->management().ask(opcode, bytes);
  if (!answer) {
    observation_->lose();
    return std::nullopt;
  }
  next = static_cast<uint32_t>(answer->output);
  std::vector<Format> listed(answer->content.size() / sizeof(Format));
  if (!listed.empty())
    std::memcpy(listed.data(), answer->content.data(), listed.size() * sizeof(Format));
  return listed;
}

uint32_t SharedView::queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) {
  uint32_t next = 0;
  const auto listed = list<spec::InspectedQueuePair>(spec::ManagementOpcode::inspect_queue_pairs, from, next);
  for (const spec::InspectedQueuePair& each : listed.value_or(std::vector<spec::InspectedQueuePair>()))
    found.push_back(facts_of(each));
  return next;
}

uint32_t SharedView::regions(uint32_t from, std::vector<hca::RegionFacts>& found) {
  uint32_t next = 0;
  const auto listed = list<spec::InspectedRegion>(spec::ManagementOpcode::inspect_regions, from, next);
  for (const spec::InspectedRegion& each : listed.value_or(std::vector<spec::InspectedRegion>()))
    found.push_back(facts_of(each));
  return next;
}

} // namespace fpga_verbs::served
