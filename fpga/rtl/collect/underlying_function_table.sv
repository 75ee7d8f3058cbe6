// Maps a VCB to its function and its part of the BAR (US8589610, underlying function table). Of a function's `count` VCBs from `base` on,
// [0, low) belongs to the low level, [low, high) to both, [high, count) to the high level (US8484392, dividers of the sub-BAR). BARs do not
// overlap.
module underlying_function_table #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,  // Divides the VCBs evenly, all of them for both levels.

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
    // The first VCB of the function, the first behind it, the first behind its low part, and the first of its high part.
    logic [VCB_WIDTH+1:0] base, behind, behind_low, high;
    logic [VCB_WIDTH+1:0] page;
    always_ff @(posedge clock) begin
      if (reset || set_bar) begin
        if (reset) begin
          base <= (VCB_WIDTH + 2)'(number * COUNT);
          behind <= (VCB_WIDTH + 2)'(number * COUNT + COUNT);
          behind_low <= (VCB_WIDTH + 2)'(number * COUNT);
          high <= (VCB_WIDTH + 2)'(number * COUNT + COUNT);
        end else if (set_bar_underlying_function == FUNCTION_WIDTH'(number)) begin
          base <= {1'b0, set_bar_base};
          behind <= {1'b0, set_bar_base} + {1'b0, set_bar_count};
          behind_low <= {1'b0, set_bar_base} + {1'b0, set_bar_low};
          high <= {1'b0, set_bar_base} + {1'b0, set_bar_high};
        end
      end
    end
    assign page = {2'b00, virtual_collect_buffer};
    assign hit[number] = page >= base && page < behind;
    assign is_low[number] = hit[number] && page < behind_low;
    assign is_high[number] = hit[number] && page >= high;
  end

  find_first #(.SIZE(UNDERLYING_FUNCTIONS)) i_function (.bits(hit), .first(underlying_function));
  assign owned = hit != '0;
  assign part = is_low != '0 ? hca_spec_pkg::COLLECT_GROUP_LOW :
      is_high != '0 ? hca_spec_pkg::COLLECT_GROUP_HIGH : hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED;
endmodule
