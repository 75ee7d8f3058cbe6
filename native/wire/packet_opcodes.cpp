#include "wire/packet_opcodes.h"

namespace fpga_verbs::hca {
namespace {

using enum PacketPosition;
using enum spec::PacketOpcode;
using Operation = PacketOperation;

struct Row {
  spec::PacketOpcode opcode;
  PacketOperation operation;
  PacketPosition position;
  unsigned extended_headers;
};

constexpr std::array rows = {
    Row{reliable_connection_send_first, Operation::send, first, 0},
    Row{reliable_connection_send_middle, Operation::send, middle, 0},
    Row{reliable_connection_send_last, Operation::send, last, 0},
    Row{reliable_connection_send_last_with_immediate, Operation::send, last, immediate_header},
    Row{reliable_connection_send_last_with_invalidate, Operation::send, last, invalidate_header},
    Row{reliable_connection_send_only, Operation::send, only, 0},
    Row{reliable_connection_send_only_with_immediate, Operation::send, only, immediate_header},
    Row{reliable_connection_send_only_with_invalidate, Operation::send, only, invalidate_header},
    Row{reliable_connection_rdma_write_first, Operation::rdma_write, first, rdma_header},
    Row{reliable_connection_rdma_write_middle, Operation::rdma_write, middle, 0},
    Row{reliable_connection_rdma_write_last, Operation::rdma_write, last, 0},
    Row{reliable_connection_rdma_write_last_with_immediate, Operation::rdma_write, last, immediate_header},
    Row{reliable_connection_rdma_write_only, Operation::rdma_write, only, rdma_header},
    Row{reliable_connection_rdma_write_only_with_immediate, Operation::rdma_write, only,
        rdma_header | immediate_header},
    Row{reliable_connection_rdma_read_request, Operation::rdma_read_request, only, rdma_header},
    Row{reliable_connection_rdma_read_response_first, Operation::rdma_read_response, first,
        acknowledge_header},
    Row{reliable_connection_rdma_read_response_middle, Operation::rdma_read_response, middle, 0},
    Row{reliable_connection_rdma_read_response_last, Operation::rdma_read_response, last, acknowledge_header},
    Row{reliable_connection_rdma_read_response_only, Operation::rdma_read_response, only, acknowledge_header},
    Row{reliable_connection_acknowledge, Operation::acknowledge, only, acknowledge_header},
    Row{reliable_connection_atomic_acknowledge, Operation::atomic_acknowledge, only,
        acknowledge_header | atomic_acknowledge_header},
    Row{reliable_connection_compare_and_swap, Operation::compare_and_swap, only, atomic_header},
    Row{reliable_connection_fetch_and_add, Operation::fetch_and_add, only, atomic_header},

    Row{unreliable_connection_send_first, Operation::send, first, 0},
    Row{unreliable_connection_send_middle, Operation::send, middle, 0},
    Row{unreliable_connection_send_last, Operation::send, last, 0},
    Row{unreliable_connection_send_last_with_immediate, Operation::send, last, immediate_header},
    Row{unreliable_connection_send_only, Operation::send, only, 0},
    Row{unreliable_connection_send_only_with_immediate, Operation::send, only, immediate_header},
    Row{unreliable_connection_rdma_write_first, Operation::rdma_write, first, rdma_header},
    Row{unreliable_connection_rdma_write_middle, Operation::rdma_write, middle, 0},
    Row{unreliable_connection_rdma_write_last, Operation::rdma_write, last, 0},
    Row{unreliable_connection_rdma_write_last_with_immediate, Operation::rdma_write, last, immediate_header},
    Row{unreliable_connection_rdma_write_only, Operation::rdma_write, only, rdma_header},
    Row{unreliable_connection_rdma_write_only_with_immediate, Operation::rdma_write, only,
        rdma_header | immediate_header},

    Row{unreliable_datagram_send_only, Operation::send, only, datagram_header},
    Row{unreliable_datagram_send_only_with_immediate, Operation::send, only,
        datagram_header | immediate_header},

    Row{congestion_notification, Operation::congestion_notification, only, 0},
};

constexpr unsigned bytes_of(unsigned extended_headers) {
  const auto bytes = [=](ExtendedHeader header, unsigned size) {
    return (extended_headers & header) != 0 ? size : 0;
  };
  return bytes(datagram_header, spec::DatagramExtendedTransportHeader::bytes) +
         bytes(rdma_header, spec::RdmaExtendedTransportHeader::bytes) +
         bytes(atomic_header, spec::AtomicExtendedTransportHeader::bytes) +
         bytes(acknowledge_header, spec::AcknowledgeExtendedTransportHeader::bytes) +
         bytes(atomic_acknowledge_header, spec::AtomicAcknowledgeExtendedTransportHeader::bytes) +
         bytes(immediate_header, spec::ImmediateExtendedTransportHeader::bytes) +
         bytes(invalidate_header, spec::InvalidateExtendedTransportHeader::bytes);
}

// A CNP has 16 reserved bytes, which are taken for payload (annex A17.9.3).
constexpr bool has_payload(PacketOperation operation) {
  return operation == Operation::send || operation == Operation::rdma_write ||
         operation == Operation::rdma_read_response || operation == Operation::congestion_notification;
}

constexpr spec::ServiceType service_of(spec::PacketOpcode opcode) {
  // The upper 3 bits of an opcode; those of ServiceType are the same.
  const unsigned service = static_cast<unsigned>(opcode) >> 5;
  return opcode == congestion_notification ? spec::ServiceType::reliable_connection
                                           : static_cast<spec::ServiceType>(service);
}

constexpr std::array<PacketOpcodeTraits, 256> table_of_rows() {
  std::array<PacketOpcodeTraits, 256> table{};
  for (const Row& row : rows)
    table[static_cast<uint8_t>(row.opcode)] = {
        .is_known = true,
        .service = service_of(row.opcode),
        .operation = row.operation,
        .position = row.position,
        .extended_headers = static_cast<uint8_t>(row.extended_headers),
        .extended_bytes = static_cast<uint8_t>(bytes_of(row.extended_headers)),
        .has_payload = has_payload(row.operation),
    };
  constexpr unsigned opcodes_of_service = 32;
  for (unsigned opcode = 0; opcode < opcodes_of_service; ++opcode)
    if (!table[opcode].is_known)
      table[opcode] = {.is_known = true, .operation = Operation::reserved, .has_payload = true};
  return table;
}

} // namespace

constexpr std::array<PacketOpcodeTraits, 256> packet_opcodes = table_of_rows();

} // namespace fpga_verbs::hca
