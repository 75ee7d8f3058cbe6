#include "test/resource_manager_port.h"

#include "test/parameters_of.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace fpga_verbs::test {

namespace {

constexpr unsigned resource_manager_number = 0; // its bit in the mask of ready blocks

template <class Format> Napi::Value bytes_of(Napi::Env env, const Format& format) {
  Napi::Uint8Array bytes = Napi::Uint8Array::New(env, sizeof format);
  std::memcpy(bytes.Data(), &format, sizeof format);
  return bytes;
}

template <class Number> Napi::Value number_or_null(Napi::Env env, const std::optional<Number>& value) {
  return value ? Napi::Value(Napi::Number::New(env, *value)) : env.Null();
}

} // namespace

Napi::Function ResourceManagerPort::define(Napi::Env env) {
  using P = ResourceManagerPort;
  return DefineClass(env, "ResourceManagerPort",
                     with_host_methods({
                         InstanceMethod("contextMemoryNeeded", &P::context_memory_needed),
                         InstanceMethod("openContextMemory", &P::open_context_memory),
                         InstanceMethod("setEnabled", &P::set_enabled),
                         InstanceMethod("createTable", &P::create_table),
                         InstanceMethod("writeEntries", &P::write_entries),
                         InstanceMethod("destroyTable", &P::destroy_table),
                         InstanceMethod("translate", &P::translate),
                         InstanceMethod("longestTable", &P::longest_table),
                         InstanceMethod("entriesFree", &P::entries_free),
                         InstanceMethod("checkAccess", &P::check_access),
                         InstanceMethod("locate", &P::locate),
                         InstanceMethod("beginAccess", &P::begin_access),
                         InstanceMethod("endAccess", &P::end_access),
                         InstanceMethod("keysFree", &P::keys_free),
                         InstanceMethod("find", &P::find),
                         InstanceMethod("setRequester", &P::set_requester),
                         InstanceMethod("setState", &P::set_state),
                         InstanceMethod("pin", &P::pin),
                         InstanceMethod("unpin", &P::unpin),
                         InstanceMethod("pins", &P::pins),
                         InstanceMethod("enterError", &P::enter_error),
                         InstanceMethod("queuePairsFree", &P::queue_pairs_free),
                         InstanceMethod("beginManagement", &P::begin_management),
                         InstanceMethod("doorbell", &P::doorbell),
                         InstanceMethod("lockManagement", &P::lock_management),
                         InstanceMethod("writeManagementPage", &P::write_management_page),
                         InstanceMethod("canAcceptWrite", &P::can_accept_write),
                         InstanceMethod("step", &P::step),
                         InstanceMethod("isAwake", &P::is_awake),
                         InstanceMethod("pushUnpinned", &P::push_unpinned),
                         InstanceMethod("popUnpinned", &P::pop_unpinned),
                         InstanceMethod("setSendQueueCredit", &P::set_send_queue_credit),
                         InstanceMethod("takeResumed", &P::take_resumed),
                         InstanceMethod("resetFunction", &P::reset_function),
                         InstanceMethod("writeCompletion", &P::write_completion),
                         InstanceMethod("counters", &P::counters),
                         InstanceMethod("verify", &P::verify),
                     }));
}

