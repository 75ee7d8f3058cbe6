// The lists of virtual_kick: a hardware linked list queue with one list per lane, whose data units are always ready. A dropped command is
// marked not ready and discarded at the head of its list: while a lane has dropped commands, the block checks the commands at its head one
// by one. Outputs of the queue that virtual_kick does not use end here.
//
// A command to be listed passes three stages: the block reads the room on the lane's list and the function's entry credits, compares them,
// and virtual_kick lists the command or not. Commands that left their list in the last two clocks may still count.
//
// The queue answers a pop after seven clocks, this block after eight. Until then a started command still counts on its list.
module kick_lists #(
    parameter int unsigned ENTRIES = 72,
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1),
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // No command is listed yet.

    // The lane and the function of a command to be listed. Two clocks later: whether the function has an entry credit, which includes a
    // free entry, and whether the lane's list has room. virtual_kick may then list the command.
    input logic [LANE_WIDTH-1:0] look_lane,
    input logic [FUNCTION_WIDTH-1:0] look_underlying_function,
    output logic has_entry_credit,
    output logic has_room,
    input logic push,
    input logic [LANE_WIDTH-1:0] push_lane,
    input hca_spec_pkg::kick_unit_t push_unit,

    // Lanes with a command that can start (waiting), and lanes whose first command may be dropped and must be checked (to_look_into).
    // `picked`, one-hot, takes a command from the count of its lane in the next clock. One clock after the pick virtual_kick starts or
    // checks that command; one clock later it may instead give the lane up, which counts the command again.
    output logic [LANES-1:0] waiting,
    output logic [LANES-1:0] to_look_into,
    input logic [LANES-1:0] picked,
    input logic start,
    input logic look,
    input logic [LANE_WIDTH-1:0] start_lane,
    input logic give_up,
    input logic [LANE_WIDTH-1:0] give_up_lane,
    // Eight clocks after the start: a command has left its list.
    output logic left,
    output logic left_dropped,
    output logic left_corrupted,
    output logic [LANE_WIDTH-1:0] left_lane,
    output hca_spec_pkg::kick_unit_t left_unit,

    // Drops the commands of a queue pair; see listed_commands.
    input logic drop,
    input logic [23:0] drop_queue_pair_number,
    output logic dropping,
    output logic dropped,
    output logic [LANE_WIDTH-1:0] dropped_lane,
    output logic [FUNCTION_WIDTH-1:0] dropped_underlying_function,
    output logic [23:0] dropped_queue_pair_number,

    input logic set_entry_credits,
    input logic [FUNCTION_WIDTH-1:0] set_entry_credits_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_entry_credits_credits,
    input logic set_size,  // Sets the maximum number of commands on a lane's list.
    input logic [LANE_WIDTH-1:0] set_size_lane,
    input logic [COUNT_WIDTH-1:0] set_size_commands,
    input logic [LANE_WIDTH-1:0] query_lane,
    output logic [COUNT_WIDTH-1:0] query_commands,
    output logic [COUNT_WIDTH-1:0] query_room,  // Free places on the list, two clocks later.
    output logic query_has_fetched,  // The list has a command that send_queue_scheduler fetched.
    output linked_list_queue_pkg::linked_list_queue_counters_t counters
);
  localparam int unsigned UNIT_WIDTH = hca_spec_pkg::KICK_UNIT_BYTES * 8;

  // Answers of the queue.
  logic pushed, answered;
  logic [ENTRY_WIDTH-1:0] pushed_entry, answered_entry, dropped_entry;
  logic [LANE_WIDTH-1:0] pushed_lane, answered_lane;
  linked_list_queue_pkg::linked_list_command_t answered_kind;
  linked_list_queue_pkg::linked_list_result_t answered_result;
  logic is_looked_into, is_alive, is_gone, leaves;

  // One clock later: the answer; the function of the command that leaves, and whether send_queue_scheduler fetched it.
  logic has_answer;
  logic [LANE_WIDTH-1:0] lane;
  logic [FUNCTION_WIDTH-1:0] answered_function, left_function;
  logic answered_fetched, left_fetched;
  hca_spec_pkg::kick_unit_t answered_unit;

  always_ff @(posedge clock) begin
    has_answer <= answered && !reset;
    is_looked_into <= answered && answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY;
    is_alive <= answered_result == linked_list_queue_pkg::LINKED_LIST_RESULT_READY;
    left_corrupted <= answered_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED;
    if (answered) begin
      lane <= answered_lane;
      left_unit <= answered_unit;
      left_function <= answered_function;
      left_fetched <= answered_fetched;
    end
  end
  assign leaves = has_answer && !is_alive;
  assign is_gone = leaves && is_looked_into;
  assign left = leaves;
  assign left_dropped = is_looked_into;
  assign left_lane = lane;

  listed_commands #(
      .ENTRIES(ENTRIES),
      .LANES(LANES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH)
  ) i_listed_commands (
      .left(answered && answered_result != linked_list_queue_pkg::LINKED_LIST_RESULT_READY),
      .left_entry(answered_entry),
      .left_function(answered_function),
      .left_fetched(answered_fetched),
      .*
  );

  // Room on the lane's list, and entry credits of the function. The credit returns when the command has left the list.
  logic lane_has_room;
  logic [COUNT_WIDTH-1:0] unused_function_commands, unused_function_room;
