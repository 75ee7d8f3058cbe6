#include "test/resource_manager_port.h"

#include "test/named_links.h"
#include "test/parameters_of.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace fpga_verbs::test {

namespace {

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
                         InstanceMethod("remember", &P::remember),
                         InstanceMethod("findGranted", &P::find_granted),
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
                         InstanceMethod("push", &P::push),
                         InstanceMethod("pop", &P::pop),
                         InstanceMethod("credits", &P::credits),
                         InstanceMethod("resetFunction", &P::reset_function),
                         InstanceMethod("writeCompletion", &P::write_completion),
                         InstanceMethod("counters", &P::counters),
                         InstanceMethod("verify", &P::verify),
                     }));
}

ResourceManagerPort::ResourceManagerPort(const Napi::CallbackInfo& info)
    : HostedPort<ResourceManagerPort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      resource_manager_(*block_of(device_, "resource_manager")) {}

Napi::Value ResourceManagerPort::context_memory_needed(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(device_.context_memory.bytes_needed()));
}

Napi::Value ResourceManagerPort::open_context_memory(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.context_memory.open(big_number(info[0]), number(info, 1)));
}

void ResourceManagerPort::set_enabled(const Napi::CallbackInfo& info) {
  device_.device.enabled = info[0].As<Napi::Boolean>().Value();
}

Napi::Value ResourceManagerPort::create_table(const Napi::CallbackInfo& info) {
  return number_or_null(info.Env(),
                        device_.memory_translation.create_table(number(info, 0), number(info, 1)));
}

Napi::Value ResourceManagerPort::write_entries(const Napi::CallbackInfo& info) {
  const auto bytes = info[2].As<Napi::Uint8Array>();
  std::vector<spec::PageTableEntry> entries(bytes.ByteLength() / spec::PageTableEntry::bytes);
  std::memcpy(entries.data(), bytes.Data(), bytes.ByteLength());
  return Napi::Boolean::New(
      info.Env(), device_.memory_translation.write_entries(number(info, 0), number(info, 1), entries));
}

void ResourceManagerPort::destroy_table(const Napi::CallbackInfo& info) {
  device_.memory_translation.destroy_table(number(info, 0));
}

Napi::Value ResourceManagerPort::translate(const Napi::CallbackInfo& info) {
  const std::optional<uint64_t> address =
      device_.memory_translation.translate(number(info, 0), big_number(info[1]));
  return address ? Napi::Value(Napi::BigInt::New(info.Env(), *address)) : info.Env().Null();
}

Napi::Value ResourceManagerPort::longest_table(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.memory_translation.longest_table());
}

Napi::Value ResourceManagerPort::entries_free(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.memory_translation.entries_free());
}

static hca::KeyAccess access_of(const Napi::Value& value) {
  const auto access = value.As<Napi::Object>();
  const auto small = [&](const char* name) { return access.Get(name).As<Napi::Number>().Uint32Value(); };
  return {.underlying_function = small("underlyingFunction"),
          .protection_domain = small("protectionDomain"),
          .key = small("key"),
          .address = big_number(access.Get("address")),
          .length = big_number(access.Get("length")),
          .rights = small("rights"),
          .begun = access.Get("begun").ToBoolean().Value()};
}

Napi::Value ResourceManagerPort::check_access(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(),
                           static_cast<double>(device_.memory_translation.check(access_of(info[0]))));
}

void ResourceManagerPort::remember(const Napi::CallbackInfo& info) {
  device_.memory_translation.remember(access_of(info[0]));
}

Napi::Value ResourceManagerPort::find_granted(const Napi::CallbackInfo& info) {
  const std::optional<uint64_t> address = device_.memory_translation.find_granted(access_of(info[0]));
  return address ? Napi::Value(Napi::BigInt::New(info.Env(), *address)) : info.Env().Null();
}

Napi::Value ResourceManagerPort::locate(const Napi::CallbackInfo& info) {
  const auto piece = device_.memory_translation.locate(number(info, 0), number(info, 1), big_number(info[2]));
  if (!piece)
    return info.Env().Null();
  const auto result = Napi::Object::New(info.Env());
  result.Set("address", Napi::BigInt::New(info.Env(), piece->address));
  result.Set("bytes", Napi::BigInt::New(info.Env(), piece->bytes));
  return result;
}

