// Computes the doorbell checksum of a command in which a DWORD arrived twice: reads and adds the buffers' content, some DWORDs a clock,
// when the command is complete. Only the last copy of a DWORD counts, and the replaced one is no longer known.
module checksum_walk #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,
    input logic walk,  // Held until done, with the inputs below.
    input logic [6:0] dwords,  // The command's DWORDs: an even number.
    input logic [31:0] secret,
    output logic [BEATS_WIDTH-1:0] read_beat,
    input logic [BEAT_BYTES*8-1:0] read_data,  // One clock after read_beat.
    output logic done,
    output logic [39:0] sum  // Valid with done.
);
  localparam int unsigned BEAT_DWORDS = BEAT_BYTES / 4;
  localparam int unsigned STEP = BEAT_DWORDS < 4 ? BEAT_DWORDS : 4;  // DWORDs a clock.
  localparam int unsigned STEP_WIDTH = $clog2(STEP);

  logic [6:0] asked;  // The first DWORD of the step whose beat is requested.
  logic asks, is_here, is_added, is_last, was_last;
  logic [STEP-1:0] used;
  logic [STEP*32-1:0] step_data;
  logic [33:0] step_now, step;

  assign asks = walk && !done && asked < dwords;
  assign read_beat = BEATS_WIDTH'(asked >> $clog2(BEAT_DWORDS));
  if (STEP == BEAT_DWORDS) begin : gen_whole
    assign step_data = read_data;
  end else begin : gen_part
    logic [$clog2(BEAT_DWORDS)-1:STEP_WIDTH] place;
    always_ff @(posedge clock) place <= asked[$clog2(BEAT_DWORDS)-1:STEP_WIDTH];
    assign step_data = read_data[place*STEP*32+:STEP*32];
  end
  // Computed with the step whose beat is requested, for the step whose beat is present.
  for (genvar dword = 0; dword < STEP; dword++) begin : gen_used
    always_ff @(posedge clock) used[dword] <= asked + 7'(dword) < dwords;
  end
  always_comb begin
    step_now = '0;
    for (int unsigned dword = 0; dword < STEP; dword++)
      step_now = step_now + (used[dword] ? 34'(step_data[dword*32+:32]) : 34'd0);
  end

  always_ff @(posedge clock) begin
    if (reset || !walk || done) asked <= '0;
    else if (asks) asked <= asked + 7'(STEP);
    is_last <= asked + 7'(STEP) >= dwords;
    is_here <= !reset && asks;
    is_added <= !reset && is_here;
    was_last <= is_last;
    step <= step_now;
    done <= !reset && is_added && was_last && !done;
    if (!walk || done) sum <= '0;
    else if (is_added) sum <= sum + 40'(step);
    else if (asked == '0) sum <= 40'(secret);
  end
endmodule
