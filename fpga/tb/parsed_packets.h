#pragma once

#include "beats.h"

#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/icrc.h"
#include "wire/packet_bytes.h"
#include "wire/packet_parse.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fpga_verbs::bench {

// The device model's verdict on a packet; of one that is dropped only why.
struct ParsedByModel {
  spec::PacketDrop drop = spec::PacketDrop::none;
  wire::ParsedPacket parsed;
  wire::PacketAddresses addresses;
  uint32_t destination_local_identifier = 0;
};

// Of a packet without VCRC: it gets one for the model, which checks it.
inline ParsedByModel parse(bool is_infiniband, std::vector<uint8_t> bytes) {
  if (is_infiniband) {
    const uint32_t vcrc = wire::vcrc_update(wire::vcrc_start, bytes.data(), bytes.size());
    bytes.resize(bytes.size() + spec::vcrc_bytes);
    wire::write_vcrc(bytes.data() + bytes.size() - spec::vcrc_bytes, vcrc);
  }
  ParsedByModel model;
  model.drop = wire::parse_copy(is_infiniband ? spec::LinkLayer::infiniband : spec::LinkLayer::ethernet,
                                bytes, model.parsed);
  if (model.drop != spec::PacketDrop::none)
    return model;
  model.addresses = wire::addresses_of(bytes.data(), model.parsed);
  if (is_infiniband)
    model.destination_local_identifier =
        wire::read_header<spec::LocalRouteHeader>(bytes.data()).destination_local_identifier();
  return model;
}

// The members of a packed struct, the last one first.
class Members {
public:
  explicit Members(const uint32_t* words) : words_(words) {}

  // So many bits, 64 at most.
  uint64_t take(uint32_t bits) {
    uint64_t value = 0;
    for (uint32_t bit = 0; bit < bits; ++bit, ++at_)
      value |= uint64_t{words_[at_ / 32] >> at_ % 32 & 1} << bit;
    return value;
  }

private:
  const uint32_t* words_;
  uint32_t at_ = 0;
};

inline uint64_t big_endian(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (const uint8_t byte : bytes)
    value = value << 8 | byte;
  return value;
}

// Whether a packet_fields_t has what the model found.
inline void compare_fields(const Place& place, const uint32_t* words, const ParsedByModel& model) {
  const wire::ParsedPacket& parsed = model.parsed;
  const wire::PacketFields& fields = parsed.fields;
  Members members(words);
  const auto same = [&](const char* what, uint32_t bits, uint64_t value) {
    expect(place, what, members.take(bits), value);
  };
  const auto same_address = [&](const char* what, const wire::Gid& address) {
    same(what, 64, big_endian(std::span(address).subspan(8)));
    same(what, 64, big_endian(std::span(address).first(8)));
  };
  same("source queue pair", 24, fields.source_queue_pair);
  same("Q_Key", 32, fields.queue_key);
  same("immediate data", 32, fields.immediate_data);
  same("syndrome", 8, fields.syndrome);
  same("MSN", 24, fields.message_sequence_number);
  same("original data", 64, fields.original_data);
  same("compare", 64, fields.compare);
  same("swap or add", 64, fields.swap_add);
  same("DMA length", 32, fields.dma_length);
  same("remote key", 32, fields.remote_key);
  same("virtual address", 64, fields.virtual_address);
  same("PSN", 24, fields.packet_sequence_number);
  same("AckReq", 1, fields.acknowledge_request);
  same("SE", 1, fields.solicited_event);
  same("opcode", 8, static_cast<uint64_t>(fields.opcode));
  same("destination queue pair", 24, parsed.destination_queue_pair);
  same_address("destination address", model.addresses.destination);
  same_address("source address", model.addresses.source);
  same("source MAC", 48, big_endian(parsed.source_mac));
  same("SL", 4, parsed.service_level);
  same("DLID", 16, model.destination_local_identifier);
  same("SLID", 16, parsed.source_local_identifier);
  same("P_Key", 16, parsed.partition_key);
  same("offset of the payload", 7, parsed.payload_offset);
  same("offset of the BTH", 7, parsed.transport_offset);
  same("offset of the network header", 7, parsed.network_offset);
  same("BECN", 1, parsed.backward_congestion);
  same("FECN", 1, parsed.forward_congestion);
  same("framing", 2, static_cast<uint64_t>(parsed.framing));
}

} // namespace fpga_verbs::bench
