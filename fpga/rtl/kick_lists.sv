// The lists of virtual_kick: a hardware linked list queue with a list for each lane, whose data units need no processing. A
// command that is dropped is marked as not ready, and discarded when it is the first of its list. What virtual_kick has no use for
// ends here.
module kick_lists #(
    parameter int unsigned ENTRIES = 72,
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    parameter int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1,
    parameter int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // Lists a command. Its function has an entry credit, then there is an entry too; its lane is not full.
    input logic push,
    input logic [LANE_WIDTH-1:0] push_lane,
    input hca_spec_pkg::kick_unit_t push_unit,
    input logic [FUNCTION_WIDTH-1:0] push_underlying_function,
    output logic [UNDERLYING_FUNCTIONS-1:0] entry_credits_available,
    output logic [LANES-1:0] full,

    // Takes the first command of a lane that is waiting, or discards a dropped one; it comes in the next clock.
    output logic [LANES-1:0] waiting,
    output logic [LANES-1:0] discardable,
    input logic pop,
    input logic discard,
    input logic [LANE_WIDTH-1:0] pop_lane,
    output logic popped,
    output logic popped_corrupted,
    output logic [LANE_WIDTH-1:0] popped_lane,
    output hca_spec_pkg::kick_unit_t popped_unit,

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

  linked_list_queue_pkg::linked_list_result_t popped_result;
  assign popped_corrupted = popped_result != linked_list_queue_pkg::LINKED_LIST_RESULT_OK;

  logic [LANES-1:0] occupied;
  logic [ENTRIES-1:0] alive;
  logic pushed;
  logic [ENTRY_WIDTH-1:0] pushed_entry;
  logic [ENTRY_WIDTH-1:0] popped_entry;
  logic [ENTRY_WIDTH-1:0] dropped_entry;
  assign discardable = occupied & ~waiting;

  listed_commands #(
      .ENTRIES(ENTRIES),
      .LANES(LANES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH)
  ) i_listed_commands (.*);

  // Fetched commands of each lane. A command's entry is known in the clock after it came, and when it has left.
  logic [ENTRIES-1:0] fetched;
  logic is_fetched;
  logic pushed_fetched;
  logic popped_fetched;
  logic [COUNT_WIDTH-1:0] fetched_of_lane[LANES];
  assign is_fetched = push && push_unit.origin == hca_spec_pkg::KICK_ORIGIN_SCHEDULED;
  assign popped_fetched = popped && fetched[popped_entry];
  assign query_has_fetched = fetched_of_lane[query_lane] != COUNT_WIDTH'(popped_fetched && popped_lane == query_lane);
  always_ff @(posedge clock) begin
    pushed_fetched <= is_fetched;
    if (pushed) fetched[pushed_entry] <= pushed_fetched;
  end
  for (genvar number = 0; number < LANES; number++) begin : gen_lane
    always_ff @(posedge clock) begin
      if (reset) fetched_of_lane[number] <= '0;
      else
        fetched_of_lane[number] <= fetched_of_lane[number] + COUNT_WIDTH'(is_fetched && push_lane == LANE_WIDTH'(number))
            - COUNT_WIDTH'(popped_fetched && popped_lane == LANE_WIDTH'(number));
    end
  end

  logic [COUNT_WIDTH-1:0] maximum;
  assign query_room = query_commands < maximum ? maximum - query_commands : '0;

  logic [COUNT_WIDTH-1:0] unused_inbound_credits;
  linked_list_queue_pkg::linked_list_result_t unused_pushed_result;
  logic [LANE_WIDTH-1:0] unused_pushed_list;
  logic unused_marked_ready;
  linked_list_queue_pkg::linked_list_result_t unused_marked_ready_result;
  logic unused_pop_ready;
  logic [LANE_WIDTH:0] unused_popped_index;
  logic unused_accessed;
  linked_list_queue_pkg::linked_list_result_t unused_accessed_result;
  logic [ENTRY_WIDTH-1:0] unused_accessed_entry;
  logic [LANE_WIDTH:0] unused_accessed_index;
  logic [UNIT_WIDTH-1:0] unused_accessed_unit;
  logic unused_reclaiming;
  logic unused_reclaimed;
  logic unused_scrubbed;
  logic [ENTRY_WIDTH-1:0] unused_scrubbed_entry;
  logic [1:0] unused_scrubbed_status;
  logic unused_found;
  logic [LANE_WIDTH-1:0] unused_found_list;
  logic [ENTRY_WIDTH-1:0] unused_query_head;
  logic [COUNT_WIDTH-1:0] unused_query_own_held;
  logic [COUNT_WIDTH-1:0] unused_query_shared_held;
  logic [COUNT_WIDTH-1:0] unused_shared_entry_credits_held;

  hardware_linked_list_queue #(
      .ENTRIES(ENTRIES),
      .LISTS(LANES),
      .CONTENT_ADDRESSED(1'b0),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .READY_ON_PUSH(1'b1),
      .INDEX_WIDTH(LANE_WIDTH + 1),
      .UNIT_WIDTH(UNIT_WIDTH)
  ) i_hardware_linked_list_queue (
      .clock(clock),
      .reset(reset),
      .push(push),
      .push_index({1'b0, push_lane}),
      .push_unit(push_unit),
      .push_underlying_function(push_underlying_function),
      .mark_ready(1'b0),
      .mark_not_ready(dropped),
      .mark_ready_entry(dropped_entry),
      .pop(pop),
      .discard(discard),
      .pop_list(pop_lane),
      .forward(1'b0),
      .popped(popped),
      .popped_result(popped_result),
      .popped_list(popped_lane),
      .popped_unit(popped_unit),
      .access(1'b0),
      .access_command(linked_list_queue_pkg::LINKED_LIST_ACCESS_PEEK),
      .access_list('0),
      .reclaim_ready(1'b0),
      .scrub(1'b1),
      .inject_error(1'b0),
      .inject_error_entry('0),
      .inject_error_bit('0),
      .set_maximum(set_size),
      .set_maximum_list(set_size_lane),
      .set_maximum_data_units(set_size_commands),
      .set_entry_credits(set_entry_credits),
      .set_entry_credits_underlying_function(set_entry_credits_underlying_function),
      .set_entry_credits_credits(set_entry_credits_credits),
      .set_shared_entry_credits(1'b0),
      .set_shared_entry_credits_credits('0),
      .set_shared_entry_credits_cap('0),
      .find_index('0),
      .query_list(query_lane),
      .query_count(query_commands),
      .query_underlying_function('0),
      .entry_credits_available(entry_credits_available),
      .lists_ready(waiting),
      .occupied(occupied),
      .query_maximum(maximum),
      .at_maximum(full),
      .counters(counters),
      .inbound_credits(unused_inbound_credits),
      .pushed(pushed),
      .pushed_result(unused_pushed_result),
      .pushed_list(unused_pushed_list),
      .pushed_entry(pushed_entry),
      .marked_ready(unused_marked_ready),
      .marked_ready_result(unused_marked_ready_result),
      .pop_ready(unused_pop_ready),
      .popped_entry(popped_entry),
      .popped_index(unused_popped_index),
      .accessed(unused_accessed),
      .accessed_result(unused_accessed_result),
      .accessed_entry(unused_accessed_entry),
      .accessed_index(unused_accessed_index),
      .accessed_unit(unused_accessed_unit),
      .reclaiming(unused_reclaiming),
      .reclaimed(unused_reclaimed),
      .scrubbed(unused_scrubbed),
      .scrubbed_entry(unused_scrubbed_entry),
      .scrubbed_status(unused_scrubbed_status),
      .found(unused_found),
      .found_list(unused_found_list),
      .query_head(unused_query_head),
      .query_own_held(unused_query_own_held),
      .query_shared_held(unused_query_shared_held),
      .data_units_ready(alive),
      .shared_entry_credits_held(unused_shared_entry_credits_held)
  );
endmodule