void ResourceManagerPort::begin_access(const Napi::CallbackInfo& info) {
  device_.memory_translation.keys().begin_access(number(info, 0));
}

void ResourceManagerPort::end_access(const Napi::CallbackInfo& info) {
  device_.memory_translation.keys().end_access(number(info, 0));
}

Napi::Value ResourceManagerPort::keys_free(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.memory_translation.keys().keys_free());
}

Napi::Value ResourceManagerPort::find(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
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
  hca::SendQueueState* requester = device_.queue_pair_state_cache.requester(number(info, 0), number(info, 1));
  if (requester != nullptr)
    *requester = hca::SendQueueState(format_of<spec::QueuePairRequester>(info[2]));
  return Napi::Boolean::New(info.Env(), requester != nullptr);
}

Napi::Value ResourceManagerPort::set_state(const Napi::CallbackInfo& info) {
  hca::QueuePairParts* parts = device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1));
  if (parts != nullptr)
    parts->control.set_state(static_cast<spec::QueuePairState>(number(info, 2)));
  return Napi::Boolean::New(info.Env(), parts != nullptr);
}

Napi::Value ResourceManagerPort::pin(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.queue_pair_state_cache.pin(number(info, 0)));
}

void ResourceManagerPort::unpin(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.unpin(number(info, 0));
}

Napi::Value ResourceManagerPort::pins(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.queue_pair_state_cache.pins(number(info, 0)));
}

Napi::Value ResourceManagerPort::enter_error(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(),
                            device_.queue_pair_state_cache.enter_error(number(info, 0), number(info, 1)));
}

Napi::Value ResourceManagerPort::queue_pairs_free(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.queue_pair_state_cache.queue_pairs_free());
}

Napi::Value ResourceManagerPort::begin_management(const Napi::CallbackInfo& info) {
  spec::underlying_function::ManagementQueueSize size;
  size.set_entries_log2(number(info, 1));
  return Napi::Boolean::New(
      info.Env(),
      device_.management_queue.set_size(number(info, 0), size) &&
          device_.management_queue.set_send_queue_address(number(info, 0), big_number(info[2])) &&
          device_.management_queue.set_completion_queue_address(number(info, 0), big_number(info[3])));
}

void ResourceManagerPort::doorbell(const Napi::CallbackInfo& info) {
  spec::underlying_function::ManagementDoorbell doorbell;
  doorbell.set_tail(number(info, 1));
  device_.management_queue.doorbell(number(info, 0), doorbell);
}

Napi::Value ResourceManagerPort::lock_management(const Napi::CallbackInfo& info) {
  return number_or_null(info.Env(), device_.collect_buffer.lock_management(number(info, 0)));
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
  device_.collect_buffer.write_management_page(number(info, 0), write);
}

Napi::Value ResourceManagerPort::can_accept_write(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.collect_buffer.can_accept_write());
}

Napi::Value ResourceManagerPort::step(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), take_turn(device_, resource_manager_));
}

Napi::Value ResourceManagerPort::is_awake(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.ready.is_awake(resource_manager_.number));
}

void ResourceManagerPort::push(const Napi::CallbackInfo& info) { push_unit(info, device_); }

Napi::Value ResourceManagerPort::pop(const Napi::CallbackInfo& info) { return pop_unit(info, device_); }

Napi::Value ResourceManagerPort::credits(const Napi::CallbackInfo& info) {
  return link_credits(info, device_);
}

Napi::Value ResourceManagerPort::write_completion(const Napi::CallbackInfo& info) {
  spec::CompletionQueueEntry entry;
  return Napi::Boolean::New(info.Env(),
                            device_.completion_queue.write(number(info, 0), number(info, 1), entry));
}

void ResourceManagerPort::reset_function(const Napi::CallbackInfo& info) {
  device_.reset_function(number(info, 0));
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
  const char* const wrong = device_.verify();
  return wrong == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), wrong);
}

} // namespace fpga_verbs::test
