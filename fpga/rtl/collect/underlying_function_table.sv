// Which function and which part of its BAR a VCB belongs to (US8589610, underlying function table). Of a function's `count`
// VCBs from `base` on, [0, low) belongs to the low level, [low, high) to both, [high, count) to the high level (US8484392,
// dividers of the sub-BAR). BARs do not overlap.
module underlying_function_table #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,  // VCBs evenly divided, all of them for both levels.

    input logic set_bar,
    input logic [FUNCTION_WIDTH-1:0] set_bar_underlying_function,
    input logic [VCB_WIDTH:0] set_bar_base,
    input logic [VCB_WIDTH:0] set_bar_count,
    input logic [VCB_WIDTH:0] set_bar_low,
    input logic [VCB_WIDTH:0] set_bar_high,

    input logic [VCB_WIDTH-1:0] virtual_collect_buffer,
    output logic owned,
    output logic [FUNCTION_WIDTH-1:0] underlying_function,
    output logic [1:0] part  // collect_group_t: low, high or function_shared.
);
  localparam int unsigned COUNT = VIRTUAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;

  logic [UNDERLYING_FUNCTIONS-1:0] hit;
  logic [UNDERLYING_FUNCTIONS-1:0] is_low;
  logic [UNDERLYING_FUNCTIONS-1:0] is_high;

  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    logic [VCB_WIDTH:0] base;
    logic [VCB_WIDTH:0] count;
    logic [VCB_WIDTH:0] low;
    logic [VCB_WIDTH:0] high;
    logic [VCB_WIDTH:0] offset;
    always_ff @(posedge clock) begin
      if (reset) begin
        base <= (VCB_WIDTH + 1)'(number * COUNT);
        count <= (VCB_WIDTH + 1)'(COUNT);
        low <= '0;
        high <= (VCB_WIDTH + 1)'(COUNT);
      end else if (set_bar && set_bar_underlying_function == FUNCTION_WIDTH'(number)) begin
        base <= set_bar_base;
        count <= set_bar_count;
        low <= set_bar_low;
        high <= set_bar_high;
      end
    end
    assign offset = {1'b0, virtual_collect_buffer} - base;
    assign hit[number] = {1'b0, virtual_collect_buffer} >= base && offset < count;
    assign is_low[number] = hit[number] && offset < low;
    assign is_high[number] = hit[number] && offset >= high;
  end

  find_first #(.SIZE(UNDERLYING_FUNCTIONS)) i_function (.bits(hit), .first(underlying_function));
  assign owned = hit != '0;
  assign part = is_low != '0 ? hca_spec_pkg::COLLECT_GROUP_LOW :
      is_high != '0 ? hca_spec_pkg::COLLECT_GROUP_HIGH : hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED;
endmodule
