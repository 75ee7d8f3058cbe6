// The fields of an arrived packet, as wire::ParsedPacket of the device model has them. Offsets are from its first byte. Fields of absent headers are
// 0.
package packet_fields_pkg;
  typedef struct packed {
    logic [1:0] framing;  // packet_framing_t
    logic forward_congestion;  // FECN, or ECN of the IP header: congestion experienced.
    logic backward_congestion;  // BECN.
    logic [6:0] network_offset;  // In the IP header or LRH.
    logic [6:0] transport_offset;  // In the BTH.
    logic [6:0] payload_offset;
    logic [15:0] partition_key;
    logic [15:0] source_local_identifier;  // InfiniBand only.
    logic [15:0] destination_local_identifier;  // InfiniBand only.
    logic [3:0] service_level;  // InfiniBand only.
    logic [47:0] source_mac;  // Ethernet only; first byte highest.
    logic [127:0] source_address;  // GID, first byte highest; for IPv4 ::ffff:a.b.c.d.
    logic [127:0] destination_address;
    logic [23:0] destination_queue_pair;
    logic [7:0] opcode;
    logic solicited_event;
    logic acknowledge_request;
    logic [23:0] packet_sequence_number;
    logic [63:0] virtual_address;  // RETH, AtomicETH.
    logic [31:0] remote_key;  // RETH, AtomicETH, IETH.
    logic [31:0] dma_length;  // RETH.
    logic [63:0] swap_add;  // AtomicETH.
    logic [63:0] compare;  // AtomicETH.
    logic [63:0] original_data;  // AtomicAckETH.
    logic [23:0] message_sequence_number;  // AETH.
    logic [7:0] syndrome;  // AETH.
    logic [31:0] immediate_data;  // ImmDt.
    logic [31:0] queue_key;  // DETH.
    logic [23:0] source_queue_pair;  // DETH.
  } packet_fields_t;
endpackage
