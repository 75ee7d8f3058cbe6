// The part of a beat that the ICRC covers (InfiniBand volume 1, 7.8.1; annex A17): nothing before the LRH or IP header; ones for fields that may
// change on the way; the initial register value, folded into the first four covered bytes.
module icrc_coverage #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    // Beats up to the end of the longest BTH.
    localparam int unsigned HEAD_BYTES = hca_spec_pkg::ETHERNET_HEADER_BYTES - hca_spec_pkg::ETHERNET_HEADER_PADDING_WIDTH / 8
        + hca_spec_pkg::VIRTUAL_LAN_HEADER_BYTES + hca_spec_pkg::IPV6_HEADER_BYTES + hca_spec_pkg::UDP_HEADER_BYTES
        + hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES,
    localparam int unsigned HEAD_BEATS = (HEAD_BYTES + BEAT_BYTES - 1) / BEAT_BYTES,
    localparam int unsigned NUMBER_WIDTH = $clog2(HEAD_BEATS + 1)
) (
    input logic [1:0] framing,  // packet_framing_t
    input logic is_tagged,  // Ethernet with an 802.1Q tag.
    input logic [NUMBER_WIDTH-1:0] number,  // Number of the beat in its packet; HEAD_BEATS stands for this and all later ones.
    output logic [BEAT_BYTES*8-1:0] taken,  // Bits that are covered unchanged.
    output logic [BEAT_BYTES*8-1:0] turned  // Bits that are then inverted.
);
  localparam int unsigned HEAD_BITS = HEAD_BEATS * BEAT_BYTES * 8;
  localparam int unsigned ETHERNET_BYTES = hca_spec_pkg::ETHERNET_HEADER_BYTES - hca_spec_pkg::ETHERNET_HEADER_PADDING_WIDTH / 8;
  localparam int unsigned TAGGED_BYTES = ETHERNET_BYTES + hca_spec_pkg::VIRTUAL_LAN_HEADER_BYTES;

  // Fields that may change, first byte highest. FECN, BECN and the reserved bits beside them are a byte.
  localparam int unsigned IPV4_BITS = hca_spec_pkg::IPV4_HEADER_BYTES * 8;
  localparam int unsigned IPV6_BITS = hca_spec_pkg::IPV6_HEADER_BYTES * 8;
  localparam int unsigned UDP_BITS = hca_spec_pkg::UDP_HEADER_BYTES * 8;
  localparam int unsigned LOCAL_BITS = hca_spec_pkg::LOCAL_ROUTE_HEADER_BYTES * 8;
  localparam int unsigned GLOBAL_BITS = hca_spec_pkg::GLOBAL_ROUTE_HEADER_BYTES * 8;
  localparam int unsigned TRANSPORT_BITS = hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES * 8;
  localparam logic [IPV4_BITS-1:0] IPV4 =
      (IPV4_BITS'(1) << hca_spec_pkg::IPV4_HEADER_DIFFERENTIATED_SERVICES_WIDTH) - IPV4_BITS'(1)
          << hca_spec_pkg::IPV4_HEADER_DIFFERENTIATED_SERVICES_LSB
      | (IPV4_BITS'(1) << hca_spec_pkg::IPV4_HEADER_CONGESTION_NOTIFICATION_WIDTH) - IPV4_BITS'(1)
          << hca_spec_pkg::IPV4_HEADER_CONGESTION_NOTIFICATION_LSB
      | (IPV4_BITS'(1) << hca_spec_pkg::IPV4_HEADER_TIME_TO_LIVE_WIDTH) - IPV4_BITS'(1)
          << hca_spec_pkg::IPV4_HEADER_TIME_TO_LIVE_LSB
      | (IPV4_BITS'(1) << hca_spec_pkg::IPV4_HEADER_HEADER_CHECKSUM_WIDTH) - IPV4_BITS'(1)
          << hca_spec_pkg::IPV4_HEADER_HEADER_CHECKSUM_LSB;
  localparam logic [IPV6_BITS-1:0] IPV6 =
      (IPV6_BITS'(1) << hca_spec_pkg::IPV6_HEADER_TRAFFIC_CLASS_WIDTH) - IPV6_BITS'(1)
          << hca_spec_pkg::IPV6_HEADER_TRAFFIC_CLASS_LSB
      | (IPV6_BITS'(1) << hca_spec_pkg::IPV6_HEADER_FLOW_LABEL_WIDTH) - IPV6_BITS'(1)
          << hca_spec_pkg::IPV6_HEADER_FLOW_LABEL_LSB
      | (IPV6_BITS'(1) << hca_spec_pkg::IPV6_HEADER_HOP_LIMIT_WIDTH) - IPV6_BITS'(1)
          << hca_spec_pkg::IPV6_HEADER_HOP_LIMIT_LSB;
  localparam logic [GLOBAL_BITS-1:0] GLOBAL =
      (GLOBAL_BITS'(1) << hca_spec_pkg::GLOBAL_ROUTE_HEADER_TRAFFIC_CLASS_WIDTH) - GLOBAL_BITS'(1)
          << hca_spec_pkg::GLOBAL_ROUTE_HEADER_TRAFFIC_CLASS_LSB
      | (GLOBAL_BITS'(1) << hca_spec_pkg::GLOBAL_ROUTE_HEADER_FLOW_LABEL_WIDTH) - GLOBAL_BITS'(1)
          << hca_spec_pkg::GLOBAL_ROUTE_HEADER_FLOW_LABEL_LSB
      | (GLOBAL_BITS'(1) << hca_spec_pkg::GLOBAL_ROUTE_HEADER_HOP_LIMIT_WIDTH) - GLOBAL_BITS'(1)
          << hca_spec_pkg::GLOBAL_ROUTE_HEADER_HOP_LIMIT_LSB;
  localparam logic [UDP_BITS-1:0] UDP = (UDP_BITS'(1) << hca_spec_pkg::UDP_HEADER_CHECKSUM_WIDTH) - UDP_BITS'(1)
      << hca_spec_pkg::UDP_HEADER_CHECKSUM_LSB;
  localparam logic [LOCAL_BITS-1:0] LOCAL =
      (LOCAL_BITS'(1) << hca_spec_pkg::LOCAL_ROUTE_HEADER_VIRTUAL_LANE_WIDTH) - LOCAL_BITS'(1)
      << hca_spec_pkg::LOCAL_ROUTE_HEADER_VIRTUAL_LANE_LSB;
  localparam logic [TRANSPORT_BITS-1:0] TRANSPORT =
      TRANSPORT_BITS'(255) << hca_spec_pkg::BASE_TRANSPORT_HEADER_FORWARD_CONGESTION_LSB - 7;

  // RoCEv2 has ones in place of the LRH of a packet with GRH (annex A17).
  localparam logic [31:0] START_OF_ROCE = icrc_pkg::after_ones(icrc_pkg::START, LOCAL_BITS);

  localparam int unsigned LONGEST = IPV6_BITS + UDP_BITS + TRANSPORT_BITS;
  localparam logic [LONGEST-1:0] VARIANT_IPV4 = {IPV4, UDP, TRANSPORT, {IPV6_BITS - IPV4_BITS{1'b0}}};
  localparam logic [LONGEST-1:0] VARIANT_IPV6 = {IPV6, UDP, TRANSPORT};
  localparam logic [LONGEST-1:0] VARIANT_LOCAL = {LOCAL, TRANSPORT, {LONGEST - LOCAL_BITS - TRANSPORT_BITS{1'b0}}};
  localparam logic [LONGEST-1:0] VARIANT_GLOBAL = {{LOCAL_BITS{1'b1}}, GLOBAL, TRANSPORT};

  // Masks of the first beats of a packet whose LRH or IP header begins at this byte, first byte lowest.
  function automatic logic [HEAD_BITS-1:0] taken_of(input logic [LONGEST-1:0] variant, input int unsigned begins);
    taken_of = '1;
    for (int unsigned place = 0; place < begins; place++) taken_of[place*8+:8] = '0;
    for (int unsigned place = 0; place < LONGEST / 8; place++) taken_of[(begins+place)*8+:8] = ~variant[LONGEST-8-place*8+:8];
  endfunction
  function automatic logic [HEAD_BITS-1:0] turned_of(input logic [LONGEST-1:0] variant, input int unsigned begins,
                                                     input logic [31:0] start);
    turned_of = '0;
    for (int unsigned place = 0; place < LONGEST / 8; place++) turned_of[(begins+place)*8+:8] = variant[LONGEST-8-place*8+:8];
    turned_of[begins*8+:32] = turned_of[begins*8+:32] ^ start;
  endfunction

  localparam logic [HEAD_BITS-1:0] TAKEN_IPV4 = taken_of(VARIANT_IPV4, ETHERNET_BYTES);
  localparam logic [HEAD_BITS-1:0] TAKEN_IPV4_TAGGED = taken_of(VARIANT_IPV4, TAGGED_BYTES);
  localparam logic [HEAD_BITS-1:0] TAKEN_IPV6 = taken_of(VARIANT_IPV6, ETHERNET_BYTES);
  localparam logic [HEAD_BITS-1:0] TAKEN_IPV6_TAGGED = taken_of(VARIANT_IPV6, TAGGED_BYTES);
  localparam logic [HEAD_BITS-1:0] TAKEN_LOCAL = taken_of(VARIANT_LOCAL, 0);
  localparam logic [HEAD_BITS-1:0] TAKEN_GLOBAL = taken_of(VARIANT_GLOBAL, 0);
  localparam logic [HEAD_BITS-1:0] TURNED_IPV4 = turned_of(VARIANT_IPV4, ETHERNET_BYTES, START_OF_ROCE);
  localparam logic [HEAD_BITS-1:0] TURNED_IPV4_TAGGED = turned_of(VARIANT_IPV4, TAGGED_BYTES, START_OF_ROCE);
  localparam logic [HEAD_BITS-1:0] TURNED_IPV6 = turned_of(VARIANT_IPV6, ETHERNET_BYTES, START_OF_ROCE);
  localparam logic [HEAD_BITS-1:0] TURNED_IPV6_TAGGED = turned_of(VARIANT_IPV6, TAGGED_BYTES, START_OF_ROCE);
  localparam logic [HEAD_BITS-1:0] TURNED_LOCAL = turned_of(VARIANT_LOCAL, 0, icrc_pkg::START);
  localparam logic [HEAD_BITS-1:0] TURNED_GLOBAL = turned_of(VARIANT_GLOBAL, 0, icrc_pkg::START);

  logic [HEAD_BITS-1:0] head_taken, head_turned;
  always_comb begin
    case (framing)
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV4: begin
        head_taken = is_tagged ? TAKEN_IPV4_TAGGED : TAKEN_IPV4;
        head_turned = is_tagged ? TURNED_IPV4_TAGGED : TURNED_IPV4;
      end
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV6: begin
        head_taken = is_tagged ? TAKEN_IPV6_TAGGED : TAKEN_IPV6;
        head_turned = is_tagged ? TURNED_IPV6_TAGGED : TURNED_IPV6;
      end
      packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL: begin
        head_taken = TAKEN_LOCAL;
        head_turned = TURNED_LOCAL;
      end
      default: begin
        head_taken = TAKEN_GLOBAL;
        head_turned = TURNED_GLOBAL;
      end
    endcase
    taken = '1;
    turned = '0;
    for (int unsigned each = 0; each < HEAD_BEATS; each++)
      if (number == NUMBER_WIDTH'(each)) begin
        taken = head_taken[each*BEAT_BYTES*8+:BEAT_BYTES*8];
        turned = head_turned[each*BEAT_BYTES*8+:BEAT_BYTES*8];
      end
  end
endmodule
