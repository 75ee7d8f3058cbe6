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
  logic is_looked_into, is_alive, leaves;

  assign is_looked_into = answered
      && answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY;
  assign is_alive = answered_result == linked_list_queue_pkg::LINKED_LIST_RESULT_READY;
  assign leaves = answered && !is_alive;
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

  // By lane: commands on its list, those that are not started yet, those that were dropped; whether the first is known not to be, or
  // is being looked into; the most that it may have; those that were fetched.
  logic [LANES*COUNT_WIDTH-1:0] listed_of, to_start_of, dropped_of, fetched_of, maximum_of;
  logic [LANES-1:0] has_to_start, has_dropped, has_fetched, first_alive, looked_into;
  logic [COUNT_WIDTH-1:0] maximum;
  logic is_fetched;

  assign is_fetched = push_unit.origin == hca_spec_pkg::KICK_ORIGIN_SCHEDULED;
  assign query_commands = listed_of[query_lane*COUNT_WIDTH+:COUNT_WIDTH];
  assign maximum = maximum_of[query_lane*COUNT_WIDTH+:COUNT_WIDTH];
  assign query_room = query_commands < maximum ? maximum - query_commands : '0;
  assign query_has_fetched = has_fetched[query_lane];

  assign waiting = has_to_start & (~has_dropped | first_alive);
  assign to_look_into = has_to_start & has_dropped & ~first_alive & ~looked_into;

  // Lanes of which something happens.
  logic [LANES-1:0] joins, joins_fetched, starts, goes, is_gone, leaves_from, leaves_fetched, looks, found_alive, looked, drops, sets, changes;
  assign joins = LANES'(push) << push_lane;
  assign joins_fetched = LANES'(push && is_fetched) << push_lane;
  assign starts = LANES'(start) << start_lane;
  assign looks = LANES'(look) << start_lane;
  assign looked = LANES'(is_looked_into) << answered_lane;
  assign found_alive = LANES'(is_looked_into && is_alive) << answered_lane;
  assign is_gone = LANES'(is_looked_into && !is_alive) << answered_lane;
  assign goes = starts | is_gone;
  assign leaves_from = LANES'(leaves) << answered_lane;
  assign leaves_fetched = LANES'(leaves && left_fetched) << answered_lane;
  assign drops = LANES'(dropped) << dropped_lane;
  assign sets = LANES'(set_size) << set_size_lane;
  assign changes = reset ? '1 : joins | starts | leaves_from | drops | sets;

  function automatic logic [COUNT_WIDTH-1:0] after(input logic [COUNT_WIDTH-1:0] count, input logic more, input logic less);
    after = count + COUNT_WIDTH'(more) - COUNT_WIDTH'(less);
  endfunction

  always_ff @(posedge clock) begin
    first_alive <= reset ? '0 : (first_alive | found_alive) & ~starts & ~drops;
    looked_into <= reset ? '0 : looked_into & ~looked | looks;
  end

  // The lanes of a group are gone through where something changes in one of them: the others cost simulation nothing.
  localparam int unsigned GROUP = 8;
  for (genvar first = 0; first < LANES; first += GROUP) begin : gen_group
    localparam int unsigned SIZE = LANES - first < GROUP ? LANES - first : GROUP;
    always_ff @(posedge clock) begin
      if (changes[first+:SIZE] != '0) begin
        for (int unsigned number = first; number < first + SIZE; number++) begin
          if (changes[number]) begin
            if (reset) begin
              listed_of[number*COUNT_WIDTH+:COUNT_WIDTH] <= '0;
              to_start_of[number*COUNT_WIDTH+:COUNT_WIDTH] <= '0;
              dropped_of[number*COUNT_WIDTH+:COUNT_WIDTH] <= '0;
              fetched_of[number*COUNT_WIDTH+:COUNT_WIDTH] <= '0;
              maximum_of[number*COUNT_WIDTH+:COUNT_WIDTH] <= COUNT_WIDTH'(ENTRIES);
              full[number] <= 1'b0;
              has_to_start[number] <= 1'b0;
              has_dropped[number] <= 1'b0;
              has_fetched[number] <= 1'b0;
            end else begin
              listed_of[number*COUNT_WIDTH+:COUNT_WIDTH] <=
                  after(listed_of[number*COUNT_WIDTH+:COUNT_WIDTH], joins[number], leaves_from[number]);
              to_start_of[number*COUNT_WIDTH+:COUNT_WIDTH] <=
                  after(to_start_of[number*COUNT_WIDTH+:COUNT_WIDTH], joins[number], goes[number]);
              dropped_of[number*COUNT_WIDTH+:COUNT_WIDTH] <=
                  after(dropped_of[number*COUNT_WIDTH+:COUNT_WIDTH], drops[number], is_gone[number]);
              fetched_of[number*COUNT_WIDTH+:COUNT_WIDTH] <=
                  after(fetched_of[number*COUNT_WIDTH+:COUNT_WIDTH], joins_fetched[number], leaves_fetched[number]);
              if (sets[number]) maximum_of[number*COUNT_WIDTH+:COUNT_WIDTH] <= set_size_commands;
              full[number] <= after(listed_of[number*COUNT_WIDTH+:COUNT_WIDTH], joins[number], leaves_from[number])
                  >= (sets[number] ? set_size_commands : maximum_of[number*COUNT_WIDTH+:COUNT_WIDTH]);
              has_to_start[number] <= after(to_start_of[number*COUNT_WIDTH+:COUNT_WIDTH], joins[number], goes[number]) != '0;
              has_dropped[number] <= after(dropped_of[number*COUNT_WIDTH+:COUNT_WIDTH], drops[number], is_gone[number]) != '0;
              has_fetched[number] <=
                  after(fetched_of[number*COUNT_WIDTH+:COUNT_WIDTH], joins_fetched[number], leaves_fetched[number]) != '0;
            end
          end
        end
      end
    end
  end

  // Entry credits of functions; one comes back when its command has left the list.
  linked_list_queue_pkg::credit_source_t unused_source;
  logic [COUNT_WIDTH-1:0] unused_own_held, unused_shared_held, unused_available, unused_all_shared_held;

  credit_pool #(
      .OWNERS(UNDERLYING_FUNCTIONS),
      .OWN(ENTRIES),
      .RETURNS(1),
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
      .set_own(set_entry_credits),
      .set_own_owner(set_entry_credits_underlying_function),
      .set_own_credits(set_entry_credits_credits),
      .set_shared(1'b0),
      .set_shared_credits('0),
      .set_shared_cap('0),
      .set_shared_cap_credits('0),
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
