// Resets the device by register: activity in flight ends first, so that no burst and no packet of a stream is truncated, and nothing
// reaches host memory afterwards. While resetting is set, no new activity may start.
module device_reset (
    input logic clock,
    input logic reset,
    input logic reset_request,
    input logic is_quiet,  // Nothing is under way in this clock.
    output logic resetting,
    output logic device_reset  // For one clock, the last.
);
  localparam logic [5:0] QUIET_CLOCKS = 6'd32;  // More than it takes from any block to what is_quiet sees.

  logic [5:0] quiet_clocks;

  assign device_reset = resetting && quiet_clocks == QUIET_CLOCKS;
  always_ff @(posedge clock) begin
    if (reset) resetting <= 1'b0;
    else if (reset_request) resetting <= 1'b1;
    else if (device_reset) resetting <= 1'b0;
    quiet_clocks <= resetting && is_quiet && !device_reset ? quiet_clocks + 6'd1 : 6'd0;
  end
endmodule
