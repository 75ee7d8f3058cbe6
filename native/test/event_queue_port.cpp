#include "test/event_queue_port.h"

#include <optional>
#include <vector>

namespace fpga_verbs::test {

namespace {

// Context memory small enough to lie at the end of the host's memory.
hca::HcaParameters small_parameters() {
  hca::HcaParameters parameters;
  parameters.queue_pairs = 8;
  parameters.page_table_entries = 1024;
  parameters.memory_keys = 256;
  return parameters;
}

} // namespace

Napi::Function EventQueuePort::define(Napi::Env env) {
  return DefineClass(env, "EventQueuePort",
                     with_host_methods({
                         InstanceMethod("create", &EventQueuePort::create),
                         InstanceMethod("destroy", &EventQueuePort::destroy),
                         InstanceMethod("arm", &EventQueuePort::arm),
                         InstanceMethod("report", &EventQueuePort::report),
                         InstanceMethod("step", &EventQueuePort::step),
                         InstanceMethod("nextDeadline", &EventQueuePort::next_deadline),
                         InstanceMethod("resetFunction", &EventQueuePort::reset_function),
                         InstanceMethod("dropped", &EventQueuePort::dropped),
                         InstanceMethod("verify", &EventQueuePort::verify),
                     }));
}

EventQueuePort::EventQueuePort(const Napi::CallbackInfo& info)
    : HostedPort<EventQueuePort>(info), parameters_(small_parameters()),
      event_queue_(parameters_, counters_, host_, clock_, translation_),
      context_memory_(parameters_, counters_, host_, event_queue_),
      translation_(parameters_, context_memory_) {
  const uint64_t needed = context_memory_.bytes_needed();
  if (needed > host_.bytes() || !context_memory_.open(TestHost::base + host_.bytes() - needed, needed))
    throw Napi::RangeError::New(info.Env(), "memoryBytes does not hold the " + std::to_string(needed) +
                                                " B of context memory");
}

Napi::Value EventQueuePort::create(const Napi::CallbackInfo& info) {
  const auto addresses = info[2].As<Napi::Array>();
  std::vector<spec::PageTableEntry> entries(addresses.Length());
  for (uint32_t page = 0; page < addresses.Length(); ++page) {
    entries[page].set_valid(1);
    entries[page].set_page(big_number(addresses.Get(page)) / spec::page_bytes);
  }
  const std::optional<uint32_t> table = translation_.create_table(number(info, 0), addresses.Length());
  if (!table || !translation_.write_entries(*table, 0, entries))
    throw Napi::Error::New(info.Env(), "no page table for the queue");
  const auto input = format_of<spec::CreateEventQueueInput>(info[1]);
  const spec::ManagementStatus status = event_queue_.create(number(info, 0), input, *table);
  if (status != spec::ManagementStatus::success)
    translation_.destroy_table(*table);
  return Napi::Number::New(info.Env(), static_cast<double>(status));
}

Napi::Value EventQueuePort::destroy(const Napi::CallbackInfo& info) {
  const std::optional<uint32_t> table = event_queue_.destroy(number(info, 0), number(info, 1));
  if (table)
    translation_.destroy_table(*table);
  return Napi::Boolean::New(info.Env(), table.has_value());
}

void EventQueuePort::arm(const Napi::CallbackInfo& info) {
  event_queue_.arm(number(info, 0), number(info, 1));
}

void EventQueuePort::report(const Napi::CallbackInfo& info) {
  event_queue_.report(format_of<spec::EventUnit>(info[0]));
}

Napi::Value EventQueuePort::step(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), event_queue_.step());
}

Napi::Value EventQueuePort::next_deadline(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), event_queue_.next_deadline());
}

void EventQueuePort::reset_function(const Napi::CallbackInfo& info) {
  event_queue_.reset_function(number(info, 0));
}

Napi::Value EventQueuePort::dropped(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(),
                           static_cast<double>(counters_.function[number(info, 0)].events_dropped));
}

Napi::Value EventQueuePort::verify(const Napi::CallbackInfo& info) {
  const char* const wrong = event_queue_.verify();
  return wrong == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), wrong);
}

} // namespace fpga_verbs::test
