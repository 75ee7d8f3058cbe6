#include "test/order_port.h"

#include "hca/base/sequence_number.h"
#include "test/device_links.h"
#include "test/parameters_of.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace fpga_verbs::test {

namespace {

template <class DataUnit> Napi::Value bytes_of(Napi::Env env, const DataUnit& unit) {
  auto bytes = Napi::Uint8Array::New(env, sizeof unit);
  std::memcpy(bytes.Data(), &unit, sizeof unit);
  return bytes;
}

// The data units in a link.
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
                         InstanceMethod("isAwake", &OrderPort::is_awake),
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
    : HostedPort<OrderPort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())) {
  const uint64_t needed = device_.context_memory.bytes_needed();
  if (needed > host_.bytes() || !device_.context_memory.open(TestHost::base + host_.bytes() - needed, needed))
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
  const std::optional<uint32_t> table =
      device_.memory_translation.create_table(underlying_function, pages.Length());
  if (!table || !device_.memory_translation.write_entries(*table, 0, entries))
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
  const std::optional<uint32_t> created = device_.queue_pair_state_cache.create(function, control);
  if (!created)
    throw Napi::Error::New(info.Env(), "no queue pair is left");
  created_.push_back({.underlying_function = function, .queue_pair_number = *created});
  return Napi::Number::New(info.Env(), *created);
}

void OrderPort::set_state(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1))
      ->control.set_state(static_cast<spec::QueuePairState>(number(info, 2)));
}

Napi::Value OrderPort::state(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return found ? Napi::Value(Napi::Number::New(info.Env(), static_cast<double>(found->control.state())))
               : info.Env().Null();
}

Napi::Value OrderPort::requester(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return found ? bytes_of(info.Env(), found->requester) : info.Env().Null();
}

// As if all work requests before this one were complete.
void OrderPort::set_position(const Napi::CallbackInfo& info) {
  hca::SendQueueState& requester =
      *device_.queue_pair_state_cache.requester(number(info, 0), number(info, 1));
  requester.set_next(number(info, 2));
  requester.set_fetch_next(number(info, 2));
  requester.set_posted(number(info, 2) - 1);
}

Napi::Value OrderPort::resume(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.queue_pair_fetch.resume(number(info, 0), number(info, 1)));
}

void OrderPort::quiesce(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1))->control.set_destroying(1);
  device_.queue_pair_state_cache.quiesce(number(info, 1));
  device_.virtual_kick.drop(number(info, 1));
}

// Destroys a queue pair that has become quiet: its number, or null.
Napi::Value OrderPort::take_quiet(const Napi::CallbackInfo& info) {
  const auto quiet = device_.queue_pair_state_cache.take_quiet();
  if (!quiet)
    return info.Env().Null();
  device_.queue_pair_state_cache.destroy(quiet->queue_pair_number);
  return Napi::Number::New(info.Env(), quiet->queue_pair_number);
}

Napi::Value OrderPort::pins(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.queue_pair_state_cache.pins(number(info, 0)));
}

void OrderPort::reset_function(const Napi::CallbackInfo& info) {
  const unsigned function = number(info, 0);
  was_reset_[function] = true;
  device_.collect_buffer.reset_function(function);
  device_.queue_pair_state_cache.reset_function(function);
  device_.send_queue_scheduler.reset_function(function);
  device_.waiting_for_room.reset_function(function);
  device_.memory_translation.reset_function(function);
}

Napi::Value OrderPort::can_accept_write(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.collect_buffer.can_accept_write());
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
  device_.collect_buffer.write(write);
}

namespace {

// The blocks of a device that step() steps, by their numbers.
constexpr std::array<std::string_view, 3> stepped{"virtual_kick", "queue_pair_fetch", "send_queue_scheduler"};
constexpr unsigned sink = stepped.size();

} // namespace

// Lets one block work: 0 virtual_kick, 1 queue_pair_fetch, 2 send_queue_scheduler, 3 pipeline_sink. Returns
// false if it has nothing to do until it is woken.
Napi::Value OrderPort::step(const Napi::CallbackInfo& info) {
  const unsigned chosen = number(info, 0);
  if (chosen == sink) {
    if (!device_.links.executions.empty())
      executed_.push_back(device_.links.executions.front());
    return Napi::Boolean::New(info.Env(), pipeline_sink_.step());
  }
  const NamedBlock named = *block_of(device_, stepped.at(chosen));
  device_.ready.sleep(named.number);
  const bool has_more = named.block.step();
  if (has_more)
    device_.ready.wake(named.number);
  return Napi::Boolean::New(info.Env(), has_more);
}

