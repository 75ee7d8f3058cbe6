#include "test/responder_port.h"

#include "spec/mailboxes.h"
#include "spec/parameters.h"
#include "test/parameters_of.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::test {

namespace {

// Blocks by their bit in the mask of ready ones, with the names in test/hca/responder_port.ts. The
// responder's blocks, in the order of their turns.
std::vector<NamedBlock> responder_of(hca::HcaBlocks& device) {
  std::vector<NamedBlock> blocks;
  for (const char* const name : {"receive", "receive_queue_entry_handler", "dma_validation", "response",
                                 "completion_queue", "descriptor_fetch"})
    blocks.push_back(*block_of(device, name));
  return blocks;
}

template <class Format> Napi::Value bytes_of(Napi::Env env, const Format& format) {
  auto bytes = Napi::Uint8Array::New(env, sizeof format);
  std::memcpy(bytes.Data(), &format, sizeof format);
  return bytes;
}

} // namespace

Napi::Function ResponderPort::define(Napi::Env env) {
  using P = ResponderPort;
  return DefineClass(env, "ResponderPort",
                     with_host_methods({
                         InstanceMethod("createKey", &P::create_key),
                         InstanceMethod("quiesceKey", &P::quiesce_key),
                         InstanceMethod("takeQuietKey", &P::take_quiet_key),
                         InstanceMethod("createCompletionQueue", &P::create_completion_queue),
                         InstanceMethod("createQueuePair", &P::create_queue_pair),
                         InstanceMethod("setState", &P::set_state),
                         InstanceMethod("state", &P::state),
                         InstanceMethod("setPeer", &P::set_peer),
                         InstanceMethod("setResponder", &P::set_responder),
                         InstanceMethod("responder", &P::responder),
                         InstanceMethod("quiesce", &P::quiesce),
                         InstanceMethod("takeQuiet", &P::take_quiet),
                         InstanceMethod("pins", &P::pins),
                         InstanceMethod("resetFunction", &P::reset_function),
                         InstanceMethod("arrive", &P::arrive),
                         InstanceMethod("flush", &P::flush),
                         InstanceMethod("doorbell", &P::doorbell),
                         InstanceMethod("step", &P::step),
                         InstanceMethod("takeAnswer", &P::take_answer),
                         InstanceMethod("holdDescriptors", &P::hold_descriptors),
                         InstanceMethod("holdResponseBuffers", &P::hold_response_buffers),
                         InstanceMethod("takeEvents", &P::take_events),
                         InstanceMethod("counters", &P::counters),
                         InstanceMethod("verify", &P::verify),
                     }));
}

ResponderPort::ResponderPort(const Napi::CallbackInfo& info)
    : HostedPort<ResponderPort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      responder_(responder_of(device_)) {
  const uint64_t needed = device_.context_memory.bytes_needed();
  if (needed > host_.bytes() || !device_.context_memory.open(TestHost::base + host_.bytes() - needed, needed))
    throw Napi::RangeError::New(info.Env(), "memoryBytes does not hold the " + std::to_string(needed) +
                                                " B of context memory");
}

// A table of the pages at these addresses; 0 stands for a page that is not mapped.
uint32_t ResponderPort::make_table(unsigned underlying_function, const Napi::Value& addresses) {
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
    throw Napi::Error::New(addresses.Env(), "no page table");
  return *table;
}

// A memory_key_entry and its pages.
Napi::Value ResponderPort::create_key(const Napi::CallbackInfo& info) {
  auto entry = format_of<spec::MemoryKeyEntry>(info[0]);
  entry.set_page_table(make_table(entry.underlying_function(), info[1]));
  const std::optional<uint32_t> key = device_.memory_translation.keys().create(entry);
  if (!key)
    throw Napi::Error::New(info.Env(), "no memory key is left");
  return Napi::Number::New(info.Env(), *key);
}

void ResponderPort::quiesce_key(const Napi::CallbackInfo& info) {
  device_.memory_translation.keys().quiesce(number(info, 0));
}

// Destroys a key that has become quiet: itself, or null.
Napi::Value ResponderPort::take_quiet_key(const Napi::CallbackInfo& info) {
  const std::optional<uint32_t> key = device_.memory_translation.keys().take_quiet();
  if (!key)
    return info.Env().Null();
  device_.memory_translation.keys().destroy(*key);
  return Napi::Number::New(info.Env(), *key);
}

Napi::Value ResponderPort::create_completion_queue(const Napi::CallbackInfo& info) {
  const uint32_t table = make_table(number(info, 0), info[2]);
  const auto created = device_.completion_queue.create(
      number(info, 0), format_of<spec::CreateCompletionQueueInput>(info[1]), table);
  if (!created)
    throw Napi::Error::New(info.Env(), "no completion queue is left");
  return Napi::Number::New(info.Env(), *created);
}