ResourceManagerPort::ResourceManagerPort(const Napi::CallbackInfo& info)
    : HostedPort<ResourceManagerPort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      event_queue_(parameters_, counters_, host_, clock_, memory_translation_),
      context_memory_(parameters_, counters_, host_, event_queue_),
      memory_translation_(parameters_, context_memory_),
      queue_pair_state_cache_(parameters_, counters_, context_memory_),
      virtual_queue_pairs_(parameters_, clock_),
      completion_queue_(parameters_, counters_, host_, clock_, memory_translation_, queue_pair_state_cache_,
                        event_queue_),
      kick_records_(counters_, host_, clock_, event_queue_),
      collect_buffer_({parameters_, counters_, clock_, buffers_, queue_pair_state_cache_, event_queue_,
                       kick_records_, kicks_collected_, post_notices_, management_units_}),
      virtual_kick_({parameters_,
                     counters_,
                     collect_buffer_,
                     buffers_,
                     queue_pair_state_cache_,
                     lane_map_reader_,
                     waiting_for_room_,
                     kicks_collected_,
                     kicks_scheduled_,
                     kicks_started_,
                     {&finishes_handed_back_, &finishes_sent_}}),
      management_queue_(counters_, host_, clock_, event_queue_), port_attributes_(parameters_),
      resource_manager_(parameters_, host_, clock_, device_,
                        {.collect_buffer = collect_buffer_,
                         .buffers = buffers_,
                         .management_queue = management_queue_,
                         .management_units = management_units_,
                         .queue_pair_state_cache = queue_pair_state_cache_,
                         .virtual_queue_pairs = virtual_queue_pairs_,
                         .context_memory = context_memory_,
                         .memory_translation = memory_translation_,
                         .event_queue = event_queue_,
                         .port_attributes = port_attributes_,
                         .address_handles = address_handles_,
                         .shared_receive_queues = shared_receive_queues_,
                         .multicast_groups = multicast_groups_,
                         .packet_templates = packet_templates_,
                         .counters = counters_.device,
                         .completion_queue = completion_queue_,
                         .queue_pair_fetch = send_queues_,
                         .virtual_kick = virtual_kick_,
                         .waiting_for_room = waiting_for_room_,
                         .kicks_collected = kicks_collected_,
                         .kicks_scheduled = kicks_scheduled_,
                         .kicks_started = kicks_started_,
                         .post_notices = post_notices_}) {
  const hca::Waker to_resource_manager(ready_, resource_manager_number);
  management_units_.connect({}, to_resource_manager);
  management_queue_.on_command(to_resource_manager);
  queue_pair_state_cache_.on_quiet(to_resource_manager);
  memory_translation_.on_quiet(to_resource_manager);
}

Napi::Value ResourceManagerPort::context_memory_needed(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(context_memory_.bytes_needed()));
}

Napi::Value ResourceManagerPort::open_context_memory(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), context_memory_.open(big_number(info[0]), number(info, 1)));
}

void ResourceManagerPort::set_enabled(const Napi::CallbackInfo& info) {
  device_.enabled = info[0].As<Napi::Boolean>().Value();
}

Napi::Value ResourceManagerPort::create_table(const Napi::CallbackInfo& info) {
  return number_or_null(info.Env(), memory_translation_.create_table(number(info, 0), number(info, 1)));
}

Napi::Value ResourceManagerPort::write_entries(const Napi::CallbackInfo& info) {
  const auto bytes = info[2].As<Napi::Uint8Array>();
  std::vector<spec::PageTableEntry> entries(bytes.ByteLength() / spec::PageTableEntry::bytes);
  std::memcpy(entries.data(), bytes.Data(), bytes.ByteLength());
  return Napi::Boolean::New(info.Env(),
                            memory_translation_.write_entries(number(info, 0), number(info, 1), entries));
}

void ResourceManagerPort::destroy_table(const Napi::CallbackInfo& info) {
  memory_translation_.destroy_table(number(info, 0));
}

Napi::Value ResourceManagerPort::translate(const Napi::CallbackInfo& info) {
  const std::optional<uint64_t> address = memory_translation_.translate(number(info, 0), big_number(info[1]));
  return address ? Napi::Value(Napi::BigInt::New(info.Env(), *address)) : info.Env().Null();
}

Napi::Value ResourceManagerPort::longest_table(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), memory_translation_.longest_table());
}

Napi::Value ResourceManagerPort::entries_free(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), memory_translation_.entries_free());
}

Napi::Value ResourceManagerPort::check_access(const Napi::CallbackInfo& info) {
  const auto access = info[0].As<Napi::Object>();
  const auto small = [&](const char* name) { return access.Get(name).As<Napi::Number>().Uint32Value(); };
  return Napi::Number::New(info.Env(), static_cast<double>(memory_translation_.check(
                                           {.underlying_function = small("underlyingFunction"),
                                            .protection_domain = small("protectionDomain"),
                                            .key = small("key"),
                                            .address = big_number(access.Get("address")),
                                            .length = big_number(access.Get("length")),
                                            .rights = small("rights"),
                                            .begun = access.Get("begun").ToBoolean().Value()})));
}

