#include "test/receive_queue_port.h"

#include "spec/parameters.h"
#include "test/device_links.h"
#include "test/parameters_of.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::test {

namespace {

template <class Format> Napi::Value bytes_of(Napi::Env env, const Format& format) {
  auto bytes = Napi::Uint8Array::New(env, sizeof format);
  std::memcpy(bytes.Data(), &format, sizeof format);
  return bytes;
}

Napi::Value value_of(Napi::Env env, const hca::ReceiveDescriptor& descriptor) {
  auto value = Napi::Object::New(env);
  value["sequenceNumber"] = descriptor.sequence_number;
  value["offset"] = descriptor.offset;
  value["length"] = descriptor.length;
  return value;
}

} // namespace

Napi::Function ReceiveQueuePort::define(Napi::Env env) {
  using P = ReceiveQueuePort;
  return DefineClass(env, "ReceiveQueuePort",
                     with_host_methods({
                         InstanceMethod("createQueuePair", &P::create_queue_pair),
                         InstanceMethod("setState", &P::set_state),
                         InstanceMethod("state", &P::state),
                         InstanceMethod("responder", &P::responder),
                         InstanceMethod("setPosition", &P::set_position),
                         InstanceMethod("resetQueuePair", &P::reset_queue_pair),
                         InstanceMethod("resetFunction", &P::reset_function),
                         InstanceMethod("takeEvents", &P::take_events),
                         InstanceMethod("dmaFaults", &P::dma_faults),
                         InstanceMethod("take", &P::take),
                         InstanceMethod("taken", &P::taken),
                         InstanceMethod("doorbell", &P::doorbell),
                         InstanceMethod("takeDoorbell", &P::take_doorbell),
                         InstanceMethod("wasWokenByDoorbell", &P::was_woken_by_doorbell),
                         InstanceMethod("accept", &P::accept),
                         InstanceMethod("step", &P::step),
                         InstanceMethod("takePlaced", &P::take_placed),
                         InstanceMethod("entry", &P::entry),
                         InstanceMethod("release", &P::release),
                         InstanceMethod("verify", &P::verify),
                         InstanceMethod("references", &P::references),
                         InstanceMethod("placesFilled", &P::places_filled),
                     }));
}

ReceiveQueuePort::ReceiveQueuePort(const Napi::CallbackInfo& info)
    : HostedPort<ReceiveQueuePort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())) {
  const uint64_t needed = device_.context_memory.bytes_needed();
  if (needed > host_.bytes() || !device_.context_memory.open(TestHost::base + host_.bytes() - needed, needed))
    throw Napi::RangeError::New(info.Env(), "memoryBytes does not hold the " + std::to_string(needed) +
                                                " B of context memory");
}

// A table of the pages at these addresses; 0 stands for a page that is not mapped.
uint32_t ReceiveQueuePort::make_table(unsigned underlying_function, const Napi::Value& addresses) {
  const auto pages = addresses.As<Napi::Array>();
  std::vector<spec::PageTableEntry> entries(pages.Length());
  for (uint32_t page = 0; page < pages.Length(); ++page) {
    const uint64_t address = big_number(pages.Get(page));
    entries[page].set_valid(address != 0 ? 1 : 0);
    entries[page].set_page(address / spec::page_bytes);
  }
  const std::optional<uint32_t> table =
      device_.memory_translation.create_table(underlying_function, pages.Length());
  if (!table || !device_.memory_translation.write_entries(*table, 0, entries))
    throw Napi::Error::New(addresses.Env(), "no page table for the queue");
  return *table;
}

// Without receiveQueuePages the queue pair has no receive queue.
Napi::Value ReceiveQueuePort::create_queue_pair(const Napi::CallbackInfo& info) {
  const auto options = info[0].As<Napi::Object>();
  const auto value = [&](const char* name) { return options.Get(name).As<Napi::Number>().Uint32Value(); };
  const unsigned function = value("underlyingFunction");
  spec::QueuePairControl control;
  control.set_state(spec::QueuePairState::ready_to_receive);
  if (options.Get("receiveQueuePages").As<Napi::Array>().Length() != 0) {
    control.set_receive_queue_log2(value("receiveQueueLog2"));
    control.set_receive_queue_pages(make_table(function, options.Get("receiveQueuePages")));
    control.set_receive_entry_pages(make_table(function, options.Get("receiveEntryPages")));
    control.set_receive_entry_bytes(value("receiveEntryBytes"));
    control.set_receive_tail_address(big_number(options.Get("receiveTailAddress")));
  }
  const std::optional<uint32_t> created = device_.queue_pair_state_cache.create(function, control);
  if (!created)
    throw Napi::Error::New(info.Env(), "no queue pair is left");
  return Napi::Number::New(info.Env(), *created);
}

