#include "test/packet_port.h"

#include "spec/contexts.h"
#include "spec/packet_opcodes.h"
#include "spec/parameters.h"
#include "wire/packet_headers.h"
#include "wire/packet_parse.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::test {
namespace {

uint32_t number(const Napi::Value& value) { return value.As<Napi::Number>().Uint32Value(); }

uint64_t big(const Napi::Value& value) {
  bool lossless = false;
  return value.As<Napi::BigInt>().Uint64Value(&lossless);
}

template <size_t bytes> std::array<uint8_t, bytes> array_of(const Napi::Value& value) {
  std::array<uint8_t, bytes> array;
  std::memcpy(array.data(), value.As<Napi::Uint8Array>().Data(), bytes);
  return array;
}

Napi::Uint8Array copy_of(Napi::Env env, const uint8_t* data, size_t bytes) {
  auto copy = Napi::Uint8Array::New(env, bytes);
  std::copy_n(data, bytes, copy.Data());
  return copy;
}

wire::PacketSource source_of(const Napi::Object& given) {
  return {.link_layer = static_cast<spec::LinkLayer>(number(given.Get("linkLayer"))),
          .mac = array_of<6>(given.Get("mac")),
          .local_identifier = static_cast<uint16_t>(number(given.Get("localIdentifier"))),
          .gid = array_of<16>(given.Get("gid")),
          .partition_key = static_cast<uint16_t>(number(given.Get("partitionKey")))};
}

wire::PacketFields fields_of(const Napi::Object& given) {
  return {.opcode = static_cast<spec::PacketOpcode>(number(given.Get("opcode"))),
          .solicited_event = given.Get("solicitedEvent").As<Napi::Boolean>(),
          .acknowledge_request = given.Get("acknowledgeRequest").As<Napi::Boolean>(),
          .packet_sequence_number = number(given.Get("packetSequenceNumber")),
          .virtual_address = big(given.Get("virtualAddress")),
          .remote_key = number(given.Get("remoteKey")),
          .dma_length = number(given.Get("dmaLength")),
          .swap_add = big(given.Get("swapAdd")),
          .compare = big(given.Get("compare")),
          .original_data = big(given.Get("originalData")),
          .message_sequence_number = number(given.Get("messageSequenceNumber")),
          .syndrome = static_cast<uint8_t>(number(given.Get("syndrome"))),
          .immediate_data = number(given.Get("immediateData")),
          .queue_key = number(given.Get("queueKey")),
          .source_queue_pair = number(given.Get("sourceQueuePair"))};
}

Napi::Object value_of(Napi::Env env, const wire::PacketFields& fields) {
  auto value = Napi::Object::New(env);
  value.Set("opcode", static_cast<uint32_t>(fields.opcode));
  value.Set("solicitedEvent", fields.solicited_event);
  value.Set("acknowledgeRequest", fields.acknowledge_request);
  value.Set("packetSequenceNumber", fields.packet_sequence_number);
  value.Set("virtualAddress", Napi::BigInt::New(env, fields.virtual_address));
  value.Set("remoteKey", fields.remote_key);
  value.Set("dmaLength", fields.dma_length);
  value.Set("swapAdd", Napi::BigInt::New(env, fields.swap_add));
  value.Set("compare", Napi::BigInt::New(env, fields.compare));
  value.Set("originalData", Napi::BigInt::New(env, fields.original_data));
  value.Set("messageSequenceNumber", fields.message_sequence_number);
  value.Set("syndrome", uint32_t{fields.syndrome});
  value.Set("immediateData", fields.immediate_data);
  value.Set("queueKey", fields.queue_key);
  value.Set("sourceQueuePair", fields.source_queue_pair);
  return value;
}

Napi::Value build_packet(const Napi::CallbackInfo& info) {
  spec::AddressVector destination;
  std::memcpy(&destination, info[0].As<Napi::Uint8Array>().Data(), sizeof(destination));
  wire::PacketTemplate made = wire::make_packet_template(destination, source_of(info[1].As<Napi::Object>()),
                                                         number(info[2]), number(info[3]));
  const auto payload = info[5].As<Napi::Uint8Array>();
  // Exactly the announced size, for the address sanitizer.
  constexpr size_t trailer = 9;
  const auto buffer = std::make_unique<uint8_t[]>(spec::packet_headroom + payload.ByteLength() + trailer);
  uint8_t* const at = buffer.get() + spec::packet_headroom;
  std::copy_n(payload.Data(), payload.ByteLength(), at);
  const wire::PacketFields fields = fields_of(info[4].As<Napi::Object>());
  const auto bytes = static_cast<uint32_t>(payload.ByteLength());
  // Built from a template that has built a packet of another length before, and one of this length.
  std::array<uint8_t, spec::packet_buffer_bytes> other;
  wire::build_packet(other.data() + spec::packet_headroom, made, fields, bytes < 8 ? bytes + 5 : bytes - 5);
  wire::build_packet(at, made, fields, bytes);
  const auto packet = wire::build_packet(at, made, fields, bytes);
  return copy_of(info.Env(), packet.data(), packet.size());
}

Napi::Value parse_packet(const Napi::CallbackInfo& info) {
  const auto given = info[1].As<Napi::Uint8Array>();
  // Memory of exactly its size, for the address sanitizer.
  std::vector<uint8_t> packet(given.Data(), given.Data() + given.ByteLength());
  wire::ParsedPacket parsed;
  const spec::PacketDrop drop =
      wire::parse_packet(static_cast<spec::LinkLayer>(number(info[0])), packet.data(),
                         static_cast<uint32_t>(packet.size()), parsed);
  if (drop != spec::PacketDrop::none)
    return Napi::String::New(info.Env(), spec::name(drop));
  const wire::PacketAddresses addresses = wire::addresses_of(packet.data(), parsed);
  auto value = Napi::Object::New(info.Env());
  value.Set("framing", static_cast<uint32_t>(parsed.framing));
  value.Set("forwardCongestion", parsed.forward_congestion);
  value.Set("backwardCongestion", parsed.backward_congestion);
  value.Set("networkOffset", uint32_t{parsed.network_offset});
  value.Set("transportOffset", uint32_t{parsed.transport_offset});
  value.Set("partitionKey", uint32_t{parsed.partition_key});
  value.Set("destinationQueuePair", parsed.destination_queue_pair);
  value.Set("fields", value_of(info.Env(), parsed.fields));
  value.Set("payload", copy_of(info.Env(), packet.data() + parsed.payload_offset, parsed.payload_bytes));
  value.Set("sourceGid", copy_of(info.Env(), addresses.source.data(), addresses.source.size()));
  value.Set("destinationGid",
            copy_of(info.Env(), addresses.destination.data(), addresses.destination.size()));
  return value;
}

Napi::Value packet_opcodes(const Napi::CallbackInfo& info) {
  auto list = Napi::Array::New(info.Env());
  for (const spec::PacketOpcodeTraits& traits : spec::packet_opcodes) {
    auto value = Napi::Object::New(info.Env());
    value.Set("isKnown", traits.is_known);
    value.Set("service", static_cast<uint32_t>(traits.service));
    value.Set("extendedHeaders", uint32_t{traits.extended_headers});
    value.Set("extendedBytes", uint32_t{traits.extended_bytes});
    value.Set("hasPayload", traits.has_payload);
    value.Set("beginsMessage", traits.begins_message());
    value.Set("endsMessage", traits.ends_message());
    value.Set("isResponse", traits.is_response());
    value.Set("completesReceive", traits.completes_receive());
    list.Set(list.Length(), value);
  }
  return list;
}

} // namespace

void define_packet_port(Napi::Env env, Napi::Object exports) {
  exports.Set("buildPacket", Napi::Function::New<build_packet>(env, "buildPacket"));
  exports.Set("parsePacket", Napi::Function::New<parse_packet>(env, "parsePacket"));
  exports.Set("packetOpcodes", Napi::Function::New<packet_opcodes>(env, "packetOpcodes"));
}

} // namespace fpga_verbs::test
