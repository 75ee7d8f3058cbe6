// Completes the template of a packet: lengths, the IPv4 checksum and the packet's fields of the BTH. A template has the headers up to the BTH that
// all packets from one queue pair to another have in common, first byte highest. It takes two clocks, and one packet per clock.
module header_lengths (
    input logic clock,

    input logic [1:0] framing,  // packet_framing_t
    input logic [639:0] template_headers,
    input logic [15:0] ipv4_sum,  // Ones' complement sum of the words of the IPv4 header, without its length and checksum.
    input logic [13:0] transport_bytes,  // From the BTH to the ICRC, both included.
    input logic [7:0] opcode,
    input logic solicited_event,
    input logic acknowledge_request,
    input logic [1:0] pad_count,
    input logic [23:0] packet_sequence_number,

    output logic [639:0] headers
);
  localparam int unsigned WIDTH = 640;
  localparam int unsigned TRANSPORT_BITS = hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES * 8;
  localparam int unsigned UDP_BITS = hca_spec_pkg::UDP_HEADER_BYTES * 8;
  localparam int unsigned IPV4_BITS = hca_spec_pkg::IPV4_HEADER_BYTES * 8;
  localparam int unsigned GLOBAL_BITS = hca_spec_pkg::GLOBAL_ROUTE_HEADER_BYTES * 8;
  localparam int unsigned LOCAL_BITS = hca_spec_pkg::LOCAL_ROUTE_HEADER_BYTES * 8;

  // Offsets of fields.
  localparam int unsigned UDP_LENGTH = TRANSPORT_BITS + hca_spec_pkg::UDP_HEADER_LENGTH_LSB;
  localparam int unsigned IPV4_LENGTH = TRANSPORT_BITS + UDP_BITS + hca_spec_pkg::IPV4_HEADER_TOTAL_LENGTH_LSB;
  localparam int unsigned IPV4_CHECKSUM = TRANSPORT_BITS + UDP_BITS + hca_spec_pkg::IPV4_HEADER_HEADER_CHECKSUM_LSB;
  localparam int unsigned IPV6_LENGTH = TRANSPORT_BITS + UDP_BITS + hca_spec_pkg::IPV6_HEADER_PAYLOAD_LENGTH_LSB;
  localparam int unsigned GLOBAL_LENGTH = TRANSPORT_BITS + hca_spec_pkg::GLOBAL_ROUTE_HEADER_PAYLOAD_LENGTH_LSB;
  localparam int unsigned LOCAL_LENGTH = TRANSPORT_BITS + hca_spec_pkg::LOCAL_ROUTE_HEADER_PACKET_LENGTH_LSB;
  localparam int unsigned FAR_LOCAL_LENGTH = LOCAL_LENGTH + GLOBAL_BITS;
  localparam int unsigned DWORDS_WIDTH = hca_spec_pkg::LOCAL_ROUTE_HEADER_PACKET_LENGTH_WIDTH;

  // 1: compute the lengths.
  logic [1:0] framing_1, unused_low;
  logic [WIDTH-1:0] headers_1;
  logic [15:0] udp_length_1, ipv4_length, ipv4_length_1, global_length_1;
  logic [16:0] ipv4_sum_1;
  logic [15:0] local_bytes;
  logic [DWORDS_WIDTH-1:0] local_length_1;
  hca_spec_pkg::base_transport_header_t transport;
  assign ipv4_length = 16'(transport_bytes) + 16'((IPV4_BITS + UDP_BITS) / 8);
  assign local_bytes = 16'(transport_bytes) + (framing == packet_framing_pkg::PACKET_FRAMING_INFINIBAND_GLOBAL ?
      16'((LOCAL_BITS + GLOBAL_BITS) / 8) : 16'(LOCAL_BITS / 8));
  assign unused_low = local_bytes[1:0];
  always_comb begin
    transport = template_headers[TRANSPORT_BITS-1:0];
    transport.opcode = opcode;
    transport.solicited_event = solicited_event;
    transport.backward_congestion = opcode == hca_spec_pkg::PACKET_OPCODE_CONGESTION_NOTIFICATION;
    transport.pad_count = pad_count;
    transport.acknowledge_request = acknowledge_request;
    transport.packet_sequence_number = packet_sequence_number;
  end
  always_ff @(posedge clock) begin
    framing_1 <= framing;
    headers_1 <= {template_headers[WIDTH-1:TRANSPORT_BITS], transport};
    udp_length_1 <= 16'(transport_bytes) + 16'(UDP_BITS / 8);
    ipv4_length_1 <= ipv4_length;
    ipv4_sum_1 <= 17'(ipv4_sum) + 17'(ipv4_length);
    global_length_1 <= 16'(transport_bytes);
    local_length_1 <= DWORDS_WIDTH'(local_bytes[15:2]);
  end

  // 2: insert them.
  always_ff @(posedge clock) begin
    headers <= headers_1;
    case (framing_1)
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV4: begin
        headers[UDP_LENGTH+:16] <= udp_length_1;
        headers[IPV4_LENGTH+:16] <= ipv4_length_1;
        headers[IPV4_CHECKSUM+:16] <= ~(ipv4_sum_1[15:0] + {15'd0, ipv4_sum_1[16]});
      end
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV6: begin
        headers[UDP_LENGTH+:16] <= udp_length_1;
        headers[IPV6_LENGTH+:16] <= udp_length_1;
      end
      packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL: headers[LOCAL_LENGTH+:DWORDS_WIDTH] <= local_length_1;
      default: begin
        headers[GLOBAL_LENGTH+:16] <= global_length_1;
        headers[FAR_LOCAL_LENGTH+:DWORDS_WIDTH] <= local_length_1;
      end
    endcase
  end
endmodule
