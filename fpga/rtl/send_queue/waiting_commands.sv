// Commands that have started and wait for their decision, in a list for each place of queue pair contexts (US8804752), so that each queue pair has
// a turn after one command of another. While no command is listed, an arriving one bypasses the lists.
module waiting_commands #(
    parameter int unsigned ENTRIES = 192,
    parameter int unsigned CONTEXTS = 256,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS)
) (
    input logic clock,
    input logic reset,
    output logic clearing,

    output logic kick_started_credit,  // There is room for two more.
    input logic kick_started,
    input hca_spec_pkg::kick_unit_t kick_started_unit,

    // The next command.
    output logic valid,
    output hca_spec_pkg::kick_unit_t unit,
    input logic pop,

    // A command had an uncorrectable bit error in its list: it is lost with its PCB.
    output logic corrupted,
    output logic [CONTEXT_WIDTH-1:0] corrupted_context
);
  if (ENTRIES < 8) begin : gen_check
    $error("ENTRIES has to be 8 at least: a credit is as old as two clocks");
  end
  localparam int unsigned UNIT_WIDTH = hca_spec_pkg::KICK_UNIT_BYTES * 8;
  localparam int unsigned ENTRY_WIDTH = $clog2(ENTRIES);
  localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1);
  localparam int unsigned ROOM = 8;
  localparam int unsigned FEW = 4;  // Commands popped ahead of their turn; commands of other queue pairs wait behind them.
  localparam int unsigned POP_CLOCKS = 7;

  logic lists, passes_by, leaves, is_listed, is_none_listed, unused_forwarded;
  logic has_room, asks;
  logic [POP_CLOCKS-1:0] asked;  // Pops without an answer yet.
  logic [2:0] asking;
  logic [COUNT_WIDTH-1:0] listed;  // Commands in the lists.
  logic [$clog2(ROOM):0] filling;
  hca_spec_pkg::kick_unit_t left_unit;
  linked_list_queue_pkg::linked_list_result_t result;
  logic [CONTEXT_WIDTH-1:0] left_list;

  assign passes_by = kick_started && is_none_listed && has_room;
  assign lists = kick_started && !passes_by;
  assign is_listed = leaves && result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign corrupted = leaves && result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED;
  assign corrupted_context = left_list;
  assign asks = 32'(filling) + 32'(asking) < FEW;
  always_ff @(posedge clock) begin
    listed <= reset ? '0 : listed + COUNT_WIDTH'(lists) - COUNT_WIDTH'(leaves);
    is_none_listed <= reset || !lists && (listed == '0 || listed == COUNT_WIDTH'(1) && leaves);
    has_room <= 32'(filling) < FEW - 1;
    asked <= reset ? '0 : {asked[POP_CLOCKS-2:0], asks};
    asking <= reset ? '0 : asking + 3'(asks) - 3'(asked[POP_CLOCKS-1]);
    kick_started_credit <= !reset && !clearing && 32'(listed) + 5 <= ENTRIES;
  end

  unit_queue #(
      .UNIT_WIDTH(UNIT_WIDTH),
      .ENTRIES(ROOM)
  ) i_commands (
      .push(passes_by || is_listed),
      .push_unit(passes_by ? kick_started_unit : left_unit),
      .*
  );

  logic unused_pushed, unused_marked, unused_command_ready, unused_reclaiming, unused_scrubbed, unused_error_injected;
  logic [COUNT_WIDTH-1:0] unused_inbound_credits, unused_query_count, unused_own_held, unused_shared_held, unused_all_held;
  logic [CONTEXT_WIDTH-1:0] unused_pushed_list;
  logic [CONTEXT_WIDTH:0] unused_index;
  logic [ENTRY_WIDTH-1:0] unused_pushed_entry, unused_entry, unused_scrubbed_entry;
  logic [1:0] unused_status;
  linked_list_queue_pkg::linked_list_result_t unused_pushed_result, unused_marked_result;
  linked_list_queue_pkg::linked_list_command_t unused_kind;
  linked_list_queue_pkg::linked_list_queue_counters_t unused_counters;

  hardware_linked_list_queue #(
      .ENTRIES(ENTRIES),
      .LISTS(CONTEXTS),
      .CONTENT_ADDRESSED(1'b0),
      .UNDERLYING_FUNCTIONS(1),
      .READY_ON_PUSH(1'b1),
      .INDEX_WIDTH(CONTEXT_WIDTH + 1),
      .UNIT_WIDTH(UNIT_WIDTH)
  ) i_hardware_linked_list_queue (
      .inbound_credits(unused_inbound_credits),
      .push(lists),
      .push_index({1'b0, kick_started_unit.queue_pair_number[CONTEXT_WIDTH-1:0]}),
      .push_unit(kick_started_unit),
      .push_underlying_function(1'b0),
      .pushed(unused_pushed),
      .pushed_result(unused_pushed_result),
      .pushed_list(unused_pushed_list),
      .pushed_entry(unused_pushed_entry),
      .mark_ready(1'b0),
      .mark_not_ready(1'b0),
      .mark_entry('0),
      .marked(unused_marked),
      .marked_result(unused_marked_result),
      .command_ready(unused_command_ready),
      .command(1'b0),
      .command_kind(linked_list_queue_pkg::LINKED_LIST_COMMAND_POP),
      .command_list('0),
      .forward(asks),
      .answered(leaves),
      .answered_forward(unused_forwarded),
      .answered_kind(unused_kind),
      .answered_result(result),
      .answered_list(left_list),
      .answered_entry(unused_entry),
      .answered_index(unused_index),
      .answered_unit(left_unit),
      .reclaim_ready(1'b0),
      .reclaiming(unused_reclaiming),
      .scrub(1'b1),
      .scrubbed(unused_scrubbed),
      .scrubbed_entry(unused_scrubbed_entry),
      .scrubbed_status(unused_status),
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
      .query_own_held(unused_own_held),
      .query_shared_held(unused_shared_held),
      .shared_entry_credits_held(unused_all_held),
      .counters(unused_counters),
      .*
  );
endmodule
