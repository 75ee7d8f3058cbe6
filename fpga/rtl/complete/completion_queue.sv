// The completion queues of all functions. The block writes the entries of a queue to a circular buffer in host memory; a full queue fails, an
// armed queue raises an event. An access to a queue takes its row through seven stages: the next access to the same queue waits for it, an
// access to another queue follows after two clocks. The block answers accesses in the order in which they take effect, after the entries
// before them have been written.
//
// An entry whose queue is nearly full waits until the block has read the host's head, as do later entries of that queue; others overtake it.
module completion_queue #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned QUEUES = 4096,  // Numbers, of which 0 is unused. A power of two, at least 8.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned USER_WIDTH = 16,
    parameter int unsigned ENTRIES = 64,  // Maximum in flight. A power of two, at least 16.
    parameter int unsigned WAITING = 16,  // Maximum that wait for a head. 16 or 32.
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,  // Only while idle, except for the first.
    output logic clearing,  // After a reset, until all queues are removed; the block accepts no access.
    output logic idle,  // No access is in flight.
    input logic [63:0] now,

    // An entry; the block adds phase, sequence and time stamp.
    input logic write,
    output logic write_ready,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [NUMBER_WIDTH-1:0] write_number,
    input hca_spec_pkg::completion_queue_entry_t write_entry,
    input logic [USER_WIDTH-1:0] write_user,  // Returned in the answer.

    // A function's write to completion_queue_arm.
    input logic arm,
    output logic arm_ready,
    input logic [FUNCTION_WIDTH-1:0] arm_underlying_function,
    input hca_spec_pkg::underlying_function_completion_queue_arm_t arm_request,

    // A command of the control port, one at a time: create a queue with an unused number; resize (page_table, entries_log2); moderate
    // (moderation_count, moderation_ticks; if one is 0, the first entry raises the event); destroy a queue without waiting entries. Without
    // any of these flags: look.
    input logic control,
    output logic control_ready,
    input logic control_create,
    input logic control_resize,
    input logic control_moderate,
    input logic control_destroy,
    input logic [NUMBER_WIDTH-1:0] control_number,
    input logic [FUNCTION_WIDTH-1:0] control_underlying_function,
    input logic [7:0] control_event_queue,
    input logic [3:0] control_entries_log2,
    input logic [31:0] control_page_table,
    input logic [63:0] control_head_address,
    input logic [47:0] control_user_handle,
    input logic [15:0] control_moderation_count,
    input logic [31:0] control_moderation_ticks,  // Less than 2^31.

    // Answers. Not done: the function has no such queue, or the queue of an entry has failed. answered_status gives a command's reason.
    output logic answered,
    output logic [1:0] answered_kind,  // An answer_kind_t.
    output logic answered_done,
    output logic [USER_WIDTH-1:0] answered_user,  // Only for an entry.
    output logic answered_waited,  // The entry waited until the block had read the host's head.
    output logic [NUMBER_WIDTH-1:0] answered_number,
    output logic [FUNCTION_WIDTH-1:0] answered_underlying_function,
    output logic [7:0] answered_status,  // For a command, a management_status_t.
    output logic [31:0] answered_tail,
    output logic answered_in_error,

    // Events, each before the answer to the access that raised it.
    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit,
    // A queue has failed; its queue pairs must fail too.
    output logic failed,
    output logic [NUMBER_WIDTH-1:0] failed_number,
    output logic [FUNCTION_WIDTH-1:0] failed_underlying_function,

    // Requests for the DMA address of a table's page; answers in order, only if the page is mapped.
    output logic translate,
    input logic translate_ready,
    output logic [31:0] translate_page_table,
    output logic [8:0] translate_page,
    input logic translated,
    input logic translated_done,
    input logic [51:0] translated_page,

    // Reads of the host's head, 8 B, through a burst_reader; answers in order.
    output logic read,
    input logic read_ready,
    output logic [FUNCTION_WIDTH-1:0] read_underlying_function,
    output logic [63:0] read_address,
    input logic read_answer,
    input logic read_answer_failed,
    input hca_spec_pkg::ring_head_t read_answer_head,

    // Writes through a burst_writer, which answers in order: a piece, and its beats.
    output logic piece,
    input logic piece_ready,
    output logic [FUNCTION_WIDTH-1:0] piece_underlying_function,
    output logic [63:0] piece_address,  // A piece has 64 B.
    output logic data_valid,
    input logic data_ready,
    output logic [BEAT_BYTES*8-1:0] data,
    input logic piece_answer,
    input logic piece_answer_failed
);
  if (QUEUES < 8 || QUEUES != 1 << $clog2(QUEUES) || QUEUES > 1 << NUMBER_WIDTH || ENTRIES < 16 || ENTRIES != 1 << $clog2(ENTRIES)
      || WAITING < 16 || WAITING > 32 || WAITING != 1 << $clog2(WAITING)) begin : gen_check
    $error("QUEUES, ENTRIES and WAITING have to be powers of two, 8, 16 and 16 at least; WAITING 32 at most");
  end
  localparam int unsigned INDEX_WIDTH = $clog2(QUEUES);
  localparam int unsigned SLOT_WIDTH = $clog2(ENTRIES);
  localparam int unsigned SWEEP_WIDTH = (INDEX_WIDTH > SLOT_WIDTH ? INDEX_WIDTH : SLOT_WIDTH) + 1;
  localparam int unsigned COMMANDS = 8;
  localparam int unsigned IN_STAGES = 8;  // Limit of accesses in the stages, with a margin for their outcomes.

  // An access that waits for a head.
  typedef struct packed {
    logic is_control;
    logic is_solicited;
    logic [NUMBER_WIDTH-1:0] number;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
    logic [SLOT_WIDTH-1:0] slot;
    logic [USER_WIDTH-1:0] user;
  } waiting_t;

  // After a reset the block clears all rows and slots.
  logic [SWEEP_WIDTH-1:0] swept;
  logic [INDEX_WIDTH-1:0] looked;  // The queue whose moderation period is checked next.
  logic valid_0, valid_1, valid_2, valid_3, valid_4, valid_5, valid_6;
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      swept <= '0;
    end else if (clearing) begin
      clearing <= 32'(swept) < QUEUES || 32'(swept) < ENTRIES;
      swept <= swept + SWEEP_WIDTH'(1);
    end
  end

  // Entries wait in slots; armings and commands wait here.
  logic has_slot, takes_write, takes_arm, takes_control, has_write, has_arm, has_control, frees, under_control, ends_control;
  logic [SLOT_WIDTH-1:0] slot, freed_slot, next_slot;
  logic [SLOT_WIDTH:0] slots_free;
  logic [$clog2(COMMANDS):0] writes_waiting, arms_waiting;
  logic next_is_solicited;
  logic [NUMBER_WIDTH-1:0] next_number;
  logic [FUNCTION_WIDTH-1:0] next_function, next_arm_function;
  logic [USER_WIDTH-1:0] next_user;
  hca_spec_pkg::underlying_function_completion_queue_arm_t next_arm;
  logic write_has_slots;
  free_entries #(
      .ENTRIES(ENTRIES)
  ) i_slots (
      .sweep(clearing && 32'(swept) < ENTRIES),
      .sweep_entry(swept[SLOT_WIDTH-1:0]),
      .available(has_slot),
      .entry(slot),
      .take(write && write_ready),
      .give_back(frees),
      .give_back_entry(freed_slot),
      .entries_free(slots_free),
      .*
  );
  assign write_ready = write_has_slots && has_slot;
  unit_queue #(
      .UNIT_WIDTH(1 + NUMBER_WIDTH + FUNCTION_WIDTH + SLOT_WIDTH + USER_WIDTH),
      .ENTRIES(COMMANDS)
  ) i_writes (
      .push(write && write_ready),
      .push_unit({write_entry.solicited || write_entry.status != hca_spec_pkg::COMPLETION_STATUS_SUCCESS, write_number, write_underlying_function, slot,
          write_user}),
      .valid(has_write),
      .unit({next_is_solicited, next_number, next_function, next_slot, next_user}),
      .pop(takes_write),
      .filling(writes_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH($bits(arm_request) + FUNCTION_WIDTH),
      .ENTRIES(COMMANDS)
  ) i_arms (
      .push(arm && arm_ready),
      .push_unit({arm_request, arm_underlying_function}),
      .valid(has_arm),
      .unit({next_arm, next_arm_function}),
      .pop(takes_arm),
      .filling(arms_waiting),
      .*
  );
  completion_queue_pkg::command_t command;
  always_ff @(posedge clock) begin
    write_has_slots <= !reset && !clearing && 32'(slots_free) > 4 && 32'(writes_waiting) + 2 < COMMANDS;
    arm_ready <= !reset && !clearing && 32'(arms_waiting) + 2 < COMMANDS;
    control_ready <= !reset && !clearing && !under_control && !(control && control_ready);
    under_control <= !reset && (control && control_ready || under_control && !ends_control);
    has_control <= !reset && (control && control_ready || has_control && !takes_control);
    if (control && control_ready) begin
      command.creates <= control_create;
      command.resizes <= control_resize;
      command.moderates <= control_moderate;
      command.destroys <= control_destroy;
      command.number <= control_number;
      command.underlying_function <= 8'(control_underlying_function);
      command.event_queue <= control_event_queue;
      command.entries_log2 <= control_entries_log2;
      command.entries <= 17'd1 << control_entries_log2;
      command.page_table <= control_page_table;
      command.head_address <= control_head_address;
      command.user_handle <= control_user_handle;
      command.moderation_count <= control_moderation_ticks == '0 ? 16'd0 : control_moderation_count;
      command.moderation_ticks <= control_moderation_ticks;
    end
  end

  // Entries that wait for the host's head, and the heads read. A resize waits until no access is in flight, so that earlier entries are in the old
  // pages.
  logic waits, asks, is_waiting, has_asked, has_head, is_drained, holds, takes_again, again_unreadable;
  logic [31:0] again_head, unused_reserved;
  logic [$clog2(WAITING):0] waiting, unused_asked, unused_heads;
  logic [$clog2(ENTRIES):0] left;  // Outcomes not answered yet.
  logic has_room, has_waiting_room, ends_idle, is_busy, is_settled, is_answered_6;
  logic [FUNCTION_WIDTH-1:0] asked_function;
  logic [63:0] asked_address;
  waiting_t wait_unit, again;
  unit_queue #(
      .UNIT_WIDTH($bits(wait_unit)),
      .ENTRIES(WAITING)
  ) i_waiting (
      .push(waits),
      .push_unit(wait_unit),
      .valid(is_waiting),
      .unit(again),
      .pop(takes_again),
      .filling(waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(FUNCTION_WIDTH + 64),
      .ENTRIES(WAITING)
  ) i_asked (
      .push(waits),
      .push_unit({asked_function, asked_address}),
      .valid(has_asked),
      .unit({read_underlying_function, read_address}),
      .pop(asks),
      .filling(unused_asked),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(33),
      .ENTRIES(WAITING)
  ) i_heads (
      .push(read_answer),
      .push_unit({read_answer_failed, read_answer_head.head}),
      .valid(has_head),
      .unit({again_unreadable, again_head}),
      .pop(takes_again),
      .filling(unused_heads),
      .*
  );
  assign unused_reserved = read_answer_head.reserved_1;
  assign read = has_asked;
  assign asks = read && read_ready;
  assign holds = has_head && again.is_control;
  assign idle = is_settled && !has_write && !has_arm && !under_control;
  always_ff @(posedge clock) begin
    has_room <= !reset && 32'(left) + IN_STAGES < ENTRIES;
    has_waiting_room <= !reset && 32'(waiting) + IN_STAGES < WAITING;
    is_settled <= !reset && !clearing && left == '0 && ends_idle && !has_write && !has_arm && !under_control && !is_waiting && !is_busy;
    is_drained <= left == '0 && ends_idle && !(valid_0 || valid_1 || valid_2 || valid_3 || valid_4 || valid_5 || valid_6);
  end

  // 0: select one access when the previous one has advanced. After each entry, one access of another kind may follow.
  logic fails, takes_fail, was_write, goes, is_met;
  logic [NUMBER_WIDTH-1:0] failing_number;
  logic [31:0] failing_tail;
  completion_queue_pkg::access_t access, access_0, access_1, access_2, access_3, access_4, access_5;
  logic [SLOT_WIDTH-1:0] access_slot, slot_0, slot_1, slot_2, slot_3, slot_4, slot_5;
  logic [USER_WIDTH-1:0] access_user, user_0, user_1, user_2, user_3, user_4, user_5;
  logic offers_write, offers_arm, offers_control;
  assign offers_write = has_write && has_room && has_waiting_room && !holds;
  assign offers_arm = has_arm && has_room && !holds;
  assign offers_control = has_control && has_room && has_waiting_room && !holds;
  assign takes_fail = fails && !valid_0;
  assign takes_again = has_head && !fails && !valid_0 && (holds ? is_drained : has_room);
  always_comb begin
    access = '0;
    access_slot = '0;
    access_user = '0;
    access.kind = completion_queue_pkg::ACCESS_SWEEP;
    access.number = NUMBER_WIDTH'(looked);
    {takes_write, takes_arm, takes_control} = '0;
    if (fails) begin
      access.kind = completion_queue_pkg::ACCESS_FAIL;
      access.number = failing_number;
      access.head = failing_tail;
    end else if (has_head) begin
      access.kind = again.is_control ? completion_queue_pkg::ACCESS_CONTROL : completion_queue_pkg::ACCESS_WRITE;
      access.is_again = 1'b1;
      access.is_unreadable = again_unreadable;
      access.is_solicited = again.is_solicited;
      access.head = again_head;
      access.number = again.number;
      access.underlying_function = 8'(again.underlying_function);
      access_slot = again.slot;
      access_user = again.user;
    end else if (offers_write && !was_write) begin
      access.kind = completion_queue_pkg::ACCESS_WRITE;
      access.is_solicited = next_is_solicited;
      access.number = next_number;
      access.underlying_function = 8'(next_function);
      access_slot = next_slot;
      access_user = next_user;
      takes_write = !valid_0;
    end else if (offers_arm) begin
      access.kind = completion_queue_pkg::ACCESS_ARM;
      access.is_solicited = next_arm.solicited;
      access.arm_sequence = next_arm.arm_sequence;
      access.head = next_arm.head;
      access.number = next_arm.completion_queue;
      access.underlying_function = 8'(next_arm_function);
      takes_arm = !valid_0;
    end else if (offers_control) begin
      access.kind = completion_queue_pkg::ACCESS_CONTROL;
      access.number = command.number;
      access.underlying_function = command.underlying_function;
      takes_control = !valid_0;
    end
  end
  logic looks;
  assign looks = !valid_0 && !fails && !has_head && !takes_write && !takes_arm && !takes_control && has_room;
  always_ff @(posedge clock) begin
    if (reset || clearing) begin
      valid_0 <= 1'b0;
      looked <= '0;
      was_write <= 1'b0;
    end else begin
      valid_0 <= valid_0 ? !goes : takes_fail || takes_again || takes_write || takes_arm || takes_control || looks;
      looked <= looked + INDEX_WIDTH'(looks);
      if (!valid_0) was_write <= takes_write;
    end
    if (!valid_0) {access_0, slot_0, user_0} <= {access, access_slot, access_user};
  end

  // 1: address the row, once no other access to it is in the stages. 2: read the row.
  logic [INDEX_WIDTH-1:0] index_0, index_1, index_2, index_3, index_4, index_5, index_6;
  completion_queue_pkg::row_t row_read, row_3, row_4, row_5, row_6, next;
  logic writes, writes_6;
  assign index_0 = access_0.number[INDEX_WIDTH-1:0];
  assign index_1 = access_1.number[INDEX_WIDTH-1:0];
  assign index_2 = access_2.number[INDEX_WIDTH-1:0];
  assign index_3 = access_3.number[INDEX_WIDTH-1:0];
  assign index_4 = access_4.number[INDEX_WIDTH-1:0];
  assign index_5 = access_5.number[INDEX_WIDTH-1:0];
  assign is_met = valid_1 && index_1 == index_0 || valid_2 && index_2 == index_0 || valid_3 && index_3 == index_0
      || valid_4 && index_4 == index_0 || valid_5 && index_5 == index_0 || valid_6 && index_6 == index_0;
  assign goes = valid_0 && !is_met;
  list_memory #(
      .WIDTH($bits(row_read)),
      .SIZE(QUEUES),
      .BLOCK(1'b1)
  ) i_rows (
      .write(clearing || writes_6),
      .write_address(clearing ? swept[INDEX_WIDTH-1:0] : index_6),
      .write_data(clearing ? '0 : row_6),
      .read_address(index_1),
      .read_data(row_read),
      .*
  );
  always_ff @(posedge clock) begin
    valid_1 <= !reset && goes;
    valid_2 <= !reset && valid_1;
    valid_3 <= !reset && valid_2;
    valid_4 <= !reset && valid_3;
    valid_5 <= !reset && valid_4;
    valid_6 <= !reset && valid_5;
    {access_1, slot_1, user_1} <= {access_0, slot_0, user_0};
    {access_2, slot_2, user_2} <= {access_1, slot_1, user_1};
    {access_3, slot_3, user_3} <= {access_2, slot_2, user_2};
    {access_4, slot_4, user_4} <= {access_3, slot_3, user_3};
    {access_5, slot_5, user_5} <= {access_4, slot_4, user_4};
    row_3 <= row_read;
    row_4 <= row_3;
    row_5 <= row_4;
  end

  // Sweeps do not count.
  assign is_busy = valid_0 && access_0.kind != completion_queue_pkg::ACCESS_SWEEP || valid_1 && access_1.kind != completion_queue_pkg::ACCESS_SWEEP
      || valid_2 && access_2.kind != completion_queue_pkg::ACCESS_SWEEP || valid_3 && access_3.kind != completion_queue_pkg::ACCESS_SWEEP
      || valid_4 && access_4.kind != completion_queue_pkg::ACCESS_SWEEP || valid_5 && access_5.kind != completion_queue_pkg::ACCESS_SWEEP
      || is_answered_6 || waits;

  // 3 to 5: decide.
  logic is_answered, waits_5, written;
  completion_queue_pkg::outcome_t outcome;
  completion_queue_pkg::place_t place;
  completion_queue_decision #(
      .QUEUES(QUEUES)
  ) i_decision (
      .waits(waits_5),
      .*
  );

  // 6: write the row and forward the outcome.
  logic written_6, drops_6;
  logic [SLOT_WIDTH-1:0] slot_6;
  logic [USER_WIDTH-1:0] user_6;
  completion_queue_pkg::outcome_t outcome_6;
  completion_queue_pkg::place_t place_6;
  assign writes = valid_5;
  always_ff @(posedge clock) begin
    writes_6 <= !reset && writes;
    row_6 <= next;
    index_6 <= index_5;
    slot_6 <= slot_5;
    user_6 <= user_5;
    outcome_6 <= outcome;
    is_answered_6 <= !reset && valid_5 && is_answered;
    written_6 <= !reset && valid_5 && written;
    drops_6 <= !reset && valid_5 && is_answered && !written && access_5.kind == completion_queue_pkg::ACCESS_WRITE;
    waits <= !reset && valid_5 && waits_5;
    wait_unit.is_control <= access_5.kind == completion_queue_pkg::ACCESS_CONTROL;
    wait_unit.is_solicited <= access_5.is_solicited;
    wait_unit.number <= access_5.number;
    wait_unit.underlying_function <= FUNCTION_WIDTH'(access_5.underlying_function);
    wait_unit.slot <= slot_5;
    wait_unit.user <= user_5;
    asked_function <= FUNCTION_WIDTH'(row_5.underlying_function);
    asked_address <= row_5.head_address;
    place_6 <= place;
  end

  logic has_gone, gone, gone_failed, gone_is_piece;
  logic [47:0] gone_address;
  completion_queue_entries #(
      .BEAT_BYTES(BEAT_BYTES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_entries (
      .keep(write && write_ready),
      .keep_slot(slot),
      .keep_entry(write_entry),
      .put(written_6),
      .put_slot(slot_6),
      .put_place(place_6),
      .drop(drops_6),
      .drop_slot(slot_6),
      .*
  );

  completion_queue_outcomes #(
      .QUEUES(QUEUES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .USER_WIDTH(USER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_outcomes (
      .push(is_answered_6),
      .push_outcome(outcome_6),
      .push_user(user_6),
      .idle(ends_idle),
      .swept(swept[INDEX_WIDTH-1:0]),
      .*
  );
  assign ends_control = answered && answered_kind == completion_queue_pkg::ANSWER_CONTROL;
endmodule
