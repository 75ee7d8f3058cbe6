// The lane for a queue pair that is on none (US8484392, TVL mapping table): the lowest of the level's own that is idle, else the
// lowest shared one that is, else the least loaded of all of them, the lowest of equals. Some lane has to be there.
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

  // A tree: node n has the better of nodes 2n and 2n + 1; the leaves are the lanes, from LEAVES on.
  localparam int unsigned LEAVES = 1 << LANE_WIDTH;
  localparam int unsigned NODE_WIDTH = 1 + LOAD_WIDTH + LANE_WIDTH;
  logic [2*LEAVES*NODE_WIDTH-1:0] nodes;  // Of each: cannot be taken, load, lane.
  logic unused_nodes;

  assign unused_nodes = &{1'b0, nodes};
  always_comb begin
    nodes = '1;
    for (int unsigned leaf = 0; leaf < LANES; leaf++)
      nodes[(LEAVES+leaf)*NODE_WIDTH+:NODE_WIDTH] =
          {!(own[leaf] || shared[leaf]), load[leaf*LOAD_WIDTH+:LOAD_WIDTH], LANE_WIDTH'(leaf)};
    for (int unsigned node = LEAVES - 1; node > 0; node--)
      nodes[node*NODE_WIDTH+:NODE_WIDTH] =
          nodes[2*node*NODE_WIDTH+:NODE_WIDTH] <= nodes[(2*node+1)*NODE_WIDTH+:NODE_WIDTH] ?
          nodes[2*node*NODE_WIDTH+:NODE_WIDTH] : nodes[(2*node+1)*NODE_WIDTH+:NODE_WIDTH];
  end

`ifdef FPGA_VERBS_MUTANT_LOAD_IGNORED
  assign lane = idle_lane;
`else
  assign lane = ((own | shared) & idle) != '0 ? idle_lane : nodes[NODE_WIDTH+:LANE_WIDTH];
`endif
endmodule
