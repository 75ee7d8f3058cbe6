// How many pool PCBs each collect group may still take (US8589610, collect group table; US8484392, allotment of PCBs). What counts
// is the part of the BAR whose VCBs hold PCBs. A level's use fills its own allotment first, then what the function's levels share,
// then what all functions share; who pays follows from the counts alone, so a release repays what the function borrowed first.
module collect_group_table #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned COUNT_WIDTH = $clog2(PHYSICAL_COLLECT_BUFFERS + 1) + 2,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // Whether a VCB of that part may have a PCB; `take` takes it.
    input logic [FUNCTION_WIDTH-1:0] underlying_function,
    input logic [1:0] part,  // collect_group_t: low, high or function_shared.
    output logic available,
    input logic take,

    // Whether functions hold more of what all share than there is, after a division; whether a PCB that was taken by this function for
    // this part, given back, is one less that it borrows.
    output logic overdrawn,
    input logic [FUNCTION_WIDTH-1:0] looked_at_underlying_function,
    input logic [1:0] looked_at_part,
    output logic part_repays,

    // PCBs that come back: without a kick, and after it.
    input logic give_back,
    input logic [FUNCTION_WIDTH-1:0] give_back_underlying_function,
    input logic [1:0] give_back_part,
    input logic release_buffer,
    input logic [FUNCTION_WIDTH-1:0] release_underlying_function,
    input logic [1:0] release_part,

    // Changes the allotment of a function, whole or, when all together would exceed the pool, not at all.
    input logic set_allotment,
    input logic [FUNCTION_WIDTH-1:0] set_allotment_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_allotment_low,
    input logic [COUNT_WIDTH-1:0] set_allotment_high,
    input logic [COUNT_WIDTH-1:0] set_allotment_shared,
    output logic allotment_allowed
`ifdef FORMAL
    , input logic [3*UNDERLYING_FUNCTIONS*COUNT_WIDTH-1:0] held
`endif
);
  localparam int unsigned SHARE = PHYSICAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;
  localparam int unsigned EACH = SHARE < 4 ? SHARE : 4;

  logic [UNDERLYING_FUNCTIONS-1:0] own_available;  // For a VCB of `part`.
  logic [UNDERLYING_FUNCTIONS-1:0] own_repays;  // For a PCB of `looked_at_part`.
  logic [COUNT_WIDTH-1:0] borrowed[UNDERLYING_FUNCTIONS];
  logic [COUNT_WIDTH-1:0] owns[UNDERLYING_FUNCTIONS];
  logic [COUNT_WIDTH-1:0] all_borrowed;
  logic [COUNT_WIDTH-1:0] shared_total;
  logic [COUNT_WIDTH+1:0] asked;  // Wide enough for any three numbers.

  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    localparam logic [FUNCTION_WIDTH-1:0] NUMBER = FUNCTION_WIDTH'(number);
    logic [COUNT_WIDTH-1:0] total_low;
    logic [COUNT_WIDTH-1:0] total_high;
    logic [COUNT_WIDTH-1:0] total_shared;
    logic [COUNT_WIDTH-1:0] taken_low;
    logic [COUNT_WIDTH-1:0] taken_high;
    logic [COUNT_WIDTH-1:0] taken_shared;
    logic [COUNT_WIDTH-1:0] beyond_levels;  // Taken, and not covered by the allotment of a level.
    logic takes;
    logic gives_back;
    logic releases;

    assign takes = take && underlying_function == NUMBER;
    assign gives_back = give_back && give_back_underlying_function == NUMBER;
    assign releases = release_buffer && release_underlying_function == NUMBER;
    assign beyond_levels = (taken_low > total_low ? taken_low - total_low : '0)
        + (taken_high > total_high ? taken_high - total_high : '0) + taken_shared;
    assign borrowed[number] = beyond_levels > total_shared ? beyond_levels - total_shared : '0;
    assign own_repays[number] = borrowed[number] != '0
        && (looked_at_part == hca_spec_pkg::COLLECT_GROUP_LOW ? taken_low > total_low :
        looked_at_part == hca_spec_pkg::COLLECT_GROUP_HIGH ? taken_high > total_high : 1'b1);
    assign owns[number] = total_low + total_high + total_shared;
    assign own_available[number] = part == hca_spec_pkg::COLLECT_GROUP_LOW && taken_low < total_low
        || part == hca_spec_pkg::COLLECT_GROUP_HIGH && taken_high < total_high || beyond_levels < total_shared;

    always_ff @(posedge clock) begin
      if (reset) begin
        total_low <= '0;
        total_high <= '0;
        total_shared <= COUNT_WIDTH'(EACH);
        taken_low <= '0;
        taken_high <= '0;
        taken_shared <= '0;
      end else begin
        if (set_allotment && allotment_allowed && set_allotment_underlying_function == NUMBER) begin
          total_low <= set_allotment_low;
          total_high <= set_allotment_high;
          total_shared <= set_allotment_shared;
        end
        taken_low <= taken_low + COUNT_WIDTH'(takes && part == hca_spec_pkg::COLLECT_GROUP_LOW)
            - COUNT_WIDTH'(gives_back && give_back_part == hca_spec_pkg::COLLECT_GROUP_LOW)
            - COUNT_WIDTH'(releases && release_part == hca_spec_pkg::COLLECT_GROUP_LOW);
        taken_high <= taken_high + COUNT_WIDTH'(takes && part == hca_spec_pkg::COLLECT_GROUP_HIGH)
            - COUNT_WIDTH'(gives_back && give_back_part == hca_spec_pkg::COLLECT_GROUP_HIGH)
            - COUNT_WIDTH'(releases && release_part == hca_spec_pkg::COLLECT_GROUP_HIGH);
        taken_shared <= taken_shared + COUNT_WIDTH'(takes && part == hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED)
            - COUNT_WIDTH'(gives_back && give_back_part == hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED)
            - COUNT_WIDTH'(releases && release_part == hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED);
      end
    end
  end

  always_comb begin
    all_borrowed = '0;
    for (int unsigned number = 0; number < UNDERLYING_FUNCTIONS; number++)
      all_borrowed = all_borrowed + borrowed[number];
  end

`ifdef FPGA_VERBS_MUTANT_OTHER_FUNCTION_OWNED_BUFFER_TAKEN
  assign available = own_available[underlying_function] || shared_total >= all_borrowed;
`else
  assign available = own_available[underlying_function] || shared_total > all_borrowed;
`endif
  assign overdrawn = all_borrowed > shared_total;
  assign part_repays = own_repays[looked_at_underlying_function];
  assign asked = (COUNT_WIDTH + 2)'(set_allotment_low) + (COUNT_WIDTH + 2)'(set_allotment_high)
      + (COUNT_WIDTH + 2)'(set_allotment_shared);
  assign allotment_allowed = asked <= {2'b00, owns[set_allotment_underlying_function] + shared_total};

  always_ff @(posedge clock) begin
    if (reset) shared_total <= COUNT_WIDTH'(PHYSICAL_COLLECT_BUFFERS - EACH * UNDERLYING_FUNCTIONS);
    else if (set_allotment && allotment_allowed)
      shared_total <= shared_total + owns[set_allotment_underlying_function] - COUNT_WIDTH'(asked);
  end

`ifdef FORMAL
`include "collect_group_table.svh"
`endif
endmodule