// A queue_pair_control, the pages of the receive queue and of its entries.
Napi::Value ResponderPort::create_queue_pair(const Napi::CallbackInfo& info) {
  auto control = format_of<spec::QueuePairControl>(info[1]);
  control.set_receive_queue_pages(make_table(number(info, 0), info[2]));
  control.set_receive_entry_pages(make_table(number(info, 0), info[3]));
  const std::optional<uint32_t> created = device_.queue_pair_state_cache.create(number(info, 0), control);
  if (!created)
    throw Napi::Error::New(info.Env(), "no queue pair is left");
  return Napi::Number::New(info.Env(), *created);
}

void ResponderPort::set_state(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1))
      ->control.set_state(static_cast<spec::QueuePairState>(number(info, 2)));
}

Napi::Value ResponderPort::state(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return found ? Napi::Value(Napi::Number::New(info.Env(), static_cast<double>(found->control.state())))
               : info.Env().Null();
}

void ResponderPort::set_peer(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1))
      ->control.set_destination_queue_pair(number(info, 2));
  device_.packet_templates.forget(number(info, 1));
}

void ResponderPort::set_responder(const Napi::CallbackInfo& info) {
  *device_.queue_pair_state_cache.responder(number(info, 0), number(info, 1)) =
      hca::ReceiveQueueState(format_of<spec::QueuePairResponder>(info[2]));
}

Napi::Value ResponderPort::responder(const Napi::CallbackInfo& info) {
  const auto found = device_.queue_pair_state_cache.find(number(info, 0), number(info, 1));
  return found ? bytes_of(info.Env(), found->responder) : info.Env().Null();
}

void ResponderPort::quiesce(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.parts(number(info, 0), number(info, 1))->control.set_destroying(1);
  device_.queue_pair_state_cache.quiesce(number(info, 1));
}

// Destroys a queue pair that has become quiet: its number, or null.
Napi::Value ResponderPort::take_quiet(const Napi::CallbackInfo& info) {
  const auto quiet = device_.queue_pair_state_cache.take_quiet();
  if (!quiet)
    return info.Env().Null();
  device_.queue_pair_state_cache.destroy(quiet->queue_pair_number);
  return Napi::Number::New(info.Env(), quiet->queue_pair_number);
}

Napi::Value ResponderPort::pins(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), device_.queue_pair_state_cache.pins(number(info, 0)));
}

void ResponderPort::reset_function(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.reset_function(number(info, 0));
  device_.completion_queue.reset_function(number(info, 0));
  device_.memory_translation.reset_function(number(info, 0));
}

// Passes a packet for a queue pair, as packet_receiver does. Returns false if there is no buffer or credit,
// or if the queue pair cannot be pinned.
Napi::Value ResponderPort::arrive(const Napi::CallbackInfo& info) {
  const auto wire = info[2].As<Napi::Uint8Array>();
  const uint32_t queue_pair = number(info, 1);
  if (!device_.links.requests_arrived.has_credit() ||
      device_.packet_memory.free(hca::PacketUse::receive) == 0 ||
      !device_.queue_pair_state_cache.pin(queue_pair))
    return Napi::Boolean::New(info.Env(), false);
  const uint16_t handle = *device_.packet_memory.allocate(hca::PacketUse::receive);
  std::copy_n(wire.Data(), wire.ByteLength(), device_.packet_memory.bytes(handle));
  hca::Packet& packet = device_.packet_memory[handle];
  const spec::PacketDrop drop =
      wire::parse_packet(spec::LinkLayer::ethernet, device_.packet_memory.bytes(handle),
                         static_cast<uint32_t>(wire.ByteLength()), packet.parsed);
  if (drop != spec::PacketDrop::none)
    throw Napi::Error::New(info.Env(), std::string("not a packet: ") + spec::name(drop));
  packet.end = static_cast<uint16_t>(wire.ByteLength());
  packet.payload = packet.parsed.payload_offset;
  packet.payload_bytes = packet.parsed.payload_bytes;
  packet.port = 1;
  spec::PacketUnit unit;
  unit.set_packet(handle);
  unit.set_underlying_function(number(info, 0));
  unit.set_queue_pair_number(queue_pair);
  device_.links.requests_arrived.push(unit);
  return Napi::Boolean::New(info.Env(), true);
}

