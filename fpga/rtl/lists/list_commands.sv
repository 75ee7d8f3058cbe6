// Commands to lists: they name a list in the first stage, are decided in the third and take effect in the fourth. Head and successor loop
// back in the third stage, so that a list can deliver a data unit in every clock. Words that earlier pushes and commands have not written
// yet are forwarded from them.
module list_commands #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned LISTS = 64,
    parameter bit CONTENT_ADDRESSED = 1'b1,
    localparam int unsigned WAYS = !CONTENT_ADDRESSED ? 1 : LISTS < 4 ? LISTS : 4,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,
    input logic sweeps,
    input logic [LIST_WIDTH-1:0] sweep_list,

    input logic [LIST_WIDTH-1:0] list_1,
    input logic [LIST_WIDTH-1:0] list_2,
    input logic valid_3,
    input linked_list_queue_pkg::linked_list_command_t kind_3,
    output logic [LIST_WIDTH-1:0] list_3,
    output logic [LIST_WIDTH-1:0] list_4,

    // The push in execution, to the way set in `append`; its places in each way; `appended` follows in the next clock.
    input logic [WAYS-1:0] push_same_1,  // The push of the third stage is to the list of the command of the first,
    input logic [WAYS-1:0] push_same_2,  // second,
    input logic [WAYS-1:0] push_same_3,  // third, if the push goes to that way.
    input logic append,
    input logic [WAYS-1:0] append_way,
    input logic append_begins,
    input logic append_occupied_bit,
    input logic [LIST_WIDTH-1:0] append_list,
    input logic [ENTRY_WIDTH-1:0] append_tail,
    input logic [ENTRY_WIDTH-1:0] append_entry,
    input logic appended,
    input logic appended_begins,
    input logic [ENTRY_WIDTH-1:0] appended_entry,

    // Third stage: the entry at the head, and whether it is ready.
    output logic [ENTRY_WIDTH-1:0] head_3,
    input logic head_ready_3,

    // Fourth stage.
    output linked_list_queue_pkg::linked_list_result_t result_4,
    output logic reads_4,
    output logic [ENTRY_WIDTH-1:0] entry_4,
    output logic removed_4,
    output logic [ENTRY_WIDTH-1:0] head_4,
    output logic [COUNT_WIDTH-1:0] removals_4,
    output logic ends_4,  // The list becomes empty.
    output logic closes_4,
    output logic occupied_bit_4,

    // Combinational.
    input logic [LIST_WIDTH-1:0] marked_list,
    output logic marked_closed,
    input logic [LIST_WIDTH-1:0] query_list,  // Answered after two clocks.
    output logic [COUNT_WIDTH-1:0] query_removals
);
  localparam bit BLOCK = LISTS > 256;
  localparam int unsigned SIZE = 1 << LIST_WIDTH;

  // First stage.
  logic [ENTRY_WIDTH-1:0] tail_read, first_read, head_read, peeked_read;
  logic [COUNT_WIDTH-1:0] removals_read;
  logic has_peeked_read;

  // Fourth stage: the state that the command leaves.
  logic valid_4, last_4, has_peeked_4, has_peeked_5, push_to_4;
  logic push_held_4, peeks_4, may_have_peeked_4, peeked_is_head_4, is_unknown_4, is_closed_4, is_empty_4, is_ready_4;
  linked_list_queue_pkg::linked_list_command_t kind_4;
  logic [ENTRY_WIDTH-1:0] next_4, left_head_4, left_head_5, peeked_4, peeked_5;
  logic [COUNT_WIDTH-1:0] seen_removals_4, left_removals_4, left_removals_5;

  list_memory #(
      .WIDTH(ENTRY_WIDTH),
      .SIZE(SIZE),
      .BLOCK(BLOCK)
  ) i_tails (
      .clock(clock),
      .write(append),
      .write_address(append_list),
      .write_data(append_entry),
      .read_address(list_1),
      .read_data(tail_read)
  );
  list_memory #(
      .WIDTH(ENTRY_WIDTH),
      .SIZE(SIZE),
      .BLOCK(BLOCK)
  ) i_firsts (
      .clock(clock),
      .write(append && append_begins),
      .write_address(append_list),
      .write_data(append_entry),
      .read_address(list_1),
      .read_data(first_read)
  );
  list_memory #(
      .WIDTH(2 * ENTRY_WIDTH + COUNT_WIDTH + 1),
      .SIZE(SIZE),
      .BLOCK(BLOCK)
  ) i_heads (
      .clock(clock),
      .write(valid_4 || sweeps),
      .write_address(sweeps ? sweep_list : list_4),
      .write_data(sweeps ? '0 : {left_head_4, peeked_4, left_removals_4, has_peeked_4}),
      .read_address(list_1),
      .read_data({head_read, peeked_read, removals_read, has_peeked_read})
  );
  list_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(SIZE),
      .BLOCK(BLOCK)
  ) i_query_removals (
      .clock(clock),
      .write(removed_4 || sweeps),
      .write_address(sweeps ? sweep_list : list_4),
      .write_data(sweeps ? '0 : removals_4),
      .read_address(query_list),
      .read_data(query_removals)
  );

  // Bits of lists: a push that begins a list flips the first. A command that ends it makes the second equal, and a command that removes
  // its first data unit makes the third equal: until then the head is the first data unit pushed.
  logic [2:0] occupied_bits;  // For the lists of stages 4, 3, 2.
  logic emptied_bit, taken_bit;
  logic [1:0] closed_bits;  // For the marked list and the list of stage 3.

  lut_memory #(
      .SIZE(SIZE),
      .READERS(3)
  ) i_occupied (
      .clock(clock),
      .write(append && append_begins || sweeps),
      .write_address(sweeps ? sweep_list : append_list),
      .write_data(!sweeps && !append_occupied_bit),
      .read_addresses({list_4, list_3, list_2}),
      .read_data(occupied_bits)
  );
  lut_memory #(
      .SIZE(SIZE)
  ) i_emptied (
      .clock(clock),
      .write(ends_4 || sweeps),
      .write_address(sweeps ? sweep_list : list_4),
      .write_data(!sweeps && occupied_bit_4),
      .read_addresses(list_3),
      .read_data(emptied_bit)
  );
  lut_memory #(
      .SIZE(SIZE)
  ) i_taken (
      .clock(clock),
      .write(removed_4 || sweeps),
      .write_address(sweeps ? sweep_list : list_4),
      .write_data(!sweeps && occupied_bit_4),
      .read_addresses(list_2),
      .read_data(taken_bit)
  );
  lut_memory #(
      .SIZE(SIZE),
      .READERS(2)
  ) i_closed (
      .clock(clock),
      .write(ends_4 || closes_4 || sweeps),
      .write_address(sweeps ? sweep_list : list_4),
      .write_data(!sweeps && closes_4),
      .read_addresses({marked_list, list_3}),
      .read_data(closed_bits)
  );
  assign occupied_bit_4 = occupied_bits[2];
  assign marked_closed = closed_bits[1];

  // Second stage.
  logic same_2, same_before_2, push_to_2, is_fresh_2, same_3;
  logic push_held_2, push_held_3;
  logic [ENTRY_WIDTH-1:0] first_2, old_head_2, head_held, tail_held, peeked_held;
  logic [COUNT_WIDTH-1:0] removals_held;
  logic has_peeked_held;

  assign push_to_2 = push_held_2 && appended;
  assign is_fresh_2 = occupied_bits[0] != taken_bit && !(same_2 && removed_4);
  assign first_2 = push_to_2 && appended_begins ? appended_entry : first_read;
  assign old_head_2 = same_2 ? left_head_4 : same_before_2 ? left_head_5 : head_read;

  always_ff @(posedge clock) begin
    list_3 <= list_2;
    list_4 <= list_3;
    same_2 <= list_1 == list_3 && valid_3;
    same_before_2 <= list_1 == list_4 && valid_4;
    same_3 <= list_2 == list_3 && valid_3;
    push_held_2 <= (push_same_1 & append_way) != '0;
    push_held_3 <= (push_same_2 & append_way) != '0;
    push_held_4 <= (push_same_3 & append_way) != '0;
    head_held <= is_fresh_2 ? first_2 : old_head_2;
    tail_held <= push_to_2 ? appended_entry : tail_read;
    peeked_held <= same_2 ? peeked_4 : same_before_2 ? peeked_5 : peeked_read;
    has_peeked_held <= same_2 ? has_peeked_4 : same_before_2 ? has_peeked_5 : has_peeked_read;
    removals_held <= same_2 ? left_removals_4 : same_before_2 ? left_removals_5 : removals_read;
  end

  // Third stage.
  logic push_to_3, is_occupied, is_closed, is_last, all_peeked, has_peeked, is_in_range, may_use;
  logic removes, peeks, resets, closes, is_peek;
  logic [ENTRY_WIDTH-1:0] tail, peeked, next, next_peeked;
  logic [COUNT_WIDTH-1:0] removals;

  lut_memory #(
      .WIDTH(ENTRY_WIDTH),
      .SIZE(1 << ENTRY_WIDTH),
      .READERS(2)
  ) i_successors (
      .clock(clock),
      .write(append && !append_begins),
      .write_address(append_tail),
      .write_data(append_entry),
      .read_addresses({peeked, head_3}),
      .read_data({next_peeked, next})
  );

  assign push_to_3 = push_held_3 && appended;