Napi::Value ResourceManagerPort::locate(const Napi::CallbackInfo& info) {
  const auto piece = memory_translation_.locate(number(info, 0), number(info, 1), big_number(info[2]));
  if (!piece)
    return info.Env().Null();
  const auto result = Napi::Object::New(info.Env());
  result.Set("address", Napi::BigInt::New(info.Env(), piece->address));
  result.Set("bytes", Napi::BigInt::New(info.Env(), piece->bytes));
  return result;
}

void ResourceManagerPort::begin_access(const Napi::CallbackInfo& info) {
  memory_translation_.keys().begin_access(number(info, 0));
}

void ResourceManagerPort::end_access(const Napi::CallbackInfo& info) {
  memory_translation_.keys().end_access(number(info, 0));
}

Napi::Value ResourceManagerPort::keys_free(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), memory_translation_.keys().keys_free());
}

Napi::Value ResourceManagerPort::find(const Napi::CallbackInfo& info) {
  const auto found = queue_pair_state_cache_.find(number(info, 0), number(info, 1));
  const auto result = Napi::Object::New(info.Env());
  result.Set("absence", Napi::Number::New(info.Env(), static_cast<double>(found.absence)));
  if (found) {
    result.Set("control", bytes_of(info.Env(), found->control));
    result.Set("requester", bytes_of(info.Env(), found->requester));
    result.Set("responder", bytes_of(info.Env(), found->responder));
  }
  return result;
}

Napi::Value ResourceManagerPort::set_requester(const Napi::CallbackInfo& info) {
  spec::QueuePairRequester* requester = queue_pair_state_cache_.requester(number(info, 0), number(info, 1));
  if (requester != nullptr)
    *requester = format_of<spec::QueuePairRequester>(info[2]);
  return Napi::Boolean::New(info.Env(), requester != nullptr);
}

Napi::Value ResourceManagerPort::set_state(const Napi::CallbackInfo& info) {
  hca::QueuePairParts* parts = queue_pair_state_cache_.parts(number(info, 0), number(info, 1));
  if (parts != nullptr)
    parts->control.set_state(static_cast<spec::QueuePairState>(number(info, 2)));
  return Napi::Boolean::New(info.Env(), parts != nullptr);
}

Napi::Value ResourceManagerPort::pin(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), queue_pair_state_cache_.pin(number(info, 0)));
}

void ResourceManagerPort::unpin(const Napi::CallbackInfo& info) {
  queue_pair_state_cache_.unpin(number(info, 0));
}

Napi::Value ResourceManagerPort::pins(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), queue_pair_state_cache_.pins(number(info, 0)));
}

Napi::Value ResourceManagerPort::enter_error(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(),
                            queue_pair_state_cache_.enter_error(number(info, 0), number(info, 1)));
}

Napi::Value ResourceManagerPort::queue_pairs_free(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), queue_pair_state_cache_.queue_pairs_free());
}

Napi::Value ResourceManagerPort::begin_management(const Napi::CallbackInfo& info) {
  spec::underlying_function::ManagementQueueSize size;
  size.set_entries_log2(number(info, 1));
  return Napi::Boolean::New(
      info.Env(), management_queue_.set_size(number(info, 0), size) &&
                      management_queue_.set_send_queue_address(number(info, 0), big_number(info[2])) &&
                      management_queue_.set_completion_queue_address(number(info, 0), big_number(info[3])));
}

void ResourceManagerPort::doorbell(const Napi::CallbackInfo& info) {
  spec::underlying_function::ManagementDoorbell doorbell;
  doorbell.set_tail(number(info, 1));
  management_queue_.doorbell(number(info, 0), doorbell);
}

Napi::Value ResourceManagerPort::lock_management(const Napi::CallbackInfo& info) {
  return number_or_null(info.Env(), collect_buffer_.lock_management(number(info, 0)));
}

void ResourceManagerPort::write_management_page(const Napi::CallbackInfo& info) {
  const auto bytes = info[2].As<Napi::Uint8Array>();
  hca::BarWrite write;
  write.region = spec::RegionType::underlying_function;
  write.underlying_function = static_cast<uint8_t>(number(info, 0));
  write.page = static_cast<uint16_t>(number(info, 0));
  write.offset = spec::underlying_function::management_page + number(info, 1);
  write.length = static_cast<uint32_t>(std::min<size_t>(bytes.ByteLength(), 64));
  write.byte_enables = ~uint64_t{0} >> (64 - write.length);
  write.data = bytes.Data();
  collect_buffer_.write_management_page(number(info, 0), write);
}

