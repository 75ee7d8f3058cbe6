#include "test/linked_list_queue_port.h"

#include <array>

namespace fpga_verbs::test {
namespace {

uint32_t number(const Napi::CallbackInfo& info, size_t argument) {
  return info[argument].As<Napi::Number>().Uint32Value();
}

uint16_t short_number(const Napi::CallbackInfo& info, size_t argument) {
  return static_cast<uint16_t>(number(info, argument));
}

// A list or entry identifier, or null for 0xffff.
Napi::Value identifier(Napi::Env env, uint16_t value) {
  return value == 0xffff ? env.Null() : Napi::Value(Napi::Number::New(env, value));
}

Napi::Value name_of(Napi::Env env, hca::LinkedListResult result) {
  constexpr std::array names{"ok",       "full",      "noEntryCredit", "noListIdentifier",
                             "listFull", "closed",    "unknownList",   "empty",
                             "notReady", "corrupted", "ready"};
  return Napi::String::New(env, names[static_cast<size_t>(result)]);
}

Napi::Value name_of(Napi::Env env, hca::SecdedStatus status) {
  constexpr std::array names{"clean", "corrected", "uncorrectable"};
  return Napi::String::New(env, names[static_cast<size_t>(status)]);
}

hca::LinkedListQueueParameters parameters_of(const Napi::Object& options) {
  return {.entries = options.Get("entries").As<Napi::Number>().Uint32Value(),
          .lists = options.Get("lists").As<Napi::Number>().Uint32Value(),
          .addressing = options.Get("direct").As<Napi::Boolean>() ? hca::ListAddressing::direct
                                                                  : hca::ListAddressing::content_addressed,
          .underlying_functions = options.Get("underlyingFunctions").As<Napi::Number>().Uint32Value(),
          .ready_on_push = options.Get("readyOnPush").As<Napi::Boolean>()};
}

} // namespace

Napi::Function LinkedListQueuePort::define(Napi::Env env) {
  using Port = LinkedListQueuePort;
  return DefineClass(env, "LinkedListQueuePort",
                     {
                         InstanceMethod<&Port::set_maximum>("setMaximum"),
                         InstanceMethod<&Port::set_entry_credits>("setEntryCredits"),
                         InstanceMethod<&Port::set_shared_entry_credits>("setSharedEntryCredits"),
                         InstanceMethod<&Port::find>("find"),
                         InstanceMethod<&Port::push>("push"),
                         InstanceMethod<&Port::mark_ready>("markReady"),
                         InstanceMethod<&Port::mark_not_ready>("markNotReady"),
                         InstanceMethod<&Port::arbitrate>("arbitrate"),
                         InstanceMethod<&Port::pop>("pop"),
                         InstanceMethod<&Port::peek>("peek"),
                         InstanceMethod<&Port::reset_peek_pointer>("resetPeekPointer"),
                         InstanceMethod<&Port::reclaim>("reclaim"),
                         InstanceMethod<&Port::reclaim_step>("reclaimStep"),
                         InstanceMethod<&Port::scrub_step>("scrubStep"),
                         InstanceMethod<&Port::inject_error>("injectError"),
                         InstanceMethod<&Port::state>("state"),
                         InstanceMethod<&Port::counters>("counters"),
                         InstanceMethod<&Port::verify>("verify"),
                     });
}

LinkedListQueuePort::LinkedListQueuePort(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<LinkedListQueuePort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      queue_(parameters_) {}

void LinkedListQueuePort::set_maximum(const Napi::CallbackInfo& info) {
  queue_.set_maximum(short_number(info, 0), short_number(info, 1));
}

void LinkedListQueuePort::set_entry_credits(const Napi::CallbackInfo& info) {
  queue_.set_entry_credits(number(info, 0), number(info, 1));
}

void LinkedListQueuePort::set_shared_entry_credits(const Napi::CallbackInfo& info) {
  queue_.set_shared_entry_credits(number(info, 0), number(info, 1));
}

Napi::Value LinkedListQueuePort::find(const Napi::CallbackInfo& info) {
  return identifier(info.Env(), queue_.find(number(info, 0)));
}

// push(index, unit, underlyingFunction)
Napi::Value LinkedListQueuePort::push(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::array<uint64_t, 2> words{};
  size_t count = words.size();
  int negative = 0;
  info[1].As<Napi::BigInt>().ToWords(&negative, &count, words.data());
  const auto pushed = queue_.push(number(info, 0), {words[0], words[1]}, number(info, 2));
  auto value = Napi::Object::New(env);
  value.Set("result", name_of(env, pushed.result));
  value.Set("list", identifier(env, pushed.list));
  value.Set("entry", identifier(env, pushed.entry));
  return value;
}

Napi::Value LinkedListQueuePort::mark_ready(const Napi::CallbackInfo& info) {
  return name_of(info.Env(), queue_.mark_ready(short_number(info, 0)));
}

Napi::Value LinkedListQueuePort::mark_not_ready(const Napi::CallbackInfo& info) {
  return name_of(info.Env(), queue_.mark_not_ready(short_number(info, 0)));
}

Napi::Value LinkedListQueuePort::arbitrate(const Napi::CallbackInfo& info) {
  return identifier(info.Env(), queue_.arbitrate(number(info, 0)));
}

Napi::Value LinkedListQueuePort::pop(const Napi::CallbackInfo& info) {
  return read_value(info.Env(), queue_.pop(short_number(info, 0)));
}

Napi::Value LinkedListQueuePort::peek(const Napi::CallbackInfo& info) {
  return read_value(info.Env(), queue_.peek(short_number(info, 0)));
}

Napi::Value LinkedListQueuePort::reset_peek_pointer(const Napi::CallbackInfo& info) {
  return name_of(info.Env(), queue_.reset_peek_pointer(short_number(info, 0)));
}

Napi::Value LinkedListQueuePort::reclaim(const Napi::CallbackInfo& info) {
  return name_of(info.Env(), queue_.reclaim(short_number(info, 0)));
}

Napi::Value LinkedListQueuePort::reclaim_step(const Napi::CallbackInfo& info) {
  return read_value(info.Env(), queue_.reclaim_step());
}

Napi::Value LinkedListQueuePort::scrub_step(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto scrubbed = queue_.scrub_step();
  auto value = Napi::Object::New(env);
  value.Set("status", name_of(env, scrubbed.status));
  value.Set("entry", Napi::Number::New(env, scrubbed.entry));
  return value;
}

void LinkedListQueuePort::inject_error(const Napi::CallbackInfo& info) {
  queue_.inject_error(short_number(info, 0), number(info, 1));
}

// Everything but the counters: {empty, inboundCredits, reclaiming, dataUnitsReady, lists: [{count, ready}],
// entryCredits: [{own, shared}]}.
Napi::Value LinkedListQueuePort::state(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto value = Napi::Object::New(env);
  value.Set("empty", Napi::Boolean::New(env, queue_.empty()));
  value.Set("inboundCredits", Napi::Number::New(env, static_cast<double>(queue_.inbound_credits())));
  value.Set("reclaiming", Napi::Boolean::New(env, queue_.reclaiming()));
  auto ready = Napi::Array::New(env, parameters_.entries);
  for (uint16_t entry = 0; entry < parameters_.entries; ++entry)
    ready.Set(entry, Napi::Boolean::New(env, queue_.data_unit_ready(entry)));
  value.Set("dataUnitsReady", ready);
  auto lists = Napi::Array::New(env, parameters_.lists);
  for (uint16_t list = 0; list < parameters_.lists; ++list) {
    auto of_list = Napi::Object::New(env);
    of_list.Set("count", Napi::Number::New(env, queue_.count(list)));
    of_list.Set("ready", Napi::Boolean::New(env, queue_.lists_ready().test(list)));
    lists.Set(list, of_list);
  }
  value.Set("lists", lists);
  auto credits = Napi::Array::New(env, parameters_.underlying_functions);
  for (uint32_t function = 0; function < parameters_.underlying_functions; ++function) {
    auto of_function = Napi::Object::New(env);
    of_function.Set("own", Napi::Number::New(env, queue_.entry_credits().own_held(function)));
    of_function.Set("shared", Napi::Number::New(env, queue_.entry_credits().shared_held(function)));
    credits.Set(function, of_function);
  }
  value.Set("entryCredits", credits);
  return value;
}

Napi::Value LinkedListQueuePort::counters(const Napi::CallbackInfo& info) {
  auto value = Napi::Object::New(info.Env());
  const auto set = [&](const char* name, uint64_t count) {
    value.Set(name, Napi::Number::New(info.Env(), static_cast<double>(count)));
  };
  const hca::LinkedListQueueCounters& counters = queue_.counters();
  set("pushed", counters.pushed);
  set("popped", counters.popped);
  set("reclaimed", counters.reclaimed);
  set("droppedFull", counters.dropped_full);
  set("droppedNoEntryCredit", counters.dropped_no_entry_credit);
  set("droppedNoListIdentifier", counters.dropped_no_list_identifier);
  set("droppedListFull", counters.dropped_list_full);
  set("droppedClosed", counters.dropped_closed);
  set("droppedCorrupted", counters.dropped_corrupted);
  set("correctedBitErrors", counters.corrected_bit_errors);
  set("detectedBitErrors", counters.detected_bit_errors);
  return value;
}

Napi::Value LinkedListQueuePort::verify(const Napi::CallbackInfo& info) {
  const char* contradiction = queue_.verify();
  return contradiction == nullptr ? info.Env().Null()
                                  : Napi::Value(Napi::String::New(info.Env(), contradiction));
}

// {result, entry, index, unit}; a refusal has only the result, the rest is null. A corrupted entry has no
// data unit.
Napi::Value LinkedListQueuePort::read_value(Napi::Env env, const Queue::Read& read) {
  auto value = Napi::Object::New(env);
  const bool found = read.entry != hca::no_entry;
  const std::array words{read.unit.low, read.unit.high};
  value.Set("result", name_of(env, read.result));
  value.Set("entry", identifier(env, read.entry));
  value.Set("index", found ? Napi::Value(Napi::Number::New(env, read.index)) : env.Null());
  value.Set("unit", read.result == hca::LinkedListResult::ok
                        ? Napi::Value(Napi::BigInt::New(env, 0, words.size(), words.data()))
                        : env.Null());
  return value;
}

} // namespace fpga_verbs::test
