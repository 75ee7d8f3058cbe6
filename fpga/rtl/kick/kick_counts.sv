// The numbers of kicked, unfinished commands of each lane and of each function.
module kick_counts #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned COUNT_WIDTH = 10,
    localparam int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1,
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // A command joins a lane; one ends.
    input logic joins,
    input logic [LANE_WIDTH-1:0] joined_lane,
    input logic [FUNCTION_WIDTH-1:0] joined_underlying_function,
    input logic ends,
    input logic [LANE_WIDTH-1:0] ends_lane,
    input logic [FUNCTION_WIDTH-1:0] ends_underlying_function,

    output logic [LANES-1:0] idle,
    output logic [LANES*COUNT_WIDTH-1:0] load,
    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COUNT_WIDTH-1:0] query_function_commands
);
  // Lanes whose number changes.
  logic [LANES-1:0] joins_at, ends_at, changes;
  assign joins_at = LANES'(joins) << joined_lane;
  assign ends_at = LANES'(ends) << ends_lane;
  assign changes = reset ? '1 : joins_at ^ ends_at;

  // The lanes of a group are gone through where something changes in one of them: the others cost simulation nothing.
  localparam int unsigned GROUP = 8;
  for (genvar first = 0; first < LANES; first += GROUP) begin : gen_group
    localparam int unsigned SIZE = LANES - first < GROUP ? LANES - first : GROUP;
    always_ff @(posedge clock) begin
      if (changes[first+:SIZE] != '0) begin
        for (int unsigned number = first; number < first + SIZE; number++) begin
          if (changes[number]) begin
            if (reset) load[number*COUNT_WIDTH+:COUNT_WIDTH] <= '0;
            else if (joins_at[number])
              load[number*COUNT_WIDTH+:COUNT_WIDTH] <= load[number*COUNT_WIDTH+:COUNT_WIDTH] + COUNT_WIDTH'(1);
            else load[number*COUNT_WIDTH+:COUNT_WIDTH] <= load[number*COUNT_WIDTH+:COUNT_WIDTH] - COUNT_WIDTH'(1);
            idle[number] <= reset || !joins_at[number] && load[number*COUNT_WIDTH+:COUNT_WIDTH] == COUNT_WIDTH'(1);
          end
        end
      end
    end
  end

  logic [COUNT_WIDTH-1:0] function_commands[UNDERLYING_FUNCTIONS];
  assign query_function_commands = function_commands[query_underlying_function];
  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    localparam logic [FUNCTION_WIDTH-1:0] NUMBER = FUNCTION_WIDTH'(number);
    always_ff @(posedge clock) begin
      if (reset) function_commands[number] <= '0;
      else
        function_commands[number] <= function_commands[number] + COUNT_WIDTH'(joins && joined_underlying_function == NUMBER)
            - COUNT_WIDTH'(ends && ends_underlying_function == NUMBER);
    end
  end
endmodule
