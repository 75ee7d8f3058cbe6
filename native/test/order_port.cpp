#include "test/order_port.h"

#include "hca/base/sequence_number.h"
#include "test/parameters_of.h"

#include <array>
#include <optional>
#include <string>

namespace fpga_verbs::test {

namespace {

template <class DataUnit> Napi::Value bytes_of(Napi::Env env, const DataUnit& unit) {
  auto bytes = Napi::Uint8Array::New(env, DataUnit::bytes);
  std::memcpy(bytes.Data(), &unit, DataUnit::bytes);
  return bytes;
}

// The data units on their way through a link.
template <class DataUnit> std::vector<DataUnit> units_of(const hca::DataLink<DataUnit>& link) {
  std::vector<DataUnit> units;
  for (size_t ahead = 0; ahead < link.size(); ++ahead)
    units.push_back(link.peek(ahead));
  return units;
}

} // namespace

Napi::Function OrderPort::define(Napi::Env env) {
  return DefineClass(env, "OrderPort",
                     with_host_methods({
                         InstanceMethod("createQueuePair", &OrderPort::create_queue_pair),
                         InstanceMethod("setState", &OrderPort::set_state),
                         InstanceMethod("state", &OrderPort::state),
                         InstanceMethod("requester", &OrderPort::requester),
                         InstanceMethod("setPosition", &OrderPort::set_position),
                         InstanceMethod("resume", &OrderPort::resume),
                         InstanceMethod("quiesce", &OrderPort::quiesce),
                         InstanceMethod("takeQuiet", &OrderPort::take_quiet),
                         InstanceMethod("pins", &OrderPort::pins),
                         InstanceMethod("resetFunction", &OrderPort::reset_function),
                         InstanceMethod("canAcceptWrite", &OrderPort::can_accept_write),
                         InstanceMethod("write", &OrderPort::write),
                         InstanceMethod("step", &OrderPort::step),
                         InstanceMethod("takeExecutions", &OrderPort::take_executions),
                         InstanceMethod("takeEvents", &OrderPort::take_events),
                         InstanceMethod("setQueuingStructure", &OrderPort::set_queuing_structure),
                         InstanceMethod("setLanes", &OrderPort::set_lanes),
                         InstanceMethod("setSharedLanes", &OrderPort::set_shared_lanes),
                         InstanceMethod("setEntryCredits", &OrderPort::set_entry_credits),
                         InstanceMethod("laneState", &OrderPort::lane_state),
                         InstanceMethod("counters", &OrderPort::counters),
                         InstanceMethod("verify", &OrderPort::verify),
                     }));
}

OrderPort::OrderPort(const Napi::CallbackInfo& info)
    : HostedPort<OrderPort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      context_memory_(parameters_, counters_, host_, events_), translation_(parameters_, context_memory_),
      queue_pairs_(parameters_, counters_, context_memory_), kick_records_(counters_, host_, clock_, events_),
      collect_buffer_({parameters_, counters_, clock_, buffers_, queue_pairs_, events_, kick_records_,
                       kicks_collected_, post_notices_, management_units_}),
      virtual_kick_({parameters_,
                     counters_,
                     collect_buffer_,
                     buffers_,
                     queue_pairs_,
                     lane_map_reader_,
                     waiting_for_room_,
                     kicks_collected_,
                     kicks_scheduled_,
                     kicks_started_,
                     {&finishes_handed_back_, &finishes_sent_}}),
      queue_pair_fetch_(parameters_, counters_, kick_records_, collect_buffer_, buffers_, queue_pairs_,
                        address_handles_, events_, kicks_started_, post_notices_, schedule_dones_,
                        progress_notices_, executions_, schedule_requests_, finishes_handed_back_),
      queue_reader_(counters_, host_, translation_, events_), send_queues_(queue_reader_),
      send_queue_scheduler_(parameters_, counters_, host_, collect_buffer_, buffers_, queue_pairs_,
                            virtual_kick_, waiting_for_room_, send_queues_, events_, kick_records_,
                            schedule_requests_, kicks_scheduled_, schedule_dones_),
      pipeline_sink_(counters_, collect_buffer_, buffers_, kick_records_, executions_, finishes_sent_) {
  const uint64_t needed = context_memory_.bytes_needed();
  if (needed > host_.bytes() || !context_memory_.open(TestHost::base + host_.bytes() - needed, needed))
    throw Napi::RangeError::New(info.Env(), "memoryBytes does not hold the " + std::to_string(needed) +
                                                " B of context memory");
}

uint32_t OrderPort::make_table(unsigned underlying_function, const Napi::Value& addresses) {
  const auto pages = addresses.As<Napi::Array>();
  std::vector<spec::PageTableEntry> entries(pages.Length());
  for (uint32_t page = 0; page < pages.Length(); ++page) {
    entries[page].set_valid(1);
    entries[page].set_page(big_number(pages.Get(page)) / spec::page_bytes);
  }
  const std::optional<uint32_t> table = translation_.create_table(underlying_function, pages.Length());
  if (!table || !translation_.write_entries(*table, 0, entries))
    throw Napi::Error::New(addresses.Env(), "no page table for the queue");
  return *table;
}

Napi::Value OrderPort::create_queue_pair(const Napi::CallbackInfo& info) {
  const auto options = info[0].As<Napi::Object>();
  const auto value = [&](const char* name) { return options.Get(name).As<Napi::Number>().Uint32Value(); };
  const unsigned function = value("underlyingFunction");
  spec::QueuePairControl control;
  control.set_state(static_cast<spec::QueuePairState>(value("state")));
  control.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(value("level")));
  control.set_send_queue_log2(value("sendQueueLog2"));
  control.set_send_queue_pages(make_table(function, options.Get("sendQueuePages")));
  control.set_send_entry_pages(make_table(function, options.Get("sendEntryPages")));
  control.set_send_entry_bytes(value("sendEntryBytes"));
  control.set_checksum_secret(value("checksumSecret"));
  const std::optional<uint32_t> created = queue_pairs_.create(function, control);
  if (!created)
    throw Napi::Error::New(info.Env(), "no queue pair is left");
  created_.push_back({.underlying_function = function, .queue_pair_number = *created});
  return Napi::Number::New(info.Env(), *created);
}