void ReceiveQueuePort::set_state(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1))
      ->control.set_state(static_cast<spec::QueuePairState>(number(info, 2)));
}

Napi::Value ReceiveQueuePort::state(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return found ? Napi::Value(Napi::Number::New(info.Env(), static_cast<double>(found->control.state())))
               : info.Env().Null();
}

Napi::Value ReceiveQueuePort::responder(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return found ? bytes_of(info.Env(), found->responder) : info.Env().Null();
}

// As if all work requests before this one were complete.
void ReceiveQueuePort::set_position(const Napi::CallbackInfo& info) {
  hca::ReceiveQueueState& responder =
      *device_.queue_pair_state_cache.responder(number(info, 0), number(info, 1));
  responder.set_receive_head(number(info, 2));
  responder.set_receive_tail(number(info, 2));
}

void ReceiveQueuePort::reset_queue_pair(const Napi::CallbackInfo& info) {
  hca::QueuePairStateCache::reset_requester_and_responder(
      *device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1)));
}

void ReceiveQueuePort::reset_function(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.reset_function(number(info, 0));
  device_.memory_translation.reset_function(number(info, 0));
}

Napi::Value ReceiveQueuePort::take_events(const Napi::CallbackInfo& info) {
  const auto taken = Napi::Array::New(info.Env());
  for (const spec::EventUnit& event : events_.events)
    taken.Set(taken.Length(), bytes_of(info.Env(), event));
  events_.events.clear();
  return taken;
}

Napi::Value ReceiveQueuePort::dma_faults(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(counters_.function[number(info, 0)].dma_faults));
}

// Takes an available receive work request, or requests one and waits.
Napi::Value ReceiveQueuePort::take(const Napi::CallbackInfo& info) {
  const unsigned function = number(info, 0);
  const uint32_t queue_pair = number(info, 1);
  if (!device_.descriptor_fetch.take_prefetched(function, queue_pair)) {
    spec::QueuePairNotice wanted;
    wanted.set_underlying_function(function);
    wanted.set_queue_pair_number(queue_pair);
    wanted.set_kind(spec::QueuePairNoticeKind::take_descriptor);
    device_.links.descriptors_wanted.push(wanted);
    while (device_.descriptor_fetch.step())
      ;
    const spec::QueuePairNoticeKind answer = device_.links.descriptors_fetched.front().kind();
    device_.links.descriptors_fetched.pop();
    device_.ready.sleep(block_of(device_, "receive")->number); // its answer has been taken
    if (answer != spec::QueuePairNoticeKind::descriptor_taken)
      return info.Env().Null();
  }
  return taken(info);
}

Napi::Value ReceiveQueuePort::taken(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return value_of(info.Env(), hca::DescriptorFetch::taken(found->responder));
}

Napi::Value ReceiveQueuePort::doorbell(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(),
                            device_.descriptor_fetch.doorbell(number(info, 0), {big_number(info[1])}));
}

Napi::Value ReceiveQueuePort::take_doorbell(const Napi::CallbackInfo& info) {
  const auto rung = device_.descriptor_fetch.take_doorbell();
  if (!rung)
    return info.Env().Null();
  auto value = Napi::Object::New(info.Env());
  value["underlyingFunction"] = rung->underlying_function;
  value["queuePairNumber"] = rung->queue_pair_number;
  return value;
}

Napi::Value ReceiveQueuePort::was_woken_by_doorbell(const Napi::CallbackInfo& info) {
  const unsigned receive = block_of(device_, "receive")->number;
  const bool woken = device_.ready.is_awake(receive);
  device_.ready.sleep(receive);
  return Napi::Boolean::New(info.Env(), woken);
}

