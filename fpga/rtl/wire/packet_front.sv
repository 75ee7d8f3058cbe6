// Stores the headers of each packet of a stream, and forwards the packet up to the end that its headers give: an Ethernet frame may be longer than
// its IP packet. One beat per clock, without back-pressure.
module packet_front #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    localparam int unsigned ETHERNET = hca_spec_pkg::ETHERNET_HEADER_BYTES - hca_spec_pkg::ETHERNET_HEADER_PADDING_WIDTH / 8,
    localparam int unsigned TAG = hca_spec_pkg::VIRTUAL_LAN_HEADER_BYTES,
    // Size of the longest headers.
    localparam int unsigned HEAD_BYTES = ETHERNET + TAG + hca_spec_pkg::IPV6_HEADER_BYTES + hca_spec_pkg::UDP_HEADER_BYTES
        + hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES + hca_spec_pkg::ATOMIC_EXTENDED_TRANSPORT_HEADER_BYTES,
    localparam int unsigned HEAD_BITS = HEAD_BYTES * 8,
    localparam int unsigned MOST_WIDTH = 17  // Width of the number of bytes of a packet.
) (
    input logic clock,
    input logic reset,
    input logic is_infiniband,  // Link type; 0: Ethernet.

    // Packets from their first link byte, without VCRC or frame check sequence.
    input logic beat,
    input logic [BEAT_BYTES*8-1:0] beat_tdata,
    input logic [BEAT_BYTES-1:0] beat_tkeep,
    input logic beat_tlast,

    // A packet, two clocks after its last beat: its first bytes, first byte highest. Bytes beyond its end are undefined.
    output logic ended,
    output logic [HEAD_BITS-1:0] head,
    output logic [1:0] framing,  // packet_framing_t, if is_typed.
    output logic is_tagged,
    output logic is_typed,  // There is no EtherType, or it is that of an IP packet.
    output logic [MOST_WIDTH-1:0] bytes,  // Rounded up to whole beats.
    output logic [$clog2(BEAT_BYTES)-1:0] missing,  // Bytes that the last beat lacks.

    // The same stream, up to the end of each packet.
    output logic reached,
    output logic [BEAT_BYTES*8-1:0] reached_tdata,
    output logic [BEAT_BYTES-1:0] reached_tkeep,
    output logic reached_tlast,
    output logic [2:0] reached_tuser,  // Framing in the low bits; the highest bit is set for an 802.1Q tag.
    output logic [BEAT_BYTES-1:0] reached_sum,  // Bytes that the UDP checksum covers, if the packet is IP.
    output logic [15:0] reached_udp_bytes,  // The UDP length with one beat of the packet; 0 with all others.
    output logic reached_first
);
  localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES);
  localparam int unsigned HEAD_BEATS = (HEAD_BYTES + BEAT_BYTES - 1) / BEAT_BYTES;
  localparam int unsigned NUMBER_WIDTH = $clog2(HEAD_BEATS + 1);
  // Offsets of lengths in the headers.
  localparam int unsigned LENGTH_IPV4 = ETHERNET + hca_spec_pkg::IPV4_HEADER_BYTES - hca_spec_pkg::IPV4_HEADER_TOTAL_LENGTH_LSB / 8 - 2;
  localparam int unsigned LENGTH_IPV6 = ETHERNET + hca_spec_pkg::IPV6_HEADER_BYTES - hca_spec_pkg::IPV6_HEADER_PAYLOAD_LENGTH_LSB / 8 - 2;
  localparam int unsigned KNOWN_BEAT = (LENGTH_IPV6 + TAG + 1) / BEAT_BYTES;  // The length is known with this beat.
  localparam int unsigned KNOWN_BYTES = KNOWN_BEAT * BEAT_BYTES;
  // The UDP checksum covers the addresses and all bytes after them.
  localparam int unsigned SUM_IPV4 = ETHERNET + hca_spec_pkg::IPV4_HEADER_BYTES - 8;
  localparam int unsigned SUM_IPV6 = ETHERNET + hca_spec_pkg::IPV6_HEADER_BYTES - 32;
  localparam int unsigned SIGNED_WIDTH = MOST_WIDTH + 1;

  // 1: the beat, and the headers so far.
  logic beat_1, last_1;
  logic [NUMBER_WIDTH-1:0] number, number_1;
  logic [MOST_WIDTH-LANE_WIDTH-1:0] beats, beats_1;
  logic [BEAT_BYTES*8-1:0] data_1;
  logic [BEAT_BYTES-1:0] keep_1;
  logic [HEAD_BITS-1:0] head_1;
  always_ff @(posedge clock) begin
    if (reset || beat && beat_tlast) begin
      number <= '0;
      beats <= (MOST_WIDTH - LANE_WIDTH)'(1);
    end else if (beat) begin
      if (number != NUMBER_WIDTH'(HEAD_BEATS)) number <= number + NUMBER_WIDTH'(1);
      beats <= beats + (MOST_WIDTH - LANE_WIDTH)'(1);
    end
    beat_1 <= !reset && beat;
    last_1 <= beat_tlast;
    number_1 <= number;
    beats_1 <= beats;
    data_1 <= beat_tdata;
    keep_1 <= beat_tlast ? beat_tkeep : '1;
    for (int unsigned place = 0; place < HEAD_BITS / 8; place++)
      if (beat && number == NUMBER_WIDTH'(place / BEAT_BYTES))
        head_1[HEAD_BITS-8-place*8+:8] <= beat_tdata[place%BEAT_BYTES*8+:8];
  end

  // 2: the kind of packet.
  logic [15:0] link_type, ether_type, length_ipv4, length_ipv6;
  logic [1:0] next_header;
  logic has_tag, is_ipv4, is_ipv6;
  assign link_type = head_1[HEAD_BITS-ETHERNET*8+:16];
  assign has_tag = !is_infiniband && link_type == hca_spec_pkg::ETHER_TYPE_VIRTUAL_LAN;
  assign ether_type = has_tag ? head_1[HEAD_BITS-(ETHERNET+TAG)*8+:16] : link_type;
  assign is_ipv4 = !is_infiniband && ether_type == hca_spec_pkg::ETHER_TYPE_IPV4;
  assign is_ipv6 = !is_infiniband && ether_type == hca_spec_pkg::ETHER_TYPE_IPV6;
  assign length_ipv4 = has_tag ? head_1[HEAD_BITS-(LENGTH_IPV4+TAG+2)*8+:16] : head_1[HEAD_BITS-(LENGTH_IPV4+2)*8+:16];
  assign length_ipv6 = has_tag ? head_1[HEAD_BITS-(LENGTH_IPV6+TAG+2)*8+:16] : head_1[HEAD_BITS-(LENGTH_IPV6+2)*8+:16];
  assign next_header = head_1[HEAD_BITS-hca_spec_pkg::LOCAL_ROUTE_HEADER_BYTES*8+hca_spec_pkg::LOCAL_ROUTE_HEADER_LINK_NEXT_HEADER_LSB+:2];

  logic beat_2, last_2, is_ipv4_2, is_ipv6_2;
  logic [NUMBER_WIDTH-1:0] number_2;
  logic [1:0] framing_2;
  logic [15:0] length_2;  // Of an IPv4 packet, or of the payload after an IPv6 header.
  logic [BEAT_BYTES*8-1:0] data_2;
  logic [BEAT_BYTES-1:0] keep_2;
  logic [LANE_WIDTH-1:0] missing_1;
  // Bytes after the first are contiguous: count the absent ones, from the highest bit of the number on.
  always_comb begin
    int unsigned begin_of_window;
    logic [BEAT_BYTES-1:0] window;
    window = keep_1;
    for (int unsigned step = LANE_WIDTH; step > 0; step--) begin
      begin_of_window = 1 << step - 1;
      missing_1[step-1] = !window[begin_of_window];
      if (window[begin_of_window]) window = window >> begin_of_window;
    end
  end
  always_ff @(posedge clock) begin
    ended <= !reset && beat_1 && last_1;
    head <= head_1;
    if (is_infiniband)
      framing_2 <= next_header == hca_spec_pkg::LINK_NEXT_HEADER_GLOBAL ?
          packet_framing_pkg::PACKET_FRAMING_INFINIBAND_GLOBAL : packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL;
    else framing_2 <= is_ipv6 ? packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV6 : packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV4;
    is_tagged <= has_tag;
    is_typed <= is_infiniband || is_ipv4 || is_ipv6;
    bytes <= {beats_1, LANE_WIDTH'(0)};
    missing <= missing_1;
    beat_2 <= !reset && beat_1;
    last_2 <= last_1;
    number_2 <= number_1;
    data_2 <= data_1;
    keep_2 <= keep_1;
    is_ipv4_2 <= is_ipv4;
    is_ipv6_2 <= is_ipv6;
    length_2 <= is_ipv6 ? length_ipv6 : length_ipv4;
  end
  assign framing = framing_2;

  // 3: the end of the packet, from the beat on with which it is known.
  logic beat_3, last_3, is_limited_3, is_tagged_3;
  logic [NUMBER_WIDTH-1:0] number_3;
  logic [1:0] framing_3;
  logic [SIGNED_WIDTH-1:0] end_3;
  logic [15:0] udp_bytes_3;
  logic [BEAT_BYTES*8-1:0] data_3;
  logic [BEAT_BYTES-1:0] keep_3, sum, sum_3;
  // Bytes before those that the length counts, from the beat on with which the length is known.
  logic [SIGNED_WIDTH-1:0] uncounted;
  always_comb begin
    uncounted = SIGNED_WIDTH'(ETHERNET) - SIGNED_WIDTH'(KNOWN_BYTES);
    if (is_tagged) uncounted = uncounted + SIGNED_WIDTH'(TAG);
    if (is_ipv6_2) uncounted = uncounted + SIGNED_WIDTH'(hca_spec_pkg::IPV6_HEADER_BYTES);
  end
  always_comb begin
    for (int unsigned lane = 0; lane < BEAT_BYTES; lane++) begin
      sum[lane] = number_2 > NUMBER_WIDTH'(KNOWN_BEAT);
      if (number_2 == NUMBER_WIDTH'(KNOWN_BEAT))
        sum[lane] = KNOWN_BYTES + lane >= (is_ipv6_2 ? SUM_IPV6 : SUM_IPV4) + (is_tagged ? TAG : 0);
      // Offset of the addresses in the next beat.
      if (number_2 == NUMBER_WIDTH'(KNOWN_BEAT + 1))
        sum[lane] = KNOWN_BYTES + BEAT_BYTES + lane >= (is_ipv6_2 ? SUM_IPV6 : SUM_IPV4) + (is_tagged ? TAG : 0);
    end
  end
  always_ff @(posedge clock) begin
    beat_3 <= !reset && beat_2;
    last_3 <= last_2;
    number_3 <= number_2;
    framing_3 <= framing_2;
    is_tagged_3 <= is_tagged;
    is_limited_3 <= is_ipv4_2 || is_ipv6_2;
    end_3 <= SIGNED_WIDTH'(length_2) + uncounted;
    udp_bytes_3 <= number_2 != NUMBER_WIDTH'(KNOWN_BEAT) ? '0 : is_ipv6_2 ? length_2 : length_2 - 16'(hca_spec_pkg::IPV4_HEADER_BYTES);
    data_3 <= data_2;
    keep_3 <= keep_2;
    sum_3 <= sum;
  end

  // 4: cut the packet at its end. With a wrong length at least one byte remains; the packet will be dropped.
  logic is_known, is_end, is_over, is_more;
  logic [MOST_WIDTH-1:0] left, left_behind;  // Bytes of the packet from this beat on, and after it.
  assign is_known = is_limited_3 && (number_3 == NUMBER_WIDTH'(KNOWN_BEAT) || number_3 > NUMBER_WIDTH'(KNOWN_BEAT));
  assign left = number_3 != NUMBER_WIDTH'(KNOWN_BEAT) ? left_behind : end_3[SIGNED_WIDTH-1] ? '0 : end_3[MOST_WIDTH-1:0];
  assign is_more = left[MOST_WIDTH-1:LANE_WIDTH] != '0;
  assign is_end = is_known && !(is_more && left != MOST_WIDTH'(BEAT_BYTES));
  always_ff @(posedge clock) begin
    if (beat_3) left_behind <= is_end ? '0 : left - MOST_WIDTH'(BEAT_BYTES);
    if (reset) is_over <= 1'b0;
    else if (beat_3) is_over <= !last_3 && (is_over || is_end);
    reached <= !reset && beat_3 && !is_over;
    reached_tdata <= data_3;
    for (int unsigned lane = 0; lane < BEAT_BYTES; lane++)
      reached_tkeep[lane] <= keep_3[lane] && (lane == 0 || !is_known || is_more || left[LANE_WIDTH-1:0] > LANE_WIDTH'(lane));
    reached_tlast <= last_3 || is_end;
    reached_tuser <= {is_tagged_3, framing_3};
    reached_sum <= sum_3;
    reached_udp_bytes <= udp_bytes_3;
    reached_first <= number_3 == '0;
  end
endmodule