Napi::Value ResourceManagerPort::can_accept_write(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), collect_buffer_.can_accept_write());
}

// As the device does: a block that says it has nothing to do sleeps until it is woken.
Napi::Value ResourceManagerPort::step(const Napi::CallbackInfo& info) {
  if (!ready_.any())
    return Napi::Boolean::New(info.Env(), false);
  ready_.sleep(resource_manager_number);
  if (resource_manager_.step())
    ready_.wake(resource_manager_number);
  return Napi::Boolean::New(info.Env(), true);
}

Napi::Value ResourceManagerPort::is_awake(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), ready_.any());
}

// A data unit on one of the links whose units are not pinned, in the order of ResourceManager::Blocks.
void ResourceManagerPort::push_unpinned(const Napi::CallbackInfo& info) {
  switch (number(info, 0)) {
  case 0:
    return kicks_collected_.push({});
  case 1:
    return kicks_scheduled_.push({});
  case 2:
    return kicks_started_.push({});
  default:
    return post_notices_.push({});
  }
}

void ResourceManagerPort::pop_unpinned(const Napi::CallbackInfo& info) {
  switch (number(info, 0)) {
  case 0:
    return kicks_collected_.pop();
  case 1:
    return kicks_scheduled_.pop();
  case 2:
    return kicks_started_.pop();
  default:
    return post_notices_.pop();
  }
}

Napi::Value ResourceManagerPort::write_completion(const Napi::CallbackInfo& info) {
  spec::CompletionQueueEntry entry;
  return Napi::Boolean::New(info.Env(), completion_queue_.write(number(info, 0), number(info, 1), entry));
}

void ResourceManagerPort::set_send_queue_credit(const Napi::CallbackInfo& info) {
  send_queues_.has_credit = info[0].As<Napi::Boolean>().Value();
}

Napi::Value ResourceManagerPort::take_resumed(const Napi::CallbackInfo& info) {
  const auto taken = Napi::Array::New(info.Env());
  for (const auto& [underlying_function, queue_pair_number] : std::exchange(send_queues_.resumed, {})) {
    const auto resumed = Napi::Object::New(info.Env());
    resumed.Set("underlyingFunction", underlying_function);
    resumed.Set("queuePairNumber", queue_pair_number);
    taken.Set(taken.Length(), resumed);
  }
  return taken;
}

void ResourceManagerPort::reset_function(const Napi::CallbackInfo& info) {
  const unsigned function = number(info, 0);
  collect_buffer_.reset_function(function);
  management_queue_.reset_function(function);
  resource_manager_.reset_function(function);
  queue_pair_state_cache_.reset_function(function);
  completion_queue_.reset_function(function);
  event_queue_.reset_function(function);
  memory_translation_.reset_function(function);
}

Napi::Value ResourceManagerPort::counters(const Napi::CallbackInfo& info) {
  const hca::FunctionCounters& function = counters_.function[number(info, 0)];
  const auto result = Napi::Object::New(info.Env());
  const auto set = [&](const char* name, uint64_t value) { result.Set(name, static_cast<double>(value)); };
  set("commandsRefused", function.commands_refused);
  set("commandsStale", function.commands_stale);
  set("dmaFaults", function.dma_faults);
  set("cacheHits", counters_.device.queue_pair_cache_hits);
  set("cacheMisses", counters_.device.queue_pair_cache_misses);
  return result;
}

Napi::Value ResourceManagerPort::verify(const Napi::CallbackInfo& info) {
  if (queue_pair_state_cache_.verify() != nullptr)
    return Napi::String::New(info.Env(), "queue_pair_state_cache");
  if (memory_translation_.verify() != nullptr)
    return Napi::String::New(info.Env(), "memory_translation");
  if (const char* wrong = collect_buffer_.verify())
    return Napi::String::New(info.Env(), wrong);
  if (const char* wrong = completion_queue_.verify())
    return Napi::String::New(info.Env(), wrong);
  return info.Env().Null();
}

} // namespace fpga_verbs::test
