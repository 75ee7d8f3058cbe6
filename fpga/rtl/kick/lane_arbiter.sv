// Takes lanes in turn: the first able one after the last, wrapping around. `able` is a hint, which the user checks at the point of use: a
// wrong one costs a clock. A lane is not picked again in the three clocks after a pick, until the hint follows.
module lane_arbiter #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES
) (
    input logic clock,
    input logic reset,
    input logic open,  // If clear, the block picks no lane from the next clock on.
    input logic [LANES-1:0] able,
    output logic is_picked,
    output logic [LANES-1:0] picked  // One-hot.
);
  logic [LANES-1:0] candidates, picked_before, fresh, behind, behind_last, fresh_low, behind_low;
  logic is_open;

  assign fresh = candidates & ~picked;
  assign behind = fresh & behind_last;
  // Two's complement: complements all bits above the lowest set bit and keeps that bit.
  assign fresh_low = ~fresh + LANES'(1);
  assign behind_low = ~behind + LANES'(1);

  always_ff @(posedge clock) begin
    is_open <= open && !reset;
    candidates <= able & ~picked & ~picked_before;
    picked_before <= picked;
    is_picked <= !reset && is_open && fresh != '0;
    if (reset) behind_last <= '0;
    else if (is_open) behind_last <= behind != '0 ? behind ^ behind_low : fresh ^ fresh_low;
    picked <= !is_open ? '0 : behind != '0 ? behind & behind_low : fresh & fresh_low;
  end
endmodule