void OrderPort::set_state(const Napi::CallbackInfo& info) {
  queue_pairs_.parts(number(info, 0), number(info, 1))
      ->control.set_state(static_cast<spec::QueuePairState>(number(info, 2)));
}

Napi::Value OrderPort::state(const Napi::CallbackInfo& info) {
  const auto found = queue_pairs_.find(number(info, 0), number(info, 1));
  return found ? Napi::Value(Napi::Number::New(info.Env(), static_cast<double>(found->control.state())))
               : info.Env().Null();
}

Napi::Value OrderPort::requester(const Napi::CallbackInfo& info) {
  const auto found = queue_pairs_.find(number(info, 0), number(info, 1));
  return found ? bytes_of(info.Env(), found->requester) : info.Env().Null();
}

// As if all work requests before this one were done.
void OrderPort::set_position(const Napi::CallbackInfo& info) {
  spec::QueuePairRequester& requester = *queue_pairs_.requester(number(info, 0), number(info, 1));
  requester.set_next(number(info, 2));
  requester.set_fetch_next(number(info, 2));
  requester.set_posted(number(info, 2) - 1);
}

Napi::Value OrderPort::resume(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), queue_pair_fetch_.resume(number(info, 0), number(info, 1)));
}

void OrderPort::quiesce(const Napi::CallbackInfo& info) {
  queue_pairs_.parts(number(info, 0), number(info, 1))->control.set_destroying(1);
  queue_pairs_.quiesce(number(info, 1));
  virtual_kick_.drop(number(info, 1));
}

// Destroys a queue pair that has become quiet: its number, or null.
Napi::Value OrderPort::take_quiet(const Napi::CallbackInfo& info) {
  const auto quiet = queue_pairs_.take_quiet();
  if (!quiet)
    return info.Env().Null();
  queue_pairs_.destroy(quiet->queue_pair_number);
  return Napi::Number::New(info.Env(), quiet->queue_pair_number);
}