// Whether one of them has something to do.
Napi::Value OrderPort::is_awake(const Napi::CallbackInfo& info) {
  const bool awake = std::ranges::any_of(stepped, [this](const std::string_view name) {
    return device_.ready.is_awake(block_of(device_, name)->number);
  });
  return Napi::Boolean::New(info.Env(), awake || !device_.links.executions.empty());
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
  device_.send_queue_scheduler.set_queuing_structure_size(function, size);
  device_.send_queue_scheduler.set_queuing_structure_address(
      function, static_cast<spec::QualityOfServiceLevel>(number(info, 1)), big_number(info[2]));
}

Napi::Value OrderPort::set_lanes(const Napi::CallbackInfo& info) {
  const auto level = static_cast<spec::QualityOfServiceLevel>(number(info, 1));
  return Napi::Boolean::New(info.Env(),
                            device_.virtual_kick.set_lanes(number(info, 0), level, big_number(info[2])));
}

Napi::Value OrderPort::set_shared_lanes(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.virtual_kick.set_shared_lanes(big_number(info[0])));
}

void OrderPort::set_entry_credits(const Napi::CallbackInfo& info) {
  device_.virtual_kick.set_entry_credits(number(info, 0), number(info, 1));
}

Napi::Value OrderPort::lane_state(const Napi::CallbackInfo& info) {
  const auto from = device_.virtual_kick.lane_state(number(info, 0));
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
  if (const char* const wrong = device_.virtual_kick.verify(); wrong != nullptr)
    return wrong;
  if (device_.send_queue_scheduler.verify() != nullptr)
    return "the queuing structures are inconsistent";
  if (device_.queue_pair_state_cache.verify() != nullptr)
    return "queue_pair_state_cache contradicts itself";

  size_t started = device_.links.executions.size();
  for (const spec::KickUnit& unit : units_of(device_.links.kicks_started))
    started += unit.origin() != spec::KickOrigin::send_queue_mode ? 1 : 0;
  size_t kicked = started + device_.links.kicks_collected.size() + device_.links.kicks_scheduled.size();
  for (unsigned lane = 0; lane < parameters_.transmit_virtual_lanes; ++lane)
    kicked += device_.virtual_kick.lane_state(lane).commands();
  size_t in_use = 0;
  const unsigned buffers =
      parameters_.physical_collect_buffers + parameters_.dedicated_physical_collect_buffers;
  for (unsigned buffer = 0; buffer < buffers; ++buffer) {
    const auto state = device_.physical_collect_buffers[buffer].state;
    in_use += state == spec::PhysicalCollectBufferState::kicked ? 1 : 0;
    if (state == spec::PhysicalCollectBufferState::fetching)
      return "a dedicated PCB was left behind by a fetch";
  }
  if (in_use != kicked)
    return "PCBs in use are not those of the commands in the links and lists";

  size_t completion_credits = parameters_.shared_completion_credits -
                              device_.virtual_kick.shared_credits_free(hca::CreditKind::completion);
  size_t execution_credits = parameters_.shared_execution_credits -
                             device_.virtual_kick.shared_credits_free(hca::CreditKind::execution);
  for (unsigned lane = 0; lane < parameters_.transmit_virtual_lanes; ++lane) {
    const auto state = device_.virtual_kick.lane_state(lane);
    completion_credits += parameters_.completion_credits_per_lane - state.completion_credits();
    execution_credits += parameters_.execution_credits_per_lane - state.execution_credits();
  }
  const size_t holders =
      started + device_.links.finishes_handed_back.size() + device_.links.finishes_sent.size();
  if (execution_credits != holders || completion_credits != holders)
    return "credits held are not those of the commands started";

  // Each command on a lane pins its queue pair, and so does its place in a schedule. A reset of the function
  // ends the pins before the function's commands have left.
  uint64_t pins = 0;
  uint64_t references = 0;
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function)
    references += was_reset_[function] ? 0 : device_.virtual_kick.commands(function);
  for (const auto& [function, number] : created_) {
    const auto found = device_.queue_pair_state_cache.find(function, number);
    if (!found)
      continue;
    const hca::SendQueueState& requester = found->requester;
    pins += device_.queue_pair_state_cache.pins(number);
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
