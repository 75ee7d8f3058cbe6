// The control function's view of the transmit virtual lanes: commands and credits of each, and the free shared credits.
module lane_window #(
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned COMMANDS_WIDTH = 7,
    parameter int unsigned CREDIT_WIDTH = 10,
    parameter int unsigned LANE_WIDTH = TRANSMIT_VIRTUAL_LANES > 1 ? $clog2(TRANSMIT_VIRTUAL_LANES) : 1
) (
    input logic clock,
    input logic [15:0] read_offset,
    output logic [31:0] read_value,  // Two clocks after the offset.

    // From virtual_kick, in the same clock.
    output logic [LANE_WIDTH-1:0] query_lane,
    input logic [COMMANDS_WIDTH-1:0] query_commands,
    input logic [CREDIT_WIDTH-1:0] query_execution_credits_held,
    input logic [CREDIT_WIDTH-1:0] query_shared_execution_credits_held,
    input logic [CREDIT_WIDTH-1:0] query_completion_credits_held,
    input logic [CREDIT_WIDTH-1:0] query_shared_completion_credits_held,
    input logic [CREDIT_WIDTH-1:0] shared_execution_credits_held,
    input logic [CREDIT_WIDTH-1:0] shared_completion_credits_held
);
  localparam int unsigned FIRST = hca_spec_pkg::CONTROL_LANE_STATE_OFFSET;
  localparam int unsigned STRIDE = hca_spec_pkg::CONTROL_LANE_STATE_STRIDE;

  logic is_lane, unused_bits;
  logic [31:0] value;
  hca_spec_pkg::control_lane_state_t lane;

  assign unused_bits = &{1'b0, query_shared_execution_credits_held, query_shared_completion_credits_held};
  always_ff @(posedge clock) begin
    is_lane <= 32'(read_offset) >= FIRST && 32'(read_offset) < FIRST + TRANSMIT_VIRTUAL_LANES * STRIDE;
    query_lane <= LANE_WIDTH'((32'(read_offset) - FIRST) / STRIDE);
    read_value <= value;
  end

  always_comb begin
    lane.commands = 8'(query_commands);
    lane.execution_credits = 5'(hca_spec_pkg::EXECUTION_CREDITS_PER_LANE - 32'(query_execution_credits_held));
    lane.completion_credits = 5'(hca_spec_pkg::COMPLETION_CREDITS_PER_LANE - 32'(query_completion_credits_held));
    lane.shared_execution_credits = 7'(query_shared_execution_credits_held);
    lane.shared_completion_credits = 7'(query_shared_completion_credits_held);

    if (is_lane) value = lane;
    else
      case (32'(read_offset))
        hca_spec_pkg::CONTROL_SHARED_EXECUTION_CREDITS_OFFSET:
        value = hca_spec_pkg::SHARED_EXECUTION_CREDITS - 32'(shared_execution_credits_held);
        hca_spec_pkg::CONTROL_SHARED_COMPLETION_CREDITS_OFFSET:
        value = hca_spec_pkg::SHARED_COMPLETION_CREDITS - 32'(shared_completion_credits_held);
        default: value = '0;
      endcase
  end
endmodule