Napi::Value OrderPort::pins(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), queue_pairs_.pins(number(info, 0)));
}

void OrderPort::reset_function(const Napi::CallbackInfo& info) {
  const unsigned function = number(info, 0);
  was_reset_[function] = true;
  collect_buffer_.reset_function(function);
  queue_pairs_.reset_function(function);
  send_queue_scheduler_.reset_function(function);
  translation_.reset_function(function);
}

Napi::Value OrderPort::can_accept_write(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), collect_buffer_.can_accept_write());
}

void OrderPort::write(const Napi::CallbackInfo& info) {
  hca::BarWrite write;
  write.region = spec::RegionType::virtual_collect_buffer;
  write.page = static_cast<uint16_t>(number(info, 0));
  write.offset = number(info, 1);
  const auto bytes = info[2].As<Napi::Uint8Array>();
  write.length = static_cast<uint32_t>(bytes.ByteLength());
  write.byte_enables = ~uint64_t{0} >> (64 - bytes.ByteLength());
  write.data = bytes.Data();
  collect_buffer_.write(write);
}

// Lets one block work: 0 virtual_kick, 1 queue_pair_fetch, 2 send_queue_scheduler, 3 pipeline_sink.
Napi::Value OrderPort::step(const Napi::CallbackInfo& info) {
  const std::array<hca::Block*, 4> blocks{&virtual_kick_, &queue_pair_fetch_, &send_queue_scheduler_,
                                          &pipeline_sink_};
  hca::Block* const block = blocks.at(number(info, 0));
  if (block == &pipeline_sink_ && !executions_.empty())
    executed_.push_back(executions_.front());
  return Napi::Boolean::New(info.Env(), block->step());
}

Napi::Value OrderPort::take_executions(const Napi::CallbackInfo& info) {
  auto executions = Napi::Array::New(info.Env());
  for (uint32_t index = 0; index < executed_.size(); ++index)
    executions[index] = bytes_of(info.Env(), executed_[index]);
  executed_.clear();
  return executions;
}

Napi::Value OrderPort::take_events(const Napi::CallbackInfo& info) {
  auto events = Napi::Array::New(info.Env());
  for (uint32_t index = 0; index < events_.events.size(); ++index)
    events[index] = bytes_of(info.Env(), events_.events[index]);
  events_.events.clear();
  return events;
}

void OrderPort::set_queuing_structure(const Napi::CallbackInfo& info) {
  const unsigned function = number(info, 0);
  spec::underlying_function::QueuingStructureSize size;
  size.set_entries_log2(number(info, 3));
  send_queue_scheduler_.set_queuing_structure_size(function, size);
  send_queue_scheduler_.set_queuing_structure_address(
      function, static_cast<spec::QualityOfServiceLevel>(number(info, 1)), big_number(info[2]));
}

Napi::Value OrderPort::set_lanes(const Napi::CallbackInfo& info) {
  const auto level = static_cast<spec::QualityOfServiceLevel>(number(info, 1));
  return Napi::Boolean::New(info.Env(), virtual_kick_.set_lanes(number(info, 0), level, big_number(info[2])));
}

Napi::Value OrderPort::set_shared_lanes(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), virtual_kick_.set_shared_lanes(big_number(info[0])));
}

void OrderPort::set_entry_credits(const Napi::CallbackInfo& info) {
  virtual_kick_.set_entry_credits(number(info, 0), number(info, 1));
}

Napi::Value OrderPort::lane_state(const Napi::CallbackInfo& info) {
  const auto from = virtual_kick_.lane_state(number(info, 0));
  auto state = Napi::Object::New(info.Env());
  state["commands"] = from.commands();
  state["executionCredits"] = from.execution_credits();
  state["completionCredits"] = from.completion_credits();
  state["sharedExecutionCredits"] = from.shared_execution_credits();
  state["sharedCompletionCredits"] = from.shared_completion_credits();
  return state;
}

