// The numbers of kicked, unfinished commands of each lane and of each function. They select the lane for a queue pair that is on none
// (US8484392, TVL mapping table): the lowest idle lane of the level's own, otherwise the lowest idle shared one, otherwise the least loaded
// of all, the lowest among equals. At least one lane must exist.
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

    // The lane for a queue pair whose level has these of its own; for a kick, and for one that is fetched.
    input logic [LANES-1:0] shared_lanes,
    input logic [LANES-1:0] level_lanes,
    output logic [LANE_WIDTH-1:0] chosen_lane,
    input logic [LANES-1:0] outlook_lanes,
    output logic [LANE_WIDTH-1:0] outlook_lane,

    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COUNT_WIDTH-1:0] query_function_commands
);
  // Each counts as 0 while it is idle.
  (* mem2reg *) logic [COUNT_WIDTH-1:0] loads[LANES];
  (* mem2reg *) logic [COUNT_WIDTH-1:0] function_commands[UNDERLYING_FUNCTIONS];
  logic [LANES-1:0] idle;
  logic [UNDERLYING_FUNCTIONS-1:0] function_idle;

  // A lane, or a function, of which one command joins and one ends keeps its number.
  logic keeps_lane, keeps_function;
  assign keeps_lane = joins && ends && joined_lane == ends_lane;
  assign keeps_function = joins && ends && joined_underlying_function == ends_underlying_function;
  assign query_function_commands = function_idle[query_underlying_function] ? '0 : function_commands[query_underlying_function];

  always_ff @(posedge clock) begin
    if (reset) idle <= '1;
    else if (!keeps_lane) begin
      if (joins) begin
        loads[joined_lane] <= idle[joined_lane] ? COUNT_WIDTH'(1) : loads[joined_lane] + COUNT_WIDTH'(1);
        idle[joined_lane] <= 1'b0;
      end
      if (ends) begin
        loads[ends_lane] <= loads[ends_lane] - COUNT_WIDTH'(1);
        idle[ends_lane] <= loads[ends_lane] == COUNT_WIDTH'(1);
      end
    end
  end

  always_ff @(posedge clock) begin
    if (reset) function_idle <= '1;
    else if (!keeps_function) begin
      if (joins) begin
        function_commands[joined_underlying_function] <= function_idle[joined_underlying_function] ? COUNT_WIDTH'(1) :
            function_commands[joined_underlying_function] + COUNT_WIDTH'(1);
        function_idle[joined_underlying_function] <= 1'b0;
      end
      if (ends) begin
        function_commands[ends_underlying_function] <= function_commands[ends_underlying_function] - COUNT_WIDTH'(1);
        function_idle[ends_underlying_function] <= function_commands[ends_underlying_function] == COUNT_WIDTH'(1);
      end
    end
  end

  // Two choices alike. The least loaded is found by a tree, from the lanes up: each node, from 1 on, has the better of nodes twice its
  // number and one more. Of each: cannot be taken, load, lane. Only looked at where none is idle, which saves simulation the work.
  localparam int unsigned NODE_WIDTH = 1 + COUNT_WIDTH + LANE_WIDTH;
  localparam int unsigned LEAVES = 1 << LANE_WIDTH;
  for (genvar choice = 0; choice < 2; choice++) begin : gen_choice
    logic [LANES-1:0] own, own_idle, usable;
    logic [LANE_WIDTH-1:0] idle_lane, lane;
    logic has_idle;
    logic [2*LEAVES*NODE_WIDTH-1:0] nodes;
    assign own = choice == 0 ? level_lanes : outlook_lanes;
    assign own_idle = own & idle;
    assign usable = own | shared_lanes;
    assign has_idle = (usable & idle) != '0;
    find_first #(.SIZE(LANES)) i_idle (.bits(own_idle != '0 ? own_idle : shared_lanes & idle), .first(idle_lane));

    always_comb begin
      nodes = '1;
      if (!has_idle) begin
        for (int unsigned node = 0; node < LANES; node++)
          nodes[(LEAVES+node)*NODE_WIDTH+:NODE_WIDTH] = {!usable[node], loads[node], LANE_WIDTH'(node)};
        for (int unsigned node = LEAVES - 1; node > 0; node--)
          nodes[node*NODE_WIDTH+:NODE_WIDTH] = nodes[2*node*NODE_WIDTH+:NODE_WIDTH] <= nodes[(2*node+1)*NODE_WIDTH+:NODE_WIDTH] ?
              nodes[2*node*NODE_WIDTH+:NODE_WIDTH] : nodes[(2*node+1)*NODE_WIDTH+:NODE_WIDTH];
      end
    end
`ifdef FPGA_VERBS_MUTANT_LOAD_IGNORED
    assign lane = idle_lane;
`else
    assign lane = has_idle ? idle_lane : nodes[NODE_WIDTH+:LANE_WIDTH];
`endif
  end
  assign chosen_lane = gen_choice[0].lane;
  assign outlook_lane = gen_choice[1].lane;
endmodule
