// The lists of virtual_kick: a hardware linked list queue with a list for each lane; its data units need no processing. A dropped command
// is marked not ready and discarded when it is the first of its list: while a lane has dropped commands, the block checks its first
// commands one by one. Queue outputs that virtual_kick does not use end here.
//
// The queue answers a command seven clocks later. Until then a started command counts on its list.
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
    output logic clearing,  // Nothing is listed as yet.

    // Lists a command. Its function has an entry credit, then there is an entry too; its lane is not full.
    input logic push,
    input logic [LANE_WIDTH-1:0] push_lane,
    input hca_spec_pkg::kick_unit_t push_unit,
    input logic [FUNCTION_WIDTH-1:0] push_underlying_function,
    output logic [UNDERLYING_FUNCTIONS-1:0] entry_credits_available,
    output logic [LANES-1:0] full,

    // Takes the first command of a lane that is waiting, or discards it if it was dropped, which is to be looked into.
    output logic [LANES-1:0] waiting,
    output logic [LANES-1:0] to_look_into,
    input logic start,
    input logic look,
    input logic [LANE_WIDTH-1:0] start_lane,
    // Seven clocks later, if a command has left its list.
    output logic left,
    output logic left_dropped,
    output logic left_corrupted,
    output logic [LANE_WIDTH-1:0] left_lane,
    output hca_spec_pkg::kick_unit_t left_unit,

    // The commands of a queue pair are dropped; see listed_commands.
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
    input logic set_size,  // The most commands on the list of a lane.
    input logic [LANE_WIDTH-1:0] set_size_lane,
    input logic [COUNT_WIDTH-1:0] set_size_commands,
    input logic [LANE_WIDTH-1:0] query_lane,
    output logic [COUNT_WIDTH-1:0] query_commands,
    output logic [COUNT_WIDTH-1:0] query_room,  // For so many commands.
    output logic query_has_fetched,  // One that send_queue_scheduler fetched is there.
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

  assign is_looked_into = answered
      && answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY;
  assign is_alive = answered_result == linked_list_queue_pkg::LINKED_LIST_RESULT_READY;
  assign leaves = answered && !is_alive;
  assign is_gone = is_looked_into && !is_alive;
  assign left = leaves;
  assign left_dropped = is_looked_into;
  assign left_corrupted = answered_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED;
  assign left_lane = answered_lane;

  // The command that leaves: its function, and whether it was fetched.
  logic [FUNCTION_WIDTH-1:0] left_function;
  logic left_fetched;

  listed_commands #(
      .ENTRIES(ENTRIES),
      .LANES(LANES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH)
  ) i_listed_commands (
      .left_entry(answered_entry),
      .*
  );

  // By lane, modulo 2^COUNT_WIDTH: commands that were listed and that left; those to be started, that were started, and that went as
  // dropped; those that were dropped; those that were fetched, and of these that left. Each memory has one writer. Numbers are
  // differences, 0 unless their bit is set; the first command then begins where the last stopped. Further: the most that a lane may
  // have, once it is set; whether the first is known not to be dropped, or is being looked into.
  logic [COUNT_WIDTH-1:0] listed_of[LANES];
  logic [COUNT_WIDTH-1:0] left_of[LANES];
  logic [COUNT_WIDTH-1:0] to_start_of[LANES];
  logic [COUNT_WIDTH-1:0] started_of[LANES];
  logic [COUNT_WIDTH-1:0] gone_of[LANES];
  logic [COUNT_WIDTH-1:0] dropped_of[LANES];
  logic [COUNT_WIDTH-1:0] fetched_of[LANES];
  logic [COUNT_WIDTH-1:0] fetched_left_of[LANES];
  logic [COUNT_WIDTH-1:0] sizes[LANES];
  logic [LANES-1:0] has_listed, has_to_start, has_dropped, has_fetched, sized, first_alive, looked_into;
  logic [COUNT_WIDTH-1:0] maximum;
  logic is_fetched;

  assign is_fetched = push_unit.origin == hca_spec_pkg::KICK_ORIGIN_SCHEDULED;
  assign query_commands = has_listed[query_lane] ? listed_of[query_lane] - left_of[query_lane] : '0;
  assign maximum = sized[query_lane] ? sizes[query_lane] : COUNT_WIDTH'(ENTRIES);
  assign query_room = query_commands < maximum ? maximum - query_commands : '0;
  assign query_has_fetched = has_fetched[query_lane];

  assign waiting = has_to_start & (~has_dropped | first_alive);
  assign to_look_into = has_to_start & has_dropped & ~first_alive & ~looked_into;

  // Numbers and bits of a lane after this clock.
  function automatic logic [COUNT_WIDTH-1:0] listed_after(input logic [LANE_WIDTH-1:0] lane);
    listed_after = (has_listed[lane] ? listed_of[lane] - left_of[lane] : '0) + COUNT_WIDTH'(push && push_lane == lane)
        - COUNT_WIDTH'(leaves && answered_lane == lane);
  endfunction
  function automatic logic has_to_start_after(input logic [LANE_WIDTH-1:0] lane);
    has_to_start_after = push && push_lane == lane || has_to_start[lane] && to_start_of[lane] - started_of[lane]
        != gone_of[lane] + COUNT_WIDTH'(start && start_lane == lane) + COUNT_WIDTH'(is_gone && answered_lane == lane);
  endfunction
  function automatic logic has_dropped_after(input logic [LANE_WIDTH-1:0] lane);
    has_dropped_after = dropped && dropped_lane == lane
        || has_dropped[lane] && dropped_of[lane] != gone_of[lane] + COUNT_WIDTH'(is_gone && answered_lane == lane);
  endfunction
  function automatic logic has_fetched_after(input logic [LANE_WIDTH-1:0] lane);
    has_fetched_after = push && is_fetched && push_lane == lane
        || has_fetched[lane] && fetched_of[lane] != fetched_left_of[lane] + COUNT_WIDTH'(leaves && left_fetched && answered_lane == lane);
  endfunction
  function automatic logic full_after(input logic [LANE_WIDTH-1:0] lane);
    full_after = listed_after(lane)
        >= (set_size && set_size_lane == lane ? set_size_commands : sized[lane] ? sizes[lane] : COUNT_WIDTH'(ENTRIES));
  endfunction

  // Each event writes what its lane has after all events of the clock, so events of one lane agree.
  always_ff @(posedge clock) begin
    if (reset) begin
      has_listed <= '0;
      full <= '0;
      sized <= '0;
    end else begin
      if (push) begin
        has_listed[push_lane] <= 1'b1;
        full[push_lane] <= full_after(push_lane);
      end
      if (leaves) begin
        has_listed[answered_lane] <= listed_after(answered_lane) != '0;
        full[answered_lane] <= full_after(answered_lane);
      end
      if (set_size) begin
        sized[set_size_lane] <= 1'b1;
        full[set_size_lane] <= full_after(set_size_lane);
      end
    end
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      has_to_start <= '0;
      has_dropped <= '0;
      has_fetched <= '0;
      first_alive <= '0;
      looked_into <= '0;
    end else begin
      if (push) begin
        has_to_start[push_lane] <= has_to_start_after(push_lane);
        has_fetched[push_lane] <= has_fetched_after(push_lane);
      end
      if (is_looked_into) begin
        looked_into[answered_lane] <= 1'b0;
        if (is_alive) first_alive[answered_lane] <= 1'b1;
      end
      if (is_gone) begin
        has_to_start[answered_lane] <= has_to_start_after(answered_lane);
        has_dropped[answered_lane] <= has_dropped_after(answered_lane);
      end
      if (leaves) has_fetched[answered_lane] <= has_fetched_after(answered_lane);
      if (start) begin
        has_to_start[start_lane] <= has_to_start_after(start_lane);
        first_alive[start_lane] <= 1'b0;
      end
      if (look) looked_into[start_lane] <= 1'b1;
      if (dropped) begin
        has_dropped[dropped_lane] <= has_dropped_after(dropped_lane);
        first_alive[dropped_lane] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clock) begin
    if (push) begin
      listed_of[push_lane] <= (has_listed[push_lane] ? listed_of[push_lane] : left_of[push_lane]) + COUNT_WIDTH'(1);
      to_start_of[push_lane] <=
          (has_to_start[push_lane] ? to_start_of[push_lane] : started_of[push_lane] + gone_of[push_lane]) + COUNT_WIDTH'(1);
    end
    if (push && is_fetched)
      fetched_of[push_lane] <= (has_fetched[push_lane] ? fetched_of[push_lane] : fetched_left_of[push_lane]) + COUNT_WIDTH'(1);
    if (leaves) left_of[answered_lane] <= left_of[answered_lane] + COUNT_WIDTH'(1);
    if (leaves && left_fetched) fetched_left_of[answered_lane] <= fetched_left_of[answered_lane] + COUNT_WIDTH'(1);
    if (start) started_of[start_lane] <= started_of[start_lane] + COUNT_WIDTH'(1);
    if (is_gone) gone_of[answered_lane] <= gone_of[answered_lane] + COUNT_WIDTH'(1);
    if (dropped)
      dropped_of[dropped_lane] <= (has_dropped[dropped_lane] ? dropped_of[dropped_lane] : gone_of[dropped_lane]) + COUNT_WIDTH'(1);
    if (set_size) sizes[set_size_lane] <= set_size_commands;
  end

  // Entry credits of functions; one comes back when its command has left the list.
  linked_list_queue_pkg::credit_source_t unused_source;
  logic [COUNT_WIDTH-1:0] unused_own_held, unused_shared_held, unused_available, unused_all_shared_held;

  credit_pool #(
      .OWNERS(UNDERLYING_FUNCTIONS),
      .OWN(ENTRIES),
      .CREDIT_WIDTH(COUNT_WIDTH)
  ) i_entry_credits (
      .clock(clock),
      .reset(reset),
      .available(entry_credits_available),
      .owner(push_underlying_function),
      .source(unused_source),
      .take(push),
      .give_back(leaves),
      .give_back_owner(left_function),
      .give_back_source(linked_list_queue_pkg::CREDIT_SOURCE_OWN),
      .set_limits(set_entry_credits),
      .set_limits_owner(set_entry_credits_underlying_function),
      .set_own_credits(set_entry_credits_credits),
      .set_shared_cap_credits('0),
      .set_shared(1'b0),
      .set_shared_credits('0),
      .query_owner('0),
      .query_own_held(unused_own_held),
      .query_shared_held(unused_shared_held),
      .query_available(unused_available),
      .all_shared_held(unused_all_shared_held)
  );

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
      .answered_unit(left_unit),
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
