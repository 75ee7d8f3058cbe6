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

// The device model's verdict on a packet; without fields if the packet is dropped.
struct ParsedByModel {
  spec::PacketDrop drop = spec::PacketDrop::none;
  wire::ParsedPacket parsed;
  wire::PacketAddresses addresses;
  uint32_t destination_local_identifier = 0;
};

// Parses a packet without VCRC. The function adds one, because the model checks it.
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

// The members of a packed struct, last one first.
class Members {
public:
  explicit Members(const uint32_t* words) : words_(words) {}

  // The next `bits` bits, at most 64.
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

// Visits each member of a packet_fields_t, last one first, with the model's value: visit(name, bits, value).
template <class Visit> void visit_fields(const ParsedByModel& model, Visit visit) {
  const wire::ParsedPacket& parsed = model.parsed;
  const wire::PacketFields& fields = parsed.fields;
  const auto visit_address = [&](const char* what, const wire::Gid& address) {
    visit(what, 64, big_endian(std::span(address).subspan(8)));
    visit(what, 64, big_endian(std::span(address).first(8)));
  };
  visit("source queue pair", 24, fields.source_queue_pair);
  visit("Q_Key", 32, fields.queue_key);
  visit("immediate data", 32, fields.immediate_data);
  visit("syndrome", 8, fields.syndrome);
  visit("MSN", 24, fields.message_sequence_number);
  visit("original data", 64, fields.original_data);
  visit("compare", 64, fields.compare);
  visit("swap or add", 64, fields.swap_add);
  visit("DMA length", 32, fields.dma_length);
  visit("remote key", 32, fields.remote_key);
  visit("virtual address", 64, fields.virtual_address);
  visit("PSN", 24, fields.packet_sequence_number);
  visit("AckReq", 1, fields.acknowledge_request);
  visit("SE", 1, fields.solicited_event);
  visit("opcode", 8, static_cast<uint64_t>(fields.opcode));
  visit("destination queue pair", 24, parsed.destination_queue_pair);
  visit_address("destination address", model.addresses.destination);
  visit_address("source address", model.addresses.source);
  visit("source MAC", 48, big_endian(parsed.source_mac));
  visit("SL", 4, parsed.service_level);
  visit("DLID", 16, model.destination_local_identifier);
  visit("SLID", 16, parsed.source_local_identifier);
  visit("P_Key", 16, parsed.partition_key);
  visit("offset of the payload", 7, parsed.payload_offset);
  visit("offset of the BTH", 7, parsed.transport_offset);
  visit("offset of the network header", 7, parsed.network_offset);
  visit("BECN", 1, parsed.backward_congestion);
  visit("FECN", 1, parsed.forward_congestion);
  visit("framing", 2, static_cast<uint64_t>(parsed.framing));
}

// Compares a packet_fields_t with the model's fields.
inline void compare_fields(const Place& place, const uint32_t* words, const ParsedByModel& model) {
  Members members(words);
  visit_fields(model, [&](const char* what, uint32_t bits, uint64_t value) {
    expect(place, what, members.take(bits), value);
  });
}

// Writes the model's fields to a packet_fields_t.
inline void put_fields(uint32_t* words, const ParsedByModel& model) {
  uint32_t at = 0;
  visit_fields(model, [&](const char*, uint32_t bits, uint64_t value) {
    for (uint32_t bit = 0; bit < bits; ++bit, ++at)
      words[at / 32] = (words[at / 32] & ~(1U << at % 32)) | static_cast<uint32_t>(value >> bit & 1)
                                                                 << at % 32;
  });
}

} // namespace fpga_verbs::bench
