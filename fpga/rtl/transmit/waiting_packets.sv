// Packets that wait for packet_builder, a list for each queue pair, and their turns: queue pairs with packets take turns, the packets of one leave in
// order. While no packet waits, an arriving one passes the lists. The next packet leaves its list while the one before is built.
//
// The lists can lose a packet to an uncorrectable bit error. Its buffers are therefore also in a memory of their own, so that they come back.
module waiting_packets #(
    parameter int unsigned ENTRIES = 256,  // Maximum packets.
    parameter int unsigned LISTS = 256,  // A power of two.
    localparam int unsigned ENTRY_WIDTH = $clog2(ENTRIES),
    localparam int unsigned LIST_WIDTH = $clog2(LISTS),
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset; nothing is accepted.

    input logic packet,
    output logic packet_ready,
    input logic [23:0] packet_queue_pair,
    input transmit_pkg::gathered_packet_t packet_unit,

    // The packet that has its turn. If it is corrupted, only its buffers, its function and whether it is the last one are known.
    output logic turn,
    output logic [23:0] turn_queue_pair,
    output transmit_pkg::gathered_packet_t turn_unit,
    output logic turn_is_corrupted,
    input logic take,

    // The scrubber checks an entry. A stored bit is flipped; held until done.
    input logic scrub,
    input logic inject_error,
    input logic [ENTRY_WIDTH-1:0] inject_error_entry,
    input logic [6:0] inject_error_bit,
    output logic error_injected
);
  localparam int unsigned FORWARD_CLOCKS = 9;  // A forward without an answer by then has found nothing.
  localparam int unsigned KEPT_WIDTH = 1 + 1 + 4 + 8 + 8;

  logic has_come, passes, is_pushing, push, pushed, joins, command_ready, forward, is_forwarding, answered, answered_forward, leaves, has_left;
  logic [23:0] queue_pair, left_queue_pair;
  logic [COUNT_WIDTH-1:0] waiting;
  logic [3:0] clocks;
  logic [ENTRY_WIDTH-1:0] pushed_entry, left_entry;
  transmit_pkg::gathered_packet_t unit, left_unit;
  logic [KEPT_WIDTH-1:0] kept;
  linked_list_queue_pkg::linked_list_result_t pushed_result, answered_result;

  assign packet_ready = !has_come && !clearing;
  assign passes = has_come && waiting == '0 && !is_pushing && !has_left && !turn;
  assign push = has_come && !passes && !is_pushing;
  assign joins = is_pushing && pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign forward = waiting != '0 && !turn && !has_left && !is_forwarding && command_ready;
  assign leaves = is_forwarding && answered && answered_forward;
  always_ff @(posedge clock) begin
    has_come <= !reset && (packet && packet_ready || has_come && !passes && !joins);
    if (packet && packet_ready) begin
      queue_pair <= packet_queue_pair;
      unit <= packet_unit;
    end
    // A packet whose list has no place yet waits until another list ends.
    is_pushing <= !reset && (push || is_pushing && !pushed);
    if (reset) waiting <= '0;
    else waiting <= waiting + COUNT_WIDTH'(joins) - COUNT_WIDTH'(leaves);

    is_forwarding <= !reset && (forward || is_forwarding && !leaves && clocks != 4'(FORWARD_CLOCKS));
    clocks <= forward ? '0 : clocks + 4'd1;
    has_left <= !reset && leaves;
    turn <= !reset && (passes || has_left || turn && !take);
    if (passes) begin
      turn_queue_pair <= queue_pair;
      turn_unit <= unit;
      turn_is_corrupted <= 1'b0;
    end else if (leaves) begin
      turn_queue_pair <= left_queue_pair;
      turn_unit <= left_unit;
      turn_is_corrupted <= answered_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED;
    end else if (has_left && turn_is_corrupted)
      {turn_unit.has_packet, turn_unit.last, turn_unit.underlying_function, turn_unit.physical_collect_buffer, turn_unit.packet} <= kept;
  end

  // Read in the clock after the answer, before the entry can be used again.
  logic [ENTRY_WIDTH-1:0] kept_entry;
  always_ff @(posedge clock) kept_entry <= left_entry;
  lut_memory #(
      .WIDTH(KEPT_WIDTH),
      .SIZE (ENTRIES)
  ) i_kept (
      .write(joins),
      .write_address(pushed_entry),
      .write_data({unit.has_packet, unit.last, unit.underlying_function, unit.physical_collect_buffer, unit.packet}),
      .read_addresses(kept_entry),
      .read_data(kept),
      .*
  );

  logic [COUNT_WIDTH-1:0] unused_credits, unused_count, unused_own, unused_shared, unused_all_shared;
  logic [ENTRY_WIDTH-1:0] unused_scrubbed_entry;
  logic [LIST_WIDTH-1:0] unused_pushed, unused_list;
  logic [1:0] unused_status;
  logic unused_marked, unused_reclaiming, unused_scrubbed;
  linked_list_queue_pkg::linked_list_result_t unused_result;
  linked_list_queue_pkg::linked_list_command_t unused_kind;
  linked_list_queue_pkg::linked_list_queue_counters_t unused_counters;
  hardware_linked_list_queue #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS),
      .UNDERLYING_FUNCTIONS(1),
      .READY_ON_PUSH(1'b1),
      .INDEX_WIDTH(24),
      .UNIT_WIDTH($bits(unit))
  ) i_packets (
      .inbound_credits(unused_credits),
      .push_index(queue_pair),
      .push_unit(unit),
      .push_underlying_function(1'b0),
      .pushed_list(unused_pushed),
      .mark_ready(1'b0),
      .mark_not_ready(1'b0),
      .mark_entry('0),
      .marked(unused_marked),
      .marked_result(unused_result),
      .command(1'b0),
      .command_kind(linked_list_queue_pkg::LINKED_LIST_COMMAND_POP),
      .command_list('0),
      .answered_kind(unused_kind),
      .answered_list(unused_list),
      .answered_entry(left_entry),
      .answered_index(left_queue_pair),
      .answered_unit(left_unit),
      .reclaim_ready(1'b0),
      .reclaiming(unused_reclaiming),
      .scrubbed(unused_scrubbed),
      .scrubbed_entry(unused_scrubbed_entry),
      .scrubbed_status(unused_status),
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
endmodule
