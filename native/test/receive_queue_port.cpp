#include "test/receive_queue_port.h"

#include "spec/parameters.h"
#include "test/parameters_of.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::test {

namespace {

// Bits in the masks of ready blocks.
constexpr unsigned handler_number = 0;
constexpr unsigned receive_number = 0;

template <class Format> Napi::Value bytes_of(Napi::Env env, const Format& format) {
  auto bytes = Napi::Uint8Array::New(env, Format::bytes);
  std::memcpy(bytes.Data(), &format, Format::bytes);
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
                         InstanceMethod("takeFlush", &P::take_flush),
                         InstanceMethod("wasWokenForFlush", &P::was_woken_for_flush),
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
    : HostedPort<ReceiveQueuePort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      context_memory_(parameters_, counters_, host_, events_), translation_(parameters_, context_memory_),
      queue_pairs_(parameters_, counters_, context_memory_),
      descriptor_fetch_(parameters_, counters_, host_, queue_pairs_, shared_receive_queues_, translation_,
                        events_, descriptors_wanted_, descriptors_fetched_),
      handler_(parameters_, counters_, host_, packets_, queue_pairs_, shared_receive_queues_, translation_,
               events_, requests_accepted_, requests_placed_) {
  const hca::Waker to_handler(ready_, handler_number);
  requests_accepted_.connect({}, to_handler);
  requests_placed_.connect(to_handler, {});
  handler_.on_released(to_handler);
  descriptor_fetch_.on_flush({receive_ready_, receive_number});
  const uint64_t needed = context_memory_.bytes_needed();
  if (needed > host_.bytes() || !context_memory_.open(TestHost::base + host_.bytes() - needed, needed))
    throw Napi::RangeError::New(info.Env(), "memoryBytes does not hold the " + std::to_string(needed) +
                                                " B of context memory");
}

// A table of the pages at these addresses; 0 stands for one that is not mapped.
uint32_t ReceiveQueuePort::make_table(unsigned underlying_function, const Napi::Value& addresses) {
  const auto pages = addresses.As<Napi::Array>();
  std::vector<spec::PageTableEntry> entries(pages.Length());
  for (uint32_t page = 0; page < pages.Length(); ++page) {
    const uint64_t address = big_number(pages.Get(page));
    entries[page].set_valid(address != 0 ? 1 : 0);
    entries[page].set_page(address / spec::page_bytes);
  }
  const std::optional<uint32_t> table = translation_.create_table(underlying_function, pages.Length());
  if (!table || !translation_.write_entries(*table, 0, entries))
    throw Napi::Error::New(addresses.Env(), "no page table for the queue");
  return *table;
}

// Without receiveQueuePages it has no receive queue.
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
  const std::optional<uint32_t> created = queue_pairs_.create(function, control);
  if (!created)
    throw Napi::Error::New(info.Env(), "no queue pair is left");
  return Napi::Number::New(info.Env(), *created);
}

void ReceiveQueuePort::set_state(const Napi::CallbackInfo& info) {
  queue_pairs_.parts(number(info, 0), number(info, 1))
      ->control.set_state(static_cast<spec::QueuePairState>(number(info, 2)));
}

Napi::Value ReceiveQueuePort::state(const Napi::CallbackInfo& info) {
  const auto found = queue_pairs_.find(number(info, 0), number(info, 1));
  return found ? Napi::Value(Napi::Number::New(info.Env(), static_cast<double>(found->control.state())))
               : info.Env().Null();
}

Napi::Value ReceiveQueuePort::responder(const Napi::CallbackInfo& info) {
  const auto found = queue_pairs_.find(number(info, 0), number(info, 1));
  return found ? bytes_of(info.Env(), found->responder) : info.Env().Null();
}

// As if all work requests before this one were done.
void ReceiveQueuePort::set_position(const Napi::CallbackInfo& info) {
  spec::QueuePairResponder& responder = *queue_pairs_.responder(number(info, 0), number(info, 1));
  responder.set_receive_head(number(info, 2));
  responder.set_receive_tail(number(info, 2));
}

void ReceiveQueuePort::reset_queue_pair(const Napi::CallbackInfo& info) {
  hca::QueuePairStateCache::reset_requester_and_responder(
      *queue_pairs_.parts(number(info, 0), number(info, 1)));
}

void ReceiveQueuePort::reset_function(const Napi::CallbackInfo& info) {
  queue_pairs_.reset_function(number(info, 0));
  translation_.reset_function(number(info, 0));
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

// Takes a receive work request that is here, or asks for one and waits.
Napi::Value ReceiveQueuePort::take(const Napi::CallbackInfo& info) {
  const unsigned function = number(info, 0);
  const uint32_t queue_pair = number(info, 1);
  if (!descriptor_fetch_.take_prefetched(function, queue_pair)) {
    spec::QueuePairNotice wanted;
    wanted.set_underlying_function(function);
    wanted.set_queue_pair_number(queue_pair);
    wanted.set_kind(spec::QueuePairNoticeKind::take_descriptor);
    descriptors_wanted_.push(wanted);
    while (descriptor_fetch_.step())
      ;
    const spec::QueuePairNoticeKind answer = descriptors_fetched_.front().kind();
    descriptors_fetched_.pop();
    if (answer != spec::QueuePairNoticeKind::descriptor_taken)
      return info.Env().Null();
  }
  return taken(info);
}

Napi::Value ReceiveQueuePort::taken(const Napi::CallbackInfo& info) {
  const auto found = queue_pairs_.find(number(info, 0), number(info, 1));
  return value_of(info.Env(), hca::DescriptorFetch::taken(found->responder));
}

Napi::Value ReceiveQueuePort::doorbell(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), descriptor_fetch_.doorbell(number(info, 0), {big_number(info[1])}));
}

