// Extracts the fields of a packet's headers, and finds a reason to drop it, as wire::parse_packet of the device model does: one packet per clock.
// Other blocks compute the UDP checksum and the ICRC; reasons that the model checks before the UDP checksum and after it are therefore separate
// outputs.
module packet_fields #(
    parameter int unsigned LANE_WIDTH = 6,
    localparam int unsigned ETHERNET = hca_spec_pkg::ETHERNET_HEADER_BYTES - hca_spec_pkg::ETHERNET_HEADER_PADDING_WIDTH / 8,
    localparam int unsigned TAG = hca_spec_pkg::VIRTUAL_LAN_HEADER_BYTES,
    localparam int unsigned EXTENDED = hca_spec_pkg::ATOMIC_EXTENDED_TRANSPORT_HEADER_BYTES,  // The longest extended header.
    localparam int unsigned TRANSPORT = hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES + EXTENDED,
    localparam int unsigned NETWORK = hca_spec_pkg::IPV6_HEADER_BYTES + hca_spec_pkg::UDP_HEADER_BYTES + TRANSPORT,
    localparam int unsigned HEAD_BITS = (ETHERNET + TAG + NETWORK) * 8,
    localparam int unsigned MOST_WIDTH = 17  // Width of the number of bytes of a packet.
) (
    input logic clock,
    input logic reset,

    // A packet: its first bytes, first byte highest, and its length, as packet_front provides them.
    input logic ended,
    input logic [HEAD_BITS-1:0] head,
    input logic [1:0] framing,  // packet_framing_t, if is_typed.
    input logic is_tagged,
    input logic is_typed,
    input logic [MOST_WIDTH-1:0] bytes,
    input logic [LANE_WIDTH-1:0] missing,

    // Its fields, four clocks later. Fields of absent headers are 0.
    output logic valid,
    output packet_fields_pkg::packet_fields_t fields,

    // Two clocks after the fields: reasons to drop the packet, packet_drop_t, without the checks of other blocks.
    output logic judged,
    output logic [4:0] link_drop,  // Before the UDP checksum.
    output logic [4:0] transport_drop,
    output logic has_udp_sum,
    output logic [12:0] payload_bytes
);
  localparam int unsigned WIDTH = MOST_WIDTH + 2;  // Width of lengths that may be negative: the highest bit is the sign.
  localparam int unsigned NETWORK_BITS = NETWORK * 8;
  localparam int unsigned TRANSPORT_BITS = TRANSPORT * 8;
  localparam int unsigned UDP = hca_spec_pkg::UDP_HEADER_BYTES;
  localparam int unsigned IPV4 = hca_spec_pkg::IPV4_HEADER_BYTES;
  localparam int unsigned IPV6 = hca_spec_pkg::IPV6_HEADER_BYTES;
  localparam int unsigned LOCAL = hca_spec_pkg::LOCAL_ROUTE_HEADER_BYTES;
  localparam int unsigned GLOBAL = hca_spec_pkg::GLOBAL_ROUTE_HEADER_BYTES;
  localparam int unsigned BASE = hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES;
  localparam int unsigned EXTENDED_BITS = EXTENDED * 8;
  localparam logic [1:0] CONGESTION_EXPERIENCED = 2'd3;  // ECN (RFC 3168).
  localparam logic [1:0] IS_IPV4 = packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV4;
  localparam logic [1:0] IS_IPV6 = packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV6;
  localparam logic [1:0] IS_LOCAL = packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL;
  localparam logic [1:0] IS_GLOBAL = packet_framing_pkg::PACKET_FRAMING_INFINIBAND_GLOBAL;

  // 1: shift to the IP header or LRH.
  logic valid_1, is_tagged_1, is_typed_1;
  logic [1:0] framing_1;
  logic [NETWORK_BITS-1:0] network_1;
  logic [47:0] source_mac_1;
  logic [WIDTH-1:0] bytes_1;
  always_ff @(posedge clock) begin
    valid_1 <= !reset && ended;
    framing_1 <= framing;
    is_tagged_1 <= is_tagged;
    is_typed_1 <= is_typed;
    network_1 <= framing[1] ? head[HEAD_BITS-1-:NETWORK_BITS] :
        is_tagged ? head[HEAD_BITS-1-(ETHERNET+TAG)*8-:NETWORK_BITS] : head[HEAD_BITS-1-ETHERNET*8-:NETWORK_BITS];
    source_mac_1 <= head[HEAD_BITS-(ETHERNET-2)*8+:48];
    bytes_1 <= WIDTH'(bytes) - WIDTH'(missing);
  end

  // 2: the fields of each kind of header, shifted to the BTH, and the bytes after the link's headers.
  hca_spec_pkg::ipv4_header_t ipv4;
  hca_spec_pkg::ipv6_header_t ipv6;
  hca_spec_pkg::udp_header_t udp;
  hca_spec_pkg::local_route_header_t local_route;
  hca_spec_pkg::global_route_header_t global_route;
  logic valid_2, is_tagged_2, is_typed_2, has_bad_version_2, has_bad_global_version_2, is_fragment_2, has_bad_protocol_2, is_raw_2,
      has_bad_port_2, has_udp_sum_2, has_congestion_2;
  logic [1:0] framing_2;
  logic [TRANSPORT_BITS-1:0] transport_2;
  logic [127:0] source_2, destination_2;
  logic [47:0] source_mac_2;
  logic [15:0] source_local_2, destination_local_2, length_2, udp_bytes_2;
  logic [12:0] link_bytes_2;
  logic [3:0] service_level_2;
  logic [WIDTH-1:0] rest_2;
  logic [17:0] sum_low, sum_middle, sum_low_2, sum_middle_2;
  logic [18:0] sum_high, sum_high_2;
  assign ipv4 = network_1[NETWORK_BITS-1-:IPV4*8];
  assign ipv6 = network_1[NETWORK_BITS-1-:IPV6*8];
  assign udp = framing_1 == IS_IPV4 ? network_1[NETWORK_BITS-1-IPV4*8-:UDP*8] : network_1[NETWORK_BITS-1-IPV6*8-:UDP*8];
  assign local_route = network_1[NETWORK_BITS-1-:LOCAL*8];
  assign global_route = network_1[NETWORK_BITS-1-LOCAL*8-:GLOBAL*8];
  assign sum_low = 18'(ipv4[15:0]) + 18'(ipv4[31:16]) + 18'(ipv4[47:32]);
  assign sum_middle = 18'(ipv4[63:48]) + 18'(ipv4[79:64]) + 18'(ipv4[95:80]);
  assign sum_high = 19'(ipv4[111:96]) + 19'(ipv4[127:112]) + 19'(ipv4[143:128]) + 19'(ipv4[159:144]);
  always_ff @(posedge clock) begin
    valid_2 <= !reset && valid_1;
    framing_2 <= framing_1;
    is_tagged_2 <= is_tagged_1;
    is_typed_2 <= is_typed_1;
    source_mac_2 <= framing_1[1] ? '0 : source_mac_1;
    source_local_2 <= framing_1[1] ? local_route.source_local_identifier : '0;
    destination_local_2 <= framing_1[1] ? local_route.destination_local_identifier : '0;
    service_level_2 <= framing_1[1] ? local_route.service_level : '0;
    link_bytes_2 <= {local_route.packet_length, 2'd0};
    rest_2 <= bytes_1 - (framing_1[1] ? WIDTH'(LOCAL) : is_tagged_1 ? WIDTH'(ETHERNET + TAG) : WIDTH'(ETHERNET));
    is_fragment_2 <= ipv4.more_fragments || ipv4.fragment_offset != '0;
    is_raw_2 <= !local_route.link_next_header[1];
    has_bad_global_version_2 <= global_route.ip_version != 4'd6;
    has_bad_port_2 <= udp.destination_port != 16'(hca_spec_pkg::ROCEV2_UDP_PORT);
    has_udp_sum_2 <= udp.checksum != '0;
    udp_bytes_2 <= udp.length;
    sum_low_2 <= sum_low;
    sum_middle_2 <= sum_middle;
    sum_high_2 <= sum_high;
    case (framing_1)
      IS_IPV4: begin
        has_bad_version_2 <= ipv4.version != 4'd4 || ipv4.header_length != 4'(IPV4 / 4);
        has_bad_protocol_2 <= ipv4.protocol != hca_spec_pkg::IP_PROTOCOL_UDP;
        has_congestion_2 <= ipv4.congestion_notification == CONGESTION_EXPERIENCED;
        length_2 <= ipv4.total_length;
        source_2 <= {80'd0, 16'hffff, ipv4.source_address};
        destination_2 <= {80'd0, 16'hffff, ipv4.destination_address};
        transport_2 <= network_1[NETWORK_BITS-1-(IPV4+UDP)*8-:TRANSPORT_BITS];
      end
      IS_IPV6: begin
        has_bad_version_2 <= ipv6.version != 4'd6;
        has_bad_protocol_2 <= ipv6.next_header != hca_spec_pkg::IP_PROTOCOL_UDP;
        has_congestion_2 <= ipv6.traffic_class[1:0] == CONGESTION_EXPERIENCED;
        length_2 <= ipv6.payload_length;
        source_2 <= ipv6.source_address;
        destination_2 <= ipv6.destination_address;
        transport_2 <= network_1[NETWORK_BITS-1-(IPV6+UDP)*8-:TRANSPORT_BITS];
      end
      default: begin
        has_bad_version_2 <= local_route.link_version != '0;
        has_bad_protocol_2 <= global_route.next_header != hca_spec_pkg::IP_PROTOCOL_INFINIBAND_TRANSPORT;
        has_congestion_2 <= 1'b0;
        length_2 <= global_route.payload_length;
        source_2 <= framing_1 == IS_GLOBAL ? global_route.source_gid : '0;
        destination_2 <= framing_1 == IS_GLOBAL ? global_route.destination_gid : '0;
        transport_2 <= framing_1 == IS_GLOBAL ? network_1[NETWORK_BITS-1-(LOCAL+GLOBAL)*8-:TRANSPORT_BITS] :
            network_1[NETWORK_BITS-1-LOCAL*8-:TRANSPORT_BITS];
      end
    endcase
  end

  // 3: the extended headers of the opcode; compare lengths.
  hca_spec_pkg::base_transport_header_t base_2, base_3;
  logic valid_3, is_known_3, may_have_payload_3, has_datagram_3, has_rdma_3, has_atomic_3, has_acknowledge_3, has_original_3, has_immediate_3,
      has_invalidate_3;
  logic [1:0] framing_3;
  logic is_typed_3, has_bad_version_3, has_bad_global_version_3, is_fragment_3, has_bad_protocol_3, is_raw_3, has_bad_port_3, has_udp_sum_3,
      has_congestion_3, ends_in_link_3, ends_in_network_3, has_bad_length_3, has_bad_inner_length_3, ends_in_udp_3;
  logic [EXTENDED_BITS-1:0] extended_3;
  logic [127:0] source_3, destination_3;
  logic [47:0] source_mac_3;
  logic [15:0] source_local_3, destination_local_3;
  logic [3:0] service_level_3;
  logic [6:0] network_at_3, base_at_3;
  logic [WIDTH-1:0] behind_network, transport_bytes, transport_bytes_3;
  logic [20:0] sum_3;
  assign base_2 = transport_2[TRANSPORT_BITS-1-:BASE*8];
  always_comb begin
    case (framing_2)
      IS_IPV4: begin
        behind_network = rest_2 - WIDTH'(IPV4);
        transport_bytes = WIDTH'(length_2) - WIDTH'(IPV4 + UDP);
      end
      IS_IPV6: begin
        behind_network = rest_2 - WIDTH'(IPV6);
        transport_bytes = WIDTH'(length_2) - WIDTH'(UDP);
      end
      IS_LOCAL: begin
        behind_network = rest_2;
        transport_bytes = rest_2;
      end
      default: begin
        behind_network = rest_2 - WIDTH'(GLOBAL);
        transport_bytes = rest_2 - WIDTH'(GLOBAL);
      end
    endcase
  end
  always_ff @(posedge clock) begin
    valid_3 <= !reset && valid_2;
    framing_3 <= framing_2;
    is_typed_3 <= is_typed_2;
    has_bad_version_3 <= has_bad_version_2;
    has_bad_global_version_3 <= has_bad_global_version_2;
    is_fragment_3 <= is_fragment_2;
    has_bad_protocol_3 <= has_bad_protocol_2;
    is_raw_3 <= is_raw_2;
    has_bad_port_3 <= has_bad_port_2;
    has_udp_sum_3 <= has_udp_sum_2 && !framing_2[1];
    has_congestion_3 <= has_congestion_2;
    ends_in_link_3 <= rest_2[WIDTH-1];
    ends_in_network_3 <= behind_network[WIDTH-1];
    case (framing_2)
      IS_IPV4: has_bad_length_3 <= rest_2 < WIDTH'(length_2) || length_2 < 16'(IPV4);
      IS_IPV6: has_bad_length_3 <= rest_2 < WIDTH'(length_2) + WIDTH'(IPV6);
      default: has_bad_length_3 <= WIDTH'(link_bytes_2) != rest_2 + WIDTH'(LOCAL);
    endcase
    case (framing_2)
      IS_IPV4: has_bad_inner_length_3 <= WIDTH'(udp_bytes_2) + WIDTH'(IPV4) != WIDTH'(length_2);
      IS_IPV6: has_bad_inner_length_3 <= udp_bytes_2 != length_2;
      default: has_bad_inner_length_3 <= WIDTH'(length_2) + WIDTH'(GLOBAL) != rest_2;
    endcase
    ends_in_udp_3 <= transport_bytes[WIDTH-1];
    transport_bytes_3 <= transport_bytes;
    sum_3 <= 21'(sum_low_2) + 21'(sum_middle_2) + 21'(sum_high_2);
    base_3 <= base_2;
    extended_3 <= transport_2[EXTENDED_BITS-1:0];
    source_3 <= source_2;
    destination_3 <= destination_2;
    source_mac_3 <= source_mac_2;
    source_local_3 <= source_local_2;
    destination_local_3 <= destination_local_2;
    service_level_3 <= service_level_2;
    network_at_3 <= framing_2[1] ? '0 : is_tagged_2 ? 7'(ETHERNET + TAG) : 7'(ETHERNET);
    case (framing_2)
      IS_IPV4: base_at_3 <= (is_tagged_2 ? 7'(TAG) : 7'd0) + 7'(ETHERNET + IPV4 + UDP);
      IS_IPV6: base_at_3 <= (is_tagged_2 ? 7'(TAG) : 7'd0) + 7'(ETHERNET + IPV6 + UDP);
      IS_LOCAL: base_at_3 <= 7'(LOCAL);
      default: base_at_3 <= 7'(LOCAL + GLOBAL);
    endcase
    is_known_3 <= hca_spec_pkg::PACKET_OPCODES_KNOWN[base_2.opcode];
    may_have_payload_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_PAYLOAD[base_2.opcode];
    has_datagram_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_DATAGRAM[base_2.opcode];
    has_rdma_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_RDMA[base_2.opcode];
    has_atomic_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_ATOMIC[base_2.opcode];
    has_acknowledge_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_ACKNOWLEDGE[base_2.opcode];
    has_original_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_ATOMIC_ACKNOWLEDGE[base_2.opcode];
    has_immediate_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_IMMEDIATE[base_2.opcode];
    has_invalidate_3 <= hca_spec_pkg::PACKET_OPCODES_WITH_INVALIDATE[base_2.opcode];
  end

  // 4: the fields, and the length of the payload with its pad.
  logic [4:0] extended_bytes;
  logic is_known_4, may_have_payload_4, ends_in_base_4, has_bad_transport_4;
  logic [1:0] framing_4, pad_4;
  logic is_typed_4, has_bad_version_4, has_bad_global_version_4, is_fragment_4, has_bad_protocol_4, is_raw_4, has_bad_port_4, has_udp_sum_4,
      ends_in_link_4, ends_in_network_4, has_bad_length_4, has_bad_inner_length_4, ends_in_udp_4;
  logic [WIDTH-1:0] padded_4;
  logic [16:0] sum_4;
  // The first bytes of the extended headers, as each header that begins there has them; and the last four bytes, an ImmDt or an IETH.
  hca_spec_pkg::rdma_extended_transport_header_t rdma;
  hca_spec_pkg::atomic_extended_transport_header_t atomic;
  hca_spec_pkg::datagram_extended_transport_header_t datagram;
  hca_spec_pkg::acknowledge_extended_transport_header_t acknowledge;
  hca_spec_pkg::atomic_acknowledge_extended_transport_header_t original;
  hca_spec_pkg::immediate_extended_transport_header_t immediate;
  hca_spec_pkg::invalidate_extended_transport_header_t invalidate;
  localparam int unsigned RDMA = hca_spec_pkg::RDMA_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned DATAGRAM = hca_spec_pkg::DATAGRAM_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned ACKNOWLEDGE = hca_spec_pkg::ACKNOWLEDGE_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned ORIGINAL = hca_spec_pkg::ATOMIC_ACKNOWLEDGE_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned TAIL = hca_spec_pkg::IMMEDIATE_EXTENDED_TRANSPORT_HEADER_BYTES;  // An IETH has the same size.
  assign atomic = extended_3;
  assign rdma = extended_3[EXTENDED_BITS-1-:RDMA*8];
  assign datagram = extended_3[EXTENDED_BITS-1-:DATAGRAM*8];
  assign acknowledge = extended_3[EXTENDED_BITS-1-:ACKNOWLEDGE*8];
  assign original = extended_3[EXTENDED_BITS-1-ACKNOWLEDGE*8-:ORIGINAL*8];
  assign immediate = has_rdma_3 ? extended_3[EXTENDED_BITS-1-RDMA*8-:TAIL*8] :
      has_datagram_3 ? extended_3[EXTENDED_BITS-1-DATAGRAM*8-:TAIL*8] : extended_3[EXTENDED_BITS-1-:TAIL*8];
  assign invalidate = extended_3[EXTENDED_BITS-1-:TAIL*8];
  logic unused_bits;
  assign unused_bits = &{1'b0, ipv6, udp, local_route, global_route, base_3, atomic, datagram};
  always_comb begin
    if (has_atomic_3) extended_bytes = 5'(EXTENDED);
    else if (has_rdma_3) extended_bytes = 5'(RDMA);
    else if (has_original_3) extended_bytes = 5'(ACKNOWLEDGE + ORIGINAL);
    else if (has_datagram_3) extended_bytes = 5'(DATAGRAM);
    else if (has_acknowledge_3) extended_bytes = 5'(ACKNOWLEDGE);
    else extended_bytes = '0;
    if (has_immediate_3 || has_invalidate_3) extended_bytes = extended_bytes + 5'(TAIL);
  end
  always_ff @(posedge clock) begin
    valid <= !reset && valid_3;
    framing_4 <= framing_3;
    is_typed_4 <= is_typed_3;
    has_bad_version_4 <= has_bad_version_3;
    has_bad_global_version_4 <= has_bad_global_version_3;
    is_fragment_4 <= is_fragment_3;
    has_bad_protocol_4 <= has_bad_protocol_3;
    is_raw_4 <= is_raw_3;
    has_bad_port_4 <= has_bad_port_3;
    has_udp_sum_4 <= has_udp_sum_3;
    ends_in_link_4 <= ends_in_link_3;
    ends_in_network_4 <= ends_in_network_3;
    has_bad_length_4 <= has_bad_length_3;
    has_bad_inner_length_4 <= has_bad_inner_length_3;
    ends_in_udp_4 <= ends_in_udp_3;
    sum_4 <= 17'(sum_3[15:0]) + 17'(sum_3[20:16]);
    is_known_4 <= is_known_3;
    may_have_payload_4 <= may_have_payload_3;
    ends_in_base_4 <= transport_bytes_3[WIDTH-1] || transport_bytes_3 < WIDTH'(BASE + hca_spec_pkg::ICRC_BYTES);
    has_bad_transport_4 <= base_3.transport_header_version != '0;
    pad_4 <= base_3.pad_count;
    padded_4 <= transport_bytes_3 - (WIDTH'(extended_bytes) + WIDTH'(BASE + hca_spec_pkg::ICRC_BYTES));
    fields.framing <= framing_3;
    fields.forward_congestion <= has_congestion_3 || base_3.forward_congestion;
    fields.backward_congestion <= base_3.backward_congestion;
    fields.network_offset <= network_at_3;
    fields.transport_offset <= base_at_3;
    fields.payload_offset <= base_at_3 + 7'(extended_bytes) + 7'(BASE);
    fields.partition_key <= base_3.partition_key;
    fields.source_local_identifier <= source_local_3;
    fields.destination_local_identifier <= destination_local_3;
    fields.service_level <= service_level_3;
    fields.source_mac <= source_mac_3;
    fields.source_address <= source_3;
    fields.destination_address <= destination_3;
    fields.destination_queue_pair <= base_3.destination_queue_pair;
    fields.opcode <= base_3.opcode;
    fields.solicited_event <= base_3.solicited_event;
    fields.acknowledge_request <= base_3.acknowledge_request;
    fields.packet_sequence_number <= base_3.packet_sequence_number;
    fields.virtual_address <= has_rdma_3 || has_atomic_3 ? rdma.virtual_address : '0;
    fields.remote_key <= has_rdma_3 || has_atomic_3 ? rdma.remote_key : has_invalidate_3 ? invalidate.remote_key : '0;
    fields.dma_length <= has_rdma_3 ? rdma.dma_length : '0;
    fields.swap_add <= has_atomic_3 ? atomic.swap_add : '0;
    fields.compare <= has_atomic_3 ? atomic.compare : '0;
    fields.original_data <= has_original_3 ? original.original_data : '0;
    fields.message_sequence_number <= has_acknowledge_3 ? acknowledge.message_sequence_number : '0;
    fields.syndrome <= has_acknowledge_3 ? acknowledge.syndrome : '0;
    fields.immediate_data <= has_immediate_3 ? immediate.immediate_data : '0;
    fields.queue_key <= has_datagram_3 ? datagram.queue_key : '0;
    fields.source_queue_pair <= has_datagram_3 ? datagram.source_queue_pair : '0;
  end

  // 5: check lengths and the IPv4 checksum. 6: select the first reason of each output.
  logic valid_5, has_bad_sum_5, has_udp_sum_5, ends_in_extended_5, has_bad_pad_5, has_payload_5;
  logic [1:0] framing_5;
  logic is_typed_5, has_bad_version_5, has_bad_global_version_5, is_fragment_5, has_bad_protocol_5, is_raw_5, has_bad_port_5, ends_in_link_5,
      ends_in_network_5, has_bad_length_5, has_bad_inner_length_5, ends_in_udp_5, is_known_5, may_have_payload_5, ends_in_base_5,
      has_bad_transport_5;
  logic [WIDTH-1:0] payload_5;
  logic [4:0] ip_reason, infiniband_reason, transport_reason;
  always_comb begin
    if (ends_in_link_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_SHORT);
    else if (!is_typed_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_ETHER_TYPE);
    else if (ends_in_network_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_SHORT);
    else if (has_bad_version_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_BAD_IP_HEADER);
    else if (has_bad_sum_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_IP_CHECKSUM_MISMATCH);
    else if (is_fragment_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_IP_FRAGMENT);
    else if (has_bad_protocol_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_IP_PROTOCOL);
    else if (has_bad_length_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_LENGTH_MISMATCH);
    else if (ends_in_udp_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_SHORT);
    else if (has_bad_inner_length_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_LENGTH_MISMATCH);
    else if (has_bad_port_5) ip_reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_UDP_PORT);
    else ip_reason = 5'(hca_spec_pkg::PACKET_DROP_NONE);
    if (ends_in_link_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_SHORT);
    else if (has_bad_version_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_LINK_VERSION);
    else if (has_bad_length_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_LENGTH_MISMATCH);
    else if (is_raw_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_RAW_PACKET);
    else if (framing_5 == IS_LOCAL) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_NONE);
    else if (ends_in_network_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_SHORT);
    else if (has_bad_global_version_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_BAD_GLOBAL_ROUTE_HEADER);
    else if (has_bad_protocol_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_IP_PROTOCOL);
    else if (has_bad_inner_length_5) infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_LENGTH_MISMATCH);
    else infiniband_reason = 5'(hca_spec_pkg::PACKET_DROP_NONE);
    if (ends_in_base_5) transport_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_SHORT);
    else if (has_bad_transport_5) transport_reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_TRANSPORT_VERSION);
    else if (!is_known_5) transport_reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_OPCODE);
    else if (ends_in_extended_5) transport_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_SHORT);
    else if (has_bad_pad_5) transport_reason = 5'(hca_spec_pkg::PACKET_DROP_LENGTH_MISMATCH);
    else if (has_payload_5 && !may_have_payload_5) transport_reason = 5'(hca_spec_pkg::PACKET_DROP_UNEXPECTED_PAYLOAD);
    else if (payload_5 > WIDTH'(hca_spec_pkg::PACKET_PAYLOAD_BYTES)) transport_reason = 5'(hca_spec_pkg::PACKET_DROP_TOO_LONG);
    else transport_reason = 5'(hca_spec_pkg::PACKET_DROP_NONE);
  end
  always_ff @(posedge clock) begin
    valid_5 <= !reset && valid;
    framing_5 <= framing_4;
    is_typed_5 <= is_typed_4;
    has_bad_version_5 <= has_bad_version_4;
    has_bad_global_version_5 <= has_bad_global_version_4;
    is_fragment_5 <= is_fragment_4 && framing_4 == IS_IPV4;
    has_bad_protocol_5 <= has_bad_protocol_4;
    is_raw_5 <= is_raw_4;
    has_bad_port_5 <= has_bad_port_4;
    has_udp_sum_5 <= has_udp_sum_4;
    ends_in_link_5 <= ends_in_link_4;
    ends_in_network_5 <= ends_in_network_4;
    has_bad_length_5 <= has_bad_length_4;
    has_bad_inner_length_5 <= has_bad_inner_length_4;
    ends_in_udp_5 <= ends_in_udp_4;
    has_bad_sum_5 <= framing_4 == IS_IPV4 && sum_4 != 17'h0ffff;  // Ten words produce no other carries.
    is_known_5 <= is_known_4;
    may_have_payload_5 <= may_have_payload_4;
    ends_in_base_5 <= ends_in_base_4;
    has_bad_transport_5 <= has_bad_transport_4;
    ends_in_extended_5 <= padded_4[WIDTH-1];
    has_bad_pad_5 <= padded_4[1:0] != '0 || padded_4 == '0 && pad_4 != '0;
    has_payload_5 <= padded_4 != '0;
    payload_5 <= padded_4 - WIDTH'(pad_4);
    judged <= !reset && valid_5;
    link_drop <= framing_5[1] ? infiniband_reason : ip_reason;
    transport_drop <= transport_reason;
    has_udp_sum <= has_udp_sum_5;
    payload_bytes <= payload_5[12:0];
  end
endmodule