// Sends a unit with a packet to the handler. Returns the packet's number, or null if the link has no credit.
Napi::Value ReceiveQueuePort::accept(const Napi::CallbackInfo& info) {
  if (!device_.links.requests_accepted.has_credit())
    return info.Env().Null();
  const auto packet = device_.packet_memory.allocate(hca::PacketUse::receive);
  if (!packet)
    throw Napi::Error::New(info.Env(), "no packet buffer is left");
  const auto options = info[0].As<Napi::Object>();
  const auto value = [&](const char* name) { return options.Get(name).As<Napi::Number>().Uint32Value(); };
  hca::Packet& fields = device_.packet_memory[*packet];
  fields.receive_sequence_number = static_cast<uint16_t>(value("sequenceNumber"));
  fields.receive_entry_offset = value("offset");
  fields.receive_entry_length = static_cast<uint16_t>(value("length"));
  fields.first = options.Get("first").As<Napi::Boolean>().Value();
  fields.last = options.Get("last").As<Napi::Boolean>().Value();
  spec::ReceiveUnit unit;
  unit.set_packet(*packet);
  unit.set_action(static_cast<spec::ReceiveAction>(value("action")));
  unit.set_underlying_function(value("underlyingFunction"));
  unit.set_queue_pair_number(value("queuePairNumber"));
  device_.links.requests_accepted.push(unit);
  return Napi::Number::New(info.Env(), *packet);
}

// Lets the handler work if it is awake. Returns false if it sleeps.
Napi::Value ReceiveQueuePort::step(const Napi::CallbackInfo& info) {
  const NamedBlock handler = *block_of(device_, "receive_queue_entry_handler");
  if (!device_.ready.is_awake(handler.number))
    return Napi::Boolean::New(info.Env(), false);
  device_.ready.sleep(handler.number);
  if (handler.block.step())
    device_.ready.wake(handler.number);
  return Napi::Boolean::New(info.Env(), true);
}

Napi::Value ReceiveQueuePort::take_placed(const Napi::CallbackInfo& info) {
  if (device_.links.requests_placed.empty())
    return info.Env().Null();
  const spec::ReceiveUnit unit = device_.links.requests_placed.front();
  device_.links.requests_placed.pop();
  auto value = Napi::Object::New(info.Env());
  value["packet"] = unit.packet();
  value["action"] = static_cast<uint32_t>(unit.action());
  value["queuePairNumber"] = unit.queue_pair_number();
  const uint8_t place = device_.packet_memory[static_cast<uint16_t>(unit.packet())].receive_entry;
  value["place"] =
      place == hca::no_receive_entry ? info.Env().Null() : Napi::Value(Napi::Number::New(info.Env(), place));
  return value;
}

Napi::Value ReceiveQueuePort::entry(const Napi::CallbackInfo& info) {
  const hca::ReceiveEntry& from =
      device_.receive_queue_entry_handler.entry(static_cast<uint8_t>(number(info, 0)));
  auto scatter = Napi::Array::New(info.Env());
  for (uint32_t index = 0; index < from.scatter_count; ++index) {
    auto piece = Napi::Object::New(info.Env());
    piece["address"] = Napi::BigInt::New(info.Env(), uint64_t{from.scatter[index].address()});
    piece["length"] = from.scatter[index].length();
    piece["localKey"] = from.scatter[index].local_key();
    scatter[index] = piece;
  }
  auto value = Napi::Object::New(info.Env());
  value["capacity"] = static_cast<double>(from.capacity);
  value["sequenceNumber"] = from.sequence_number;
  value["refusal"] = static_cast<uint32_t>(from.refusal);
  value["scatter"] = scatter;
  return value;
}

// The unit of this packet has ended.
void ReceiveQueuePort::release(const Napi::CallbackInfo& info) {
  const auto packet = static_cast<uint16_t>(number(info, 0));
  device_.receive_queue_entry_handler.release(device_.packet_memory[packet]);
  device_.packet_memory.release(packet);
}

Napi::Value ReceiveQueuePort::verify(const Napi::CallbackInfo& info) {
  const char* const contradiction = device_.receive_queue_entry_handler.verify();
  return contradiction == nullptr ? info.Env().Null()
                                  : Napi::Value(Napi::String::New(info.Env(), contradiction));
}

Napi::Value ReceiveQueuePort::references(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.receive_queue_entry_handler.references());
}

Napi::Value ReceiveQueuePort::places_filled(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.receive_queue_entry_handler.places_filled());
}

} // namespace fpga_verbs::test