Napi::Value ReceiveQueuePort::take_flush(const Napi::CallbackInfo& info) {
  const auto flush = descriptor_fetch_.take_flush();
  if (!flush)
    return info.Env().Null();
  auto value = Napi::Object::New(info.Env());
  value["underlyingFunction"] = flush->underlying_function;
  value["queuePairNumber"] = flush->queue_pair_number;
  return value;
}

Napi::Value ReceiveQueuePort::was_woken_for_flush(const Napi::CallbackInfo& info) {
  const bool woken = receive_ready_.any();
  receive_ready_.sleep(receive_number);
  return Napi::Boolean::New(info.Env(), woken);
}

// A unit for the handler, with a packet: its number, or null when the link has no credit.
Napi::Value ReceiveQueuePort::accept(const Napi::CallbackInfo& info) {
  if (!requests_accepted_.has_credit())
    return info.Env().Null();
  const auto packet = packets_.allocate(hca::PacketUse::receive);
  if (!packet)
    throw Napi::Error::New(info.Env(), "no packet buffer is left");
  const auto options = info[0].As<Napi::Object>();
  const auto value = [&](const char* name) { return options.Get(name).As<Napi::Number>().Uint32Value(); };
  hca::Packet& fields = packets_[*packet];
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
  requests_accepted_.push(unit);
  return Napi::Number::New(info.Env(), *packet);
}

// Lets the handler work if it is awake; false: it sleeps.
Napi::Value ReceiveQueuePort::step(const Napi::CallbackInfo& info) {
  if (!ready_.any())
    return Napi::Boolean::New(info.Env(), false);
  ready_.sleep(handler_number);
  if (handler_.step())
    ready_.wake(handler_number);
  return Napi::Boolean::New(info.Env(), true);
}

Napi::Value ReceiveQueuePort::take_placed(const Napi::CallbackInfo& info) {
  if (requests_placed_.empty())
    return info.Env().Null();
  const spec::ReceiveUnit unit = requests_placed_.front();
  requests_placed_.pop();
  auto value = Napi::Object::New(info.Env());
  value["packet"] = unit.packet();
  value["action"] = static_cast<uint32_t>(unit.action());
  value["queuePairNumber"] = unit.queue_pair_number();
  const uint8_t place = packets_[static_cast<uint16_t>(unit.packet())].receive_entry;
  value["place"] =
      place == hca::no_receive_entry ? info.Env().Null() : Napi::Value(Napi::Number::New(info.Env(), place));
  return value;
}

Napi::Value ReceiveQueuePort::entry(const Napi::CallbackInfo& info) {
  const hca::ReceiveEntry& from = handler_.entry(static_cast<uint8_t>(number(info, 0)));
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
  handler_.release(packets_[packet]);
  packets_.release(packet);
}

Napi::Value ReceiveQueuePort::verify(const Napi::CallbackInfo& info) {
  const char* const contradiction = handler_.verify();
  return contradiction == nullptr ? info.Env().Null()
                                  : Napi::Value(Napi::String::New(info.Env(), contradiction));
}

Napi::Value ReceiveQueuePort::references(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), handler_.references());
}

Napi::Value ReceiveQueuePort::places_filled(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), handler_.places_filled());
}

} // namespace fpga_verbs::test
