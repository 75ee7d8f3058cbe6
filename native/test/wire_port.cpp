#include "test/wire_port.h"

#include "hca/hca.h"
#include "test/device_links.h"
#include "test/parameters_of.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fpga_verbs::test {

namespace {

template <class Bytes> Napi::Uint8Array bytes_of(Napi::Env env, const Bytes& source) {
  auto bytes = Napi::Uint8Array::New(env, source.size());
  std::copy(source.begin(), source.end(), bytes.Data());
  return bytes;
}

std::span<const uint8_t> span_of(const Napi::Value& value) {
  const auto bytes = value.As<Napi::Uint8Array>();
  return {bytes.Data(), bytes.ByteLength()};
}

link::Lane lane_of(const Napi::CallbackInfo& info, size_t index) {
  return static_cast<link::Lane>(number(info, index));
}

Napi::Number count(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

} // namespace

Napi::Function WirePort::define(Napi::Env env) {
  using P = WirePort;
  return DefineClass(env, "WirePort",
                     with_host_methods({
                         InstanceMethod("mac", &P::mac),
                         InstanceMethod("localIdentifier", &P::local_identifier),
                         InstanceMethod("gid", &P::gid),
                         InstanceMethod("setEnabled", &P::set_enabled),
                         InstanceMethod("setPartitionKey", &P::set_partition_key),
                         InstanceMethod("setDiscardLimit", &P::set_discard_limit),
                         InstanceMethod("createQueuePair", &P::create_queue_pair),
                         InstanceMethod("quiesce", &P::quiesce),
                         InstanceMethod("pins", &P::pins),
                         InstanceMethod("build", &P::build),
                         InstanceMethod("arrive", &P::arrive),
                         InstanceMethod("setLink", &P::set_link),
                         InstanceMethod("setPaused", &P::set_paused),
                         InstanceMethod("setRoom", &P::set_room),
                         InstanceMethod("allowTrains", &P::allow_trains),
                         InstanceMethod("takeSent", &P::take_sent),
                         InstanceMethod("takeArrived", &P::take_arrived),
                         InstanceMethod("takePassed", &P::take_passed),
                         InstanceMethod("takeTapped", &P::take_tapped),
                         InstanceMethod("stepPort", &P::step_port),
                         InstanceMethod("stepReceiver", &P::step_receiver),
                         InstanceMethod("isAwake", &P::is_awake),
                         InstanceMethod("nextDeadline", &P::next_deadline),
                         InstanceMethod("freeBuffers", &P::free_buffers),
                         InstanceMethod("counters", &P::counters),
                         InstanceMethod("dropped", &P::dropped),
                         InstanceMethod("verify", &P::verify),
                     }));
}

WirePort::WirePort(const Napi::CallbackInfo& info)
    : HostedPort<WirePort>(info), parameters_(parameters_of(info[0].As<Napi::Object>())),
      device_(parameters_, counters_, host_, clock_, attachments_, hca::model_blocks()) {}

Napi::Value WirePort::mac(const Napi::CallbackInfo& info) {
  return bytes_of(info.Env(), device_.port_attributes.mac(number(info, 0), number(info, 1)));
}

Napi::Value WirePort::local_identifier(const Napi::CallbackInfo& info) {
  return count(info.Env(), device_.port_attributes.local_identifier(number(info, 0), number(info, 1)));
}

Napi::Value WirePort::gid(const Napi::CallbackInfo& info) {
  return bytes_of(info.Env(),
                  device_.port_attributes.gids(number(info, 0), number(info, 1))[number(info, 2)]);
}

void WirePort::set_enabled(const Napi::CallbackInfo& info) {
  device_.port_attributes.set_enabled(number(info, 0), info[1].As<Napi::Boolean>().Value());
}

void WirePort::set_partition_key(const Napi::CallbackInfo& info) {
  device_.port_attributes.set_partition_key(number(info, 0), number(info, 1),
                                            static_cast<uint16_t>(number(info, 2)));
}

void WirePort::set_discard_limit(const Napi::CallbackInfo& info) {
  device_.port.set_discard_limit(big_number(info[0]));
}

Napi::Value WirePort::create_queue_pair(const Napi::CallbackInfo& info) {
  const auto created =
      device_.queue_pair_state_cache.create(number(info, 0), format_of<spec::QueuePairControl>(info[1]));
  if (!created)
    throw Napi::Error::New(info.Env(), "no queue pair is left");
  device_.virtual_queue_pairs.give(*created, number(info, 0), *created);
  device_.virtual_queue_pairs.bind(*created);
  // As after a queue pair has sent: packet_receiver keeps the headers of its peer's packets.
  const auto found = device_.queue_pair_state_cache.find_any(*created);
  if (found->control.service_type() != spec::ServiceType::unreliable_datagram)
    device_.packet_templates.of(*created, found->control);
  return count(info.Env(), *created);
}

void WirePort::quiesce(const Napi::CallbackInfo& info) {
  device_.queue_pair_state_cache.quiesce(number(info, 0));
}

Napi::Value WirePort::pins(const Napi::CallbackInfo& info) {
  return count(info.Env(), device_.queue_pair_state_cache.pins(number(info, 0)));
}

// Passes a finished packet to the port, in a buffer of its lane's use. Returns false if there is no buffer or
// credit.
Napi::Value WirePort::build(const Napi::CallbackInfo& info) {
  const bool response = lane_of(info, 1) == link::Lane::responses;
  auto& built = response ? device_.links.responses_built : device_.links.requests_built;
  if (!built.has_credit())
    return Napi::Boolean::New(info.Env(), false);
  const auto handle =
      device_.packet_memory.allocate(response ? hca::PacketUse::response : hca::PacketUse::request);
  if (!handle)
    return Napi::Boolean::New(info.Env(), false);
  const auto bytes = span_of(info[2]);
  hca::Packet& packet = device_.packet_memory[*handle];
  packet.port = static_cast<uint8_t>(number(info, 0));
  const link::Address destination = link::destination_of(parameters_.link_layer, bytes);
  packet.elsewhere = device_.port_attributes.is_elsewhere(destination) ? destination : hca::not_elsewhere;
  packet.begin = 40; // packets do not begin where their buffers do
  packet.end = static_cast<uint16_t>(packet.begin + bytes.size());
  std::memcpy(device_.packet_memory.bytes(*handle) + packet.begin, bytes.data(), bytes.size());
  spec::PacketUnit unit;
  unit.set_packet(*handle);
  built.push(unit);
  return Napi::Boolean::New(info.Env(), true);
}

void WirePort::arrive(const Napi::CallbackInfo& info) {
  const auto bytes = span_of(info[1]);
  link_.arrived[number(info, 0)].emplace_back(bytes.begin(), bytes.end());
  device_.port.look_in();
  device_.ready.wake(block_of(device_, "port")->number);
}

// Sets the link's answer on both lanes: a SendResult, or -1 for no attached link.
void WirePort::set_link(const Napi::CallbackInfo& info) {
  const int32_t result = info[0].As<Napi::Number>().Int32Value();
  attachments_.links[0] = result < 0 ? nullptr : &link_;
  if (result >= 0)
    link_.results.fill(static_cast<link::SendResult>(result));
  device_.port.look_in();
  device_.ready.wake(block_of(device_, "port")->number);
}

// The other end of a lane has no room, or has room again.
void WirePort::set_paused(const Napi::CallbackInfo& info) {
  link_.results[number(info, 0)] =
      info[1].As<Napi::Boolean>().Value() ? link::SendResult::paused : link::SendResult::sent;
  device_.port.look_in();
  device_.ready.wake(block_of(device_, "port")->number);
}

// Sets the number of packets that the link accepts until it pauses.
void WirePort::set_room(const Napi::CallbackInfo& info) {
  link_.room = number(info, 0);
  device_.port.look_in();
  device_.ready.wake(block_of(device_, "port")->number);
}

// Permits packet trains; nothing else sees the packets then, because a tap would see them one by one.
void WirePort::allow_trains(const Napi::CallbackInfo&) {
  attachments_.tap = nullptr;
  device_.port.allow_trains(true);
}

Napi::Value WirePort::take_sent(const Napi::CallbackInfo& info) {
  auto array = Napi::Array::New(info.Env());
  for (const TestLink::Sent& sent : std::exchange(link_.sent, {})) {
    auto object = Napi::Object::New(info.Env());
    object["lane"] = count(info.Env(), static_cast<uint64_t>(sent.lane));
    object["data"] = bytes_of(info.Env(), sent.bytes);
    array.Set(array.Length(), object);
  }
  return array;
}

// Takes up to this number of packets from packets_arrived, and frees their buffers.
Napi::Value WirePort::take_arrived(const Napi::CallbackInfo& info) {
  auto array = Napi::Array::New(info.Env());
  for (uint32_t left = number(info, 0); left != 0 && !device_.links.packets_arrived.empty(); --left) {
    const auto handle = static_cast<uint16_t>(device_.links.packets_arrived.front().packet());
    device_.links.packets_arrived.pop();
    array.Set(array.Length(), bytes_of(info.Env(), device_.packet_memory.wire(handle)));
    device_.packet_memory.release(handle);
  }
  return array;
}

// Takes up to this number of packets that packet_receiver has passed on a lane, and ends them.
Napi::Value WirePort::take_passed(const Napi::CallbackInfo& info) {
  auto& passed = lane_of(info, 0) == link::Lane::responses ? device_.links.responses_arrived
                                                           : device_.links.requests_arrived;
  auto array = Napi::Array::New(info.Env());
  for (uint32_t left = number(info, 1); left != 0 && !passed.empty(); --left) {
    const spec::PacketUnit unit = passed.front();
    passed.pop();
    const auto handle = static_cast<uint16_t>(unit.packet());
    auto object = Napi::Object::New(info.Env());
    object["unit"] = bytes_of(info.Env(), std::span{reinterpret_cast<const uint8_t*>(&unit), sizeof unit});
    object["payload"] = bytes_of(info.Env(), device_.packet_memory.payload(handle));
    const wire::ParsedPacket& parsed = device_.packet_memory[handle].parsed;
    object["packetSequenceNumber"] = count(info.Env(), parsed.fields.packet_sequence_number);
    object["acknowledgeRequest"] = Napi::Boolean::New(info.Env(), parsed.fields.acknowledge_request);
    object["forwardCongestion"] = Napi::Boolean::New(info.Env(), parsed.forward_congestion);
    object["remoteKey"] = count(info.Env(), parsed.fields.remote_key);
    object["syndrome"] = count(info.Env(), parsed.fields.syndrome);
    array.Set(array.Length(), object);
    device_.packet_memory.release(handle);
    device_.queue_pair_state_cache.unpin(unit.queue_pair_number());
  }
  return array;
}

Napi::Value WirePort::take_tapped(const Napi::CallbackInfo& info) {
  auto array = Napi::Array::New(info.Env());
  for (const Tapped& tapped : std::exchange(tapped_, {})) {
    auto object = Napi::Object::New(info.Env());
    object["direction"] = tapped.direction == hca::PacketDirection::in ? "in" : "out";
    object["port"] = count(info.Env(), tapped.port);
    object["data"] = bytes_of(info.Env(), tapped.bytes);
    array.Set(array.Length(), object);
  }
  return array;
}

Napi::Value WirePort::step_port(const Napi::CallbackInfo& info) {
  const NamedBlock port = *block_of(device_, "port");
  device_.ready.sleep(port.number);
  return Napi::Boolean::New(info.Env(), port.block.step());
}

Napi::Value WirePort::step_receiver(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.packet_receiver.step());
}

