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

  // A tree, from the lanes up: each node has the better of two. Of each: cannot be taken, load, lane.
  localparam int unsigned NODE_WIDTH = 1 + LOAD_WIDTH + LANE_WIDTH;
  for (genvar level = 0; level <= LANE_WIDTH; level++) begin : gen_level
    logic [(1<<LANE_WIDTH-level)*NODE_WIDTH-1:0] nodes;
    for (genvar node = 0; node < 1 << LANE_WIDTH - level; node++) begin : gen_node
      if (level > 0) begin : gen_inner
        logic [NODE_WIDTH-1:0] left;
        logic [NODE_WIDTH-1:0] right;
        assign left = gen_level[level-1].nodes[2*node*NODE_WIDTH+:NODE_WIDTH];
        assign right = gen_level[level-1].nodes[(2*node+1)*NODE_WIDTH+:NODE_WIDTH];
        assign nodes[node*NODE_WIDTH+:NODE_WIDTH] = left <= right ? left : right;
      end else if (node < LANES) begin : gen_lane
        assign nodes[node*NODE_WIDTH+:NODE_WIDTH] =
            {!(own[node] || shared[node]), load[node*LOAD_WIDTH+:LOAD_WIDTH], LANE_WIDTH'(node)};
      end else begin : gen_none
        assign nodes[node*NODE_WIDTH+:NODE_WIDTH] = '1;
      end
    end
  end
  logic [NODE_WIDTH-1:0] least;
  logic unused_least;
  assign least = gen_level[LANE_WIDTH].nodes;
  assign unused_least = &{1'b0, least};

`ifdef FPGA_VERBS_MUTANT_LOAD_IGNORED
  assign lane = idle_lane;
`else
  assign lane = ((own | shared) & idle) != '0 ? idle_lane : least[LANE_WIDTH-1:0];
`endif
endmodule
