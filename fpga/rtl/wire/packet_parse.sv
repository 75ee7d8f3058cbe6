// Parses and checks packets from a link, as wire::parse_packet of the device model does: lengths, versions, checksums, opcode, pad and ICRC
// (InfiniBand volume 1, chapters 5, 7 and 9; annex A17 for RoCEv2), but not the destination. It accepts one beat per clock without back-pressure:
// packets pass it on their way to memory, and it returns the fields of each or the reason to drop it. The link checks the VCRC.
module packet_parse #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES  // 8, 16, 32 or 64.
) (
    input logic clock,
    input logic reset,
    input logic is_infiniband,  // Link type; 0: Ethernet. Changes only while no packet is in flight.

    // Packets, AXI4-Stream that is always ready: from their first link byte, without VCRC or frame check sequence; at most 65,535 B.
    input logic beat,
    input logic [BEAT_BYTES*8-1:0] beat_tdata,
    input logic [BEAT_BYTES-1:0] beat_tkeep,
    input logic beat_tlast,

    // Each packet, in order: the reason to drop it, packet_drop_t; without a reason, its fields and the length of its payload.
    output logic parsed,
    output logic [4:0] parsed_drop,
    output packet_fields_pkg::packet_fields_t parsed_fields,
    output logic [12:0] parsed_payload_bytes
);
  localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES);
  localparam int unsigned ENTRIES = 32;  // More than the packets without an ICRC verdict: one per clock, for 20 clocks.
  localparam int unsigned HEAD_BITS = 8 * (hca_spec_pkg::ETHERNET_HEADER_BYTES - hca_spec_pkg::ETHERNET_HEADER_PADDING_WIDTH / 8
      + hca_spec_pkg::VIRTUAL_LAN_HEADER_BYTES + hca_spec_pkg::IPV6_HEADER_BYTES + hca_spec_pkg::UDP_HEADER_BYTES
      + hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES + hca_spec_pkg::ATOMIC_EXTENDED_TRANSPORT_HEADER_BYTES);
  localparam int unsigned FIELDS = $bits(parsed_fields);

  logic ended, is_tagged, is_typed, reached, reached_tlast, reached_first;
  logic [HEAD_BITS-1:0] head;
  logic [1:0] framing;
  logic [16:0] bytes;
  logic [LANE_WIDTH-1:0] missing;
  logic [BEAT_BYTES*8-1:0] reached_tdata;
  logic [BEAT_BYTES-1:0] reached_tkeep, reached_sum;
  logic [2:0] reached_tuser;
  logic [15:0] reached_udp_bytes;
  packet_front #(.BEAT_BYTES(BEAT_BYTES)) i_front (.*);

  // Headers.
  logic has_fields, is_judged, has_fields_next, has_verdict, has_udp_sum, had_udp_sum;
  packet_fields_pkg::packet_fields_t fields, next_fields;
  logic [4:0] link_drop, transport_drop, next_link_drop, next_transport_drop;
  logic [12:0] payload_bytes, next_payload_bytes;
  packet_fields #(
      .LANE_WIDTH(LANE_WIDTH)
  ) i_fields (
      .valid(has_fields),
      .fields(fields),
      .judged(is_judged),
      .*
  );

  // Both checksums of the whole packet; UDP's is ready first.
  logic summed, summed_matches, checked, checked_matches, has_sum, has_check, sum_matches, check_matches, pops;
  udp_sum #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_sum (
      .beat(reached),
      .data(reached_tdata),
      .covered(reached_sum & reached_tkeep),
      .udp_bytes(reached_udp_bytes),
      .first(reached_first),
      .last(reached_tlast),
      .*
  );
  icrc_check #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_check (
      .beat(reached),
      .beat_tdata(reached_tdata),
      .beat_tkeep(reached_tkeep),
      .beat_tlast(reached_tlast),
      .beat_tuser(reached_tuser),
      .*
  );

  // Joins the four results of each packet.
  logic [$clog2(ENTRIES):0] unused_fields, unused_verdicts, unused_sums, unused_checks;
  unit_queue #(.UNIT_WIDTH(FIELDS), .ENTRIES(ENTRIES)) i_next_fields (
      .push(has_fields), .push_unit(fields), .valid(has_fields_next), .unit(next_fields), .pop(pops), .filling(unused_fields), .*
  );
  unit_queue #(.UNIT_WIDTH(24), .ENTRIES(ENTRIES)) i_verdicts (
      .push(is_judged), .push_unit({has_udp_sum, link_drop, transport_drop, payload_bytes}), .valid(has_verdict),
      .unit({had_udp_sum, next_link_drop, next_transport_drop, next_payload_bytes}), .pop(pops), .filling(unused_verdicts), .*
  );
  unit_queue #(.UNIT_WIDTH(1), .ENTRIES(ENTRIES)) i_sums (
      .push(summed), .push_unit(summed_matches), .valid(has_sum), .unit(sum_matches), .pop(pops), .filling(unused_sums), .*
  );
  unit_queue #(.UNIT_WIDTH(1), .ENTRIES(ENTRIES)) i_checks (
      .push(checked), .push_unit(checked_matches), .valid(has_check), .unit(check_matches), .pop(pops), .filling(unused_checks), .*
  );
  assign pops = has_fields_next && has_verdict && has_sum && has_check;
  always_ff @(posedge clock) begin
    parsed <= !reset && pops;
    parsed_fields <= next_fields;
    parsed_payload_bytes <= next_payload_bytes;
    if (next_link_drop != '0) parsed_drop <= next_link_drop;
    else if (had_udp_sum && !sum_matches) parsed_drop <= 5'(hca_spec_pkg::PACKET_DROP_UDP_CHECKSUM_MISMATCH);
    else if (next_transport_drop != '0) parsed_drop <= next_transport_drop;
    else parsed_drop <= check_matches ? 5'(hca_spec_pkg::PACKET_DROP_NONE) : 5'(hca_spec_pkg::PACKET_DROP_ICRC_MISMATCH);
  end
endmodule