// Whether the port was woken after its last step.
Napi::Value WirePort::is_awake(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.ready.is_awake(block_of(device_, "port")->number));
}

Napi::Value WirePort::next_deadline(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), device_.port.next_deadline());
}

Napi::Value WirePort::free_buffers(const Napi::CallbackInfo& info) {
  return count(info.Env(), device_.packet_memory.free(static_cast<hca::PacketUse>(number(info, 0))));
}

Napi::Value WirePort::counters(const Napi::CallbackInfo& info) {
  const hca::PortCounters& counters = counters_.device.port[number(info, 0) - 1];
  auto object = Napi::Object::New(info.Env());
  object["packetsOut"] = count(info.Env(), counters.packets_out);
  object["bytesOut"] = count(info.Env(), counters.bytes_out);
  object["packetsIn"] = count(info.Env(), counters.packets_in);
  object["bytesIn"] = count(info.Env(), counters.bytes_in);
  object["packetsLooped"] = count(info.Env(), counters.packets_looped);
  auto discards = Napi::Array::New(info.Env());
  for (const uint64_t discarded : counters.discards)
    discards.Set(discards.Length(), count(info.Env(), discarded));
  object["discards"] = discards;
  object["congestionNotifications"] = count(info.Env(), counters_.device.congestion_notifications);
  return object;
}

// Packets dropped, by packet_drop.
Napi::Value WirePort::dropped(const Napi::CallbackInfo& info) {
  auto array = Napi::Array::New(info.Env());
  for (const uint64_t dropped : counters_.device.packets_dropped)
    array.Set(array.Length(), count(info.Env(), dropped));
  return array;
}

Napi::Value WirePort::verify(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), device_.packet_memory.verify() == nullptr &&
                                            device_.queue_pair_state_cache.verify() == nullptr);
}

void WirePort::packet(hca::PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
                      const wire::PacketCause&) {
  tapped_.push_back({direction, port, {bytes.begin(), bytes.end()}});
}

} // namespace fpga_verbs::test
