// Lists of commands by queue pair, and their turns. The first commands of the lists take turns; a command leaves its list with its last
// packet. The block executes one operation on the lists at a time, so that no operation sees another one half done.
module command_turns #(
    parameter int unsigned ENTRIES = 192,  // Maximum commands.
    parameter int unsigned LISTS = 256,  // A power of two.
    parameter int unsigned BUFFERS = 72,  // PCBs.
    localparam int unsigned BUFFER_WIDTH = $clog2(BUFFERS),
    localparam int unsigned LIST_WIDTH = $clog2(LISTS)
) (
    input logic clock,
    input logic reset,
    output logic clearing,

    // A command joins the list of its queue pair.
    input logic execution,
    output logic execution_ready,
    input logic [23:0] execution_queue_pair,
    input logic [BUFFER_WIDTH-1:0] execution_buffer,

    // A command that has its turn: its first one, or the one after the answer to its local operation.
    output logic turn,
    output logic [BUFFER_WIDTH-1:0] turn_buffer,
    output logic turn_is_first,
    output logic turn_is_done,
    output logic turn_is_refused,
    input logic take,

    // The command of this turn has more packets.
    input logic again,
    input logic [BUFFER_WIDTH-1:0] again_buffer,

    // The local operation of a command has ended.
    input logic local_done,
    output logic local_done_ready,
    input logic [BUFFER_WIDTH-1:0] local_done_buffer,
    input logic local_done_refused,

    // The command of this turn leaves its list.
    input logic leave,
    output logic leave_ready,
    input logic [BUFFER_WIDTH-1:0] leave_buffer
);
  localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1);
  localparam int unsigned ENTRY_WIDTH = $clog2(ENTRIES);
  localparam int unsigned TURN_WIDTH = BUFFER_WIDTH + 3;
  typedef enum logic [2:0] {
    STATE_REST = 3'd0,
    STATE_PUSHES = 3'd1,
    STATE_POPS = 3'd2,
    STATE_POPPED = 3'd3,
    STATE_PEEKS = 3'd4,
    STATE_PEEKED = 3'd5,
    STATE_STARTS = 3'd6
  } state_t;

  state_t state;
  logic sweeps, queue_clearing, has_execution, has_left, push, pushed, command, command_ready, answered, is_listed;
  logic [LIST_WIDTH-1:0] swept, list, pushed_list, left_list, list_of_leaving;
  logic [23:0] queue_pair;
  logic [BUFFER_WIDTH-1:0] buffer, first_buffer, answered_buffer;
  linked_list_queue_pkg::linked_list_result_t pushed_result, answered_result;
  logic starts, joins, is_empty;

  assign clearing = sweeps || queue_clearing;
  assign execution_ready = !has_execution && !clearing;
  assign leave_ready = !has_left;
  assign push = state == STATE_REST && has_execution && !has_left;
  assign command = state == STATE_POPS || state == STATE_PEEKS;
  assign starts = state == STATE_STARTS && !again;
  assign joins = state == STATE_PUSHES && pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= STATE_REST;
      sweeps <= 1'b1;
      swept <= '0;
      has_execution <= 1'b0;
      has_left <= 1'b0;
    end else begin
      if (sweeps) begin
        sweeps <= swept != '1;
        swept <= swept + LIST_WIDTH'(1);
      end
      has_execution <= execution && execution_ready || has_execution && !joins;
      has_left <= leave && leave_ready || has_left && state != STATE_POPS;
      case (state)
        STATE_REST: state <= has_left ? STATE_POPS : has_execution ? STATE_PUSHES : STATE_REST;
        // An arriving command whose list has no place yet waits until a leaving command frees one.
        STATE_PUSHES: if (pushed) state <= joins && !is_listed ? STATE_PEEKS : STATE_REST;
        STATE_POPS: if (command_ready) state <= STATE_POPPED;
        STATE_POPPED: if (answered) state <= STATE_PEEKS;
        STATE_PEEKS: if (command_ready) state <= STATE_PEEKED;
        STATE_PEEKED:  // A command that cannot be read is lost; the next one of the list follows.
        if (answered)
          if (is_empty) state <= STATE_REST;
          else state <= answered_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED ? STATE_POPS : STATE_STARTS;
        default: if (starts) state <= STATE_REST;
      endcase
    end
    if (execution && execution_ready) begin
      queue_pair <= execution_queue_pair;
      buffer <= execution_buffer;
    end
    if (leave && leave_ready) left_list <= list_of_leaving;
    if (state == STATE_REST) list <= left_list;
    else if (joins) list <= pushed_list;
    if (answered) first_buffer <= answered_buffer;
  end

  // Lists whose first command takes turns, and the list of each of those commands.
  assign is_empty = state == STATE_PEEKED && answered && answered_result != linked_list_queue_pkg::LINKED_LIST_RESULT_OK
      && answered_result != linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED;  // The list is empty.
  lut_memory #(
      .WIDTH(1),
      .SIZE (LISTS)
  ) i_listed (
      .write(sweeps || joins || is_empty),
      .write_address(sweeps ? swept : joins ? pushed_list : list),
      .write_data(!sweeps && joins),
      .read_addresses(pushed_list),
      .read_data(is_listed),
      .*
  );
  lut_memory #(
      .WIDTH(LIST_WIDTH),
      .SIZE (BUFFERS)
  ) i_lists (
      .write(starts),
      .write_address(first_buffer),
      .write_data(list),
      .read_addresses(leave_buffer),
      .read_data(list_of_leaving),
      .*
  );

  linked_list_queue_pkg::linked_list_command_t command_kind;
  assign command_kind = state == STATE_POPS ? linked_list_queue_pkg::LINKED_LIST_COMMAND_POP : linked_list_queue_pkg::LINKED_LIST_COMMAND_PEEK;
  logic [COUNT_WIDTH-1:0] unused_credits, unused_count, unused_own, unused_shared, unused_all_shared;
  logic [ENTRY_WIDTH-1:0] unused_pushed, unused_entry, unused_scrubbed_entry;
  logic [LIST_WIDTH-1:0] unused_list;
  logic [23:0] unused_index;
  logic [1:0] unused_status;
  logic unused_marked, unused_forward, unused_reclaiming, unused_scrubbed, unused_injected;
  linked_list_queue_pkg::linked_list_result_t unused_result;
  linked_list_queue_pkg::linked_list_command_t unused_kind;
  linked_list_queue_pkg::linked_list_queue_counters_t unused_counters;
  hardware_linked_list_queue #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS),
      .UNDERLYING_FUNCTIONS(1),
      .READY_ON_PUSH(1'b1),
      .INDEX_WIDTH(24),
      .UNIT_WIDTH(BUFFER_WIDTH)
  ) i_commands (
      .clearing(queue_clearing),
      .inbound_credits(unused_credits),
      .push_index(queue_pair),
      .push_unit(buffer),
      .push_underlying_function(1'b0),
      .pushed_entry(unused_pushed),
      .mark_ready(1'b0),
      .mark_not_ready(1'b0),
      .mark_entry('0),
      .marked(unused_marked),
      .marked_result(unused_result),
      .command_list(list),
      .forward(1'b0),
      .answered_forward(unused_forward),
      .answered_kind(unused_kind),
      .answered_list(unused_list),
      .answered_entry(unused_entry),
      .answered_index(unused_index),
      .answered_unit(answered_buffer),
      .reclaim_ready(1'b0),
      .reclaiming(unused_reclaiming),
      .scrub(1'b0),
      .scrubbed(unused_scrubbed),
      .scrubbed_entry(unused_scrubbed_entry),
      .scrubbed_status(unused_status),
      .inject_error(1'b0),
      .inject_error_entry('0),
      .inject_error_bit('0),
      .error_injected(unused_injected),
      .set_maximum(1'b0),
      .set_maximum_list('0),
      .set_maximum_data_units('0),
      .set_entry_credits(1'b0),
      .set_entry_credits_underlying_function(1'b0),
      .set_entry_credits_credits('0),
      .set_shared_entry_credits(1'b0),
      .set_shared_entry_credits_credits('0),
      .set_shared_entry_credits_cap('0),
      .query_list('0),
      .query_count(unused_count),
      .query_underlying_function(1'b0),
      .query_own_held(unused_own),
      .query_shared_held(unused_shared),
      .shared_entry_credits_held(unused_all_shared),
      .counters(unused_counters),
      .*
  );

  // Turns in the order of their requests: a command with more packets goes to the end.
  logic [TURN_WIDTH-1:0] next;
  logic [BUFFER_WIDTH:0] unused_turns;
  assign local_done_ready = !again && state != STATE_STARTS;
  always_comb begin
    if (again) next = {again_buffer, 3'b000};
    else if (state == STATE_STARTS) next = {first_buffer, 3'b100};
    else next = {local_done_buffer, 2'b01, local_done_refused};
  end
  unit_queue #(
      .UNIT_WIDTH(TURN_WIDTH),
      .ENTRIES(1 << BUFFER_WIDTH)
  ) i_turns (
      .push(again || starts || local_done && local_done_ready),
      .push_unit(next),
      .valid(turn),
      .unit({turn_buffer, turn_is_first, turn_is_done, turn_is_refused}),
      .pop(take),
      .filling(unused_turns),
      .*
  );
endmodule