Napi::Value OrderPort::counters(const Napi::CallbackInfo& info) {
  const hca::FunctionCounters& from = counters_.function[number(info, 0)];
  auto counters = Napi::Object::New(info.Env());
  const auto set = [&](const char* name, uint64_t value) { counters[name] = static_cast<double>(value); };
  set("kicks", from.kicks);
  set("sendQueueModeKicks", from.send_queue_mode_kicks);
  set("scheduledKicks", from.scheduled_kicks);
  set("commandsRefused", from.commands_refused);
  set("commandsStale", from.commands_stale);
  set("commandsHandedBack", from.commands_handed_back);
  set("checksumMismatches", from.checksum_mismatches);
  set("commandsSent", from.commands_sent);
  set("commandsFailed", from.commands_failed);
  set("dmaFaults", from.dma_faults);
  return counters;
}

// Every PCB and every credit is in one place, and no block contradicts itself.
const char* OrderPort::contradiction() {
  if (const char* const wrong = virtual_kick_.verify(); wrong != nullptr)
    return wrong;
  if (send_queue_scheduler_.verify() != nullptr)
    return "the queuing structures contradict each other";
  if (queue_pairs_.verify() != nullptr)
    return "queue_pair_state_cache contradicts itself";

  size_t started = executions_.size();
  for (const spec::KickUnit& unit : units_of(kicks_started_))
    started += unit.origin() != spec::KickOrigin::send_queue_mode ? 1 : 0;
  size_t kicked = started + kicks_collected_.size() + kicks_scheduled_.size();
  for (unsigned lane = 0; lane < parameters_.transmit_virtual_lanes; ++lane)
    kicked += virtual_kick_.lane_state(lane).commands();
  size_t in_use = 0;
  const unsigned buffers =
      parameters_.physical_collect_buffers + parameters_.dedicated_physical_collect_buffers;
  for (unsigned buffer = 0; buffer < buffers; ++buffer) {
    const auto state = buffers_[buffer].state;
    in_use += state == spec::PhysicalCollectBufferState::kicked ? 1 : 0;
    if (state == spec::PhysicalCollectBufferState::fetching)
      return "a dedicated PCB was left behind by a fetch";
  }
  if (in_use != kicked)
    return "PCBs in use are not those of the commands in the links and lists";

  size_t completion_credits =
      parameters_.shared_completion_credits - virtual_kick_.shared_credits_free(hca::CreditKind::completion);
  size_t execution_credits =
      parameters_.shared_execution_credits - virtual_kick_.shared_credits_free(hca::CreditKind::execution);
  for (unsigned lane = 0; lane < parameters_.transmit_virtual_lanes; ++lane) {
    const auto state = virtual_kick_.lane_state(lane);
    completion_credits += parameters_.completion_credits_per_lane - state.completion_credits();
    execution_credits += parameters_.execution_credits_per_lane - state.execution_credits();
  }
  const size_t holders = started + finishes_handed_back_.size() + finishes_sent_.size();
  if (execution_credits != holders || completion_credits != holders)
    return "credits held are not those of the commands started";

  // A queue pair is pinned by each of its commands on a lane, and while it is scheduled. A reset of the
  // function takes the pins before its commands have left.
  uint64_t pins = 0;
  uint64_t references = 0;
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function)
    references += was_reset_[function] ? 0 : virtual_kick_.commands(function);
  for (const auto& [function, number] : created_) {
    const auto found = queue_pairs_.find(function, number);
    if (!found)
      continue;
    const spec::QueuePairRequester& requester = found->requester;
    pins += queue_pairs_.pins(number);
    references += requester.scheduled();
    const int fetched = hca::sequence_distance(requester.next(), requester.fetch_next());
    const int posted = hca::sequence_distance(requester.next(), requester.posted() + 1);
    if (fetched < 0 || posted < fetched)
      return "a queue pair's next, fetch_next and posted are out of order";
  }
  if (pins != references)
    return "queue pairs are not pinned as often as data units refer to them";
  return nullptr;
}

Napi::Value OrderPort::verify(const Napi::CallbackInfo& info) {
  const char* const wrong = contradiction();
  return wrong == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), wrong);
}

} // namespace fpga_verbs::test
