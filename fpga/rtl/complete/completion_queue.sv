// The completion queues of all functions: the entries of a queue go one after the other to the places of a circular buffer in host memory,
// those that are full fail, those that are armed raise an event. An access to a queue takes its row through seven stages, and the next one
// to the same queue waits for that; an access to another follows after two clocks. All is answered in the order in which it takes effect,
// and not before the entries in front of it are written.
//
// An entry that finds its queue nearly full waits aside until the host's head is read, and those of its queue behind it; the others pass.
module completion_queue #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned QUEUES = 4096,  // Numbers; 0 names none. A power of two, 8 at least.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned USER_WIDTH = 16,
    parameter int unsigned ENTRIES = 64,  // Under way, at most. A power of two, 16 at least.
    parameter int unsigned WAITING = 16,  // Those that wait for a head, at most. A power of two, 16 or 32.
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,  // While it is idle, but for the first.
    output logic clearing,  // After a reset, until there is no queue; nothing enters.
    output logic idle,  // Nothing is under way.
    input logic [63:0] now,

    // An entry: phase, sequence and time stamp are filled in.
    input logic write,
    output logic write_ready,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [NUMBER_WIDTH-1:0] write_number,
    input hca_spec_pkg::completion_queue_entry_t write_entry,
    input logic [USER_WIDTH-1:0] write_user,  // Said again in its answer.

    // A function's write to completion_queue_arm.
    input logic arm,
    output logic arm_ready,
    input logic [FUNCTION_WIDTH-1:0] arm_underlying_function,
    input hca_spec_pkg::underlying_function_completion_queue_arm_t arm_request,

    // A command of the control port, one at a time. One of: create a queue with a number that has none; resize (page_table, entries_log2);
    // moderate (moderation_count, moderation_ticks; none, or no ticks: with the first entry); destroy one for which no entry waits. With
    // none of them: look.
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

    // Answers. Not done: the function has no such queue; for an entry also: the queue is in error. answered_status gives a command's reason.
    output logic answered,
    output logic [1:0] answered_kind,  // An answer_kind_t.
    output logic answered_done,
    output logic [USER_WIDTH-1:0] answered_user,  // Of an entry.
    output logic answered_waited,  // The host's head was read for it.
    output logic [NUMBER_WIDTH-1:0] answered_number,
    output logic [FUNCTION_WIDTH-1:0] answered_underlying_function,
    output logic [7:0] answered_status,  // Of a command, a management_status_t.
    output logic [31:0] answered_tail,
    output logic answered_in_error,

    // Events, each before the answer to what raised it.
    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit,
    // A queue has failed: so do its queue pairs.
    output logic failed,
    output logic [NUMBER_WIDTH-1:0] failed_number,
    output logic [FUNCTION_WIDTH-1:0] failed_underlying_function,

    // The DMA address of a page of a table; answers in order, of pages that are mapped.
    output logic translate,
    input logic translate_ready,
    output logic [31:0] translate_page_table,
    output logic [8:0] translate_page,
    input logic translated,
    input logic translated_done,
    input logic [51:0] translated_page,

    // The host's head, 8 B of a burst_reader; answers in order.
    output logic read,
    input logic read_ready,
    output logic [FUNCTION_WIDTH-1:0] read_underlying_function,
    output logic [63:0] read_address,
    input logic read_answer,
    input logic read_answer_failed,
    input hca_spec_pkg::ring_head_t read_answer_head,

    // To a burst_writer, whose answers are in order: a piece, and its beats.
    output logic piece,
    input logic piece_ready,
    output logic [FUNCTION_WIDTH-1:0] piece_underlying_function,
    output logic [63:0] piece_address,  // Of 64 B.
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
  localparam int unsigned IN_STAGES = 8;  // Accesses that may be in the stages, and their outcomes, with some to spare.

  typedef struct packed {
    logic [2:0] kind;  // An access_kind_t.
    logic is_again;  // The head is read.
    logic is_unreadable;
    logic is_solicited;  // An entry, or an arming for such.
    logic [6:0] arm_sequence;
    logic [31:0] head;  // That was read or told; of what failed, the tail from now on.
    logic [NUMBER_WIDTH-1:0] number;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
    logic [SLOT_WIDTH-1:0] slot;
    logic [USER_WIDTH-1:0] user;
  } access_t;
  // Something that waits for a head.
  typedef struct packed {
    logic is_control;
    logic is_solicited;
    logic [NUMBER_WIDTH-1:0] number;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
    logic [SLOT_WIDTH-1:0] slot;
    logic [USER_WIDTH-1:0] user;
  } waiting_t;

  // After a reset all rows and slots are swept.
  logic [SWEEP_WIDTH-1:0] swept;
  logic [INDEX_WIDTH-1:0] looked;  // Queue whose period is looked at next.
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

  // Entries get a slot, in which they wait; armings and commands wait here.
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
  logic creates, resizes, moderates, destroys;
  logic [NUMBER_WIDTH-1:0] controlled_number;
  logic [FUNCTION_WIDTH-1:0] controlled_function;
  logic [7:0] controlled_event_queue;
  logic [3:0] controlled_log2;
  logic [16:0] controlled_entries;
  logic [31:0] controlled_page_table, controlled_ticks;
  logic [63:0] controlled_head_address;
  logic [47:0] controlled_user_handle;
  logic [15:0] controlled_count;
  always_ff @(posedge clock) begin
    write_has_slots <= !reset && !clearing && 32'(slots_free) > 4 && 32'(writes_waiting) + 2 < COMMANDS;
    arm_ready <= !reset && !clearing && 32'(arms_waiting) + 2 < COMMANDS;
    control_ready <= !reset && !clearing && !under_control && !(control && control_ready);
    under_control <= !reset && (control && control_ready || under_control && !ends_control);
    has_control <= !reset && (control && control_ready || has_control && !takes_control);
    if (control && control_ready) begin
      {creates, resizes, moderates, destroys} <= {control_create, control_resize, control_moderate, control_destroy};
      controlled_number <= control_number;
      controlled_function <= control_underlying_function;
      controlled_event_queue <= control_event_queue;
      controlled_log2 <= control_entries_log2;
      controlled_entries <= 17'd1 << control_entries_log2;
      controlled_page_table <= control_page_table;
      controlled_head_address <= control_head_address;
      controlled_user_handle <= control_user_handle;
      controlled_count <= control_moderation_ticks == '0 ? 16'd0 : control_moderation_count;
      controlled_ticks <= control_moderation_ticks;
    end
  end

  // Entries that wait for the host's head, and the heads that came. A queue is resized when nothing is under way, so that the entries before are in
  // its old pages.
  logic waits, asks, is_waiting, has_asked, has_head, is_drained, holds, takes_again, again_unreadable;
  logic [31:0] again_head, unused_reserved;
  logic [$clog2(WAITING):0] waiting, unused_asked, unused_heads;
  logic [$clog2(ENTRIES):0] left;  // Outcomes that are not answered.
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

  // 0: one access, when the one before has gone on. Those of other kinds have a turn behind each entry.
  logic fails, takes_fail, was_write, goes, is_met;
  logic [NUMBER_WIDTH-1:0] failing_number;
  logic [31:0] failing_tail;
  access_t access, access_0, access_1, access_2, access_3, access_4, access_5;
  logic offers_write, offers_arm, offers_control;
  assign offers_write = has_write && has_room && has_waiting_room && !holds;
  assign offers_arm = has_arm && has_room && !holds;
  assign offers_control = has_control && has_room && has_waiting_room && !holds;
  assign takes_fail = fails && !valid_0;
  assign takes_again = has_head && !fails && !valid_0 && (holds ? is_drained : has_room);
  always_comb begin
    access = '0;
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
      access.underlying_function = again.underlying_function;
      access.slot = again.slot;
      access.user = again.user;
    end else if (offers_write && !was_write) begin
      access.kind = completion_queue_pkg::ACCESS_WRITE;
      access.is_solicited = next_is_solicited;
      access.number = next_number;
      access.underlying_function = next_function;
      access.slot = next_slot;
      access.user = next_user;
      takes_write = !valid_0;
    end else if (offers_arm) begin
      access.kind = completion_queue_pkg::ACCESS_ARM;
      access.is_solicited = next_arm.solicited;
      access.arm_sequence = next_arm.arm_sequence;
      access.head = next_arm.head;
      access.number = next_arm.completion_queue;
      access.underlying_function = next_arm_function;
      takes_arm = !valid_0;
    end else if (offers_control) begin
      access.kind = completion_queue_pkg::ACCESS_CONTROL;
      access.number = controlled_number;
      access.underlying_function = controlled_function;
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
    if (!valid_0) access_0 <= access;
  end

  // 1: the address of its row, when no other access to it is in the stages. 2: the row comes out of the memory.
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
    access_1 <= access_0;
    access_2 <= access_1;
    access_3 <= access_2;
    access_4 <= access_3;
    access_5 <= access_4;
    row_3 <= row_read;
    row_4 <= row_3;
    row_5 <= row_4;
  end

  // Sweeps aside.
  assign is_busy = valid_0 && access_0.kind != completion_queue_pkg::ACCESS_SWEEP || valid_1 && access_1.kind != completion_queue_pkg::ACCESS_SWEEP
      || valid_2 && access_2.kind != completion_queue_pkg::ACCESS_SWEEP || valid_3 && access_3.kind != completion_queue_pkg::ACCESS_SWEEP
      || valid_4 && access_4.kind != completion_queue_pkg::ACCESS_SWEEP || valid_5 && access_5.kind != completion_queue_pkg::ACCESS_SWEEP
      || is_answered_6 || waits;

  // 3, 4: numbers, of which 4 and 5 make comparisons.
  logic [63:0] time_3, time_4, time_5;
  logic [31:0] used_4, waiting_4, behind_4, due_4, due_5;
  logic [30:0] unused_late_4;
  logic [15:0] told_5;
  logic is_early_4;
  logic [16:0] more_4, awaited_4;
  logic is_found_4, is_found_5, is_in_range_4, is_live_4, is_due_5, is_new_5, is_any_4, is_any_5;
  logic [3:0] top_4;
  logic is_full_5, is_nearly_5, is_full_told_5, is_believed_5, finds_5, reaches_more_5, reaches_told_5, reaches_awaited_5, reaches_count_5;
  logic fits_5, fits_told_5, is_phase_5;
  logic [14:0] mask_5;
  always_comb begin
    top_4 = 4'd0;
    for (int unsigned at = 0; at < 16; at++)
      if (row_4.entries_log2 == 4'(at)) begin
        top_4[3] = used_4[at];
        if (at >= 3) top_4[2:0] = used_4[at-1-:3];
      end
  end
  always_ff @(posedge clock) begin
    time_3 <= now;
    time_4 <= time_3;
    time_5 <= time_4;
    used_4 <= row_3.tail - row_3.head;
    waiting_4 <= row_3.tail - access_3.head;
    behind_4 <= row_3.tail - row_3.solicited;
    more_4 <= 17'(row_3.awaited) + 17'd1;
    awaited_4 <= row_3.awaited == '0 ? 17'd1 : 17'(row_3.awaited);
    {is_early_4, unused_late_4} <= time_3[31:0] - row_3.deadline;
    due_4 <= time_3[31:0] + (access_3.kind == completion_queue_pkg::ACCESS_CONTROL ? controlled_ticks : row_3.moderation_ticks);
    is_in_range_4 <= access_3.number != '0 && access_3.number == NUMBER_WIDTH'(index_3);
    is_found_4 <= row_3.underlying_function == 8'(access_3.underlying_function);
    is_live_4 <= row_3.is_live;
    is_any_4 <= row_3.armed == completion_queue_pkg::ARMED_ANY || !access_3.is_solicited;

    is_found_5 <= is_found_4 && is_live_4 && is_in_range_4;
    is_new_5 <= is_in_range_4 && !is_live_4;
    is_any_5 <= is_any_4;
    is_due_5 <= !is_early_4;
    due_5 <= due_4;
    told_5 <= waiting_4[15:0];
    is_full_5 <= top_4[3];
    is_nearly_5 <= top_4[3] || top_4[2:0] == 3'b111;
    is_full_told_5 <= waiting_4[{1'b0, row_4.entries_log2}];
    is_believed_5 <= waiting_4 <= used_4;
    finds_5 <= !waiting_4[31] && waiting_4 != '0 && (is_any_4 || behind_4 < waiting_4);
    reaches_more_5 <= more_4 >= 17'(row_4.moderation_count);
    reaches_told_5 <= waiting_4 >= 32'(row_4.moderation_count);
    reaches_awaited_5 <= awaited_4 >= 17'(row_4.moderation_count);
    reaches_count_5 <= row_4.awaited >= controlled_count;
    fits_5 <= used_4[16:0] <= controlled_entries;
    fits_told_5 <= waiting_4[16:0] <= controlled_entries;
    is_phase_5 <= !row_4.tail[{1'b0, row_4.entries_log2}];
    for (int unsigned at = 0; at < 15; at++) mask_5[at] <= 4'(at) < row_4.entries_log2;
  end

  // 5: decided.
  logic is_answered, waits_5, written, is_awaited, is_full, signals;
  logic [15:0] least;
  completion_queue_pkg::outcome_t outcome;
  always_comb begin
    next = row_5;
    outcome = '0;
    outcome.kind = completion_queue_pkg::ANSWER_SWEEP;
    outcome.number = access_5.number;
    outcome.underlying_function = 8'(access_5.underlying_function);
    outcome.in_error = row_5.in_error;
    outcome.tail = row_5.tail;
    outcome.event_queue = row_5.event_queue;
    outcome.arm_sequence = row_5.arm_sequence;
    outcome.user_handle = row_5.user_handle;
    outcome.head_address = row_5.head_address[47:0];
    outcome.waited = access_5.is_again;
    outcome.done = is_found_5;
    outcome.status = is_found_5 ? hca_spec_pkg::MANAGEMENT_STATUS_SUCCESS : hca_spec_pkg::MANAGEMENT_STATUS_BAD_OBJECT;
    {waits_5, written, is_awaited, signals} = '0;
    is_answered = 1'b1;
    least = '0;
    is_full = access_5.is_again && is_believed_5 ? is_full_told_5 : is_full_5;
    case (access_5.kind)
      completion_queue_pkg::ACCESS_WRITE: begin
        outcome.kind = completion_queue_pkg::ANSWER_WRITE;
        outcome.done = 1'b0;
        if (is_found_5 && access_5.is_again) next.waiting = row_5.waiting - 6'd1;
        if (is_found_5 && !row_5.in_error) begin
          if (access_5.is_again ? is_nearly_5 && (access_5.is_unreadable || is_full) : 1'b0) begin
            outcome.faults = access_5.is_unreadable;
            outcome.fails = 1'b1;
            next.in_error = 1'b1;
          end else if (!access_5.is_again && (row_5.waiting != '0 || is_nearly_5)) begin
            waits_5 = 1'b1;
            is_answered = 1'b0;
            next.waiting = row_5.waiting + 6'd1;
          end else begin
            written = 1'b1;
            outcome.done = 1'b1;
            if (access_5.is_again && is_nearly_5 && is_believed_5) next.head = access_5.head;
            next.tail = row_5.tail + 32'd1;
            if (access_5.is_solicited) next.solicited = row_5.tail + 32'd1;
            is_awaited = row_5.armed == completion_queue_pkg::ARMED_ANY
                || row_5.armed == completion_queue_pkg::ARMED_SOLICITED && access_5.is_solicited;
            least = row_5.awaited + 16'd1;
            signals = is_awaited && reaches_more_5;
          end
        end
      end
      completion_queue_pkg::ACCESS_ARM: begin
        outcome.kind = completion_queue_pkg::ANSWER_ARM;
        if (is_found_5 && !row_5.in_error) begin
          if (is_believed_5) next.head = access_5.head;
          if (row_5.event_sequence != {1'b0, access_5.arm_sequence}) begin
            next.armed = is_any_5 ? completion_queue_pkg::ARMED_ANY : completion_queue_pkg::ARMED_SOLICITED;
            next.arm_sequence = access_5.arm_sequence;
            outcome.arm_sequence = access_5.arm_sequence;
            is_awaited = 1'b1;
            if (finds_5) begin
              least = is_any_5 ? told_5 : row_5.awaited == '0 ? 16'd1 : row_5.awaited;
              signals = is_any_5 ? reaches_told_5 : reaches_awaited_5;
            end
          end
        end
      end
      completion_queue_pkg::ACCESS_CONTROL: begin
        outcome.kind = completion_queue_pkg::ANSWER_CONTROL;
        outcome.creates = creates;
        if (creates) begin
          outcome.done = is_new_5;
          outcome.in_error = 1'b0;
          outcome.status = is_new_5 ? hca_spec_pkg::MANAGEMENT_STATUS_SUCCESS : hca_spec_pkg::MANAGEMENT_STATUS_BAD_OBJECT;
          if (is_new_5) begin
            next = '0;
            next.is_live = 1'b1;
            next.event_sequence = '1;
            next.underlying_function = 8'(controlled_function);
            next.event_queue = controlled_event_queue;
            next.entries_log2 = controlled_log2;
            next.page_table = controlled_page_table;
            next.head_address = controlled_head_address;
            next.user_handle = controlled_user_handle;
          end
        end else if (resizes && is_found_5) begin
          outcome.done = 1'b0;
          if (access_5.is_again) next.waiting = row_5.waiting - 6'd1;
          if (row_5.in_error) outcome.status = hca_spec_pkg::MANAGEMENT_STATUS_BAD_STATE;
          else if (!access_5.is_again) begin
            waits_5 = 1'b1;
            is_answered = 1'b0;
            next.waiting = row_5.waiting + 6'd1;
          end else if (access_5.is_unreadable) begin
            outcome.faults = 1'b1;
            outcome.status = hca_spec_pkg::MANAGEMENT_STATUS_MAILBOX_FAULT;
          end else begin
            if (is_believed_5) next.head = access_5.head;
            if (is_believed_5 ? fits_told_5 : fits_5) begin
              outcome.done = 1'b1;
              next.entries_log2 = controlled_log2;
              next.page_table = controlled_page_table;
            end else outcome.status = hca_spec_pkg::MANAGEMENT_STATUS_BAD_PARAMETER;
          end
        end else if (moderates && is_found_5) begin
          next.moderation_count = controlled_count;
          next.moderation_ticks = controlled_ticks;
          if (row_5.awaited != '0) begin
            signals = reaches_count_5;
            next.deadline = due_5;
          end
        end else if (destroys && is_found_5) begin
          outcome.done = row_5.waiting == '0;
          if (row_5.waiting == '0) next.is_live = 1'b0;
          else outcome.status = hca_spec_pkg::MANAGEMENT_STATUS_IN_USE;
        end
      end
      completion_queue_pkg::ACCESS_FAIL: begin
        is_answered = 1'b0;
        if (row_5.is_live) next.in_error = 1'b1;
        next.tail = access_5.head;
      end
      default: begin
        signals = row_5.is_live && !row_5.in_error && row_5.awaited != '0 && is_due_5;
        is_answered = signals;
        outcome.done = 1'b1;
        outcome.underlying_function = row_5.underlying_function;
      end
    endcase
    if (is_awaited) begin
      next.awaited = least;
      if (row_5.awaited == '0) next.deadline = due_5;
    end
    if (signals) begin
      next.armed = completion_queue_pkg::ARMED_NO;
      next.awaited = '0;
      next.event_sequence = {1'b0, outcome.arm_sequence};
    end
    outcome.signals = signals;
    outcome.is_written = written;
  end

  // 6: written, and told to what follows.
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
    slot_6 <= access_5.slot;
    user_6 <= access_5.user;
    outcome_6 <= outcome;
    is_answered_6 <= !reset && valid_5 && is_answered;
    written_6 <= !reset && valid_5 && written;
    drops_6 <= !reset && valid_5 && is_answered && !written && access_5.kind == completion_queue_pkg::ACCESS_WRITE;
    waits <= !reset && valid_5 && waits_5;
    wait_unit.is_control <= access_5.kind == completion_queue_pkg::ACCESS_CONTROL;
    wait_unit.is_solicited <= access_5.is_solicited;
    wait_unit.number <= access_5.number;
    wait_unit.underlying_function <= access_5.underlying_function;
    wait_unit.slot <= access_5.slot;
    wait_unit.user <= access_5.user;
    asked_function <= FUNCTION_WIDTH'(row_5.underlying_function);
    asked_address <= row_5.head_address;
    place_6.page_table <= row_5.page_table;
    {place_6.page, place_6.place} <= row_5.tail[14:0] & mask_5;
    place_6.underlying_function <= row_5.underlying_function;
    place_6.sequence_ <= row_5.tail[30:0];
    place_6.phase <= is_phase_5;
    place_6.timestamp <= time_5;
  end
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

  logic has_gone, gone, gone_failed, gone_is_piece;
  logic [47:0] gone_address;
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
