// Decides whether a request packet is executed, answered again, refused or dropped (InfiniBand volume 1, 9.7). Packets wait by queue pair in a
// hardware linked list queue; one unit of a queue pair is at work at a time, so that each access to its context reads what the previous one wrote.
// All accepted packets of a queue pair leave here in order, refused ones among them. A packet waits while its queue pair's receive work request
// is fetched, and a duplicate READ or atomic while it is searched; other queue pairs go on. A flush takes all receive work requests posted to
// the queue pair itself, one after the other, and then follows the accepted packets.
module receive #(
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,  // Places of queue pairs. A power of two, 8 to 256.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,  // 16 at most.
    parameter int unsigned BUFFERS = hca_spec_pkg::RECEIVE_PACKET_BUFFERS,  // A power of two, 256 at most.
    parameter int unsigned ENTRIES = 256,  // All buffers, and flushes.
    parameter int unsigned RECORD_READERS = 3,
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    localparam int unsigned PACKET_WIDTH = $clog2(BUFFERS)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset; nothing enters.

    // A request packet for a queue pair that has a pin for it.
    input logic packet_valid,
    output logic packet_ready,
    input logic [PACKET_WIDTH-1:0] packet,
    input packet_fields_pkg::packet_fields_t packet_fields,  // destination_queue_pair: the queue pair's own number.
    input logic [12:0] packet_payload_bytes,
    input logic [FUNCTION_WIDTH-1:0] packet_underlying_function,

    // A queue pair in ERR is to be flushed.
    input logic flush_valid,
    output logic flush_ready,
    input hca_spec_pkg::queue_pair_notice_t flush,

    // Pins of queue_pair_directory.
    output logic pin,
    input logic pin_ready,
    output logic [NUMBER_WIDTH-1:0] pin_number,
    input logic pinned,
    input logic pinned_done,

    // A reader and the writer of queue_pair_contexts.
    output logic read,
    input logic read_ready,
    output logic [NUMBER_WIDTH-1:0] read_number,
    input logic answer,
    input logic answer_found,
    input hca_spec_pkg::queue_pair_control_t answer_control,
    input hca_spec_pkg::queue_pair_responder_t answer_responder,
    output logic receive_write,
    output logic [NUMBER_WIDTH-1:0] receive_number,
    output hca_spec_pkg::queue_pair_responder_t receive_responder,

    // To and from descriptor_fetch, which answers the questions of a queue pair in order; there is one at a time.
    output logic wanted_valid,
    input logic wanted_ready,
    output hca_spec_pkg::queue_pair_notice_t wanted,
    input logic fetched_valid,
    output logic fetched_ready,
    input hca_spec_pkg::queue_pair_notice_t fetched,

    output logic accepted_valid,
    input logic accepted_ready,
    output hca_spec_pkg::receive_unit_t accepted,

    // The receive record of an accepted packet, for each reader, a clock later.
    input logic [RECORD_READERS*PACKET_WIDTH-1:0] record_packet,
    output logic [RECORD_READERS*receive_pkg::RECEIVE_RECORD_WIDTH-1:0] record,

    // A dropped unit: the pin of its queue pair ends, and its buffer is free, unless it was a flush, which has none.
    output logic dropped_valid,
    input logic dropped_ready,
    output logic dropped_has_packet,
    output logic [PACKET_WIDTH-1:0] dropped_packet,
    output logic [NUMBER_WIDTH-1:0] dropped_number,

    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit,

    // Counts of a function's dropped and duplicate requests; a clock later.
    input logic count_duplicates,
    input logic [3:0] count_underlying_function,
    output logic [63:0] count,
    output linked_list_queue_pkg::linked_list_queue_counters_t counters
);
  if (CONTEXTS < 8 || CONTEXTS != 1 << $clog2(CONTEXTS) || CONTEXTS > 256 || BUFFERS != 1 << PACKET_WIDTH || BUFFERS > 256
      || UNDERLYING_FUNCTIONS > 16) begin : gen_check
    $error("CONTEXTS and BUFFERS have to be powers of two, 256 at most, CONTEXTS 8 at least; UNDERLYING_FUNCTIONS 16 at most");
  end
  localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS);
  localparam int unsigned ENTRY_WIDTH = $clog2(ENTRIES);
  localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1);
  localparam int unsigned ASKED = 8;  // Accesses whose context is asked for.
  localparam int unsigned WAITING = 32;  // Units that wait for another block.
  localparam int unsigned UNDER_WAY = ASKED + 8;  // Accesses that may still add one: asked, in the stages, and chosen a clock ago.
  localparam int unsigned PUSHES_UNDER_WAY = 8;

  // An arriving unit joins the list of its queue pair: a packet, or in a clock without one a flush that begins.
  logic queue_clearing, turns_clearing, counts_clearing, arrives, begins, has_begun, pushes, pushed, room_to_push;
  logic [PACKET_WIDTH-1:0] arriving_packet;
  logic [$clog2(WAITING):0] pushes_waiting, dones_waiting;
  logic [COUNT_WIDTH-1:0] inbound_credits;
  logic [CONTEXT_WIDTH-1:0] pushed_list;
  receive_pkg::unit_t arriving, push_unit, flush_unit;
  receive_pkg::facts_t packet_facts, arriving_facts, facts_1;
  assign clearing = queue_clearing || turns_clearing || counts_clearing;
  request_facts i_facts (
      .fields(packet_fields),
      .payload_bytes(packet_payload_bytes),
      .facts(packet_facts)
  );
  assign pushes = arrives || has_begun && room_to_push;
  assign push_unit = arrives ? arriving : flush_unit;
  always_ff @(posedge clock) begin
    room_to_push <= !reset && !clearing && 32'(inbound_credits) > PUSHES_UNDER_WAY && 32'(pushes_waiting) + PUSHES_UNDER_WAY < WAITING;
    packet_ready <= !reset && room_to_push && !has_begun;
    arrives <= !reset && packet_valid && packet_ready;
    arriving.is_flush <= 1'b0;
    arriving.underlying_function <= 4'(packet_underlying_function);
    arriving.packet <= 8'(packet);
    arriving.number <= packet_fields.destination_queue_pair;
    arriving_packet <= packet;
    arriving_facts <= packet_facts;
  end

  // A flush is pinned, and begins if its queue pair is in ERR: one at a time.
  logic flush_asks, flush_waits, flush_is_pinned, flush_is_looked_at, takes_flush, ignores;
  assign flush_ready = !flush_asks && !flush_waits && !flush_is_pinned && !flush_is_looked_at && !has_begun && !clearing;
  assign pin = flush_asks;
  assign pin_number = flush_unit.number;
  always_ff @(posedge clock) begin
    if (flush_valid && flush_ready) begin
      flush_unit.is_flush <= 1'b1;
      flush_unit.underlying_function <= flush.underlying_function;
      flush_unit.packet <= '1;
      flush_unit.number <= flush.queue_pair_number;
    end
    flush_asks <= !reset && (flush_valid && flush_ready || flush_asks && !pin_ready);
    flush_waits <= !reset && (flush_asks && pin_ready || flush_waits && !pinned);
    flush_is_pinned <= !reset && (flush_waits && pinned && pinned_done || flush_is_pinned && !takes_flush);
    flush_is_looked_at <= !reset && (takes_flush || flush_is_looked_at && !begins && !ignores);
    has_begun <= !reset && (begins || has_begun && (arrives || !room_to_push));
  end

  // The lists and their turns.
  logic pop, popped, turn, turn_taken, done, unused_command_ready, unused_answered_forward, unused_marked, unused_reclaiming, unused_scrubbed,
      unused_injected;
  logic [CONTEXT_WIDTH-1:0] pop_list, popped_list;
  receive_pkg::unit_t popped_unit, turn_unit;
  logic [CONTEXT_WIDTH:0] unused_index;
  logic [ENTRY_WIDTH-1:0] unused_pushed_entry, unused_answered_entry, unused_scrubbed_entry;
  logic [1:0] unused_scrubbed_status;
  logic [COUNT_WIDTH-1:0] unused_query_count, unused_own_held, unused_shared_held, unused_all_shared_held;
  linked_list_queue_pkg::linked_list_result_t popped_result, unused_pushed_result, unused_marked_result;
  linked_list_queue_pkg::linked_list_command_t unused_kind;
  hardware_linked_list_queue #(
      .ENTRIES(ENTRIES),
      .LISTS(CONTEXTS),
      .CONTENT_ADDRESSED(1'b0),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .READY_ON_PUSH(1'b1),
      .INDEX_WIDTH(CONTEXT_WIDTH + 1),
      .UNIT_WIDTH($bits(push_unit))
  ) i_hardware_linked_list_queue (
      .clearing(queue_clearing),
      .push(pushes),
      .push_index({1'b0, push_unit.number[CONTEXT_WIDTH-1:0]}),
      .push_unit(push_unit),
      .push_underlying_function(push_unit.underlying_function[FUNCTION_WIDTH-1:0]),
      .pushed(pushed),
      .pushed_result(unused_pushed_result),
      .pushed_list(pushed_list),
      .pushed_entry(unused_pushed_entry),
      .mark_ready(1'b0),
      .mark_not_ready(1'b0),
      .mark_entry('0),
      .marked(unused_marked),
      .marked_result(unused_marked_result),
      .command_ready(unused_command_ready),  // Nothing is reclaimed.
      .command(pop),
      .command_kind(linked_list_queue_pkg::LINKED_LIST_COMMAND_POP),
      .command_list(pop_list),
      .forward(1'b0),
      .answered(popped),
      .answered_forward(unused_answered_forward),
      .answered_kind(unused_kind),
      .answered_result(popped_result),
      .answered_list(popped_list),
      .answered_entry(unused_answered_entry),
      .answered_index(unused_index),
      .answered_unit(popped_unit),
      .reclaim_ready(1'b0),
      .reclaiming(unused_reclaiming),
      .scrub(1'b1),
      .scrubbed(unused_scrubbed),
      .scrubbed_entry(unused_scrubbed_entry),
      .scrubbed_status(unused_scrubbed_status),
      .inject_error(1'b0),
      .inject_error_entry('0),
      .inject_error_bit('0),
      .error_injected(unused_injected),
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
      .shared_entry_credits_held(unused_all_shared_held),
      .*
  );
  logic done_soon;
  logic [CONTEXT_WIDTH-1:0] done_list, done_soon_list;
  logic [$clog2(WAITING):0] done_soon_waiting;
  receive_turns #(
      .LISTS(CONTEXTS),
      .ENTRIES(ENTRIES),
      .EVENTS(WAITING)
  ) i_turns (
      .clearing(turns_clearing),
      .arrived(popped),
      .arrived_list(popped_list),
      .arrived_unit(popped_unit),
      .arrived_corrupted(popped_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED),
      .*
  );

  // Units that wait for a receive work request, by their queue pair; and answers for them.
  logic has_fetched, fetched_flag, takes_fetched, wants;
  logic [$clog2(ASKED):0] fetched_waiting;
  receive_pkg::unit_t unit_5, notice_unit, fetched_unit;
  lut_memory #(
      .WIDTH($bits(unit_5)),
      .SIZE(CONTEXTS)
  ) i_waiting_units (
      .write(wants),
      .write_address(unit_5.number[CONTEXT_WIDTH-1:0]),
      .write_data(unit_5),
      .read_addresses(fetched.queue_pair_number[CONTEXT_WIDTH-1:0]),
      .read_data(notice_unit),
      .*
  );
  always_ff @(posedge clock) fetched_ready <= !reset && 32'(fetched_waiting) + 2 < ASKED;
  unit_queue #(
      .UNIT_WIDTH(1 + $bits(notice_unit)),
      .ENTRIES(ASKED)
  ) i_fetched (
      .push(fetched_valid && fetched_ready),
      .push_unit({fetched.kind == hca_spec_pkg::QUEUE_PAIR_NOTICE_KIND_DESCRIPTOR_TAKEN, notice_unit}),
      .valid(has_fetched),
      .unit({fetched_flag, fetched_unit}),
      .pop(takes_fetched),
      .filling(fetched_waiting),
      .*
  );

  // Duplicate READs and atomics.
  logic searches, searched, searched_allowed, takes_searched, adds;
  logic [$clog2(WAITING):0] searches_waiting;
  logic [3:0] add_slot;
  receive_pkg::search_t search_for;
  receive_pkg::resource_t add_resource;
  receive_pkg::unit_t searched_unit;
  responder_resources #(
      .CONTEXTS(CONTEXTS),
      .SEARCHES(WAITING)
  ) i_responder_resources (
      .add(adds),
      .add_context(unit_5.number[CONTEXT_WIDTH-1:0]),
      .search(searches),
      .searched_taken(takes_searched),
      .*
  );

  // An access to a context is chosen: accesses of units at work go first.
  logic has_access, asks, has_room, can_choose, unused_has_asked;
  logic [$clog2(ASKED):0] asked_waiting;
  logic [$clog2(WAITING):0] accepted_waiting, wanted_waiting, dropped_waiting, events_waiting;
  receive_pkg::access_t access, asked_access;
  assign asks = has_access && read && read_ready;
  assign can_choose = has_room && (!has_access || asks);
  assign takes_fetched = can_choose && has_fetched;
  assign takes_searched = can_choose && !has_fetched && searched;
  assign takes_flush = can_choose && !has_fetched && !searched && flush_is_pinned;
  assign turn_taken = can_choose && !has_fetched && !searched && !flush_is_pinned && turn;
  assign read = has_access;
  assign read_number = access.unit.number;
  always_ff @(posedge clock) begin
    has_room <= !reset && !clearing && 32'(asked_waiting) + 3 < ASKED && 32'(accepted_waiting) + UNDER_WAY < WAITING
        && 32'(wanted_waiting) + UNDER_WAY < WAITING && 32'(dropped_waiting) + UNDER_WAY < WAITING
        && 32'(events_waiting) + UNDER_WAY < WAITING && 32'(searches_waiting) + UNDER_WAY < WAITING
        && 32'(dones_waiting) + UNDER_WAY < WAITING && 32'(done_soon_waiting) + UNDER_WAY < WAITING;
    has_access <= !reset && (takes_fetched || takes_searched || takes_flush || turn_taken || has_access && !asks);
    if (can_choose) begin
      access.kind <= has_fetched ? receive_pkg::ACCESS_FETCHED : searched ? receive_pkg::ACCESS_SEARCHED :
          flush_is_pinned ? receive_pkg::ACCESS_BEGIN : receive_pkg::ACCESS_WORK;
      access.flag <= has_fetched ? fetched_flag : searched_allowed;
      access.unit <= has_fetched ? fetched_unit : searched ? searched_unit : flush_is_pinned ? flush_unit : turn_unit;
    end
  end
  unit_queue #(
      .UNIT_WIDTH($bits(access)),
      .ENTRIES(ASKED)
  ) i_asked (
      .push(asks),
      .push_unit(access),
      .valid(unused_has_asked),
      .unit(asked_access),
      .pop(answer),
      .filling(asked_waiting),
      .*
  );

  // 1: the context, and the facts of the packet.
  logic valid_1, found_1;
  receive_pkg::access_t access_1;
  hca_spec_pkg::queue_pair_control_t control_1;
  hca_spec_pkg::queue_pair_responder_t responder_1;
  list_memory #(
      .WIDTH($bits(facts_1)),
      .SIZE(BUFFERS),
      .BLOCK(1'b1)
  ) i_packets (
      .write(arrives),
      .write_address(arriving_packet),
      .write_data(arriving_facts),
      .read_address(asked_access.unit.packet[PACKET_WIDTH-1:0]),
      .read_data(facts_1),
      .*
  );
  always_ff @(posedge clock) begin
    valid_1 <= !reset && answer;
    found_1 <= answer_found && answer_control.underlying_function == 8'(asked_access.unit.underlying_function);
    access_1 <= asked_access;
    control_1 <= answer_control;
    responder_1 <= answer_responder;
  end

  // 2 to 4: the verdict. 5: its outcome.
  logic valid_4, is_reliable_4, establishes_4, kept_4, takes_4, accepts, drops, drops_packet, establishes, repeats;
  receive_pkg::access_t access_4;
  receive_pkg::facts_t facts_4;
  receive_pkg::verdict_t verdict_4;
  hca_spec_pkg::queue_pair_responder_t responder_4;
  hca_spec_pkg::receive_action_t action;
  receive_pkg::receive_record_t record_5;
  logic [7:0] syndrome_4;
  logic [31:0] arrived_4;
  logic [23:0] packets_less_one_4;
  logic [4:0] resources_4;
  request_checks i_checks (.*);
  request_outcome i_outcome (
      .write(receive_write),
      .responder(receive_responder),
      .unit(unit_5),
      .accept(accepts),
      .record(record_5),
      .want(wants),
      .search(searches),
      .drop(drops),
      .drop_has_packet(drops_packet),
      .begin_flush(begins),
      .establish(establishes),
      .add(adds),
      .*
  );
  assign receive_number = unit_5.number;
  assign ignores = drops && !drops_packet;
  // The next unit of the queue pair asks for the context five clocks later at the earliest: after this one has written it. A packet whose
  // receive work request was fetched never waits again.
  assign done_soon = valid_1 && access_1.kind == receive_pkg::ACCESS_FETCHED && !access_1.unit.is_flush;
  assign done_soon_list = access_1.unit.number[CONTEXT_WIDTH-1:0];
  assign done = valid_4 && !(access_4.kind == receive_pkg::ACCESS_FETCHED && !access_4.unit.is_flush)
      && verdict_4 != receive_pkg::VERDICT_WANT && verdict_4 != receive_pkg::VERDICT_SEARCH
      && verdict_4 != receive_pkg::VERDICT_BEGIN && verdict_4 != receive_pkg::VERDICT_IGNORE;
  assign done_list = access_4.unit.number[CONTEXT_WIDTH-1:0];

  // Out.
  hca_spec_pkg::receive_action_t accepted_action;
  receive_pkg::unit_t accepted_unit;
  logic [3:0] wanted_function, event_function;
  logic [NUMBER_WIDTH-1:0] wanted_number, event_number;
  unit_queue #(
      .UNIT_WIDTH($bits(action) + $bits(unit_5)),
      .ENTRIES(WAITING)
  ) i_accepted (
      .push(accepts),
      .push_unit({action, unit_5}),
      .valid(accepted_valid),
      .unit({accepted_action, accepted_unit}),
      .pop(accepted_valid && accepted_ready),
      .filling(accepted_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(4 + NUMBER_WIDTH),
      .ENTRIES(WAITING)
  ) i_wanted (
      .push(wants),
      .push_unit({unit_5.underlying_function, unit_5.number}),
      .valid(wanted_valid),
      .unit({wanted_function, wanted_number}),
      .pop(wanted_valid && wanted_ready),
      .filling(wanted_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(1 + PACKET_WIDTH + NUMBER_WIDTH),
      .ENTRIES(WAITING)
  ) i_dropped (
      .push(drops),
      .push_unit({drops_packet, unit_5.packet[PACKET_WIDTH-1:0], unit_5.number}),
      .valid(dropped_valid),
      .unit({dropped_has_packet, dropped_packet, dropped_number}),
      .pop(dropped_valid && dropped_ready),
      .filling(dropped_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(4 + NUMBER_WIDTH),
      .ENTRIES(WAITING)
  ) i_events (
      .push(establishes),
      .push_unit({unit_5.underlying_function, unit_5.number}),
      .valid(event_valid),
      .unit({event_function, event_number}),
      .pop(event_valid && event_ready),
      .filling(events_waiting),
      .*
  );
  always_comb begin
    accepted = '0;
    accepted.packet = accepted_unit.is_flush ? '1 : 16'(accepted_unit.packet);
    accepted.action = accepted_action;
    accepted.underlying_function = accepted_unit.underlying_function;
    accepted.queue_pair_number = accepted_unit.number;
    wanted = '0;
    wanted.queue_pair_number = wanted_number;
    wanted.underlying_function = wanted_function;
    wanted.kind = hca_spec_pkg::QUEUE_PAIR_NOTICE_KIND_TAKE_DESCRIPTOR;
    event_unit = '0;
    event_unit.type_ = hca_spec_pkg::EVENT_TYPE_COMMUNICATION_ESTABLISHED;
    event_unit.underlying_function = 8'(event_function);
    event_unit.object = 32'(event_number);
  end
  for (genvar reader = 0; reader < RECORD_READERS; reader++) begin : gen_reader
    list_memory #(
        .WIDTH(receive_pkg::RECEIVE_RECORD_WIDTH),
        .SIZE(BUFFERS),
        .BLOCK(1'b1)
    ) i_records (
        .write(accepts && !unit_5.is_flush),
        .write_address(unit_5.packet[PACKET_WIDTH-1:0]),
        .write_data(record_5),
        .read_address(record_packet[reader*PACKET_WIDTH+:PACKET_WIDTH]),
        .read_data(record[reader*receive_pkg::RECEIVE_RECORD_WIDTH+:receive_pkg::RECEIVE_RECORD_WIDTH]),
        .*
    );
  end
  drop_counts i_counts (
      .clearing(counts_clearing),
      .dropped(drops && drops_packet || repeats),
      .dropped_reason({repeats, unit_5.underlying_function}),
      .count_reason({count_duplicates, count_underlying_function}),
      .*
  );
  logic unused_bits;
  assign unused_bits = &{1'b0, flush, fetched};
endmodule
