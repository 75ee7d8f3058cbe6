// Decides whether a queue pair may execute a command now, as QueuePairFetch of the device model; the only writer of the requester part except for
// built_psn. Commands execute in the order of the send queue, in whatever order they arrive. The block hands an early command back: it is also in
// the send queue, and the scheduler fetches it in its turn (US8589610, send queue scheduler).
//
// A unit of any link enters when no other unit of its queue pair is in flight, so that each reads what the previous one wrote. At most SLOTS units
// are in flight, and stay in order: the block reads the command, then the context, decides in eight clocks, and carries the outcome out.
module queue_pair_fetch #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,  // A power of two: places of numbers.
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned ENTRIES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES * hca_spec_pkg::EXECUTION_CREDITS_PER_LANE
        + hca_spec_pkg::SHARED_EXECUTION_CREDITS,  // Commands that wait: each has an execution credit.
    parameter int unsigned HANDLES = hca_spec_pkg::ADDRESS_HANDLES,
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES),
    localparam int unsigned VECTOR_BITS = hca_spec_pkg::ADDRESS_VECTOR_BYTES * 8
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset, until the memories are empty; nothing enters.

    // Commands of virtual_kick.
    output logic kick_started_credit,  // There is room for two more.
    input logic kick_started,
    input hca_spec_pkg::kick_unit_t kick_started_unit,

    // Notices of collect_buffer and completion, queue pairs that the scheduler has served, and queue pairs that have become RTS.
    input logic post_notice,
    output logic post_notice_ready,
    input hca_spec_pkg::post_notice_t post_notice_unit,
    input logic schedule_done,
    output logic schedule_done_ready,
    input hca_spec_pkg::schedule_done_t schedule_done_unit,
    input logic progress_notice,
    output logic progress_notice_ready,
    input hca_spec_pkg::queue_pair_notice_t progress_notice_unit,
    input logic resume,
    output logic resume_ready,
    input logic [NUMBER_WIDTH-1:0] resume_number,
    input logic [3:0] resume_underlying_function,

    // Command data, in the clock after a read that is taken, as command_stream reads them.
    output logic read_command,
    input logic read_command_ready,
    output logic [PCB_WIDTH-1:0] read_command_physical_collect_buffer,
    output logic [BEATS_WIDTH-1:0] read_command_beat,
    input logic [BEAT_BYTES*8-1:0] read_command_data,

    // A reader and a writer of queue_pair_contexts, its failures, and pins of queue_pair_directory.
    output logic read,
    input logic read_ready,
    output logic [NUMBER_WIDTH-1:0] read_number,
    input logic answer,
    input logic answer_found,
    input hca_spec_pkg::queue_pair_control_t answer_control,
    input hca_spec_pkg::queue_pair_requester_t answer_requester,
    input hca_spec_pkg::queue_pair_completion_t answer_completion,
    output logic fetch_write,
    output logic [NUMBER_WIDTH-1:0] fetch_number,
    output hca_spec_pkg::queue_pair_requester_t fetch_requester,
    output logic fail,
    input logic fail_ready,
    output logic [NUMBER_WIDTH-1:0] fail_number,
    output logic [7:0] fail_underlying_function,
    output logic fail_enters_error,
    output logic fail_flushes,
    input logic failed,
    output logic pin,
    input logic pin_ready,
    output logic [NUMBER_WIDTH-1:0] pin_number,
    input logic pinned,
    input logic pinned_done,
    output logic unpin,
    output logic [NUMBER_WIDTH-1:0] unpin_number,

    // Commands to dma, queue pairs to send_queue_scheduler, the credits and PCB of a command that is not executed to virtual_kick and
    // collect_buffer, and events.
    output logic execution_valid,
    input logic execution_ready,
    output hca_spec_pkg::kick_unit_t execution_unit,
    output logic schedule_request_valid,
    input logic schedule_request_ready,
    output hca_spec_pkg::schedule_request_t schedule_request_unit,
    output logic finish_handed_back_valid,
    input logic finish_handed_back_ready,
    output hca_spec_pkg::finish_unit_t finish_handed_back_unit,
    output logic release_buffer,
    output logic [7:0] release_physical_collect_buffer,
    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit,

    // A queue pair retries: packet_builder, which owns the field, sets built_psn to this PSN.
    output logic rewind_valid,
    input logic rewind_ready,
    output logic [NUMBER_WIDTH-1:0] rewind_number,
    output logic [23:0] rewind_psn,

    // The plan of a PCB's command, after dma got the command; for dma and packet_builder, in the next clock.
    input logic [PCB_WIDTH-1:0] dma_physical_collect_buffer,
    output execution_plan_pkg::execution_plan_t dma_plan,
    input logic [PCB_WIDTH-1:0] builder_physical_collect_buffer,
    output execution_plan_pkg::execution_plan_t builder_plan,

    // The control port: address handles; the functions whose kick records are on, and the clock tick.
    input logic handle_write,
    input logic [31:0] handle_number,
    input logic handle_valid,
    input logic [3:0] handle_underlying_function,
    input logic [23:0] handle_protection_domain,
    input logic [VECTOR_BITS-1:0] handle_address_vector,
    input logic [UNDERLYING_FUNCTIONS-1:0] records_on,
    input logic [63:0] now,

    // Whether a command of a queue pair, or of another one with its place, waits here; a clock later.
    input logic [NUMBER_WIDTH-1:0] look_number,
    output logic has_commands,

    // A unit enters. A count of a function. A command was lost to an uncorrectable bit error.
    output logic entering,
    output queue_pair_fetch_pkg::fetch_unit_kind_t entering_kind,
    output logic [3:0] counted_underlying_function,
    output logic counted_stale,
    output logic counted_handed_back,
    output logic counted_refused,
    output logic counted_checksum_mismatch,
    output logic [2:0] counted_hold,  // send_hold_t, or none.
    output logic command_corrupted,
    output logic [CONTEXT_WIDTH-1:0] command_corrupted_context
);
  if (CONTEXTS < 8 || CONTEXTS != 1 << CONTEXT_WIDTH || CONTEXTS > 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS) begin : gen_check
    $error("CONTEXTS has to be a power of two, 8 at least, and within the index of a number");
  end
  localparam int unsigned SLOTS = 16;  // Units in flight.
  localparam int unsigned SLOT_WIDTH = $clog2(SLOTS);
  localparam int unsigned KINDS = queue_pair_fetch_pkg::FETCH_UNIT_KINDS;
  localparam int unsigned UNIT_WIDTH = queue_pair_fetch_pkg::FETCH_UNIT_WIDTH;
  localparam int unsigned ROOM = 16;  // Of a link.

  // Units of each link wait.
  logic lists_clearing, facts_clearing, places_clearing;
  logic [KINDS-1:0] has_unit, takes;
  logic [KINDS*UNIT_WIDTH-1:0] units;
  hca_spec_pkg::kick_unit_t done_kick, progress_kick, notice_kick, resumed_kick, command_kick;
  logic stops;
  logic [7:0] refusal;
  hca_spec_pkg::schedule_done_t done;
  hca_spec_pkg::queue_pair_notice_t progress;
  hca_spec_pkg::post_notice_t notice;
  logic [NUMBER_WIDTH-1:0] resumed_number;
  logic [3:0] resumed_function;
  logic [$clog2(ROOM):0] dones, progresses, notices, resumes;
  logic unused_bits;
  assign unused_bits = &{1'b0, done, progress, notice, look_number};
  assign clearing = lists_clearing || facts_clearing || places_clearing;
  unit_queue #(
      .UNIT_WIDTH($bits(done)),
      .ENTRIES(ROOM)
  ) i_dones (
      .push(schedule_done && schedule_done_ready),
      .push_unit(schedule_done_unit),
      .valid(has_unit[queue_pair_fetch_pkg::FETCH_UNIT_SCHEDULE_DONE]),
      .unit(done),
      .pop(takes[queue_pair_fetch_pkg::FETCH_UNIT_SCHEDULE_DONE]),
      .filling(dones),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH($bits(progress)),
      .ENTRIES(ROOM)
  ) i_progresses (
      .push(progress_notice && progress_notice_ready),
      .push_unit(progress_notice_unit),
      .valid(has_unit[queue_pair_fetch_pkg::FETCH_UNIT_PROGRESS_NOTICE]),
      .unit(progress),
      .pop(takes[queue_pair_fetch_pkg::FETCH_UNIT_PROGRESS_NOTICE]),
      .filling(progresses),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH($bits(notice)),
      .ENTRIES(ROOM)
  ) i_notices (
      .push(post_notice && post_notice_ready),
      .push_unit(post_notice_unit),
      .valid(has_unit[queue_pair_fetch_pkg::FETCH_UNIT_POST_NOTICE]),
      .unit(notice),
      .pop(takes[queue_pair_fetch_pkg::FETCH_UNIT_POST_NOTICE]),
      .filling(notices),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(NUMBER_WIDTH + 4),
      .ENTRIES(ROOM)
  ) i_resumes (
      .push(resume && resume_ready),
      .push_unit({resume_number, resume_underlying_function}),
      .valid(has_unit[queue_pair_fetch_pkg::FETCH_UNIT_RESUME]),
      .unit({resumed_number, resumed_function}),
      .pop(takes[queue_pair_fetch_pkg::FETCH_UNIT_RESUME]),
      .filling(resumes),
      .*
  );
  waiting_commands #(
      .ENTRIES(ENTRIES),
      .CONTEXTS(CONTEXTS)
  ) i_waiting_commands (
      .clearing(lists_clearing),
      .valid(has_unit[queue_pair_fetch_pkg::FETCH_UNIT_COMMAND]),
      .unit(command_kick),
      .pop(takes[queue_pair_fetch_pkg::FETCH_UNIT_COMMAND]),
      .corrupted(command_corrupted),
      .corrupted_context(command_corrupted_context),
      .*
  );
  always_ff @(posedge clock) begin
    schedule_done_ready <= !reset && !clearing && 32'(dones) + 2 < ROOM;
    progress_notice_ready <= !reset && !clearing && 32'(progresses) + 2 < ROOM;
    post_notice_ready <= !reset && !clearing && 32'(notices) + 2 < ROOM;
    resume_ready <= !reset && !clearing && 32'(resumes) + 2 < ROOM;
  end
  always_comb begin
    done_kick = '0;
    done_kick.queue_pair_number = done.queue_pair_number;
    done_kick.underlying_function = done.underlying_function;
    done_kick.send_queue_sequence_number = done.fetch_next;
    progress_kick = '0;
    progress_kick.queue_pair_number = progress.queue_pair_number;
    progress_kick.underlying_function = progress.underlying_function;
    notice_kick = '0;
    notice_kick.queue_pair_number = notice.queue_pair_number;
    notice_kick.underlying_function = notice.underlying_function;
    notice_kick.send_queue_sequence_number = notice.send_queue_sequence_number;
    resumed_kick = '0;
    resumed_kick.queue_pair_number = resumed_number;
    resumed_kick.underlying_function = resumed_function;
  end
  assign stops = notice.slot == 2'(hca_spec_pkg::DOORBELL_SLOT_STOP);
  assign refusal = done.refusal;
  assign units = {
    {queue_pair_fetch_pkg::FETCH_UNIT_COMMAND, 1'b0, 8'd0, command_kick},
    {queue_pair_fetch_pkg::FETCH_UNIT_RESUME, 1'b0, 8'd0, resumed_kick},
    {queue_pair_fetch_pkg::FETCH_UNIT_POST_NOTICE, stops, 8'd0, notice_kick},
    {queue_pair_fetch_pkg::FETCH_UNIT_PROGRESS_NOTICE, 1'b0, 8'd0, progress_kick},
    {queue_pair_fetch_pkg::FETCH_UNIT_SCHEDULE_DONE, 1'b0, refusal, done_kick}
  };

  // Units whose place has no unit in flight: one of them enters in the next clock.
  logic [SLOT_WIDTH:0] slot_in, slot_read, slot_known, slot_asked, slot_answered, slot_out;
  logic [SLOTS-1:0] is_under_way;
  logic [SLOTS*CONTEXT_WIDTH-1:0] places;
  logic [KINDS-1:0] may_enter, is_busy;
  logic [2:0] chosen, last_chosen;
  logic enters, goes;
  queue_pair_fetch_pkg::fetch_unit_t entered_unit;
  queue_pair_fetch_pkg::fetch_outcome_t outcome;
  hca_spec_pkg::kick_unit_t entered_kick, kick;
  hca_spec_pkg::queue_pair_requester_t requester;
  assign entered_kick = entered_unit.kick;
  assign kick = outcome.kick;
  assign requester = outcome.requester;
  for (genvar kind = 0; kind < KINDS; kind++) begin : gen_kind
    logic [SLOTS-1:0] same;
    logic [CONTEXT_WIDTH-1:0] place;
    assign place = units[kind*UNIT_WIDTH+hca_spec_pkg::KICK_UNIT_QUEUE_PAIR_NUMBER_LSB+:CONTEXT_WIDTH];
    for (genvar slot = 0; slot < SLOTS; slot++) begin : gen_slot
      assign same[slot] = is_under_way[slot] && places[slot*CONTEXT_WIDTH+:CONTEXT_WIDTH] == place;
    end
    assign is_busy[kind] = same != '0;
    assign takes[kind] = enters && chosen == 3'(kind);
  end
  // The first link after the one chosen last, or the first of all. They are few, so that look-up tables are faster than a carry chain.
  always_comb begin
    chosen = '0;
    for (int unsigned kind = KINDS; kind != 0; kind--) if (may_enter[kind-1]) chosen = 3'(kind - 1);
    for (int unsigned kind = KINDS; kind != 0; kind--)
      if (may_enter[kind-1] && 3'(kind - 1) > last_chosen) chosen = 3'(kind - 1);
  end
  assign enters = may_enter != '0;
  always_comb begin
    entered_unit = '0;
    for (int unsigned kind = 0; kind < KINDS; kind++)
      if (chosen == 3'(kind)) entered_unit = entered_unit | units[kind*UNIT_WIDTH+:UNIT_WIDTH];
  end
  always_ff @(posedge clock) begin
    may_enter <= reset || enters || slot_in - slot_out == (SLOT_WIDTH + 1)'(SLOTS) ? '0 : has_unit & ~is_busy;
    if (reset) last_chosen <= '0;
    else if (enters) last_chosen <= chosen;
    entering <= !reset && enters;
    entering_kind <= entered_unit.kind;
    for (int unsigned slot = 0; slot < SLOTS; slot++) begin
      if (reset || goes && slot_out[SLOT_WIDTH-1:0] == SLOT_WIDTH'(slot)) is_under_way[slot] <= 1'b0;
      if (!reset && enters && slot_in[SLOT_WIDTH-1:0] == SLOT_WIDTH'(slot)) begin
        is_under_way[slot] <= 1'b1;
        places[slot*CONTEXT_WIDTH+:CONTEXT_WIDTH] <= entered_kick.queue_pair_number[CONTEXT_WIDTH-1:0];
      end
    end
  end

  // Next the block reads the unit's command, reads its context, decides, and carries the outcome out: each in the order of slots.
  queue_pair_fetch_pkg::fetch_unit_t read_unit, asked_unit, decided_unit;
  hca_spec_pkg::kick_unit_t read_kick, asked_kick;
  queue_pair_fetch_pkg::command_facts_t facts, known_facts;
  logic takes_unit, has_facts, has_destination, decided;
  logic [PCB_WIDTH-1:0] destination_physical_collect_buffer;
  hca_spec_pkg::address_vector_t destination;
  queue_pair_fetch_pkg::fetch_outcome_t decided_outcome;
  logic unused_units;
  assign unused_units = &{1'b0, read_unit, asked_unit, asked_kick, entered_kick, kick, requester, outcome};
  assign read_kick = read_unit.kick;
  assign asked_kick = asked_unit.kick;
  lut_memory #(
      .WIDTH(UNIT_WIDTH),
      .SIZE(SLOTS),
      .READERS(3)
  ) i_units (
      .write(enters),
      .write_address(slot_in[SLOT_WIDTH-1:0]),
      .write_data(entered_unit),
      .read_addresses({slot_answered[SLOT_WIDTH-1:0], slot_asked[SLOT_WIDTH-1:0], slot_read[SLOT_WIDTH-1:0]}),
      .read_data({decided_unit, asked_unit, read_unit}),
      .*
  );
  always_ff @(posedge clock) begin
    if (reset) begin
      slot_in <= '0;
      slot_read <= '0;
      slot_known <= '0;
      slot_asked <= '0;
      slot_answered <= '0;
      slot_out <= '0;
    end else begin
      slot_in <= slot_in + (SLOT_WIDTH + 1)'(enters);
      slot_read <= slot_read + (SLOT_WIDTH + 1)'(takes_unit);
      slot_known <= slot_known + (SLOT_WIDTH + 1)'(has_facts);
      slot_asked <= slot_asked + (SLOT_WIDTH + 1)'(read && read_ready);
      slot_answered <= slot_answered + (SLOT_WIDTH + 1)'(answer);
      slot_out <= slot_out + (SLOT_WIDTH + 1)'(goes);
    end
  end
  command_facts #(
      .BEAT_BYTES(BEAT_BYTES),
      .PCB_WIDTH(PCB_WIDTH),
      .HANDLES(HANDLES)
  ) i_command_facts (
      .clearing(facts_clearing),
      .has_unit(slot_in != slot_read),
      .unit_has_buffer(read_unit.kind == queue_pair_fetch_pkg::FETCH_UNIT_COMMAND &&
          read_kick.origin != hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE),
      .unit(read_kick),
      .*
  );
  lut_memory #(
      .WIDTH($bits(facts)),
      .SIZE(SLOTS)
  ) i_facts (
      .write(has_facts),
      .write_address(slot_known[SLOT_WIDTH-1:0]),
      .write_data(facts),
      .read_addresses(slot_answered[SLOT_WIDTH-1:0]),
      .read_data(known_facts),
      .*
  );
  assign read = slot_known != slot_asked;
  assign read_number = asked_kick.queue_pair_number;
  send_decision i_send_decision (
      .unit(decided_unit),
      .facts(known_facts),
      .outcome(decided_outcome),
      .*
  );
  send_outcomes #(
      .ENTRIES(SLOTS)
  ) i_send_outcomes (.*);

  // Plans by PCB.
  localparam int unsigned PLAN_WIDTH = execution_plan_pkg::EXECUTION_PLAN_WIDTH - VECTOR_BITS;
  logic [2*PLAN_WIDTH-1:0] plans;
  logic [2*VECTOR_BITS-1:0] destinations;
  logic [2*PCB_WIDTH-1:0] buffers;
  logic [63:0] begun;
  logic [PLAN_WIDTH-1:0] plan;
  logic has_records;
  always_comb begin
    has_records = 1'b0;
    for (int unsigned each = 0; each < UNDERLYING_FUNCTIONS; each++)
      if (kick.underlying_function == 4'(each)) has_records = records_on[each];
  end
  assign begun = has_records ? now : '0;
  assign plan = {begun, requester.retry_epoch, outcome.next_packet, outcome.first_psn, outcome.packets, outcome.message_length};
  assign buffers = {builder_physical_collect_buffer, dma_physical_collect_buffer};
  assign dma_plan = {destinations[0+:VECTOR_BITS], plans[0+:PLAN_WIDTH]};
  assign builder_plan = {destinations[VECTOR_BITS+:VECTOR_BITS], plans[PLAN_WIDTH+:PLAN_WIDTH]};
  for (genvar reader = 0; reader < 2; reader++) begin : gen_reader
    list_memory #(
        .WIDTH(PLAN_WIDTH),
        .SIZE(BUFFERS),
        .BLOCK(1'b1)
    ) i_plans (
        .write(goes && outcome.executes),
        .write_address(kick.physical_collect_buffer[PCB_WIDTH-1:0]),
        .write_data(plan),
        .read_address(buffers[reader*PCB_WIDTH+:PCB_WIDTH]),
        .read_data(plans[reader*PLAN_WIDTH+:PLAN_WIDTH]),
        .*
    );
    list_memory #(
        .WIDTH(VECTOR_BITS),
        .SIZE(BUFFERS),
        .BLOCK(1'b1)
    ) i_destinations (
        .write(has_destination),
        .write_address(destination_physical_collect_buffer),
        .write_data(destination),
        .read_address(buffers[reader*PCB_WIDTH+:PCB_WIDTH]),
        .read_data(destinations[reader*VECTOR_BITS+:VECTOR_BITS]),
        .*
    );
  end

  commands_of_places #(
      .CONTEXTS(CONTEXTS),
      .COUNT_WIDTH($clog2(ENTRIES + 32 + 1))
  ) i_commands_of_places (
      .clearing(places_clearing),
      .come(kick_started),
      .come_place(kick_started_unit.queue_pair_number[CONTEXT_WIDTH-1:0]),
      .leave(goes && outcome.kind == queue_pair_fetch_pkg::FETCH_UNIT_COMMAND),
      .leave_place(kick.queue_pair_number[CONTEXT_WIDTH-1:0]),
      .look_place(look_number[CONTEXT_WIDTH-1:0]),
      .*
  );
endmodule
