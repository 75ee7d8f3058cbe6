// Monitors packets, from their first link byte to their ICRC, and reports for each in turn whether it ends with the right ICRC (InfiniBand
// volume 1, 7.8.1; annex A17 for RoCEv2), 6 + $clog2(BEAT_BYTES) clocks after its last beat. One beat a clock.
module icrc_check #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES  // 8, 16, 32 or 64.
) (
    input logic clock,
    input logic reset,

    // A transferred beat. tuser: framing in the low bits; the highest bit is set for an 802.1Q tag.
    input logic beat,
    input logic [BEAT_BYTES*8-1:0] beat_tdata,
    input logic [BEAT_BYTES-1:0] beat_tkeep,
    input logic beat_tlast,
    input logic [2:0] beat_tuser,

    // The verdict.
    output logic checked,
    output logic checked_matches
);
  // The register after any packet and its valid ICRC.
  localparam logic [31:0] AFTER_ICRC = icrc_pkg::after_ones('0, 32);

  logic ended;
  logic [31:0] register;
  logic [$clog2(BEAT_BYTES)-1:0] unused_missing;

  icrc_register #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_register (
      .beat(beat),
      .data(beat_tdata),
      .keep(beat_tkeep),
      .last(beat_tlast),
      .framing(beat_tuser[1:0]),
      .is_tagged(beat_tuser[2]),
      .ended(ended),
      .register(register),
      .missing(unused_missing),
      .*
  );

  always_ff @(posedge clock) begin
    checked <= !reset && ended;
    checked_matches <= register == AFTER_ICRC;
  end
endmodule
