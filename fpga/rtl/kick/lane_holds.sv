// The lane of each queue pair, and whether the queue pair has kicked, unfinished commands there; while it has, it keeps its lane
// (US8484392). One memory counts commands that joined, another one commands that finished, so that both can be written every clock; the
// block only compares them.
//
// The lane of a kick is known one clock after its look-up: the lane of a kick of the same queue pair that is still in the stages, whether
// that one joins or not; else the lane on which the queue pair has commands; else the lane chosen for it. Three clocks later the kick joins
// the lane or not. The look-up may miss finishes of the last two clocks: the queue pair then keeps its lane.
//
// After a reset the block is `clearing` for as many clocks as there are queue pairs.
module lane_holds #(
    parameter int unsigned QUEUE_PAIRS = 65536,
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned COUNT_WIDTH = 10,  // A queue pair has at most 2^COUNT_WIDTH - 3 commands.
    parameter int unsigned QUEUE_PAIR_WIDTH = $clog2(QUEUE_PAIRS),
    parameter int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1
) (
    input logic clock,
    input logic reset,
    output logic clearing,

    input logic look,
    input logic [QUEUE_PAIR_WIDTH-1:0] look_queue_pair,
    // One clock later: the lane chosen, and the lane that the kick gets.
    input logic [LANE_WIDTH-1:0] chosen_lane,
    output logic [LANE_WIDTH-1:0] lane,
    // Three clocks after that: the kick's command joins the lane.
    input logic join_lane,

    input logic finish,
    input logic [QUEUE_PAIR_WIDTH-1:0] finish_queue_pair,

    // The commands and the lane of a queue pair, one clock later, from the state before this clock.
    input logic [QUEUE_PAIR_WIDTH-1:0] inspect_queue_pair,
    output logic [COUNT_WIDTH-1:0] inspect_commands,
    output logic [LANE_WIDTH-1:0] inspect_lane
);
  localparam int unsigned CLOCKS = 4;  // Clocks from the look-up of a kick to its decision.

  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined[QUEUE_PAIRS];  // Number of commands that joined, and the lane of the last one.
  logic [COUNT_WIDTH-1:0] finished[QUEUE_PAIRS];
  logic [QUEUE_PAIR_WIDTH-1:0] clear_queue_pair;

  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      clear_queue_pair <= '0;
    end else if (clearing) begin
      clearing <= clear_queue_pair != QUEUE_PAIR_WIDTH'(QUEUE_PAIRS - 1);
      clear_queue_pair <= clear_queue_pair + QUEUE_PAIR_WIDTH'(1);
    end
  end

  // The kicks looked up one to four clocks ago; the oldest joins or not in this clock. lane_2 to lane_5: the lanes of the kicks two to five
  // clocks old. The look-up of a kick misses the four kicks before it; same_1 to same_4 mark those of the same queue pair.
  logic [CLOCKS-1:0] valid;
  logic [QUEUE_PAIR_WIDTH-1:0] queue_pair_1, queue_pair_2, queue_pair_3, queue_pair_4;
  logic [LANE_WIDTH-1:0] lane_2, lane_3, lane_4, lane_5;
  logic [CLOCKS-1:0] same_1, same_2, same_3, same_4;
  logic [CLOCKS-1:0] joined_before;  // Which of the kicks one to four clocks before the oldest have joined.
  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined_1;
  logic [COUNT_WIDTH-1:0] finished_1, joined_2, joined_3, joined_4, joined_next;
  logic held;

  assign held = joined_1[COUNT_WIDTH-1:0] != finished_1;
  assign lane = same_1[0] ? lane_2 : same_1[1] ? lane_3 : same_1[2] ? lane_4 : same_1[3] ? lane_5 :
      held ? joined_1[COUNT_WIDTH+:LANE_WIDTH] : chosen_lane;

  // The number of kicks that joined and that the oldest kick's look-up missed.
  logic [CLOCKS-1:0] missed;
  logic [2:0] missed_count;
`ifdef FPGA_VERBS_MUTANT_LANE_LEFT_EARLY
  assign missed = '0;
`else
  assign missed = same_4 & joined_before;
`endif
  assign missed_count = 3'(missed[0]) + 3'(missed[1]) + 3'(missed[2]) + 3'(missed[3]);
  assign joined_next = joined_4 + COUNT_WIDTH'(missed_count) + COUNT_WIDTH'(1);

  always_ff @(posedge clock) begin
    valid <= reset ? '0 : {valid[CLOCKS-2:0], look};
    {queue_pair_1, queue_pair_2, queue_pair_3, queue_pair_4} <= {look_queue_pair, queue_pair_1, queue_pair_2, queue_pair_3};
    same_1 <= valid & {look_queue_pair == queue_pair_4, look_queue_pair == queue_pair_3, look_queue_pair == queue_pair_2,
        look_queue_pair == queue_pair_1};
    {same_2, same_3, same_4} <= {same_1, same_2, same_3};
    {lane_2, lane_3, lane_4, lane_5} <= {lane, lane_2, lane_3, lane_4};
    joined_before <= {joined_before[CLOCKS-2:0], join_lane};
    joined_1 <= joined[look_queue_pair];
    finished_1 <= finished[look_queue_pair];
    {joined_2, joined_3, joined_4} <= {joined_1[COUNT_WIDTH-1:0], joined_2, joined_3};
    if (clearing) joined[clear_queue_pair] <= '0;
    else if (join_lane) joined[queue_pair_4] <= {lane_4, joined_next};
  end

  // A finish is read in its clock and written in the next.
  logic finishing;
  logic [QUEUE_PAIR_WIDTH-1:0] finishing_queue_pair;
  logic [COUNT_WIDTH-1:0] finishing_read;
  logic finishing_before;  // The finish one clock earlier was of the same queue pair.
  logic [COUNT_WIDTH-1:0] finishing_next, finished_written;

  assign finishing_next = (finishing_before ? finished_written : finishing_read) + COUNT_WIDTH'(1);

  logic [COUNT_WIDTH+LANE_WIDTH-1:0] inspect_joined;
  logic [COUNT_WIDTH-1:0] inspect_finished;
  logic inspect_finishing;
  assign inspect_commands = inspect_joined[COUNT_WIDTH-1:0] - inspect_finished - COUNT_WIDTH'(inspect_finishing);
  assign inspect_lane = inspect_joined[COUNT_WIDTH+:LANE_WIDTH];

  always_ff @(posedge clock) begin
    inspect_joined <= joined[inspect_queue_pair];
    inspect_finished <= finished[inspect_queue_pair];
    inspect_finishing <= finishing && finishing_queue_pair == inspect_queue_pair;
    finishing_read <= finished[finish_queue_pair];
    finishing <= !reset && finish;
    finishing_queue_pair <= finish_queue_pair;
    if (clearing) finished[clear_queue_pair] <= '0;
    else if (finishing) finished[finishing_queue_pair] <= finishing_next;
    finishing_before <= finishing && finishing_queue_pair == finish_queue_pair;
    finished_written <= finishing_next;
  end

`ifdef FORMAL
`include "lane_holds.svh"
`endif
endmodule
