// The lane of each queue pair, and whether it has kicked, unfinished commands there; while it has, it stays (US8484392). Separate memories
// count commands that joined and commands that finished, so that both can be updated every clock; they are only compared.
//
// A kick is looked up; one clock later its lane is known: that of a kick of the same queue pair which is under way, whether that joins or
// not; otherwise the one on which the queue pair has commands; otherwise the lane that was chosen for it. Three clocks after that it joins,
// or does not. A finish may be missed for two clocks: the queue pair then stays where it was.
//
// After reset it is `clearing` for as many clocks as there are queue pairs.
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
    // In the next clock.
    input logic [LANE_WIDTH-1:0] chosen_lane,
    output logic [LANE_WIDTH-1:0] lane,
    // Three clocks after that, if its command joins the lane.
    input logic join_lane,

    input logic finish,
    input logic [QUEUE_PAIR_WIDTH-1:0] finish_queue_pair,

    // Commands of a queue pair and its lane, in the next clock, from the state before this one.
    input logic [QUEUE_PAIR_WIDTH-1:0] inspect_queue_pair,
    output logic [COUNT_WIDTH-1:0] inspect_commands,
    output logic [LANE_WIDTH-1:0] inspect_lane
);
  localparam int unsigned CLOCKS = 4;  // Of a kick after its look-up.

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

  // The kicks that were looked up one to four clocks ago, the last of them one that joins or does not in this clock; the lanes of these but
  // the first, and of the one before them. A kick's look-up misses the four before it, some of which are of its queue pair: their bits.
  logic [CLOCKS-1:0] valid;
  logic [QUEUE_PAIR_WIDTH-1:0] queue_pair_1, queue_pair_2, queue_pair_3, queue_pair_4;
  logic [LANE_WIDTH-1:0] lane_2, lane_3, lane_4, lane_5;
  logic [CLOCKS-1:0] same_1, same_2, same_3, same_4;
  logic [CLOCKS-1:0] joined_before;  // Those one to four clocks before the last.
  logic [COUNT_WIDTH+LANE_WIDTH-1:0] joined_1;
  logic [COUNT_WIDTH-1:0] finished_1, joined_2, joined_3, joined_4, joined_next;
  logic held;

  assign held = joined_1[COUNT_WIDTH-1:0] != finished_1;
  assign lane = same_1[0] ? lane_2 : same_1[1] ? lane_3 : same_1[2] ? lane_4 : same_1[3] ? lane_5 :
      held ? joined_1[COUNT_WIDTH+:LANE_WIDTH] : chosen_lane;

  // How many of those that the look-up of the last one missed have joined.
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
  logic finishing_before;  // The clock before, the same queue pair.
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
