// The lane of each queue pair, and whether it has kicked, unfinished commands there; while it has, it stays (US8484392). Separate memories
// count commands that joined and commands that finished, so that both can be updated every clock; they are only compared. An answer
// includes all updates up to the previous clock.
//
// After reset it is `clearing` for as many clocks as there are queue pairs.
module lane_holds #(
    parameter int unsigned QUEUE_PAIRS = 65536,
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned COUNT_WIDTH = 10,  // A queue pair has fewer than 2^COUNT_WIDTH commands.
    parameter int unsigned QUEUE_PAIR_WIDTH = $clog2(QUEUE_PAIRS),
    parameter int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1
) (
    input logic clock,
    input logic reset,
    output logic clearing,

    // Answered in the next clock, for as long as the question is repeated.
    input logic [QUEUE_PAIR_WIDTH-1:0] query_queue_pair,
    output logic held,
    output logic [LANE_WIDTH-1:0] held_lane,

    // A command of the queue pair that was asked for in the clock before joins a lane.
    input logic join_lane,
    input logic [LANE_WIDTH-1:0] joined_lane,

    input logic finish,
    input logic [QUEUE_PAIR_WIDTH-1:0] finish_queue_pair,

    // Commands of a queue pair and its lane, in the next clock, from the state before this one.
    input logic [QUEUE_PAIR_WIDTH-1:0] inspect_queue_pair,
    output logic [COUNT_WIDTH-1:0] inspect_commands,
    output logic [LANE_WIDTH-1:0] inspect_lane
);
  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined[QUEUE_PAIRS];  // Commands, and the lane of the last.
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

  // Query: one clock behind, with what was written in that clock in place of what was read.
  logic [QUEUE_PAIR_WIDTH-1:0] queue_pair;
  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined_read;
  logic [COUNT_WIDTH-1:0] finished_read;
  logic joined_before;  // The clock before, the same queue pair.
  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined_written;
  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined_now;
  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined_next;
  logic finished_before;
  logic [COUNT_WIDTH-1:0] finished_written;
  logic [COUNT_WIDTH-1:0] finished_now;

  // A finish is read in its clock and written in the next.
  logic finishing;
  logic [QUEUE_PAIR_WIDTH-1:0] finishing_queue_pair;
  logic [COUNT_WIDTH-1:0] finishing_read;
  logic finishing_before;
  logic [COUNT_WIDTH-1:0] finishing_next;

  assign joined_now = joined_before ? joined_written : joined_read;
  assign joined_next = {joined_lane, joined_now[COUNT_WIDTH-1:0] + COUNT_WIDTH'(1)};
  assign finished_now = (finished_before ? finished_written : finished_read)
      + COUNT_WIDTH'(finishing && finishing_queue_pair == queue_pair);
  assign finishing_next = (finishing_before ? finished_written : finishing_read) + COUNT_WIDTH'(1);
`ifdef FPGA_VERBS_MUTANT_LANE_LEFT_EARLY
  assign held = joined_now[COUNT_WIDTH-1:0] - finished_now > COUNT_WIDTH'(1);
`else
  assign held = joined_now[COUNT_WIDTH-1:0] != finished_now;
`endif
  assign held_lane = joined_now[COUNT_WIDTH+:LANE_WIDTH];

  logic [COUNT_WIDTH+LANE_WIDTH-1:0] inspect_joined;
  logic [COUNT_WIDTH-1:0] inspect_finished;
  logic inspect_finishing;
  assign inspect_commands = inspect_joined[COUNT_WIDTH-1:0] - inspect_finished - COUNT_WIDTH'(inspect_finishing);
  assign inspect_lane = inspect_joined[COUNT_WIDTH+:LANE_WIDTH];

  always_ff @(posedge clock) begin
    inspect_joined <= joined[inspect_queue_pair];
    inspect_finished <= finished[inspect_queue_pair];
    inspect_finishing <= finishing && finishing_queue_pair == inspect_queue_pair;
    queue_pair <= query_queue_pair;
    joined_read <= joined[query_queue_pair];
    finished_read <= finished[query_queue_pair];
    finishing_read <= finished[finish_queue_pair];
    finishing <= !reset && finish;
    finishing_queue_pair <= finish_queue_pair;
    if (clearing) joined[clear_queue_pair] <= '0;
    else if (join_lane) joined[queue_pair] <= joined_next;
    if (clearing) finished[clear_queue_pair] <= '0;
    else if (finishing) finished[finishing_queue_pair] <= finishing_next;
    joined_before <= join_lane && queue_pair == query_queue_pair;
    joined_written <= joined_next;
    finished_before <= finishing && finishing_queue_pair == query_queue_pair;
    finishing_before <= finishing && finishing_queue_pair == finish_queue_pair;
    finished_written <= finishing_next;
  end

`ifdef FORMAL
`include "lane_holds.svh"
`endif
endmodule