`ifdef FPGA_VERBS_MUTANT_LIST_SIZE_IGNORED
  logic unused_lane_has_room;
  assign unused_lane_has_room = lane_has_room;
  assign has_room = 1'b1;
`else
  assign has_room = lane_has_room;
`endif

  list_room #(
      .OWNERS(LANES),
      .ENTRIES(ENTRIES)
  ) i_lane_room (
      .clock(clock),
      .reset(reset),
      .look_owner(look_lane),
      .has_room(lane_has_room),
      .push(push),
      .push_owner(push_lane),
      .leave(leaves),
      .leave_owner(lane),
      .set_most(set_size),
      .set_most_owner(set_size_lane),
      .set_most_commands(set_size_commands),
      .query_owner(query_lane),
      .query_commands(query_commands),
      .query_room(query_room)
  );
  list_room #(
      .OWNERS(UNDERLYING_FUNCTIONS),
      .ENTRIES(ENTRIES)
  ) i_entry_credits (
      .clock(clock),
      .reset(reset),
      .look_owner(look_underlying_function),
      .has_room(has_entry_credit),
      .push(push),
      .push_owner(FUNCTION_WIDTH'(push_unit.underlying_function)),
      .leave(leaves),
      .leave_owner(left_function),
      .set_most(set_entry_credits),
      .set_most_owner(set_entry_credits_underlying_function),
      .set_most_commands(set_entry_credits_credits),
      .query_owner('0),
      .query_commands(unused_function_commands),
      .query_room(unused_function_room)
  );

  // By lane, counted in the same way: dropped commands and those of them that left; fetched commands and those of them that left.
  logic [COUNT_WIDTH-1:0] gone_of[LANES];
  logic [COUNT_WIDTH-1:0] dropped_of[LANES];
  logic [COUNT_WIDTH-1:0] fetched_of[LANES];
  logic [COUNT_WIDTH-1:0] fetched_left_of[LANES];
  logic [LANES-1:0] used_dropped, used_fetched;
  logic is_fetched;

  assign is_fetched = push && push_unit.origin == hca_spec_pkg::KICK_ORIGIN_SCHEDULED;
  assign query_has_fetched = used_fetched[query_lane] && fetched_of[query_lane] != fetched_left_of[query_lane];

  always_ff @(posedge clock) begin
    if (is_fetched)
      fetched_of[push_lane] <= (used_fetched[push_lane] ? fetched_of[push_lane] : fetched_left_of[push_lane]) + COUNT_WIDTH'(1);
    if (leaves && left_fetched) fetched_left_of[lane] <= fetched_left_of[lane] + COUNT_WIDTH'(1);
    if (is_gone) gone_of[lane] <= gone_of[lane] + COUNT_WIDTH'(1);
    if (dropped)
      dropped_of[dropped_lane] <= (used_dropped[dropped_lane] ? dropped_of[dropped_lane] : gone_of[dropped_lane]) + COUNT_WIDTH'(1);
    if (reset) begin
      used_fetched <= '0;
      used_dropped <= '0;
    end else begin
      if (is_fetched) used_fetched[push_lane] <= 1'b1;
      if (dropped) used_dropped[dropped_lane] <= 1'b1;
    end
  end

  // Lanes with commands to take. Three clocks after a dropped command has left, the block knows whether its lane has another one; until then
  // it starts no further check of the lane. first_alive: the command at the head of the lane is known not to be dropped.
  logic [COUNT_WIDTH*LANES-1:0] at_least;
  logic [LANES-1:0] has_command, has_dropped, first_alive, looked_into;
  logic unused_at_least;
  logic has_gone, went;
  logic [LANE_WIDTH-1:0] gone_lane, went_lane;
  logic has_no_dropped;
  assign has_command = at_least[LANES-1:0];
  assign unused_at_least = &{1'b0, at_least};

  lane_counters #(
      .LANES(LANES),
      .COUNT_WIDTH(COUNT_WIDTH)
  ) i_commands (
      .clock(clock),
      .reset(reset),
      .more(LANES'(push) << push_lane),
      .more_too(LANES'(give_up) << give_up_lane | LANES'(has_answer && is_alive) << lane),
      .less(picked),
      .at_least(at_least)
  );

  assign waiting = has_command & (~has_dropped | first_alive);
  assign to_look_into = has_command & has_dropped & ~first_alive & ~looked_into;

  always_ff @(posedge clock) begin
    has_gone <= is_gone && !reset;
    gone_lane <= lane;
    went <= has_gone && !reset;
    went_lane <= gone_lane;
    has_no_dropped <= dropped_of[gone_lane] == gone_of[gone_lane];
    if (reset) begin
      has_dropped <= '0;
      first_alive <= '0;
      looked_into <= '0;
    end else begin
      has_dropped <= has_dropped & ~(LANES'(went && has_no_dropped) << went_lane) | LANES'(dropped) << dropped_lane;
      first_alive <= (first_alive & ~picked | LANES'(give_up) << give_up_lane | LANES'(has_answer && is_alive) << lane)
          & ~(LANES'(dropped) << dropped_lane);
      looked_into <= (looked_into | picked & to_look_into) & ~(LANES'(went) << went_lane | LANES'(has_answer && is_alive) << lane);
    end
  end

  logic [COUNT_WIDTH-1:0] unused_inbound_credits, unused_query_count;
  linked_list_queue_pkg::linked_list_result_t unused_pushed_result;
  logic unused_marked, unused_command_ready, unused_answered_forward, unused_reclaiming, unused_scrubbed, unused_error_injected;
  linked_list_queue_pkg::linked_list_result_t unused_marked_result;
  logic [LANE_WIDTH:0] unused_answered_index;
  logic [ENTRY_WIDTH-1:0] unused_scrubbed_entry;
  logic [1:0] unused_scrubbed_status;
  logic [COUNT_WIDTH-1:0] unused_query_own_held, unused_query_shared_held, unused_shared_entry_credits_held;

  hardware_linked_list_queue #(
      .ENTRIES(ENTRIES),
      .LISTS(LANES),
      .CONTENT_ADDRESSED(1'b0),
      .UNDERLYING_FUNCTIONS(1),
      .READY_ON_PUSH(1'b1),
      .INDEX_WIDTH(LANE_WIDTH + 1),
      .UNIT_WIDTH(UNIT_WIDTH)
  ) i_hardware_linked_list_queue (
      .clock(clock),
      .reset(reset),
      .clearing(clearing),
      .inbound_credits(unused_inbound_credits),
      .push(push),
      .push_index({1'b0, push_lane}),
      .push_unit(push_unit),
      .push_underlying_function(1'b0),
      .pushed(pushed),
      .pushed_result(unused_pushed_result),
      .pushed_list(pushed_lane),
      .pushed_entry(pushed_entry),
      .mark_ready(1'b0),
      .mark_not_ready(dropped),
      .mark_entry(dropped_entry),
      .marked(unused_marked),
      .marked_result(unused_marked_result),
      .command_ready(unused_command_ready),
      .command(start || look),
      .command_kind(look ? linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY :
          linked_list_queue_pkg::LINKED_LIST_COMMAND_POP),
      .command_list(start_lane),
      .forward(1'b0),
      .answered(answered),
      .answered_forward(unused_answered_forward),
      .answered_kind(answered_kind),
      .answered_result(answered_result),
      .answered_list(answered_lane),
      .answered_entry(answered_entry),
      .answered_index(unused_answered_index),
      .answered_unit(answered_unit),
      .reclaim_ready(1'b0),
      .reclaiming(unused_reclaiming),
      .scrub(1'b1),
      .scrubbed(unused_scrubbed),
      .scrubbed_entry(unused_scrubbed_entry),
      .scrubbed_status(unused_scrubbed_status),
      .inject_error(1'b0),
      .inject_error_entry('0),
      .inject_error_bit('0),
      .error_injected(unused_error_injected),
      .set_maximum(1'b0),
      .set_maximum_list('0),
      .set_maximum_data_units('0),
      .set_entry_credits(1'b0),
      .set_entry_credits_underlying_function('0),
      .set_entry_credits_credits('0),
      .set_shared_entry_credits(1'b0),
      .set_shared_entry_credits_credits('0),
      .set_shared_entry_credits_cap('0),
      .query_list('0),
      .query_count(unused_query_count),
      .query_underlying_function('0),
      .query_own_held(unused_query_own_held),
      .query_shared_held(unused_query_shared_held),
      .shared_entry_credits_held(unused_shared_entry_credits_held),
      .counters(counters)
  );
endmodule
