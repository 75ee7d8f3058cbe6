// Hardware linked list queue (US8804752): many lists in one memory. A data unit joins the list of its index (a queue pair, a
// TVL); the lists come and go by themselves and leave in order, each on its own.
//
// Every clock takes one push, one mark_ready or mark_not_ready, one pop or forward, and one access. Each answers in the next clock, from the
// state before the clock it came in: what two commands of one clock do, they do as if in the order access, mark_ready, push,
// pop, mark_not_ready, reclaiming, scrubbing. Reclaiming empties closed lists in turn, one entry a clock in which no access is made; the
// scrubber goes on whenever the entry that it is at is not read. A reclaim command goes before a pop or forward of its clock:
// pop_ready is clear then.
module hardware_linked_list_queue #(
    parameter int unsigned ENTRIES = 64,  // 1 to 4096
    parameter int unsigned LISTS = 64,  // List identifiers, 1 to 4096.
    parameter bit CONTENT_ADDRESSED = 1'b1,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter bit READY_ON_PUSH = 1'b0,  // Data units need no processing here.
    parameter int unsigned INDEX_WIDTH = 32,
    parameter int unsigned UNIT_WIDTH = 128,  // At most 128.
    parameter int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    parameter int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    parameter int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned BIT_WIDTH = $clog2((UNIT_WIDTH + 63) / 64 * 72)
) (
    input logic clock,
    input logic reset,

    // Inbound credits: how many data units the producer may push.
    output logic [COUNT_WIDTH-1:0] inbound_credits,

    // Adds a data unit at the tail of the list of an index, in an entry that the function pays for. Refused: full,
    // no_entry_credit, no_list_identifier, list_full, closed.
    input logic push,
    input logic [INDEX_WIDTH-1:0] push_index,
    input logic [UNIT_WIDTH-1:0] push_unit,
    input logic [FUNCTION_WIDTH-1:0] push_underlying_function,
    output logic pushed,
    output linked_list_queue_pkg::linked_list_result_t pushed_result,
    output logic [LIST_WIDTH-1:0] pushed_list,
    output logic [ENTRY_WIDTH-1:0] pushed_entry,

    // The data unit of an entry needs no more processing: it leaves when it is the first of its list. Or it does after all: its
    // list waits for it. empty, closed.
    input logic mark_ready,
    input logic mark_not_ready,
    input logic [ENTRY_WIDTH-1:0] mark_ready_entry,
    output logic marked_ready,
    output linked_list_queue_pkg::linked_list_result_t marked_ready_result,

    // Removes the data unit at the head of a list: of list pop_list, or with forward (an outbound credit is there) of the
    // ready list whose turn it is, if there is one. unknown_list, closed, empty, not_ready; corrupted: removed, and dropped.
    // discard: as pop, but the data unit need not be ready.
    input logic pop,
    input logic discard,
    input logic [LIST_WIDTH-1:0] pop_list,
    input logic forward,
    output logic pop_ready,
    output logic popped,
    output linked_list_queue_pkg::linked_list_result_t popped_result,
    output logic [LIST_WIDTH-1:0] popped_list,
    output logic [ENTRY_WIDTH-1:0] popped_entry,
    output logic [INDEX_WIDTH-1:0] popped_index,
    output logic [UNIT_WIDTH-1:0] popped_unit,

    // Peek, reset the peek pointer, reclaim. unknown_list, closed, empty; peek: corrupted.
    input logic access,
    input linked_list_queue_pkg::linked_list_access_t access_command,
    input logic [LIST_WIDTH-1:0] access_list,
    output logic accessed,
    output linked_list_queue_pkg::linked_list_result_t accessed_result,
    output logic [ENTRY_WIDTH-1:0] accessed_entry,
    output logic [INDEX_WIDTH-1:0] accessed_index,
    output logic [UNIT_WIDTH-1:0] accessed_unit,

    // A data unit of a closed list leaves, so that the block can give back what it refers to. It is in the accessed_ outputs.
    input logic reclaim_ready,
    output logic reclaiming,
    output logic reclaimed,

    // The scrubber checks an entry.
    input logic scrub,
    output logic scrubbed,
    output logic [ENTRY_WIDTH-1:0] scrubbed_entry,
    output logic [1:0] scrubbed_status,  // secded_status_t

    // Flips a stored bit, in a clock without push.
    input logic inject_error,
    input logic [ENTRY_WIDTH-1:0] inject_error_entry,
    input logic [BIT_WIDTH-1:0] inject_error_bit,

    // The most data units that a list may have; the entry credits of a function alone; those shared, and the most of them that
    // one function may hold.
    input logic set_maximum,
    input logic [LIST_WIDTH-1:0] set_maximum_list,
    input logic [COUNT_WIDTH-1:0] set_maximum_data_units,
    input logic set_entry_credits,
    input logic [FUNCTION_WIDTH-1:0] set_entry_credits_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_entry_credits_credits,
    input logic set_shared_entry_credits,
    input logic [COUNT_WIDTH-1:0] set_shared_entry_credits_credits,
    input logic [COUNT_WIDTH-1:0] set_shared_entry_credits_cap,

    // What there is, without a clock.
    input logic [INDEX_WIDTH-1:0] find_index,
    output logic found,
    output logic [LIST_WIDTH-1:0] found_list,
    input logic [LIST_WIDTH-1:0] query_list,
    output logic [COUNT_WIDTH-1:0] query_count,
    output logic [ENTRY_WIDTH-1:0] query_head,
    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COUNT_WIDTH-1:0] query_own_held,
    output logic [COUNT_WIDTH-1:0] query_shared_held,
    output logic [UNDERLYING_FUNCTIONS-1:0] entry_credits_available,  // The functions that can get one.
    output logic [COUNT_WIDTH-1:0] shared_entry_credits_held,  // By all functions.
    output logic [ENTRIES-1:0] data_units_ready,
    output logic [LISTS-1:0] lists_ready,
    output logic [LISTS-1:0] occupied,  // Lists that have data units.
    output logic [COUNT_WIDTH-1:0] query_maximum,
    output logic [LISTS-1:0] at_maximum,  // Lists that take no data unit more.
    output linked_list_queue_pkg::linked_list_queue_counters_t counters
);
  if (ENTRIES < 1 || ENTRIES > 4096 || LISTS < 1 || LISTS > 4096 || UNIT_WIDTH < 1 || UNIT_WIDTH > 128
      || UNDERLYING_FUNCTIONS < 1) begin : gen_check
    $error("ENTRIES and LISTS can be 1 to 4096, UNIT_WIDTH 1 to 128, UNDERLYING_FUNCTIONS 1 and more");
  end

  logic [ENTRIES-1:0] used;
  logic [LISTS-1:0] one_left;
  logic [LISTS-1:0] peek_pending;
  logic [LISTS-1:0] assigned;
  logic [LISTS-1:0] closed;

  // Who pays for a used entry.
  logic [FUNCTION_WIDTH+1:0] entry_credit[ENTRIES];  // Function and source.

  // Push.
  logic list_available;
  logic list_found;
  logic [LIST_WIDTH-1:0] list_of_push;
  logic [ENTRY_WIDTH-1:0] free_entry;
  linked_list_queue_pkg::credit_source_t credit;
  linked_list_queue_pkg::linked_list_result_t push_result;
  logic push_accepted;

  always_comb begin
    if (inbound_credits == '0) push_result = linked_list_queue_pkg::LINKED_LIST_RESULT_FULL;
    else if (credit == linked_list_queue_pkg::CREDIT_SOURCE_NONE)
      push_result = linked_list_queue_pkg::LINKED_LIST_RESULT_NO_ENTRY_CREDIT;
    else if (!list_available) push_result = linked_list_queue_pkg::LINKED_LIST_RESULT_NO_LIST_IDENTIFIER;
    else if (closed[list_of_push]) push_result = linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED;
    else if (at_maximum[list_of_push]) push_result = linked_list_queue_pkg::LINKED_LIST_RESULT_LIST_FULL;
    else push_result = linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  end
  assign push_accepted = push && push_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;

  // Mark ready, or not.
  logic [LIST_WIDTH-1:0] list_of_mark;
  logic [ENTRY_WIDTH-1:0] head_of_mark;
  logic mark_accepted;
  logic unmark_accepted;
  linked_list_queue_pkg::linked_list_result_t mark_ready_result;
  logic mark_in_range;

  if (ENTRIES == 1 << ENTRY_WIDTH) begin : gen_all_entries
    assign mark_in_range = 1'b1;
  end else begin : gen_some_entries
    assign mark_in_range = mark_ready_entry < ENTRY_WIDTH'(ENTRIES);
  end
  assign mark_ready_result = !mark_in_range || !used[mark_ready_entry] ? linked_list_queue_pkg::LINKED_LIST_RESULT_EMPTY :
      closed[list_of_mark] ? linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED : linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign mark_accepted = mark_ready && !mark_not_ready && mark_ready_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign unmark_accepted = mark_not_ready && mark_ready_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;

  // Access, and reclaiming in the clocks without.
  logic access_in_range;
  logic is_peek;
  logic is_reset_peek_pointer;
  logic is_reclaim;
  logic closes;
  logic peeks;
  logic reclaims;
  logic reads_b;
  logic [LIST_WIDTH-1:0] last_reclaimed;
  logic [LIST_WIDTH-1:0] reclaim_list;
  logic [LIST_WIDTH-1:0] list_b;
  logic [ENTRY_WIDTH-1:0] head_b;
  logic [ENTRY_WIDTH-1:0] peek_pointer_b;
  logic [ENTRY_WIDTH-1:0] entry_b;
  logic [INDEX_WIDTH-1:0] index_b;
  linked_list_queue_pkg::linked_list_result_t access_refusal;
  linked_list_queue_pkg::linked_list_result_t access_result;

  find_next #(.SIZE(LISTS)) i_reclaim (.bits(closed), .after(last_reclaimed), .next(reclaim_list));

  assign is_peek = access && access_command == linked_list_queue_pkg::LINKED_LIST_ACCESS_PEEK;
  assign is_reset_peek_pointer = access && access_command == linked_list_queue_pkg::LINKED_LIST_ACCESS_RESET_PEEK_POINTER;
  assign is_reclaim = access && access_command == linked_list_queue_pkg::LINKED_LIST_ACCESS_RECLAIM;
  assign access_refusal = !access_in_range || !assigned[access_list] ? linked_list_queue_pkg::LINKED_LIST_RESULT_UNKNOWN_LIST :
      closed[access_list] ? linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED :
      !occupied[access_list] ? linked_list_queue_pkg::LINKED_LIST_RESULT_EMPTY : linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign access_result = access_refusal == linked_list_queue_pkg::LINKED_LIST_RESULT_OK && is_peek
      && !peek_pending[access_list] ? linked_list_queue_pkg::LINKED_LIST_RESULT_EMPTY : access_refusal;
  assign closes = is_reclaim && access_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign peeks = is_peek && access_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign reclaiming = closed != '0;
  assign reclaims = !access && reclaiming && reclaim_ready;
  assign list_b = access ? access_list : reclaim_list;
  assign entry_b = access ? peek_pointer_b : head_b;
  assign reads_b = peeks || reclaims;

  // Pop, and forward of the list whose turn it is.
  logic pop_in_range;
  logic pops_list;  // The list `pop_list`.
  logic pops;
  logic [LIST_WIDTH-1:0] last_granted;
  logic [LIST_WIDTH-1:0] granted;
  logic [LIST_WIDTH-1:0] list_a;
  logic [ENTRY_WIDTH-1:0] entry_a;
  logic [ENTRY_WIDTH-1:0] successor_a;
  logic [INDEX_WIDTH-1:0] index_a;
  linked_list_queue_pkg::linked_list_result_t pop_refusal;

  find_next #(.SIZE(LISTS)) i_arbiter (.bits(lists_ready), .after(last_granted), .next(granted));

  assign pop_ready = !is_reclaim;
  assign list_a = pop || discard ? pop_list : granted;
  assign pops_list = pop_in_range && (lists_ready[pop_list] || discard && occupied[pop_list] && !closed[pop_list]);
  assign pops = pop_ready && (pop || discard ? pops_list : forward && lists_ready != '0);
  assign pop_refusal = !pop_in_range || !assigned[pop_list] ? linked_list_queue_pkg::LINKED_LIST_RESULT_UNKNOWN_LIST :
      closed[pop_list] ? linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED :
      !occupied[pop_list] ? linked_list_queue_pkg::LINKED_LIST_RESULT_EMPTY :
      linked_list_queue_pkg::LINKED_LIST_RESULT_NOT_READY;

  if (LISTS == 1 << LIST_WIDTH) begin : gen_all_lists
    assign access_in_range = 1'b1;
    assign pop_in_range = 1'b1;
  end else begin : gen_some_lists
    assign access_in_range = access_list < LIST_WIDTH'(LISTS);
    assign pop_in_range = pop_list < LIST_WIDTH'(LISTS);
  end

  // Data unit ready and list ready bits; lists that close, open and end.
  logic successor_ready;
  logic [LISTS-1:0] ended;

  assign successor_ready = (data_units_ready[successor_a] || mark_accepted && mark_ready_entry == successor_a)
      && !(unmark_accepted && mark_ready_entry == successor_a);

  for (genvar entry = 0; entry < ENTRIES; entry++) begin : gen_entry
    localparam logic [ENTRY_WIDTH-1:0] NUMBER = ENTRY_WIDTH'(entry);
    logic becomes_ready;
    logic leaves;
    logic is_unmarked;
    assign is_unmarked = unmark_accepted && mark_ready_entry == NUMBER;
    assign becomes_ready = mark_accepted && mark_ready_entry == NUMBER
        || READY_ON_PUSH && push_accepted && free_entry == NUMBER;
    assign leaves = pops && entry_a == NUMBER || reclaims && entry_b == NUMBER;
    always_ff @(posedge clock) begin
      if (reset) data_units_ready[entry] <= 1'b0;
      else data_units_ready[entry] <= (data_units_ready[entry] || becomes_ready) && !leaves && !is_unmarked;
    end
  end

  for (genvar list = 0; list < LISTS; list++) begin : gen_list
    localparam logic [LIST_WIDTH-1:0] NUMBER = LIST_WIDTH'(list);
    logic appended;
    logic removed_a;
    logic removed;
    logic names_head;  // A mark.
    logic ready_next;
    assign appended = push_accepted && list_of_push == NUMBER;
    assign removed_a = pops && list_a == NUMBER;
    assign removed = removed_a || reclaims && list_b == NUMBER;
    assign ended[list] = removed && one_left[list] && !appended;
    assign names_head = list_of_mark == NUMBER && mark_ready_entry == head_of_mark;
    always_comb begin
`ifdef FPGA_VERBS_MUTANT_UNREADY_HEAD_LEAVES
      ready_next = lists_ready[list] || mark_accepted && names_head;
`else
      ready_next = (lists_ready[list] || mark_accepted && names_head) && !(unmark_accepted && names_head);
`endif
      if (removed_a && !one_left[list]) ready_next = successor_ready;
      else if (removed_a || !occupied[list]) ready_next = appended && READY_ON_PUSH;
    end
    always_ff @(posedge clock) begin
      if (reset) begin
        lists_ready[list] <= 1'b0;
        closed[list] <= 1'b0;
      end else begin
        lists_ready[list] <= ready_next && !(closes && list_b == NUMBER);
        closed[list] <= (closed[list] || closes && list_b == NUMBER) && !ended[list];
      end
    end
  end

  always_ff @(posedge clock) begin
    if (push_accepted) entry_credit[free_entry] <= {push_underlying_function, credit};
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      last_granted <= LIST_WIDTH'(LISTS - 1);
      last_reclaimed <= LIST_WIDTH'(LISTS - 1);
    end else begin
      if (pops && !pop && !discard) last_granted <= granted;
      if (reclaims) last_reclaimed <= reclaim_list;
    end
  end

  // The scrubber.
  logic [ENTRY_WIDTH-1:0] scrub_entry;
  logic scrubs;
  logic memory_scrubbed;
  logic scrub_done;
  logic scrubbed_used;
  logic [1:0] memory_scrub_status;

  assign scrubs = scrub && !inject_error && !(pops && entry_a == scrub_entry) && !(reads_b && entry_b == scrub_entry);
  assign scrub_done = scrubs && (memory_scrubbed || !used[scrub_entry]);
  assign scrubbed_status = scrubbed_used ? memory_scrub_status : linked_list_queue_pkg::SECDED_STATUS_CLEAN;

  always_ff @(posedge clock) begin
    if (reset) scrub_entry <= '0;
    else if (scrub_done) scrub_entry <= scrub_entry == ENTRY_WIDTH'(ENTRIES - 1) ? '0 : scrub_entry + ENTRY_WIDTH'(1);
  end

  // Answers.
  logic [1:0] status_a;
  logic [1:0] status_b;
  logic popped_accepted;
  logic accessed_read;
  linked_list_queue_pkg::linked_list_result_t popped_refusal;
  linked_list_queue_pkg::linked_list_result_t accessed_refusal;

  always_ff @(posedge clock) begin
    pushed <= !reset && push;
    pushed_result <= push_result;
    pushed_list <= list_of_push;
    pushed_entry <= free_entry;
    marked_ready <= !reset && (mark_ready || mark_not_ready);
    marked_ready_result <= mark_ready_result;
    popped <= !reset && (pops || (pop || discard) && pop_ready);
    popped_accepted <= !reset && pops;
    popped_refusal <= pop_refusal;
    popped_list <= list_a;
    popped_entry <= entry_a;
    popped_index <= index_a;
    accessed <= !reset && access;
    accessed_read <= !reset && reads_b;
    accessed_refusal <= access_result;
    accessed_entry <= entry_b;
    accessed_index <= index_b;
    reclaimed <= !reset && reclaims;
    scrubbed <= !reset && scrub_done;
    scrubbed_entry <= scrub_entry;
    scrubbed_used <= used[scrub_entry];
  end

  assign popped_result = !popped_accepted ? popped_refusal :
      status_a == linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE ? linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED :
      linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  assign accessed_result = !accessed_read ? accessed_refusal :
      status_b == linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE ? linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED :
      linked_list_queue_pkg::LINKED_LIST_RESULT_OK;

  // Counters.
  logic [1:0] corrected_bit_errors;
  logic [1:0] detected_bit_errors;
  logic popped_unreadable;
  logic reclaimed_unreadable;

  assign popped_unreadable = popped_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED;
  assign reclaimed_unreadable = accessed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED;

  always_ff @(posedge clock) begin
    if (reset) counters <= '0;
    else begin
      if (pushed) begin
        case (pushed_result)
          linked_list_queue_pkg::LINKED_LIST_RESULT_OK: counters.pushed <= counters.pushed + 1;
          linked_list_queue_pkg::LINKED_LIST_RESULT_FULL: counters.dropped_full <= counters.dropped_full + 1;
          linked_list_queue_pkg::LINKED_LIST_RESULT_NO_ENTRY_CREDIT:
          counters.dropped_no_entry_credit <= counters.dropped_no_entry_credit + 1;
          linked_list_queue_pkg::LINKED_LIST_RESULT_NO_LIST_IDENTIFIER:
          counters.dropped_no_list_identifier <= counters.dropped_no_list_identifier + 1;
          linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED: counters.dropped_closed <= counters.dropped_closed + 1;
          default: counters.dropped_list_full <= counters.dropped_list_full + 1;
        endcase
      end
      counters.popped <= counters.popped + 32'(popped_accepted && !popped_unreadable);
      counters.reclaimed <= counters.reclaimed + 32'(reclaimed && !reclaimed_unreadable);
      counters.dropped_corrupted <= counters.dropped_corrupted + 32'(popped_accepted && popped_unreadable)
          + 32'(reclaimed && reclaimed_unreadable);
      counters.corrected_bit_errors <= counters.corrected_bit_errors + 32'(corrected_bit_errors);
      counters.detected_bit_errors <= counters.detected_bit_errors + 32'(detected_bit_errors);
    end
  end

  // The parts.
  logic [FUNCTION_WIDTH+1:0] credit_a;
  logic [FUNCTION_WIDTH+1:0] credit_b;
  logic [COUNT_WIDTH-1:0] unused_query_available;

  assign credit_a = entry_credit[entry_a];
  assign credit_b = entry_credit[entry_b];

  data_list #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS)
  ) i_data_list (
      .clock(clock),
      .reset(reset),
      .append(push_accepted),
      .append_list(list_of_push),
      .append_entry(free_entry),
      .remove_a(pops),
      .list_a(list_a),
      .head_a(entry_a),
      .successor_a(successor_a),
      .remove_b(reclaims),
      .list_b(list_b),
      .head_b(head_b),
      .peek_pointer_b(peek_pointer_b),
      .advance_peek_pointer(peeks),
      .reset_peek_pointer(is_reset_peek_pointer && access_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK),
      .set_maximum(set_maximum),
      .set_maximum_list(set_maximum_list),
      .set_maximum_data_units(set_maximum_data_units),
      .query_entry(mark_ready_entry),
      .query_entry_list(list_of_mark),
      .query_entry_head(head_of_mark),
      .query_list(query_list),
      .query_head(query_head),
      .query_count(query_count),
      .query_maximum(query_maximum),
      .used(used),
      .free_entries(inbound_credits),
      .occupied(occupied),
      .one_left(one_left),
      .at_maximum(at_maximum),
      .peek_pending(peek_pending)
  );

  list_identifier_memory #(
      .LISTS(LISTS),
      .INDEX_WIDTH(INDEX_WIDTH),
      .CONTENT_ADDRESSED(CONTENT_ADDRESSED)
  ) i_list_identifier_memory (
      .clock(clock),
      .reset(reset),
      .find_index(push_index),
      .found(list_found),
      .list(list_of_push),
      .available(list_available),
      .other_index(find_index),
      .other_found(found),
      .other_list(found_list),
      .allocate(push_accepted && !list_found),
      .release_lists(ended),
      .assigned(assigned),
      .list_a(list_a),
      .index_a(index_a),
      .list_b(list_b),
      .index_b(index_b)
  );

  credit_pool #(
      .OWNERS(UNDERLYING_FUNCTIONS),
      .OWN(ENTRIES),
      .CREDIT_WIDTH(COUNT_WIDTH)
  ) i_entry_credits (
      .clock(clock),
      .reset(reset),
      .available(entry_credits_available),
      .owner(push_underlying_function),
      .source(credit),
      .take(push_accepted),
      .give_back({reclaims, pops}),
      .give_back_owner({credit_b[FUNCTION_WIDTH+1:2], credit_a[FUNCTION_WIDTH+1:2]}),
      .give_back_source({credit_b[1:0], credit_a[1:0]}),
      .set_own(set_entry_credits),
      .set_own_owner(set_entry_credits_underlying_function),
      .set_own_credits(set_entry_credits_credits),
      .set_shared(set_shared_entry_credits),
      .set_shared_credits(set_shared_entry_credits_credits),
      .set_shared_cap({UNDERLYING_FUNCTIONS{set_shared_entry_credits}}),
      .set_shared_cap_credits(set_shared_entry_credits_cap),
      .query_owner(query_underlying_function),
      .query_own_held(query_own_held),
      .query_shared_held(query_shared_held),
      .query_available(unused_query_available),
      .all_shared_held(shared_entry_credits_held)
  );

  data_memory #(
      .ENTRIES(ENTRIES),
      .UNIT_WIDTH(UNIT_WIDTH)
  ) i_data_memory (
      .clock(clock),
      .reset(reset),
      .write(push_accepted),
      .write_entry(free_entry),
      .write_unit(push_unit),
      .read_a(pops),
      .entry_a(entry_a),
      .unit_a(popped_unit),
      .status_a(status_a),
      .read_b(reads_b),
      .entry_b(entry_b),
      .unit_b(accessed_unit),
      .status_b(status_b),
      .scrub(scrubs && used[scrub_entry]),
      .scrub_entry(scrub_entry),
      .scrubbed(memory_scrubbed),
      .scrub_status(memory_scrub_status),
      .inject(inject_error),
      .inject_entry(inject_error_entry),
      .inject_bit(inject_error_bit),
      .corrected_bit_errors(corrected_bit_errors),
      .detected_bit_errors(detected_bit_errors)
  );

`ifdef FORMAL
`include "hardware_linked_list_queue.svh"
`endif
endmodule