`ifdef FPGA_VERBS_MUTANT_FIRST_NOT_SEEN
  assign head_3 = same_3 ? left_head_4 : head_held;
`else
  assign head_3 = push_to_3 && appended_begins ? appended_entry : same_3 ? left_head_4 : head_held;
`endif
  assign tail = push_to_3 ? appended_entry : tail_held;
  assign peeked = same_3 ? peeked_4 : peeked_held;
  assign has_peeked = same_3 ? has_peeked_4 : has_peeked_held;
  assign removals = same_3 ? left_removals_4 : removals_held;
  assign is_occupied = occupied_bits[1] != emptied_bit && !(same_3 && ends_4);
  assign is_closed = same_3 && (ends_4 || closes_4) ? closes_4 : closed_bits[0];
  assign is_last = head_3 == tail;
  assign is_in_range = LISTS == SIZE || 32'(list_3) < LISTS;
  assign all_peeked = has_peeked && peeked == tail;

  assign is_peek = kind_3 == linked_list_queue_pkg::LINKED_LIST_COMMAND_PEEK;
  assign may_use = is_occupied && !is_closed && valid_3;
  assign peeks = may_use && is_peek && !all_peeked;
  assign resets = may_use && kind_3 == linked_list_queue_pkg::LINKED_LIST_COMMAND_RESET_PEEK_POINTER;
  assign closes = may_use && kind_3 == linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM;
  always_comb begin
    case (kind_3)
`ifdef FPGA_VERBS_MUTANT_UNREADY_HEAD_LEAVES
      linked_list_queue_pkg::LINKED_LIST_COMMAND_POP: removes = may_use;