Napi::Value ResponderPort::flush(const Napi::CallbackInfo& info) {
  if (!device_.links.flushes.has_credit())
    return Napi::Boolean::New(info.Env(), false);
  spec::QueuePairNotice notice;
  notice.set_underlying_function(number(info, 0));
  notice.set_queue_pair_number(number(info, 1));
  notice.set_kind(spec::QueuePairNoticeKind::flush);
  device_.links.flushes.push(notice);
  return Napi::Boolean::New(info.Env(), true);
}

Napi::Value ResponderPort::doorbell(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(),
                            device_.descriptor_fetch.doorbell(number(info, 0), {big_number(info[1])}));
}

// Lets the next awake block work, round robin. Returns false if all sleep.
Napi::Value ResponderPort::step(const Napi::CallbackInfo& info) {
  for (unsigned turn = 0; turn < responder_.size(); ++turn)
    device_.ready.is_awake(responder_[turn].number) ? turns_.wake(turn) : turns_.sleep(turn);
  if (!turns_.any())
    return Napi::Boolean::New(info.Env(), false);
  const NamedBlock& next = responder_[turns_.next()];
  device_.ready.sleep(next.number);
  const bool held = &next.block == &device_.descriptor_fetch && descriptors_held_;
  if (!held && next.block.step())
    device_.ready.wake(next.number);
  return Napi::Boolean::New(info.Env(), true);
}

// The next answer as sent on the wire, or null.
Napi::Value ResponderPort::take_answer(const Napi::CallbackInfo& info) {
  if (device_.links.responses_built.empty())
    return info.Env().Null();
  const auto handle = static_cast<uint16_t>(device_.links.responses_built.front().packet());
  device_.links.responses_built.pop();
  const hca::Packet& packet = device_.packet_memory[handle];
  const size_t length = size_t{packet.end} - packet.begin;
  auto wire = Napi::Uint8Array::New(info.Env(), length);
  std::copy_n(device_.packet_memory.bytes(handle) + packet.begin, length, wire.Data());
  device_.packet_memory.release(handle);
  return wire;
}

// Suspends or resumes descriptor_fetch.
void ResponderPort::hold_descriptors(const Napi::CallbackInfo& info) {
  descriptors_held_ = info[0].As<Napi::Boolean>().Value();
  device_.ready.wake(block_of(device_, "descriptor_fetch")->number);
}

// Takes all buffers for responses, or all but this number.
void ResponderPort::hold_response_buffers(const Napi::CallbackInfo&) {
  while (device_.packet_memory.free(hca::PacketUse::response) != 0)
    device_.packet_memory.allocate(hca::PacketUse::response);
}

Napi::Value ResponderPort::take_events(const Napi::CallbackInfo& info) {
  const auto taken = Napi::Array::New(info.Env());
  for (const spec::EventUnit& event : events_.events)
    taken.Set(taken.Length(), bytes_of(info.Env(), event));
  events_.events.clear();
  return taken;
}

Napi::Value ResponderPort::counters(const Napi::CallbackInfo& info) {
  const hca::FunctionCounters& from = counters_.function[number(info, 0)];
  auto value = Napi::Object::New(info.Env());
  value["requestsDropped"] = static_cast<double>(from.requests_dropped);
  value["requestsDuplicate"] = static_cast<double>(from.requests_duplicate);
  value["negativeAcknowledges"] = static_cast<double>(from.negative_acknowledges);
  value["receiverNotReadyNegativeAcknowledges"] =
      static_cast<double>(from.receiver_not_ready_negative_acknowledges);
  return value;
}

const char* ResponderPort::contradiction() const {
  if (device_.packet_memory.verify() != nullptr)
    return "packet buffers are neither free nor in use";
  if (device_.packet_memory.free(hca::PacketUse::receive) != spec::receive_packet_buffers)
    return "a request still has its packet buffer";
  if (device_.packet_memory.free(hca::PacketUse::response) != spec::response_packet_buffers)
    return "an answer still has its packet buffer";
  if (device_.receive_queue_entry_handler.references() != 0)
    return "a receive entry is still referred to";
  for (const char* const wrong : {device_.receive.verify(), device_.descriptor_fetch.verify(),
                                  device_.receive_queue_entry_handler.verify(),
                                  device_.dma_validation.verify(), device_.response.verify()})
    if (wrong != nullptr)
      return wrong;
  return device_.queue_pair_state_cache.verify() == nullptr
             ? nullptr
             : "queue pair contexts contradict their directory";
}

// The contradiction in its state when nothing is in flight, or null.
Napi::Value ResponderPort::verify(const Napi::CallbackInfo& info) {
  const char* const wrong = contradiction();
  return wrong == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), wrong);
}

} // namespace fpga_verbs::test
