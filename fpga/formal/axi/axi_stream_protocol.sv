// Rules of AXI4-Stream (AMBA AXI-Stream protocol specification, IHI 0051, 2.2) for whole packets: bytes without a gap, all bytes of a beat
// used except in the last one, one tuser; a beat without bytes is a packet by itself. Asserted for one side; a proof assumes them of the
// other side.
module axi_stream_protocol #(
    parameter int unsigned BEAT_BYTES = 64,
    parameter int unsigned USER_WIDTH = 1,
    parameter bit ASSUMED = 1'b0
) (
    input logic clock,
    input logic reset,
    input logic tvalid,
    input logic tready,
    input logic [BEAT_BYTES*8-1:0] tdata,
    input logic [BEAT_BYTES-1:0] tkeep,
    input logic tlast,
    input logic [USER_WIDTH-1:0] tuser
);
  axi_channel_protocol #(.WIDTH(BEAT_BYTES * 9 + 1 + USER_WIDTH), .ASSUMED(ASSUMED)) i_beat (
      .clock(clock), .reset(reset), .valid(tvalid), .ready(tready), .payload({tdata, tkeep, tlast, tuser})
  );
  logic is_filled, has_gap, in_packet;
  logic [USER_WIDTH-1:0] user;
  assign is_filled = tkeep == '1;
  assign has_gap = (tkeep & (tkeep + BEAT_BYTES'(1))) != '0;
  initial in_packet = 1'b0;
  always_ff @(posedge clock) begin
    if (reset) in_packet <= 1'b0;
    else if (tvalid && tready) in_packet <= !tlast;
    if (tvalid && tready) user <= tuser;
  end
  // Covers: a packet of several beats, one of one beat, and one whose last beat is not full.
  always_ff @(posedge clock)
    if (!reset && tvalid && tready && tlast) begin
      ends_several : cover (in_packet);
      ends_one : cover (!in_packet);
      ends_early : cover (!is_filled);
    end
  if (ASSUMED) begin : gen_assumed
    always_ff @(posedge clock)
      if (!reset && tvalid) begin
        without_gap : assume (!has_gap);
        filled_but_the_last : assume (tlast || is_filled);
        one_user : assume (!in_packet || tuser == user);
        empty_alone : assume (!in_packet || tkeep != '0);
      end
  end else begin : gen_asserted
    always_ff @(posedge clock)
      if (!reset && tvalid) begin
        without_gap : assert (!has_gap);
        filled_but_the_last : assert (tlast || is_filled);
        one_user : assert (!in_packet || tuser == user);
        empty_alone : assert (!in_packet || tkeep != '0);
      end
  end
endmodule
