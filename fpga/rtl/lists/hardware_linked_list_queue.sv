// Hardware linked list queue (US8804752): many lists in one memory. A data unit joins the list of its index (a queue pair, a TVL). The
// queue creates and removes lists as needed, and each list leaves in order, independently of the others.
//
// Every clock the queue accepts one push, one mark_ready or mark_not_ready, and one command to a list or forward; each port answers after a
// fixed number of clocks. A push takes effect in the clock before `pushed`, a mark two before `marked`, a command four before `answered`.
// Each sees the state before that clock; within one clock the order is mark, push, command.
//
// Lists are in memories with one writer each: the part that pushes own and the part that commands own. A list has data units if the two
// parts' bits for it differ; the same holds for used and for ready entries. Recently written words are forwarded. See
// fpga/doc/theory-of-operation.md.
module hardware_linked_list_queue #(
    parameter int unsigned ENTRIES = 64,  // 1 to 4096
    parameter int unsigned LISTS = 64,  // List identifiers, 1 to 4096; a power of two where they are content addressed.
    parameter bit CONTENT_ADDRESSED = 1'b1,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter bit READY_ON_PUSH = 1'b0,  // Data units are ready when pushed.
    parameter int unsigned INDEX_WIDTH = 32,
    parameter int unsigned UNIT_WIDTH = 128,  // At most 128.
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1),
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    localparam int unsigned BIT_WIDTH = $clog2((UNIT_WIDTH + 63) / 64 * 72)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // The memories are swept after a reset. Until then no input is accepted.

    // Inbound credits: the number of data units that the producer may push, including those not answered yet.
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

    // Marks the data unit of an entry as ready, so that it leaves when it is at the head of its list, or as not ready: its
    // list waits for it. Results: empty, closed.
    input logic mark_ready,
    input logic mark_not_ready,
    input logic [ENTRY_WIDTH-1:0] mark_entry,
    output logic marked,
    output linked_list_queue_pkg::linked_list_result_t marked_result,

    // Executes a command (see linked_list_command_t). Results: unknown_list, closed, empty, not_ready, ready; corrupted: done, but the
    // data unit cannot be read. `forward` pops a ready list whose turn it is, if an outbound credit is available. If no
    // data unit leaves, the credit is free again and `answered` is clear. In a clock without `command_ready` no command is
    // accepted, because reclaiming uses it.
    output logic command_ready,
    input logic command,
    input linked_list_queue_pkg::linked_list_command_t command_kind,
    input logic [LIST_WIDTH-1:0] command_list,
    input logic forward,
    output logic answered,
    output logic answered_forward,
    output linked_list_queue_pkg::linked_list_command_t answered_kind,  // A forward is a pop.
    output linked_list_queue_pkg::linked_list_result_t answered_result,
    output logic [LIST_WIDTH-1:0] answered_list,
    output logic [ENTRY_WIDTH-1:0] answered_entry,
    output logic [INDEX_WIDTH-1:0] answered_index,
    output logic [UNIT_WIDTH-1:0] answered_unit,

    // Data units of closed lists leave in clocks without a command, and in every fourth clock, if `reclaim_ready` says that there is room
    // for eight. Their answers have the kind reclaim_step.
    input logic reclaim_ready,
    output logic reclaiming,

    // The scrubber checks an entry.
    input logic scrub,
    output logic scrubbed,
    output logic [ENTRY_WIDTH-1:0] scrubbed_entry,
    output logic [1:0] scrubbed_status,  // secded_status_t

    // Flips a stored bit. Held until done.
    input logic inject_error,
    input logic [ENTRY_WIDTH-1:0] inject_error_entry,
    input logic [BIT_WIDTH-1:0] inject_error_bit,
    output logic error_injected,

    // The maximum number of data units of a list, for later pushes; the entry credits of one function; the shared ones, and the most of
    // them that one function may hold.
    input logic set_maximum,
    input logic [LIST_WIDTH-1:0] set_maximum_list,
    input logic [COUNT_WIDTH-1:0] set_maximum_data_units,
    input logic set_entry_credits,
    input logic [FUNCTION_WIDTH-1:0] set_entry_credits_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_entry_credits_credits,
    input logic set_shared_entry_credits,
    input logic [COUNT_WIDTH-1:0] set_shared_entry_credits_credits,
    input logic [COUNT_WIDTH-1:0] set_shared_entry_credits_cap,

    // Data units of a list, two clocks after the query; entry credits of a function, and shared ones held by all, one clock after it.
    input logic [LIST_WIDTH-1:0] query_list,
    output logic [COUNT_WIDTH-1:0] query_count,
    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COUNT_WIDTH-1:0] query_own_held,
    output logic [COUNT_WIDTH-1:0] query_shared_held,
    output logic [COUNT_WIDTH-1:0] shared_entry_credits_held,
    output linked_list_queue_pkg::linked_list_queue_counters_t counters
);
  localparam int unsigned WAYS = !CONTENT_ADDRESSED ? 1 : LISTS < 4 ? LISTS : 4;
  localparam int unsigned WAY_WIDTH = $clog2(WAYS);
  localparam int unsigned PLACE_WIDTH = LIST_WIDTH > WAY_WIDTH ? LIST_WIDTH - WAY_WIDTH : 1;
  localparam int unsigned SWEEP_WIDTH = ENTRY_WIDTH > LIST_WIDTH ? ENTRY_WIDTH : LIST_WIDTH;
  localparam int unsigned SETTERS = READY_ON_PUSH ? 2 : 1;

  if (ENTRIES < 1 || ENTRIES > 4096 || LISTS < 1 || LISTS > 4096 || UNIT_WIDTH < 1 || UNIT_WIDTH > 128
      || UNDERLYING_FUNCTIONS < 1 || CONTENT_ADDRESSED && LISTS != 1 << $clog2(LISTS)) begin : gen_check
    $error("ENTRIES and LISTS can be 1 to 4096, UNIT_WIDTH 1 to 128, UNDERLYING_FUNCTIONS 1 and more");
  end

  function automatic logic [WAY_WIDTH:0] way_of(input logic [LIST_WIDTH-1:0] number);
    way_of = (WAY_WIDTH + 1)'(number & LIST_WIDTH'(WAYS - 1));
  endfunction
  function automatic logic [PLACE_WIDTH-1:0] place_of(input logic [LIST_WIDTH-1:0] number);
    place_of = PLACE_WIDTH'(number >> WAY_WIDTH);
  endfunction

  // After a reset all memories are swept.
  logic is_swept, sweeps;
  logic [SWEEP_WIDTH-1:0] sweep;
  assign clearing = !is_swept;
  assign sweeps = !is_swept;
  always_ff @(posedge clock) begin
    if (reset) is_swept <= 1'b0;
    else if (sweep == '1) is_swept <= 1'b1;
    sweep <= reset ? '0 : sweep + SWEEP_WIDTH'(1);
  end

  // Stages of a push. The third decides and executes it, the fourth answers.
  logic push_1, push_2, push_3;
  logic [INDEX_WIDTH-1:0] push_index_1;
  logic [UNIT_WIDTH-1:0] push_unit_1, push_unit_2, push_unit_3;
  logic [FUNCTION_WIDTH-1:0] push_function_1, push_function_2, push_function_3, push_function_4;
  logic [WAYS*PLACE_WIDTH-1:0] hash_places, places_1, places_2, places_3;
  logic [WAYS-1:0] match_3, occupied_3, occupied_bits_3, closed_3, full_3, hit_3, free_3, first_free_3, way_3, appended_4;
  logic [WAYS*ENTRY_WIDTH-1:0] tails_3;
  logic [ENTRY_WIDTH-1:0] tail_3, free_entry;
  logic [LIST_WIDTH-1:0] push_list_3;
  logic entry_available, accept_3, begins_3, occupied_bit_3, accepted_4, begins_4;
  linked_list_queue_pkg::credit_source_t credit_3, credit_4;
  linked_list_queue_pkg::linked_list_result_t push_result_3;

  always_ff @(posedge clock) begin
    push_1 <= push && is_swept && !reset;
    push_2 <= push_1 && !reset;
    push_3 <= push_2 && !reset;
    push_index_1 <= push_index;
    {push_unit_3, push_unit_2, push_unit_1} <= {push_unit_2, push_unit_1, push_unit};
    {push_function_4, push_function_3, push_function_2, push_function_1} <=
        {push_function_3, push_function_2, push_function_1, push_underlying_function};
    {places_2, places_1} <= {places_1, hash_places};
  end

  // Stages of a command. The third decides, the fourth executes it.
  logic valid_1, valid_2, valid_3, valid_4, forward_1, forward_2, forward_3, forward_4;
  linked_list_queue_pkg::linked_list_command_t kind_1, kind_2, kind_3, kind_4;
  logic [LIST_WIDTH-1:0] list_1, list_2, list_3, list_4;
  logic reads_4, removed_4, ends_4, closes_4, occupied_bit_4, head_ready_3;
  logic [ENTRY_WIDTH-1:0] head_3, head_4, entry_4;
  logic [COUNT_WIDTH-1:0] removals_4;
  linked_list_queue_pkg::linked_list_result_t result_4;

  // Commands come from their port, the arbiter, and reclaiming.
  logic takes_command, takes_forward, takes_step, offered, has_closed, reclaim_turn;
  logic [1:0] turn;
  logic [LIST_WIDTH-1:0] offered_list, closed_list;

  // Steps behind the one that ended their list are void, because the list may have been closed again.
  logic step_ends_4, is_late_step_2, reclaimed_odd, reclaimed_odd_1, reclaimed_odd_2;  // Parity of the number of reclaimed lists.
  assign step_ends_4 = ends_4 && kind_4 == linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP;
  assign is_late_step_2 = kind_2 == linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP
      && (step_ends_4 || reclaimed_odd_2 != reclaimed_odd);

  assign command_ready = !reclaim_turn;
  assign takes_command = command && !reclaim_turn && is_swept;
  assign takes_forward = forward && !reclaim_turn && !command && offered && is_swept;
  assign takes_step = has_closed && reclaim_ready && !takes_command && !takes_forward;

  always_ff @(posedge clock) begin
    turn <= reset ? '0 : turn + 2'd1;
    reclaim_turn <= turn == 2'd3 && has_closed && reclaim_ready && !reset;
    {valid_4, valid_3, valid_2, valid_1} <=
        reset ? '0 : {valid_3, valid_2 && !is_late_step_2, valid_1, takes_command || takes_forward || takes_step};
    {reclaimed_odd_2, reclaimed_odd_1} <= {reclaimed_odd_1, reclaimed_odd};
    reclaimed_odd <= !reset && reclaimed_odd != step_ends_4;
    {forward_4, forward_3, forward_2, forward_1} <= {forward_3, forward_2, forward_1, takes_forward};
    kind_1 <= takes_command ? command_kind : takes_forward ? linked_list_queue_pkg::LINKED_LIST_COMMAND_POP :
        linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP;
    kind_2 <= kind_1;
    kind_3 <= kind_2;
    kind_4 <= kind_3;
    list_1 <= takes_command ? command_list : takes_forward ? offered_list : closed_list;
    list_2 <= list_1;
  end

  // A push finds the list identifier, in each way, and the list.
  logic [INDEX_WIDTH-1:0] index_4;

  list_identifier_memory #(
      .LISTS(LISTS),
      .INDEX_WIDTH(INDEX_WIDTH),
      .CONTENT_ADDRESSED(CONTENT_ADDRESSED)
  ) i_list_identifier_memory (
      .clock(clock),
      .hash_index(push_index),
      .hash_places(hash_places),
      .find_index(push_index_1),
      .find_places(places_1),
      .match(match_3),
      .places(places_3),
      .give(begins_3 && accept_3 ? way_3 : '0),
      .of_list(list_3),
      .index(index_4)
  );

  logic [WAYS-1:0] push_same_1, push_same_2, push_same_3;
  logic [WAYS*COUNT_WIDTH-1:0] numbers_4;

  for (genvar way = 0; way < WAYS; way++) begin : gen_way
    localparam logic [WAY_WIDTH:0] WAY = (WAY_WIDTH + 1)'(way);
    localparam int unsigned AT = way * PLACE_WIDTH;

    list_push_way #(
        .ENTRIES(ENTRIES),
        .PLACES(1 << PLACE_WIDTH),
        .BLOCK(LISTS > 256)
    ) i_list_push_way (
        .clock(clock),
        .sweeps(sweeps),
        .sweep_place(PLACE_WIDTH'(sweep)),
        .place_1(places_1[AT+:PLACE_WIDTH]),
        .place_2(places_2[AT+:PLACE_WIDTH]),
        .place_3(places_3[AT+:PLACE_WIDTH]),
        .occupied(occupied_3[way]),
        .occupied_bit(occupied_bits_3[way]),
        .closed(closed_3[way]),
        .full(full_3[way]),
        .tail(tails_3[way*ENTRY_WIDTH+:ENTRY_WIDTH]),
        .append(accept_3 && way_3[way]),
        .begins(begins_3),
        .append_entry(free_entry),
        .appended(appended_4[way]),
        .appended_entry(pushed_entry),
        .appended_number(numbers_4[way*COUNT_WIDTH+:COUNT_WIDTH]),
        .command_here_3(valid_3 && way_of(list_3) == WAY),
        .command_place_3(place_of(list_3)),
        .command_here_4(valid_4 && way_of(list_4) == WAY),
        .command_place_4(place_of(list_4)),
        .removed_4(removed_4),
        .removals_4(removals_4),
        .ends_4(ends_4),
        .closes_4(closes_4),
        .command_occupied_bit_4(occupied_bit_4),
        .set_maximum(set_maximum && way_of(set_maximum_list) == WAY),
        .set_maximum_place(place_of(set_maximum_list)),
        .set_maximum_data_units(set_maximum_data_units)
    );

    assign push_same_1[way] = list_1 == LIST_WIDTH'({places_3[AT+:PLACE_WIDTH], {WAY_WIDTH{1'b0}}}) + LIST_WIDTH'(way);
    assign push_same_2[way] = list_2 == LIST_WIDTH'({places_3[AT+:PLACE_WIDTH], {WAY_WIDTH{1'b0}}}) + LIST_WIDTH'(way);
    assign push_same_3[way] = list_3 == LIST_WIDTH'({places_3[AT+:PLACE_WIDTH], {WAY_WIDTH{1'b0}}}) + LIST_WIDTH'(way);
  end

  // The way of the list that the index has, or the first that is free.
  assign hit_3 = CONTENT_ADDRESSED ? match_3 & occupied_3 : match_3;
  assign free_3 = CONTENT_ADDRESSED ? ~occupied_3 : '0;
  assign way_3 = hit_3 != '0 ? hit_3 : first_free_3;
  assign begins_3 = CONTENT_ADDRESSED ? hit_3 == '0 : !occupied_3[0];
  assign occupied_bit_3 = (way_3 & occupied_bits_3) != '0;
  for (genvar way = 0; way < WAYS; way++) begin : gen_first_free  // A loop over few ways is faster than a carry chain.
    if (way == 0) begin : gen_first
      assign first_free_3[way] = free_3[way];
    end else begin : gen_other
      assign first_free_3[way] = free_3[way] && free_3[way-1:0] == '0;
    end
  end
  always_comb begin
    push_list_3 = '0;
    tail_3 = '0;
    for (int unsigned way = 0; way < WAYS; way++)
      if (way_3[way]) begin
        push_list_3 = push_list_3 | LIST_WIDTH'(places_3[way*PLACE_WIDTH+:PLACE_WIDTH]) << WAY_WIDTH | LIST_WIDTH'(way);
        tail_3 = tail_3 | tails_3[way*ENTRY_WIDTH+:ENTRY_WIDTH];
      end
    if (!entry_available) push_result_3 = linked_list_queue_pkg::LINKED_LIST_RESULT_FULL;
    else if (credit_3 == linked_list_queue_pkg::CREDIT_SOURCE_NONE)
      push_result_3 = linked_list_queue_pkg::LINKED_LIST_RESULT_NO_ENTRY_CREDIT;
    else if (way_3 == '0) push_result_3 = linked_list_queue_pkg::LINKED_LIST_RESULT_NO_LIST_IDENTIFIER;
    else if ((way_3 & closed_3) != '0) push_result_3 = linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED;
    else if ((way_3 & full_3) != '0) push_result_3 = linked_list_queue_pkg::LINKED_LIST_RESULT_LIST_FULL;
    else push_result_3 = linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  end
`ifdef FPGA_VERBS_MUTANT_DOES_NOTHING
  assign accept_3 = 1'b0;
`else
  assign accept_3 = push_3 && entry_available && credit_3 != linked_list_queue_pkg::CREDIT_SOURCE_NONE
      && (way_3 & ~closed_3 & ~full_3) != '0;
`endif

  always_ff @(posedge clock) begin
    pushed <= push_3 && !reset;
    pushed_result <= push_result_3;
    pushed_list <= push_list_3;
    pushed_entry <= free_entry;
    accepted_4 <= accept_3 && !reset;
    appended_4 <= accept_3 && !reset ? way_3 : '0;
    begins_4 <= begins_3;
    credit_4 <= credit_3;
  end

  // Entries.
  logic release_5;
  logic [FUNCTION_WIDTH-1:0] release_function_4, release_function_5;
  logic [1:0] release_source_4;
  logic [1:0] release_source_5;

  free_entries #(
      .ENTRIES(ENTRIES)
  ) i_free_entries (
      .clock(clock),
      .reset(reset),
      .sweep(sweeps && 32'(sweep) < ENTRIES),
      .sweep_entry(ENTRY_WIDTH'(sweep)),
      .available(entry_available),
      .entry(free_entry),
      .take(accept_3),
      .give_back(removed_4),
      .give_back_entry(head_4),
      .entries_free(inbound_credits)
  );

  lut_memory #(
      .WIDTH(FUNCTION_WIDTH + 2),
      .SIZE(1 << ENTRY_WIDTH)
  ) i_credits_of_entries (
      .clock(clock),
      .write(accepted_4),
      .write_address(pushed_entry),
      .write_data({push_function_4, credit_4}),
      .read_addresses(head_4),
      .read_data({release_function_4, release_source_4})
  );
  always_ff @(posedge clock) begin
    release_5 <= removed_4 && !reset;
    release_function_5 <= release_function_4;
    release_source_5 <= release_source_4;
  end

  entry_credits #(
      .FUNCTIONS(UNDERLYING_FUNCTIONS),
      .ENTRIES(ENTRIES)
  ) i_entry_credits (
      .clock(clock),
      .reset(reset),
      .look_underlying_function(push_function_2),
      .source(credit_3),
      .take(accept_3),
      .give_back(release_5),
      .give_back_underlying_function(release_function_5),
      .give_back_source(release_source_5),
      .set_own(set_entry_credits),
      .set_own_underlying_function(set_entry_credits_underlying_function),
      .set_own_credits(set_entry_credits_credits),
      .set_shared(set_shared_entry_credits),
      .set_shared_credits(set_shared_entry_credits_credits),
      .set_shared_cap(set_shared_entry_credits_cap),
      .query_underlying_function(query_underlying_function),
      .query_own_held(query_own_held),
      .query_shared_held(query_shared_held),
      .shared_held(shared_entry_credits_held)
  );

  // Marks: done in the first stage, answered in the third.
  logic mark_1, mark_value_1, marked_used, marked_ready, marked_closed, scrub_used;
  logic [ENTRY_WIDTH-1:0] mark_entry_1, scrub_entry;
  logic [LIST_WIDTH-1:0] marked_list;

  always_ff @(posedge clock) begin
    mark_1 <= (mark_ready || mark_not_ready) && is_swept && !reset;
    mark_value_1 <= mark_ready;
    mark_entry_1 <= mark_entry;
    marked_result <= !marked_used ? linked_list_queue_pkg::LINKED_LIST_RESULT_EMPTY :
        marked_closed ? linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED : linked_list_queue_pkg::LINKED_LIST_RESULT_OK;
  end
  logic marked_2;
  always_ff @(posedge clock) marked <= marked_2 && !reset;

  entry_states #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS),
      .READY_ON_PUSH(READY_ON_PUSH)
  ) i_entry_states (
      .clock(clock),
      .sweeps(sweeps),
      .sweep_entry(ENTRY_WIDTH'(sweep)),
      .push(accept_3),
      .push_entry(free_entry),
      .pushed(accepted_4),
      .pushed_entry(pushed_entry),
      .pushed_list(pushed_list),
      .removed(removed_4),
      .removed_entry(head_4),
      .mark(mark_1),
      .mark_value(mark_value_1),
      .mark_entry(mark_entry_1),
      .marked(marked_2),
      .marked_used(marked_used),
      .marked_ready(marked_ready),
      .marked_list(marked_list),
      .head(head_3),
      .head_ready(head_ready_3),
      .scrub_entry(scrub_entry),
      .scrub_used(scrub_used)
  );

  // Lists.
  logic [COUNT_WIDTH-1:0] query_number, query_removals, number_5;
  logic pushed_5;
  logic [LIST_WIDTH-1:0] pushed_list_5;

  list_commands #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS),
      .CONTENT_ADDRESSED(CONTENT_ADDRESSED)
  ) i_list_commands (
      .clock(clock),
      .reset(reset),
      .sweeps(sweeps),
      .sweep_list(LIST_WIDTH'(sweep)),
      .list_1(list_1),
      .list_2(list_2),
      .valid_3(valid_3),
      .kind_3(kind_3),
      .list_3(list_3),
      .list_4(list_4),
      .push_same_1(push_same_1),
      .push_same_2(push_same_2),
      .push_same_3(push_same_3),
      .append(accept_3),
      .append_way(way_3),
      .append_begins(begins_3),
      .append_occupied_bit(occupied_bit_3),
      .append_list(push_list_3),
      .append_tail(tail_3),
      .append_entry(free_entry),
      .appended(accepted_4),
      .appended_begins(begins_4),
      .appended_entry(pushed_entry),
      .head_3(head_3),
      .head_ready_3(head_ready_3),
      .result_4(result_4),
      .reads_4(reads_4),
      .entry_4(entry_4),
      .removed_4(removed_4),
      .head_4(head_4),
      .removals_4(removals_4),
      .ends_4(ends_4),
      .closes_4(closes_4),
      .occupied_bit_4(occupied_bit_4),
      .marked_list(marked_list),
      .marked_closed(marked_closed),
      .query_list(query_list),
      .query_removals(query_removals)
  );

  always_ff @(posedge clock) begin
    number_5 <= '0;
    for (int unsigned way = 0; way < WAYS; way++) if (appended_4[way]) number_5 <= numbers_4[way*COUNT_WIDTH+:COUNT_WIDTH];
    pushed_5 <= accepted_4;
    pushed_list_5 <= pushed_list;
    query_count <= query_number - query_removals;
  end
  list_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(1 << LIST_WIDTH),
      .BLOCK(LISTS > 256)
  ) i_query_numbers (
      .clock(clock),
      .write(pushed_5 || sweeps),
      .write_address(sweeps ? LIST_WIDTH'(sweep) : pushed_list_5),
      .write_data(sweeps ? '0 : number_5),
      .read_address(query_list),
      .read_data(query_number)
  );

  closed_lists #(
      .LISTS(LISTS)
  ) i_closed_lists (
      .clock(clock),
      .reset(reset),
      .close(closes_4),
      .close_list(list_4),
      .valid(has_closed),
      .first(closed_list),
      .ends(step_ends_4),
      .any(reclaiming)
  );

  logic [SETTERS-1:0] made_ready;
  logic [SETTERS*LIST_WIDTH-1:0] made_ready_list;
  if (READY_ON_PUSH) begin : gen_ready_on_push
    assign made_ready = {accepted_4, marked_ready};
    assign made_ready_list = {pushed_list, marked_list};
  end else begin : gen_ready_when_marked
    assign made_ready = marked_ready;
    assign made_ready_list = marked_list;
  end

  list_arbiter #(
      .LISTS(LISTS),
      .SETTERS(SETTERS)
  ) i_list_arbiter (
      .clock(clock),
      .reset(reset),
      .made_ready(made_ready),
      .made_ready_list(made_ready_list),
      .find(valid_4 && (removed_4 || kind_4 == linked_list_queue_pkg::LINKED_LIST_COMMAND_POP)),
      .find_list(list_4),
      .find_ready(removed_4 && !ends_4 && kind_4 != linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP),
      .offered(offered),
      .offered_list(offered_list),
      .take(takes_forward)
  );

  list_answers #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS),
      .INDEX_WIDTH(INDEX_WIDTH),
      .UNIT_WIDTH(UNIT_WIDTH)
  ) i_list_answers (
      .scrub(scrub && is_swept),
      .*
  );
endmodule
