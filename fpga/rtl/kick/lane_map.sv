// The mapping table (US8484392): the lanes of each level of each function, the shared lanes, and the entries that must be read again before
// use.
module lane_map #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // Sets the lanes of a function's level, or the shared lanes. Refused if a level would have no lane.
    input logic set_lanes,
    input logic [FUNCTION_WIDTH-1:0] set_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t set_lanes_quality_of_service_level,
    input logic set_shared_lanes,
    input logic [LANES-1:0] set_lanes_lanes,
    output logic set_lanes_allowed,
    output logic set_shared_lanes_allowed,
    input logic invalidate_lanes,
    input logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries,
    input logic fetched_lanes,  // The queried entry has been read.

    // Entries, by function and level.
    input logic [FUNCTION_WIDTH:0] query_level,
    output logic [LANES-1:0] query_lanes,
    output logic query_invalid,
    input logic [FUNCTION_WIDTH:0] outlook_level,
    output logic [LANES-1:0] outlook_lanes,
    output logic outlook_invalid,
    input logic [FUNCTION_WIDTH:0] inspect_level,
    output logic [LANES-1:0] inspect_lanes,
    output logic [LANES-1:0] shared_lanes
);
  localparam int unsigned LEVELS = 2 * UNDERLYING_FUNCTIONS;
  localparam int unsigned LEVEL_PLACES = 2 << FUNCTION_WIDTH;
  localparam int unsigned LANES_EACH = LANES / LEVELS < 4 ? LANES / LEVELS : 4;
  localparam logic [LANES-1:0] FIRST_LANES = ~({LANES{1'b1}} << LANES_EACH);
  localparam logic [LANES-1:0] LAST_LANES = {LANES{1'b1}} << LANES_EACH * UNDERLYING_FUNCTIONS;
  localparam logic [LEVELS-1:0] NONE_AT_FIRST = LANES_EACH == 0 ? '1 : '0;

  // By function and level. Until they are set, lanes_of computes the initial ones.
  logic [LANES-1:0] own_lanes[LEVEL_PLACES];
  logic [LEVEL_PLACES-1:0] is_set;
  logic [LEVELS-1:0] has_none;  // The level has no lanes of its own and uses the shared ones.
  logic [LEVEL_PLACES-1:0] invalid;

  function automatic logic [LANES-1:0] lanes_of(input logic [FUNCTION_WIDTH:0] level);
    lanes_of = is_set[level] ? own_lanes[level] : FIRST_LANES << (32'(level) >> 1) * LANES_EACH;
  endfunction

  assign query_lanes = lanes_of(query_level);
  assign query_invalid = invalid[query_level];
  assign outlook_lanes = lanes_of(outlook_level);
  assign inspect_lanes = lanes_of(inspect_level);
  assign outlook_invalid = invalid[outlook_level];
  assign set_lanes_allowed = (set_lanes_lanes | shared_lanes) != '0;
  assign set_shared_lanes_allowed = set_lanes_lanes != '0 || has_none == '0;

  logic sets;
  logic [FUNCTION_WIDTH:0] set_level;
  assign sets = set_lanes && set_lanes_allowed;
  assign set_level = {set_lanes_underlying_function,
      set_lanes_quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH};

  always_ff @(posedge clock) begin
    if (sets) own_lanes[set_level] <= set_lanes_lanes;
    if (reset) begin
      is_set <= '0;
      has_none <= NONE_AT_FIRST;
    end else if (sets) begin
      for (int unsigned level = 0; level < LEVELS; level++)
        if (set_level == (FUNCTION_WIDTH + 1)'(level)) begin
          is_set[level] <= 1'b1;
          has_none[level] <= set_lanes_lanes == '0;
        end
    end
  end

  always_ff @(posedge clock) begin
    if (reset) shared_lanes <= LAST_LANES;
    else if (set_shared_lanes && set_shared_lanes_allowed) shared_lanes <= set_lanes_lanes;
    if (reset) invalid <= '0;
    else
      invalid <= invalid & ~(LEVEL_PLACES'(fetched_lanes) << query_level)
          | (invalidate_lanes ? LEVEL_PLACES'(invalidate_lanes_entries) : '0);
  end
endmodule
