// Finds commands that are half written for longer than a limit: one VCB is looked at a clock, in turn, and each command is told
// once. Times are in clock ticks.
module half_written_scan #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS)
) (
    input logic clock,
    input logic reset,
    input logic [63:0] now,
    input logic [63:0] half_written_limit,  // 0: never.

    // A VCB that is written or cancelled in this clock: its command begins, or ends.
    input logic busy,
    input logic [VCB_WIDTH-1:0] virtual_collect_buffer,
    input logic [FUNCTION_WIDTH-1:0] underlying_function,
    input logic begins,
    input logic ends,
    output logic [63:0] first_write,  // When the command that it has began.
    input logic [VCB_WIDTH-1:0] looked_at,
    output logic [63:0] looked_at_began,

    // The VCB that is looked at, and segment 0 of its command, 0 as long as it is not there.
    output logic [VCB_WIDTH-1:0] scanned,
    input logic [47:0] scanned_segment_0,
    output logic half_written,
    output hca_spec_pkg::event_unit_t half_written_event
);
  logic [VIRTUAL_COLLECT_BUFFERS-1:0] timed;
  logic [63:0] began[VIRTUAL_COLLECT_BUFFERS];
  logic [FUNCTION_WIDTH-1:0] functions[VIRTUAL_COLLECT_BUFFERS];
  logic is_over;

  assign first_write = begins ? now : began[virtual_collect_buffer];
  assign looked_at_began = began[looked_at];
  assign is_over = timed[scanned] && half_written_limit != '0 && now - began[scanned] >= half_written_limit
      && !(busy && virtual_collect_buffer == scanned);

  for (genvar number = 0; number < VIRTUAL_COLLECT_BUFFERS; number++) begin : gen_vcb
    logic is_here, is_told;
    assign is_here = virtual_collect_buffer == VCB_WIDTH'(number);
    assign is_told = is_over && scanned == VCB_WIDTH'(number);
    always_ff @(posedge clock) begin
      if (reset || ends && is_here || is_told) timed[number] <= 1'b0;
      else if (begins && is_here) timed[number] <= 1'b1;
    end
  end

  always_ff @(posedge clock) begin
    if (reset) scanned <= '0;
    else scanned <= scanned + VCB_WIDTH'(1);
    if (begins) began[virtual_collect_buffer] <= now;
    if (begins) functions[virtual_collect_buffer] <= underlying_function;

    half_written <= !reset && is_over;
    half_written_event <= '0;
    half_written_event.type_ <= hca_spec_pkg::EVENT_TYPE_HALF_WRITTEN_COMMAND;
    half_written_event.underlying_function <= 8'(functions[scanned]);
    half_written_event.object <= 32'(scanned);
    half_written_event.detail <= scanned_segment_0;
  end
endmodule
