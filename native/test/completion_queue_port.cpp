#include "test/completion_queue_port.h"

#include "spec/parameters.h"
#include "test/named_links.h"
#include "test/parameters_of.h"

#include <cstring>
#include <optional>
#include <vector>

namespace fpga_verbs::test {

Napi::Function CompletionQueuePort::define(Napi::Env env) {
  using P = CompletionQueuePort;
  return DefineClass(env, "CompletionQueuePort",
                     with_host_methods({
                         InstanceMethod("create", &P::create),
                         InstanceMethod("destroy", &P::destroy),
                         InstanceMethod("resize", &P::resize),
                         InstanceMethod("tail", &P::tail),
                         InstanceMethod("moderate", &P::moderate),
                         InstanceMethod("nextDeadline", &P::next_deadline),
                         InstanceMethod("exists", &P::exists),
                         InstanceMethod("isInError", &P::is_in_error),
                         InstanceMethod("write", &P::write),
                         InstanceMethod("arm", &P::arm),
                         InstanceMethod("createQueuePair", &P::create_queue_pair),
                         InstanceMethod("state", &P::state),
                         InstanceMethod("step", &P::step),
                         InstanceMethod("takeEvents", &P::take_events),
                         InstanceMethod("resetFunction", &P::reset_function),
                         InstanceMethod("dropped", &P::dropped),
                         InstanceMethod("verify", &P::verify),
                     }));
}

CompletionQueuePort::CompletionQueuePort(const Napi::CallbackInfo& info)
    : HostedPort<CompletionQueuePort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      completion_queue_(*block_of(device_, "completion_queue")) {
  const uint64_t needed = device_.context_memory.bytes_needed();
  if (needed > host_.bytes() || !device_.context_memory.open(TestHost::base + host_.bytes() - needed, needed))
    throw Napi::RangeError::New(info.Env(), "memoryBytes does not hold the " + std::to_string(needed) +
                                                " B of context memory");
}

// Creates a queue with the pages at the given addresses; returns its number, or null.
Napi::Value CompletionQueuePort::create(const Napi::CallbackInfo& info) {
  const uint32_t table = make_table(number(info, 0), info[2].As<Napi::Array>());
  const auto input = format_of<spec::CreateCompletionQueueInput>(info[1]);
  const std::optional<uint32_t> created = device_.completion_queue.create(number(info, 0), input, table);
  if (created)
    return Napi::Number::New(info.Env(), *created);
  device_.memory_translation.destroy_table(table);
  return info.Env().Null();
}

uint32_t CompletionQueuePort::make_table(unsigned underlying_function, const Napi::Array& addresses) {
  std::vector<spec::PageTableEntry> entries(addresses.Length());
  for (uint32_t page = 0; page < addresses.Length(); ++page) {
    entries[page].set_valid(1);
    entries[page].set_page(big_number(addresses.Get(page)) / spec::page_bytes);
  }
  const std::optional<uint32_t> table =
      device_.memory_translation.create_table(underlying_function, addresses.Length());
  if (!table || !device_.memory_translation.write_entries(*table, 0, entries))
    throw Napi::Error::New(addresses.Env(), "no page table for the queue");
  return *table;
}

// Resizes to 2^entries_log2 entries at the given pages; returns the management_status.
Napi::Value CompletionQueuePort::resize(const Napi::CallbackInfo& info) {
  uint32_t table = make_table(number(info, 0), info[3].As<Napi::Array>());
  const spec::ManagementStatus status =
      device_.completion_queue.resize(number(info, 1), number(info, 2), table);
  device_.memory_translation.destroy_table(table);
  return Napi::Number::New(info.Env(), static_cast<double>(status));
}

Napi::Value CompletionQueuePort::tail(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.completion_queue.tail(number(info, 0)));
}

void CompletionQueuePort::moderate(const Napi::CallbackInfo& info) {
  device_.completion_queue.moderate(number(info, 0), number(info, 1), number(info, 2));
}

// The clock tick at which the block must step, or null.
Napi::Value CompletionQueuePort::next_deadline(const Napi::CallbackInfo& info) {
  const uint64_t deadline = device_.completion_queue.next_deadline();
  return deadline == ~uint64_t{0} ? info.Env().Null() : Napi::Value(Napi::BigInt::New(info.Env(), deadline));
}

void CompletionQueuePort::destroy(const Napi::CallbackInfo& info) {
  device_.memory_translation.destroy_table(device_.completion_queue.destroy(number(info, 0)));
}

Napi::Value CompletionQueuePort::exists(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.completion_queue.exists(number(info, 0), number(info, 1)));
}

Napi::Value CompletionQueuePort::is_in_error(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.completion_queue.is_in_error(number(info, 0)));
}

Napi::Value CompletionQueuePort::write(const Napi::CallbackInfo& info) {
  auto entry = format_of<spec::CompletionQueueEntry>(info[2]);
  return Napi::Boolean::New(info.Env(),
                            device_.completion_queue.write(number(info, 0), number(info, 1), entry));
}

Napi::Value CompletionQueuePort::arm(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.completion_queue.arm(number(info, 0), {big_number(info[1])}));
}

// A queue pair with a send and a receive completion queue.
Napi::Value CompletionQueuePort::create_queue_pair(const Napi::CallbackInfo& info) {
  spec::QueuePairControl control;
  control.set_state(spec::QueuePairState::ready_to_send);
  control.set_send_completion_queue(number(info, 1));
  control.set_receive_completion_queue(number(info, 2));
  const std::optional<uint32_t> created = device_.queue_pair_state_cache.create(number(info, 0), control);
  if (!created)
    throw Napi::Error::New(info.Env(), "no queue pair is left");
  return Napi::Number::New(info.Env(), *created);
}

Napi::Value CompletionQueuePort::state(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return found ? Napi::Value(Napi::Number::New(info.Env(), static_cast<double>(found->control.state())))
               : info.Env().Null();
}

// Lets the block step if it is awake or its deadline has arrived; false: it sleeps.
Napi::Value CompletionQueuePort::step(const Napi::CallbackInfo& info) {
  if (device_.completion_queue.next_deadline() <= clock_.now())
    device_.ready.wake(completion_queue_.number);
  return Napi::Boolean::New(info.Env(), take_turn(device_, completion_queue_));
}

Napi::Value CompletionQueuePort::take_events(const Napi::CallbackInfo& info) {
  const auto taken = Napi::Array::New(info.Env());
  for (const spec::EventUnit& event : events_.events) {
    auto bytes = Napi::Uint8Array::New(info.Env(), sizeof event);
    std::memcpy(bytes.Data(), &event, sizeof event);
    taken.Set(taken.Length(), bytes);
  }
  events_.events.clear();
  return taken;
}

void CompletionQueuePort::reset_function(const Napi::CallbackInfo& info) {
  device_.reset_function(number(info, 0));
}

Napi::Value CompletionQueuePort::dropped(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(),
                           static_cast<double>(counters_.function[number(info, 0)].completions_dropped));
}

Napi::Value CompletionQueuePort::verify(const Napi::CallbackInfo& info) {
  const char* const wrong = device_.verify();
  return wrong == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), wrong);
}

} // namespace fpga_verbs::test