`else
      linked_list_queue_pkg::LINKED_LIST_COMMAND_POP: removes = may_use && head_ready_3;
`endif
      linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD: removes = may_use;
      linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY: removes = may_use && !head_ready_3;
      linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP: removes = valid_3 && is_occupied && is_closed;
      default: removes = 1'b0;
    endcase
  end
  always_ff @(posedge clock) begin
    valid_4 <= valid_3 && !reset;
    kind_4 <= kind_3;
    is_unknown_4 <= !is_in_range || CONTENT_ADDRESSED && !is_occupied;
    is_closed_4 <= is_closed;
    is_empty_4 <= !is_occupied || is_peek && all_peeked;
    is_ready_4 <= head_ready_3;
    peeks_4 <= peeks && !reset;
    removed_4 <= removes && !reset;
    closes_4 <= closes && !reset;
    last_4 <= is_last;
    head_4 <= head_3;
    next_4 <= next;
    entry_4 <= is_peek && has_peeked ? next_peeked : head_3;
    seen_removals_4 <= removals;
    removals_4 <= removals + COUNT_WIDTH'(1);
    peeked_4 <= !is_peek || all_peeked ? peeked : has_peeked ? next_peeked : head_3;
    may_have_peeked_4 <= peeks || has_peeked && is_occupied && !resets;
    peeked_is_head_4 <= peeked == head_3 && !is_peek;
    left_head_5 <= left_head_4;
    left_removals_5 <= left_removals_4;
    peeked_5 <= peeked_4;
    has_peeked_5 <= has_peeked_4;
  end

  // Fourth stage. It forms the answer, which depends on the decision of the third.
  always_comb begin
    if (is_unknown_4) result_4 = linked_list_queue_pkg::LINKED_LIST_RESULT_UNKNOWN_LIST;
    else if (is_closed_4) result_4 = linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED;
    else if (is_empty_4) result_4 = linked_list_queue_pkg::LINKED_LIST_RESULT_EMPTY;
    else if (kind_4 == linked_list_queue_pkg::LINKED_LIST_COMMAND_POP && !is_ready_4)
      result_4 = linked_list_queue_pkg::LINKED_LIST_RESULT_NOT_READY;
    else if (kind_4 == linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY && is_ready_4)
      result_4 = linked_list_queue_pkg::LINKED_LIST_RESULT_READY;
    else result_4 = linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
    if (kind_4 == linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP) result_4 = linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  end

  // Behind the last data unit the head is the one pushed to this list in the same clock.
  assign push_to_4 = push_held_4 && appended;
`ifdef FPGA_VERBS_MUTANT_PUSH_WITH_LAST_REMOVAL_LOST
  assign ends_4 = removed_4 && last_4;
`else
  assign ends_4 = removed_4 && last_4 && !push_to_4;
`endif
  assign reads_4 = removed_4 || peeks_4;
  assign has_peeked_4 = may_have_peeked_4 && !(removed_4 && peeked_is_head_4);
  assign left_head_4 = !removed_4 ? head_4 : last_4 ? appended_entry : next_4;
  assign left_removals_4 = removed_4 ? removals_4 : seen_removals_4;
endmodule
