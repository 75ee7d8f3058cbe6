// Selects the lane for a queue pair that is on none (US8484392, TVL mapping table): the lowest idle lane of the level's own, otherwise the
// lowest idle shared one, otherwise the least loaded of all, the lowest among equals. At least one lane must exist.
module lane_choice #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned LOAD_WIDTH = 10,
    parameter int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1
) (
    input logic [LANES-1:0] own,
    input logic [LANES-1:0] shared,
    input logic [LANES-1:0] idle,
    input logic [LANES*LOAD_WIDTH-1:0] load,
    output logic [LANE_WIDTH-1:0] lane
);
  logic [LANE_WIDTH-1:0] idle_lane;
  find_first #(.SIZE(LANES)) i_idle (.bits((own & idle) != '0 ? own & idle : shared & idle), .first(idle_lane));

  // A tree, from the lanes up: each node, from 1 on, has the better of nodes twice its number and one more. Of each: cannot be taken, load,
  // lane. Only looked at where none is idle, which saves simulation the work.
  localparam int unsigned NODE_WIDTH = 1 + LOAD_WIDTH + LANE_WIDTH;
  localparam int unsigned LEAVES = 1 << LANE_WIDTH;
  logic [2*LEAVES*NODE_WIDTH-1:0] nodes;
  logic [LANE_WIDTH-1:0] least;
  logic has_idle;
  assign has_idle = ((own | shared) & idle) != '0;
  always_comb begin
    nodes = '1;
    if (!has_idle) begin
      for (int unsigned node = 0; node < LANES; node++)
        nodes[(LEAVES+node)*NODE_WIDTH+:NODE_WIDTH] =
            {!(own[node] || shared[node]), load[node*LOAD_WIDTH+:LOAD_WIDTH], LANE_WIDTH'(node)};
      for (int unsigned node = LEAVES - 1; node > 0; node--)
        nodes[node*NODE_WIDTH+:NODE_WIDTH] = nodes[2*node*NODE_WIDTH+:NODE_WIDTH] <= nodes[(2*node+1)*NODE_WIDTH+:NODE_WIDTH] ?
            nodes[2*node*NODE_WIDTH+:NODE_WIDTH] : nodes[(2*node+1)*NODE_WIDTH+:NODE_WIDTH];
    end
    least = nodes[NODE_WIDTH+:LANE_WIDTH];
  end

`ifdef FPGA_VERBS_MUTANT_LOAD_IGNORED
  assign lane = idle_lane;
`else
  assign lane = has_idle ? idle_lane : least;
`endif
endmodule
