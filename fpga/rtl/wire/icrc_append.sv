// Appends the ICRC to each packet of a stream (InfiniBand volume 1, 7.8.1; annex A17 for RoCEv2). A packet enters from its first link byte
// to its pad; it has its BTH, and may end at any byte of a beat. One beat a clock leaves, with an extra beat if the ICRC does not fit.
//
// Beats wait in a queue for the ICRC of their packet, which is ready 5 + $clog2(BEAT_BYTES) clocks after its last beat; beats of a packet
// that is longer than the queue leave earlier.
module icrc_append #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES  // 8, 16, 32 or 64.
) (
    input logic clock,
    input logic reset,

    // Packets without ICRC, AXI4-Stream. tuser: framing in the low bits; the highest bit is set for an 802.1Q tag.
    input logic bare_tvalid,
    output logic bare_tready,
    input logic [BEAT_BYTES*8-1:0] bare_tdata,
    input logic [BEAT_BYTES-1:0] bare_tkeep,
    input logic bare_tlast,
    input logic [2:0] bare_tuser,

    // The same packets with their ICRC.
    output logic whole_tvalid,
    input logic whole_tready,
    output logic [BEAT_BYTES*8-1:0] whole_tdata,
    output logic [BEAT_BYTES-1:0] whole_tkeep,
    output logic whole_tlast
);
  localparam int unsigned STEPS = $clog2(BEAT_BYTES);
  // Twice the beats that wait for an ICRC, so that packets of one beat do not stall, and room for the beats in flight.
  localparam int unsigned ENTRIES = 32;
  localparam int unsigned WIDTH = BEAT_BYTES * 9 + 1;

  // Input: each beat goes to the queue and to the register.
  logic taken, has_beat, pop, beat_last;
  logic [BEAT_BYTES*8-1:0] beat_data;
  logic [BEAT_BYTES-1:0] beat_keep;
  logic [$clog2(ENTRIES):0] filling;
  assign taken = bare_tvalid && bare_tready;
  always_ff @(posedge clock) bare_tready <= !reset && 32'(filling) + 2 < ENTRIES;
  unit_queue #(
      .UNIT_WIDTH(WIDTH),
      .ENTRIES(ENTRIES)
  ) i_beats (
      .push(taken),
      .push_unit({bare_tlast, bare_tkeep, bare_tdata}),
      .valid(has_beat),
      .unit({beat_last, beat_keep, beat_data}),
      .pop(pop),
      .filling(filling),
      .*
  );

  logic ended;
  logic [31:0] register;
  logic [STEPS-1:0] missing;
  icrc_register #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_register (
      .beat(taken),
      .data(bare_tdata),
      .keep(bare_tkeep),
      .last(bare_tlast),
      .framing(bare_tuser[1:0]),
      .is_tagged(bare_tuser[2]),
      .ended(ended),
      .register(register),
      .missing(missing),
      .*
  );

  // The ICRC as it appears in each four bytes of a beat, and which of the four bytes need an extra beat: one entry for each packet in the queue, at
  // most.
  logic pushes_icrc, has_icrc, spills;
  logic [31:0] turned, icrc;
  logic [3:0] spilled, spilled_keep;
  logic [$clog2(ENTRIES):0] unused_filling;
  always_ff @(posedge clock) begin
    pushes_icrc <= !reset && ended;
    case (missing[1:0])
      2'd0: turned <= ~register;
      2'd1: turned <= ~{register[7:0], register[31:8]};
      2'd2: turned <= ~{register[15:0], register[31:16]};
      default: turned <= ~{register[23:0], register[31:24]};
    endcase
    spilled <= missing < STEPS'(4) ? 4'b1111 >> missing[1:0] : '0;
  end
  unit_queue #(
      .UNIT_WIDTH(36),
      .ENTRIES(ENTRIES)
  ) i_icrcs (
      .push(pushes_icrc),
      .push_unit({spilled, turned}),
      .valid(has_icrc),
      .unit({spilled_keep, icrc}),
      .pop(pop && beat_last),
      .filling(unused_filling),
      .*
  );
  assign spills = beat_last && spilled_keep != '0;

  // Output: the next beat; after a last beat, the rest of its ICRC.
  logic has_room, spill, merged, merged_last, merged_is_icrc;
  logic [BEAT_BYTES*8-1:0] merged_data, joined;
  logic [BEAT_BYTES-1:0] merged_keep, merged_own;
  logic [31:0] merged_icrc;
  logic [3:0] spill_keep;
  logic [$clog2(ENTRIES):0] waiting;
  assign pop = has_room && !spill && has_beat && (!beat_last || has_icrc);
  always_ff @(posedge clock) begin
    has_room <= !reset && 32'(waiting) + 3 < ENTRIES;  // Room for this beat and for those in flight.
    if (reset) spill <= 1'b0;
    else if (has_room) spill <= pop && spills;
    merged <= !reset && (pop || has_room && spill);
    if (pop) begin
      merged_icrc <= icrc;
      spill_keep <= spilled_keep;
    end
    merged_is_icrc <= spill || beat_last;
    merged_last <= spill || beat_last && !spills;
    merged_data <= beat_data;
    merged_own <= spill ? '0 : beat_last ? beat_keep : '1;
    merged_keep <= spill ? BEAT_BYTES'(spill_keep) : beat_last ? {beat_keep[BEAT_BYTES-5:0], 4'b1111} : '1;
  end
  for (genvar place = 0; place < BEAT_BYTES; place++) begin : gen_byte
    assign joined[place*8+:8] = merged_own[place] ? merged_data[place*8+:8] :
        merged_is_icrc && merged_keep[place] ? merged_icrc[place%4*8+:8] : 8'd0;
  end
  unit_queue #(
      .UNIT_WIDTH(WIDTH),
      .ENTRIES(ENTRIES)
  ) i_whole (
      .push(merged),
      .push_unit({merged_last, merged_keep, joined}),
      .valid(whole_tvalid),
      .unit({whole_tlast, whole_tkeep, whole_tdata}),
      .pop(whole_tvalid && whole_tready),
      .filling(waiting),
      .*
  );
endmodule
