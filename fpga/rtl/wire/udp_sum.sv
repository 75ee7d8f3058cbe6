// Checks the UDP checksum (RFC 768): the ones' complement sum of addresses, protocol, length, UDP header and all bytes after it. One beat per clock;
// the verdict follows five clocks after the last beat.
module udp_sum #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES  // 8, 16, 32 or 64.
) (
    input logic clock,
    input logic reset,

    input logic beat,
    input logic [BEAT_BYTES*8-1:0] data,
    input logic [BEAT_BYTES-1:0] covered,  // Covered bytes. Words begin at even lanes.
    input logic [15:0] udp_bytes,  // The UDP length, with one beat of a packet.
    input logic first,
    input logic last,

    output logic summed,
    output logic summed_matches
);
  localparam int unsigned WORDS = BEAT_BYTES / 2;
  localparam int unsigned GROUPS = WORDS / 4;

  // 1: four words each. 2: all of a beat.
  logic beat_1, first_1, last_1, beat_2, first_2, last_2;
  logic [15:0] udp_bytes_1;
  logic [GROUPS*18-1:0] groups, groups_1;
  logic [22:0] total, total_2;
  function automatic logic [17:0] word(input logic [15:0] bytes, input logic [1:0] counts);
    word = {2'd0, counts[0] ? bytes[7:0] : 8'd0, counts[1] ? bytes[15:8] : 8'd0};
  endfunction
  for (genvar each = 0; each < GROUPS; each++) begin : gen_group
    assign groups[each*18+:18] = word(data[each*64+:16], covered[each*8+:2]) + word(data[each*64+16+:16], covered[each*8+2+:2])
        + word(data[each*64+32+:16], covered[each*8+4+:2]) + word(data[each*64+48+:16], covered[each*8+6+:2]);
  end
  always_comb begin
    total = 23'(udp_bytes_1);
    for (int unsigned each = 0; each < GROUPS; each++) total = total + 23'(groups_1[each*18+:18]);
  end
  // 3: all beats, and the protocol. 4: carries; the sum of so few words has no others. 5: the verdict.
  logic last_3, last_4;
  logic [31:0] sum_3;
  logic [16:0] folded_4;
  always_ff @(posedge clock) begin
    beat_1 <= !reset && beat;
    first_1 <= first;
    last_1 <= last;
    udp_bytes_1 <= udp_bytes;
    groups_1 <= groups;
    beat_2 <= !reset && beat_1;
    first_2 <= first_1;
    last_2 <= last_1;
    total_2 <= total;
    if (beat_2) sum_3 <= (first_2 ? 32'(hca_spec_pkg::IP_PROTOCOL_UDP) : sum_3) + 32'(total_2);
    last_3 <= !reset && beat_2 && last_2;
    last_4 <= !reset && last_3;
    folded_4 <= 17'(sum_3[31:16]) + 17'(sum_3[15:0]);
    summed <= !reset && last_4;
    summed_matches <= folded_4 == 17'h0ffff;
  end
endmodule
