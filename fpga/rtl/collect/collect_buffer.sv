// Collects commands written to VCBs and management pages, in pieces and in any order, and kicks each at the write that completes it
// (US8589610). Owns the VCBs, the PCBs and the rights to use them.
//
// A page is a VCB or, behind the VCBs, the management page of a function. A management page is closed until its function locks one of the
// PCBs for management, in which it then collects; it is closed again when its command is complete or refused.
//
// A beat passes six stages, one a clock, independent of the pages of earlier beats. The state of each page is in memories, which a reset
// sweeps; changes by earlier beats are forwarded to later ones.
//
//   a  the beat as received
//   b  its whole DWORDs and doorbell slots; a beat with several slots continues once for each
//   c  the state of its page arrives from memory; the owner of the page
//   d  the number of its new DWORDs; the query for the queue pair that it names
//   x  it binds, stores, completes, rings or is refused; the answer about the queue pair arrives
//   y  the checksum is compared; kicks and other outputs are formed, and the state returns to memory
//
// The kick appears seven clocks after the completing beat was accepted, with or without a checksum. A beat for a page whose checksum is
// being compared waits one or two clocks at x, with all beats behind it. If a DWORD of a command with a checksum arrived twice, the buffers
// are read again. This delays beats of other pages by two clocks: the command is set aside, its page is marked as summing, beats of that
// page wait at b, and with its sum the command enters again behind b. If a beat of its page is already behind it, or another command is set
// aside, all beats wait. Control commands, and checks for half-written commands, enter behind b.
module collect_buffer #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,  // A power of two.
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,  // PCBs of the pool.
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter bit FAULT = 1'b0,  // For tests: counts one DWORD too many in the first window of a command.
    parameter bit UPSET = 1'b0,  // For tests: one stored bit of each PCB's owner is wrong.
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned PAGE_WIDTH = VCB_WIDTH + 1,
    parameter int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned COUNT_WIDTH = $clog2(PHYSICAL_COLLECT_BUFFERS + 1) + 2,
    parameter int unsigned OFFSET_WIDTH = 12,
    parameter int unsigned ADDRESS_WIDTH = PAGE_WIDTH + OFFSET_WIDTH,
    parameter int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,
    input hca_spec_pkg::scoreboard_variant_t scoreboard_variant,  // Constant.

    // The pages, VCBs first. awuser: the function whose BAR was written; its highest bit says whether that is known.
    input logic [ADDRESS_WIDTH-1:0] awaddr,
    input logic [7:0] awlen,
    input logic [2:0] awsize,
    input logic [FUNCTION_WIDTH:0] awuser,
    input logic awvalid,
    output logic awready,
    input logic [BEAT_BYTES*8-1:0] wdata,
    input logic [BEAT_BYTES-1:0] wstrb,
    input logic wlast,
    input logic wvalid,
    output logic wready,
    output logic [1:0] bresp,
    output logic bvalid,
    input logic bready,
    input logic [7:0] arlen,
    input logic arvalid,
    output logic arready,
    output logic [BEAT_BYTES*8-1:0] rdata,
    output logic [1:0] rresp,
    output logic rlast,
    output logic rvalid,
    input logic rready,

    // Set if there is room for eight more units of each kind. While it is clear, beats wait.
    input logic unit_credit,

    // The queue pair that a command or doorbell slot names, answered in the next clock.
    output logic find,
    output logic [FUNCTION_WIDTH-1:0] find_underlying_function,
    output logic [23:0] find_queue_pair_number,
    input logic queue_pair_found,
    input hca_spec_pkg::quality_of_service_level_t queue_pair_quality_of_service_level,
    input logic [31:0] queue_pair_checksum_secret,

    // A command is complete in a PCB; is in the send queue (send queue mode, doorbell slots); is for management; was refused; has been
    // half written for longer than the limit (in clock ticks; 0: no limit).
    output logic kick,
    output hca_spec_pkg::kick_unit_t kick_unit,
    output logic post_notice,
    output hca_spec_pkg::post_notice_t post_notice_unit,
    output logic send_queue_mode_kick,
    output logic management,
    output hca_spec_pkg::management_unit_t management_unit,
    output logic refused,
    output hca_spec_pkg::event_unit_t refused_event,
    input logic [63:0] now,  // Clock ticks.
    input logic [63:0] half_written_limit,
    output logic half_written,
    output hca_spec_pkg::event_unit_t half_written_event,

    // For the kick record, in the clock of the kick. Both kinds of kick have one.
    output logic kick_record,
    output logic [VCB_WIDTH-1:0] kick_virtual_collect_buffer,
    output hca_spec_pkg::opcode_t kick_opcode,
    output logic [63:0] kick_first_write,

    // Other counted events, and the function that they are counted for.
    output logic write_unclaimed,
    output logic write_dropped,
    output logic command_cancelled,
    output logic send_queue_mode_entered,
    output logic [FUNCTION_WIDTH-1:0] counted_underlying_function,
    output logic beat_done,  // Beats of a page are done in order.
    output logic [PAGE_WIDTH-1:0] beat_page,
    output logic control_done,

    // Releases a PCB that was kicked or that a control command took.
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer,

    // Control commands, one at a time. control_granted and the PCB that was locked or taken are valid with control_done. Not ready while a
    // beat with several slots enters.
    input logic control,
    output logic control_ready,
    input logic [2:0] control_command,  // collect_buffer_control_t
    input logic [PAGE_WIDTH-1:0] control_page,
    output logic control_granted,
    output logic [PCB_WIDTH-1:0] control_physical_collect_buffer,
    input logic set_bar,
    input logic [FUNCTION_WIDTH-1:0] set_underlying_function,
    input logic [VCB_WIDTH:0] set_bar_base,
    input logic [VCB_WIDTH:0] set_bar_count,
    input logic [VCB_WIDTH:0] set_bar_low,
    input logic [VCB_WIDTH:0] set_bar_high,
    input logic set_allotment,
    input logic [COUNT_WIDTH-1:0] set_allotment_low,
    input logic [COUNT_WIDTH-1:0] set_allotment_high,
    input logic [COUNT_WIDTH-1:0] set_allotment_shared,
    output logic allotment_allowed,

    // Stores a beat of a fetched command in the PCB that was taken for it.
    input logic store,
    output logic store_ready,
    input logic [PCB_WIDTH-1:0] store_physical_collect_buffer,
    input logic [BEATS_WIDTH-1:0] store_beat,
    input logic [BEAT_BYTES*8-1:0] store_data,

    // Command data of a PCB and the state of a page for the control function, one clock after the request; free PCBs.
    input logic [PCB_WIDTH-1:0] read_physical_collect_buffer,
    input logic [BEATS_WIDTH-1:0] read_beat,
    output logic [BEAT_BYTES*8-1:0] read_data,
    input logic [PAGE_WIDTH-1:0] inspect_page,
    output logic [2:0] inspect_state,  // virtual_collect_buffer_state_t
    output logic [7:0] inspect_refusal,
    output logic [PCB_WIDTH-1:0] inspect_physical_collect_buffer,
    output logic [hca_spec_pkg::SEGMENTS-1:0] inspect_scoreboard,
    output logic [hca_spec_pkg::SEGMENTS-1:0] inspect_scoreboard_mask,
    output logic [BUFFERS-1:0] free_buffers
);
  if (BEAT_BYTES != 8 && BEAT_BYTES != 16 && BEAT_BYTES != 32 && BEAT_BYTES != 64
      || VIRTUAL_COLLECT_BUFFERS != 1 << VCB_WIDTH || VCB_WIDTH < 1 || UNDERLYING_FUNCTIONS > VIRTUAL_COLLECT_BUFFERS
      || MANAGEMENT_PHYSICAL_COLLECT_BUFFERS > DEDICATED_PHYSICAL_COLLECT_BUFFERS) begin : gen_check
    $error("BEAT_BYTES can be 8, 16, 32 or 64; VIRTUAL_COLLECT_BUFFERS has to be a power of two from 2 on, and as many as functions");
  end

  // States of a page, one bit each; ports show virtual_collect_buffer_state_t. While the checksum of a complete command is computed again,
  // its page is summing, which the control function sees as collecting.
  localparam logic [5:0] FREE = 6'd1, COLLECTING = 6'd2, SEND_QUEUE_MODE = 6'd4, ERROR = 6'd8, CLOSED = 6'd16, SUMMING = 6'd32;
  function automatic logic [2:0] state_number(input logic [5:0] state);
    state_number = state[0] ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE :
        state[1] || state[5] ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING :
        state[2] ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_SEND_QUEUE_MODE :
        state[3] ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_ERROR :
        state[4] ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED : 3'd7;
  endfunction
  // Whether two numbers add up to a third, without a carry chain.
  function automatic logic adds_up(input logic [6:0] one, input logic [6:0] other, input logic [6:0] sum);
    logic [5:0] carries;
    carries = (one[5:0] & other[5:0]) | ((one[5:0] ^ other[5:0]) & ~sum[5:0]);
    adds_up = (one ^ other ^ sum ^ {carries, 1'b0}) == '0;
  endfunction
  localparam logic [2:0] CANCEL = hca_spec_pkg::COLLECT_BUFFER_CONTROL_CANCEL;
  localparam logic [2:0] CLOSE = hca_spec_pkg::COLLECT_BUFFER_CONTROL_CLOSE;
  localparam logic [2:0] OPEN = hca_spec_pkg::COLLECT_BUFFER_CONTROL_OPEN;
  localparam logic [2:0] LOCK = hca_spec_pkg::COLLECT_BUFFER_CONTROL_LOCK;
  localparam logic [2:0] TAKE_DEDICATED = hca_spec_pkg::COLLECT_BUFFER_CONTROL_TAKE_DEDICATED;
  localparam logic [2:0] TAKE_MANAGEMENT = hca_spec_pkg::COLLECT_BUFFER_CONTROL_TAKE_MANAGEMENT;
  localparam logic [2:0] TAKE_KICK_NUMBER = hca_spec_pkg::COLLECT_BUFFER_CONTROL_TAKE_KICK_NUMBER;
  localparam logic [2:0] SETTLE_DIVISION = hca_spec_pkg::COLLECT_BUFFER_CONTROL_SETTLE_DIVISION;

  localparam int unsigned BEAT_DWORDS = BEAT_BYTES / 4;
  localparam int unsigned BEAT_SEGMENTS = BEAT_DWORDS / 2;
  localparam int unsigned LINE_DWORDS = 16;
  localparam int unsigned LINE_WIDTH = OFFSET_WIDTH - 6;
  localparam logic [LINE_WIDTH-1:0] COMMAND_LINES = LINE_WIDTH'(hca_spec_pkg::COMMAND_BYTES / 64);
  localparam logic [LINE_WIDTH-1:0] SLOTS_LINE = LINE_WIDTH'(hca_spec_pkg::DOORBELL_SLOTS_OFFSET / 64);
  localparam int unsigned PAGES = VIRTUAL_COLLECT_BUFFERS + UNDERLYING_FUNCTIONS;
  localparam int unsigned WINDOWS = hca_spec_pkg::COMMAND_BYTES / BEAT_BYTES;  // A window: the part of a command that one beat can write.
  localparam int unsigned WINDOW_WIDTH = $clog2(WINDOWS);
  localparam int unsigned HEADER_SEGMENTS = hca_spec_pkg::COMMAND_HEADER_BYTES / hca_spec_pkg::SEGMENT_BYTES;
  localparam int unsigned SWEEP_WIDTH = PAGE_WIDTH < 3 ? 3 : PAGE_WIDTH;

  // The state of a page. In a free page only `state` and `has_slots` are valid.
  typedef struct packed {
    logic [5:0] state;
    logic [PCB_WIDTH-1:0] bound;  // The PCB, while the page collects.
    logic is_timed;  // The command may still be reported as half written.
    logic [5:0] has_slots;  // DWORDs received of the doorbell slots.
    logic [1:0] has;  // DWORDs received of segment 0.
    logic [6:0] count;  // DWORDs received.
    logic [5:0] highest;  // Segments up to the last of which a DWORD was received.
    logic [6:0] needed;  // Segments that the length requires.
    logic [WINDOWS-1:0] touched;  // Windows of which a DWORD was received.
    logic is_checked;  // The command has a checksum to compare.
    logic is_repeated;  // A DWORD arrived twice.
    logic [39:0] sum;  // The sum of the DWORDs received and the secret.
    logic [63:0] words;  // Segment 0.
  } row_t;
  localparam int unsigned ROW_WIDTH = 6 + PCB_WIDTH + 1 + 6 + 2 + 7 + 6 + 7 + WINDOWS + 1 + 1 + 40 + 64;

  // ---- Signals of later stages that earlier ones use.

  logic [63:0] x_words_now;
  logic x_is_control, x_is_handover, x_is_scan, x_is_partial, x_is_empty, x_is_slots, x_is_last, x_is_continued, x_is_management, x_claimed,
      x_may_be_command, x_is_beyond_line, x_may_cancel, x_touched, x_unsure_y, x_unsure_z, x_may_bring, x_is_repeated, x_same_part,
      x_same_function, x_paid_level, x_paid_function, x_paid_all, x_checks, x_checks_value, x_bound_before;
  logic y_is_new, y_walks, y_kicks, y_kicks_send_queue_mode, y_rings, y_refuses, y_takes, y_takes_other, y_unbinds, y_is_management,
      y_takes_number, y_agrees, y_fails, walk_done, y_gets_length, y_collects, y_locks, y_half_written;
  logic x_is_beyond, x_binds, x_gets, x_collects, pool_available, management_available, dedicated_available, x_group_available;
  logic [39:0] y_sum, walk_sum, x_sum;
  logic [PAGE_WIDTH-1:0] write_page;
  logic [2:0] inspected_state;

  // The command that is set aside.
  logic w_valid, w_walks, w_summed, w_is_due, w_issues, w_issued, y_may_park, y_parks, y_may_walk, x_is_summed;
  logic [PAGE_WIDTH-1:0] w_page;
  logic [PCB_WIDTH-1:0] w_buffer;
  logic [OFFSET_WIDTH-3:0] w_first_dword;
  logic [5:0] w_needed;
  logic [39:0] w_sum;

  // ---- Stages a and b, and the input of stage c.
  logic sweeping, stall, takes_control, settle_starts, settling, newest_goes, settled, issues_settling, scans_now, issues;
  logic [SWEEP_WIDTH-1:0] swept;
  logic [VCB_WIDTH-1:0] newest;
  logic [PAGE_WIDTH-1:0] issued_page;
  logic b_is_partial, b_is_slots, b_is_empty, b_is_continued, b_is_last;
  logic [OFFSET_WIDTH-1:0] b_offset;
  logic [OFFSET_WIDTH-3:0] b_first_dword;
  logic [FUNCTION_WIDTH:0] b_user;
  logic [BEAT_BYTES*8-1:0] b_data;
  logic [511:0] b_line_data;
  logic [LINE_DWORDS-1:0] b_dwords;
  logic [1:0] b_slot, b_here;

  collect_entry #(
      .BEAT_BYTES(BEAT_BYTES),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .OFFSET_WIDTH(OFFSET_WIDTH)
  ) i_collect_entry (.*);

  // ---- Stage c. Of a stage without a beat nothing is worked out in simulation: registers behind it stay as they are.
  logic c_valid, c_is_control, c_is_handover, c_is_summed, c_is_scan, c_is_partial, c_is_empty, c_is_slots, c_is_last, c_is_continued;
  logic [2:0] c_command;
  logic [PAGE_WIDTH-1:0] c_page, read_page;
  logic [OFFSET_WIDTH-3:0] c_first_dword;
  logic [FUNCTION_WIDTH:0] c_user;
  logic [BEAT_BYTES*8-1:0] c_data;
  logic [BEAT_DWORDS-1:0] c_brought, b_brought;
  logic [1:0] c_slot, c_here;
  logic [LINE_WIDTH-1:0] c_line;
  logic [63:0] c_words;
  logic c_checks, c_checks_value, c_has_cancel;
  logic [WINDOW_WIDTH-1:0] c_window, b_window, read_window;

  assign b_brought = BEAT_DWORDS'(b_dwords >> b_offset[5:2]);
  assign b_window = WINDOW_WIDTH'(b_offset >> $clog2(BEAT_BYTES));

  always_ff @(posedge clock) begin
    if (reset) c_valid <= 1'b0;
    else if (!stall) c_valid <= issues;
    if (!stall) begin
      if (issues) begin
        c_is_control <= takes_control || settling || w_issues;
        c_is_handover <= newest_goes || w_issues;
        c_is_summed <= w_issues;
        c_is_scan <= scans_now && !takes_control;
        c_command <= settling ? SETTLE_DIVISION : control_command;
        c_page <= issued_page;
        c_line <= b_offset[OFFSET_WIDTH-1:6];
        c_first_dword <= b_first_dword;
        c_user <= b_user;
        c_data <= b_data;
        c_brought <= b_brought;
        c_window <= b_window;
        c_is_partial <= b_is_partial;
        c_is_empty <= b_is_empty;
        c_is_slots <= b_is_slots && !w_issues;
        c_is_last <= b_is_last;
        c_is_continued <= b_is_continued;
        c_slot <= b_slot;
        c_here <= w_issues ? 2'b00 : b_here;
        c_words <= b_line_data[{1'b0, b_slot, 6'd0}+:64];
        c_has_cancel <= b_dwords[5:4] != '0;
        c_checks <= b_offset[OFFSET_WIDTH-1:6] == '0 && b_dwords[2];
        c_checks_value <= b_line_data[hca_spec_pkg::COMMAND_HEADER_CHECKSUM_ENABLE_LSB];
      end
    end
  end

  // The owner of the page, and the part of its BAR.
  logic c_owned, c_vcb_owned, c_is_management, c_is_command_line, c_is_slots_line;
  logic [FUNCTION_WIDTH-1:0] c_owner, c_vcb_owner;
  logic [1:0] c_part;

  underlying_function_table #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS)
  ) i_underlying_function_table (
      .set_bar_underlying_function(set_underlying_function),
      .virtual_collect_buffer(c_page[VCB_WIDTH-1:0]),
      .owned(c_vcb_owned),
      .underlying_function(c_vcb_owner),
      .part(c_part),
      .*
  );
  assign c_is_management = c_page[VCB_WIDTH];
  assign c_owned = c_is_management ? 32'(c_page) < PAGES : c_vcb_owned;
  assign c_owner = c_is_management ? c_page[FUNCTION_WIDTH-1:0] : c_vcb_owner;
  assign c_is_command_line = c_line < COMMAND_LINES;
  assign c_is_slots_line = c_line == SLOTS_LINE;

  // The segments up to the last that the beat touches, and those that a length in it requires.
  logic [6:0] c_needed;
  logic [8:0] c_length;
  assign c_length = c_words[hca_spec_pkg::COMMAND_HEADER_LENGTH_LSB+:9];
  assign c_needed = 7'(HEADER_SEGMENTS) + 7'((10'(c_length) + 10'd7) >> 3);
  function automatic logic [5:0] highest(input logic [BEAT_DWORDS-1:0] brought, input logic [WINDOW_WIDTH-1:0] window);
    highest = '0;
    for (int unsigned segment = 0; segment < BEAT_SEGMENTS; segment++)
      if (brought[2*segment+:2] != '0) highest = 6'(32'(window) * BEAT_SEGMENTS + segment + 1);
  endfunction
  function automatic logic [4:0] added(input logic [BEAT_DWORDS-1:0] brought, input logic [WINDOW_WIDTH-1:0] window);
    added = 5'(FAULT && window == '0);
    for (int unsigned dword = 0; dword < BEAT_DWORDS; dword++) added = added + 5'(brought[dword]);
  endfunction

  // The state of the page as the beats ahead leave it.
  row_t c_row, c_kept, d_row, x_row, x_next, y_row, y_resolved, z_row, swept_row;
  logic [ROW_WIDTH-1:0] written_row;
  logic [63:0] c_kept_slot, c_slot_words, d_slot_words, x_slot_words, x_slot_next, y_slot_words, z_slot_words;
  logic [BEAT_DWORDS-1:0] c_kept_received, c_received, d_received, x_received, x_received_now, y_received, z_received;
  logic c_same_x, c_same_y, c_same_z, d_valid, x_valid, x_goes, y_valid, y_done, z_valid;
  logic [PAGE_WIDTH-1:0] d_page, x_page, y_page, z_page;
  logic [WINDOW_WIDTH-1:0] d_window, x_window, y_window, z_window;
  logic x_is_command, y_is_command, z_is_command, x_is_slot, y_is_slot, z_is_slot, x_unsure_next, y_is_unsure, y_waits;
  logic [1:0] d_slot, x_slot, y_slot, z_slot;

  assign read_page = stall ? c_page : issued_page;
  assign read_window = stall ? c_window : b_window;

  always_comb begin
    swept_row = '0;
    swept_row.state = swept[VCB_WIDTH] ? CLOSED : FREE;
    written_row = sweeping ? swept_row : y_resolved;
  end

  list_memory #(
      .WIDTH(ROW_WIDTH),
      .SIZE(1 << PAGE_WIDTH),
      .BLOCK(1'b1)
  ) i_rows (
      .clock(clock),
      .write(sweeping || y_done || y_parks),
      .write_address(sweeping ? PAGE_WIDTH'(swept) : y_page),
      .write_data(written_row),
      .read_address(read_page),
      .read_data(c_kept)
  );

  list_memory #(
      .WIDTH(64),
      .SIZE(1 << VCB_WIDTH + 1),
      .BLOCK(1'b1)
  ) i_slot_words (
      .clock(clock),
      .write(y_done && y_is_slot),
      .write_address({y_page[VCB_WIDTH-1:0], y_slot[0]}),
      .write_data(y_slot_words),
      .read_address({read_page[VCB_WIDTH-1:0], stall ? c_slot[0] : b_slot[0]}),
      .read_data(c_kept_slot)
  );

  list_memory #(
      .WIDTH(BEAT_DWORDS),
      .SIZE(1 << PAGE_WIDTH + WINDOW_WIDTH),
      .BLOCK(1'b1)
  ) i_received (
      .clock(clock),
      .write(y_done && y_is_command),
      .write_address({y_page, y_window}),
      .write_data(y_received),
      .read_address({read_page, read_window}),
      .read_data(c_kept_received)
  );

  assign c_same_x = x_valid && x_page == c_page;
  assign c_same_y = y_valid && y_page == c_page;
  assign c_same_z = z_valid && z_page == c_page;
  always_comb begin
    c_row = c_same_x ? x_next : c_same_y ? y_row : c_same_z ? z_row : c_kept;
    c_slot_words = c_same_x && x_is_slot && x_slot == c_slot ? x_slot_next : c_same_y && y_is_slot && y_slot == c_slot ? y_slot_words :
        c_same_z && z_is_slot && z_slot == c_slot ? z_slot_words : c_kept_slot;
    c_received = c_same_x && x_is_command && x_window == c_window ? x_received_now :
        c_same_y && y_is_command && y_window == c_window ? y_received :
        c_same_z && z_is_command && z_window == c_window ? z_received : c_kept_received;
  end

  logic [WINDOWS-1:0] c_row_touched, x_touched_next, x_row_touched;
  assign c_row_touched = c_row.touched;
  assign x_row_touched = x_row.touched;

  // ---- Stage d.
  logic d_is_control, d_is_handover, d_is_summed, d_is_scan, d_is_partial, d_is_empty, d_is_slots, d_is_last, d_is_continued, d_is_management, d_owned,
      d_may_be_command, d_is_beyond, d_may_cancel, d_finds, d_same_x, d_touched, d_unsure_y, d_unsure_z;
  logic [2:0] d_command;
  logic [OFFSET_WIDTH-3:0] d_first_dword;
  logic [BEAT_BYTES*8-1:0] d_data;
  logic [BEAT_DWORDS-1:0] d_brought;
  logic [1:0] d_here, d_part;
  logic [63:0] d_words;
  logic d_checks, d_checks_value;
  logic [FUNCTION_WIDTH-1:0] d_owner;
  logic [FUNCTION_WIDTH:0] d_user;
  logic [5:0] d_highest;
  logic [6:0] d_needed;
  logic [4:0] d_added;
  logic z_has_failed;

  always_ff @(posedge clock) begin
    if (reset) d_valid <= 1'b0;
    else if (!stall) d_valid <= c_valid;
    if (!stall) begin
      if (c_valid) begin
        d_is_control <= c_is_control;
        d_is_handover <= c_is_handover;
        d_is_summed <= c_is_summed;
        d_is_scan <= c_is_scan;
        d_command <= c_command;
        d_page <= c_page;
        d_is_management <= c_is_management;
        d_first_dword <= c_first_dword;
        d_data <= c_data;
        d_brought <= c_brought;
        d_window <= c_window;
        d_is_partial <= c_is_partial;
        d_is_empty <= c_is_empty;
        d_is_slots <= c_is_slots;
        d_is_last <= c_is_last;
        d_is_continued <= c_is_continued;
        d_slot <= c_slot;
        d_here <= c_here;
        d_words <= c_words;
        d_checks <= c_checks;
        d_checks_value <= c_checks_value;
        d_owner <= c_owner;
        d_part <= c_part;
        d_owned <= c_owned;
        d_user <= c_user;
        d_may_be_command <= !c_is_partial && c_is_command_line;
        d_is_beyond <= c_is_partial || !c_is_command_line && !c_is_slots;
        d_may_cancel <= c_is_slots_line && !c_is_partial && c_has_cancel;
        d_finds <= c_valid && (c_is_summed || !c_is_control && !c_is_scan && c_vcb_owned && !c_is_management
            && (c_is_slots || c_is_command_line && c_here != '0));
        d_highest <= highest(c_brought, c_window);
        d_needed <= c_needed;
        d_added <= added(c_brought, c_window);
        d_same_x <= c_page == d_page && d_valid;
        d_row <= c_row;
        d_touched <= c_row_touched[c_window];
        d_slot_words <= c_slot_words;
        d_received <= c_received;
        d_unsure_y <= c_same_x && x_unsure_next;
        d_unsure_z <= !c_same_x && c_same_y && y_is_unsure;
      end
    end else begin
      if (!y_waits) d_unsure_y <= 1'b0;
      d_unsure_z <= d_unsure_y && !y_waits;
      if (d_unsure_z && z_has_failed) begin
        d_row.state <= ERROR;
        d_row.has_slots <= '0;
      end
    end
  end

  // The query, answered at stage x, for the queue pair that the first DWORD of the command or slot names; the DWORD is in this beat or was
  // stored before. A beat that waits at stage x repeats its query.
  logic [31:0] d_first_kept, x_first_word;
  logic [63:0] d_command_words, d_slot_kept;  // The values that the beat ahead leaves.
  logic [23:0] d_queue_pair_number, x_queue_pair_number;
  logic x_finds;
  logic [FUNCTION_WIDTH-1:0] x_owner;
  assign d_command_words = d_same_x ? x_words_now : d_row.words;
  assign d_slot_kept = d_same_x && x_is_slot && x_slot == d_slot ? x_slot_next : d_slot_words;
  assign d_first_kept = d_is_slots ? d_slot_kept[31:0] : d_command_words[31:0];
  assign x_first_word = d_here[0] ? d_words[31:0] : d_first_kept;
  assign d_queue_pair_number = d_is_slots ? x_first_word[hca_spec_pkg::DOORBELL_SLOT_WRITE_QUEUE_PAIR_NUMBER_LSB+:24] :
      x_first_word[hca_spec_pkg::COMMAND_HEADER_QUEUE_PAIR_NUMBER_LSB+:24];
  assign find = stall ? x_valid && x_finds : d_valid && d_finds;
  assign find_underlying_function = stall ? x_owner : d_owner;
  assign find_queue_pair_number = stall ? x_queue_pair_number : d_queue_pair_number;

  // New DWORDs: those of the beat that no beat ahead wrote in its window. Both cases are counted, because the choice is known late.
  logic [BEAT_DWORDS-1:0] d_there;
  logic d_is_behind_x;
  assign d_is_behind_x = d_same_x && x_may_bring && x_window == d_window;
  assign d_there = d_is_behind_x ? x_received_now : d_received;

  // Segment 0 with this beat, and whether a DWORD of it arrived before with another value.
  logic [63:0] d_words_now;
  logic [1:0] d_differs;
  logic [1:0] d_format, x_format;
  localparam logic [1:0] FORMAT_RIGHT = 2'd0, FORMAT_VERSION = 2'd1, FORMAT_RESERVED = 2'd2, FORMAT_LENGTH = 2'd3;
  hca_spec_pkg::command_header_t d_header;
  logic unused_header;
  assign d_header = {448'd0, d_words_now};
  assign unused_header = &{1'b0, d_header};
  for (genvar half = 0; half < 2; half++) begin : gen_segment_0
    assign d_words_now[32*half+:32] = d_here[half] ? d_words[32*half+:32] : d_command_words[32*half+:32];
    assign d_differs[half] = d_same_x ? d_words[32*half+:32] != x_words_now[32*half+:32] : d_words[32*half+:32] != d_row.words[32*half+:32];
  end
  assign d_format = d_header.version != 4'(hca_spec_pkg::COMMAND_VERSION) ? FORMAT_VERSION : d_header.reserved_6 ? FORMAT_RESERVED :
      d_header.length > 9'(hca_spec_pkg::COMMAND_PAYLOAD_BYTES) ? FORMAT_LENGTH : FORMAT_RIGHT;

  // PCBs that are left for the beat.
  logic [1:0] left_level, left_function, left_all;
  logic x_takes, x_pays_level, x_pays_function, x_pays_all;

  // ---- Stage x.
  logic [2:0] x_command;
  logic [OFFSET_WIDTH-3:0] x_first_dword;
  logic [BEAT_BYTES*8-1:0] x_data;
  logic [BEAT_DWORDS-1:0] x_brought;
  logic [1:0] x_here, x_part, x_differing, x_left_level, x_left_function, x_left_all;
  logic [63:0] x_words, x_now_before, x_began, began_kept, oldest;
  logic [5:0] x_highest;
  logic [6:0] x_needed;
  logic [4:0] x_added, x_added_there;
  logic [35:0] x_beat_sum, d_beat_sum;
  logic x_number_is_zero, x_alone;
  logic has_limit, asks_again;

  assign y_waits = y_valid && y_walks;
  assign stall = x_valid && (x_unsure_y || x_unsure_z) || y_waits;
  assign x_goes = x_valid && !stall;

  always_ff @(posedge clock) begin
    if (reset) x_valid <= 1'b0;
    else if (!stall) x_valid <= d_valid;
    if (!stall) begin
      if (d_valid) begin
        x_is_control <= d_is_control;
        x_is_handover <= d_is_handover;
        x_is_summed <= d_is_summed && d_valid;
        x_is_scan <= d_is_scan;
        x_command <= d_command;
        x_page <= d_page;
        x_is_management <= d_is_management;
        x_first_dword <= d_first_dword;
        x_data <= d_data;
        x_brought <= d_brought;
        x_window <= d_window;
        x_is_partial <= d_is_partial;
        x_is_empty <= d_is_empty;
        x_is_slots <= d_is_slots;
        x_is_last <= d_is_last;
        x_is_continued <= d_is_continued;
        x_slot <= d_slot;
        x_here <= d_here;
        x_words <= d_words;
        x_checks <= d_checks;
        x_checks_value <= d_checks_value;
        x_owner <= d_owner;
        x_part <= d_part;
        x_claimed <= d_owned && (!d_user[FUNCTION_WIDTH] || d_user[FUNCTION_WIDTH-1:0] == d_owner);
        x_may_be_command <= d_may_be_command;
        x_is_beyond_line <= d_is_beyond;
        x_may_cancel <= d_may_cancel;
        x_finds <= d_finds;
        x_queue_pair_number <= d_queue_pair_number;
        x_number_is_zero <= d_words_now[hca_spec_pkg::COMMAND_HEADER_QUEUE_PAIR_NUMBER_LSB+:24] == '0;
        x_highest <= d_highest;
        x_needed <= d_here[1] ? d_needed : d_same_x ? x_next.needed : d_row.needed;
        x_added <= d_added;
        x_alone <= {2'd0, d_added} == {d_needed[5:0], 1'b0};
        x_added_there <= d_is_behind_x ? added(d_brought & ~x_received_now, d_window) : added(d_brought & ~d_received, d_window);
        x_is_repeated <= (d_brought & d_there) != '0;
        x_touched <= d_same_x ? x_touched_next[d_window] : d_touched;
        x_differing <= d_differs;
        x_format <= d_format;
        x_beat_sum <= d_beat_sum;
        x_row <= d_same_x ? x_next : d_row;
        if (!d_same_x && d_unsure_z && z_has_failed) begin
          x_row.state <= ERROR;
          x_row.has_slots <= '0;
        end
        x_unsure_y <= d_same_x && x_unsure_next;
        x_unsure_z <= !d_same_x && d_unsure_y;
        x_slot_words <= d_slot_kept;
        x_received <= d_there;
        x_bound_before <= d_same_x && x_binds;
        x_now_before <= now;
        x_left_level <= left_level;
        x_left_function <= left_function;
        x_left_all <= left_all;
        x_same_function <= x_owner == d_owner;
        x_same_part <= x_owner == d_owner && x_part == d_part;
        x_paid_level <= x_valid && x_takes && x_pays_level;
        x_paid_function <= x_valid && x_takes && x_pays_function;
        x_paid_all <= x_valid && x_takes && x_pays_all;
      end
    end else begin
      if (asks_again) begin
        x_left_level <= left_level;
        x_left_function <= left_function;
        x_left_all <= left_all;
        x_paid_level <= 1'b0;
        x_paid_function <= 1'b0;
        x_paid_all <= 1'b0;
      end
      if (!y_waits) x_unsure_y <= 1'b0;
      x_unsure_z <= x_unsure_y && !y_waits;
      if (x_unsure_z && z_has_failed) begin
        x_row.state <= ERROR;
        x_row.has_slots <= '0;
      end
    end
    // While a checksum is computed again, PCBs may be released for the beat that waits.
    asks_again <= !reset && y_waits && !walk_done && !y_parks;
    // A command that began at `oldest` or earlier has been half written for too long.
    has_limit <= half_written_limit != '0 && now >= half_written_limit;
    oldest <= now - half_written_limit;
  end

  logic x_is_free, x_collects_now, x_is_waiting, x_is_error, x_is_closed, x_writes, x_is_open, unused_x_summing;
  assign {unused_x_summing, x_is_closed, x_is_error, x_is_waiting, x_collects_now, x_is_free} = x_row.state;
  assign x_is_open = !x_is_closed && !x_is_error;
  assign x_writes = x_valid && !x_is_control && !x_is_scan && x_claimed && !x_is_empty;
  assign x_may_bring = x_writes && x_may_be_command;

  // A VCB in error accepts only a cancel, whatever else the beat contains.
  logic [PCB_WIDTH-1:0] pool_buffer, management_buffer, dedicated_buffer, x_buffer;
  assign x_is_command = x_may_bring && x_is_open;
  assign x_is_slot = x_writes && (x_is_error ? x_may_cancel && x_slot == 2'd2 : x_is_slots && !x_is_closed);
  assign x_is_beyond = x_writes && x_is_beyond_line && x_is_open;
  assign x_binds = x_may_bring && x_is_free;
  assign x_pays_level = x_left_level[1] || x_left_level[0] && !(x_paid_level && x_same_part);
  assign x_pays_function = !x_pays_level && (x_left_function[1] || x_left_function[0] && !(x_paid_function && x_same_function));
  assign x_pays_all = !x_pays_level && !x_pays_function;
  assign x_group_available = x_pays_level || x_pays_function || x_left_all[1] || x_left_all[0] && !x_paid_all;
  assign x_gets = pool_available && x_group_available;
  assign x_collects = x_collects_now || x_is_free && x_gets;

  // Control commands.
  logic x_controls, x_locks, x_takes_management, x_takes_dedicated, x_hands_over, x_closes, x_opens;
  assign x_controls = x_valid && x_is_control && !x_is_handover;
  assign x_locks = x_controls && x_command == LOCK && !x_collects_now && management_available;
  assign x_takes_management = x_controls && x_command == TAKE_MANAGEMENT && management_available;
  assign x_takes_dedicated = x_controls && x_command == TAKE_DEDICATED && dedicated_available;
  assign x_hands_over = x_valid && x_is_handover && !x_is_management && x_collects_now;
  assign x_closes = x_controls && x_command == CLOSE;
  assign x_opens = x_controls && x_command == OPEN && !x_is_management && x_is_closed;
  assign x_buffer = x_locks ? management_buffer : x_is_free ? pool_buffer : x_row.bound;

  // The DWORDs received, including those of the beat.
  logic [1:0] x_has_before, x_has;
  logic [6:0] x_count_before, x_count;
  logic x_had_length, x_has_length, x_is_whole, x_passes_length, x_checked_now, x_repeated_now;
  assign x_has_before = x_is_free ? 2'b00 : x_row.has;
  assign x_has = x_has_before | x_here;
  assign x_had_length = x_has_before == 2'b11;
  assign x_has_length = x_has == 2'b11;
  assign x_count_before = x_is_free ? '0 : x_row.count;
  assign x_count = x_count_before + {2'd0, x_is_free || !x_touched ? x_added : x_added_there};
  // A command in a single beat is complete at once; otherwise the new DWORDs are added to those received.
  assign x_is_whole = x_is_free ? x_alone : adds_up(x_row.count, {2'd0, x_touched ? x_added_there : x_added}, {x_needed[5:0], 1'b0});
  assign x_passes_length = x_highest > x_needed[5:0] || !x_is_free && x_row.highest > x_needed[5:0];
  assign x_received_now = (x_is_free || !x_touched ? '0 : x_received) | x_brought;
  assign x_touched_next = x_locks ? '0 : (x_is_free && x_may_bring ? '0 : x_row_touched) | WINDOWS'(x_may_bring) << x_window;
  assign x_checked_now = x_checks ? x_checks_value : x_row.is_checked;
  assign x_repeated_now = !x_is_free && (x_row.is_repeated || x_touched && x_is_repeated);

  // Doorbell slots.
  logic [1:0] x_slot_has;
  logic [5:0] x_has_slots;
  logic x_slot_is_whole, x_slot_rings;
  hca_spec_pkg::doorbell_slot_write_t x_ring;
  assign x_slot_has = (x_slot == 2'd0 ? x_row.has_slots[1:0] : x_slot == 2'd1 ? x_row.has_slots[3:2] : x_row.has_slots[5:4]) | x_here;
  assign x_slot_is_whole = x_slot_has == 2'b11;
  for (genvar half = 0; half < 2; half++) begin : gen_slot
    assign x_slot_next[32*half+:32] = x_here[half] ? x_words[32*half+:32] : x_slot_words[32*half+:32];
  end
  assign x_ring = x_slot_next;
  assign x_slot_rings = x_is_slot && x_slot_is_whole;
  for (genvar slot = 0; slot < 3; slot++) begin : gen_has_slot
    assign x_has_slots[2*slot+:2] = x_is_slot && x_slot == 2'(slot) ? (x_slot_is_whole ? 2'b00 : x_slot_has) : x_row.has_slots[2*slot+:2];
  end

  // Segment 0.
  for (genvar half = 0; half < 2; half++) begin : gen_words_now
    assign x_words_now[32*half+:32] = x_may_bring && x_here[half] ? x_words[32*half+:32] : x_row.words[32*half+:32];
  end

  // The outcome of the beat.
  logic [7:0] x_admission, x_command_reason, x_ring_reason, x_reason;
  logic x_refuses, x_ends, x_kicks, x_kicks_send_queue_mode, x_rings, x_cancels, x_unbinds, x_is_incomplete, x_known_queue_pair, x_differs,
      x_is_admitted, x_tells_half_written;
  hca_spec_pkg::quality_of_service_level_t x_level;
  hca_spec_pkg::command_header_t x_header;
  assign x_header = {448'd0, x_words_now};
  assign x_known_queue_pair = x_is_management ? x_number_is_zero : queue_pair_found;
  assign x_level = x_is_management ? hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW : queue_pair_quality_of_service_level;
  assign x_is_admitted = x_format == FORMAT_RIGHT && x_known_queue_pair && x_header.quality_of_service_level == x_level;
  assign x_admission = x_format == FORMAT_VERSION ? hca_spec_pkg::REFUSAL_UNKNOWN_VERSION :
      x_format == FORMAT_RESERVED ? hca_spec_pkg::REFUSAL_RESERVED_NOT_ZERO :
      x_format == FORMAT_LENGTH ? hca_spec_pkg::REFUSAL_LENGTH_OVER_MAXIMUM :
      !x_known_queue_pair ? hca_spec_pkg::REFUSAL_UNKNOWN_QUEUE_PAIR :
      !x_is_admitted ? hca_spec_pkg::REFUSAL_WRONG_QUALITY_OF_SERVICE_LEVEL : hca_spec_pkg::REFUSAL_NONE;
  assign x_differs = (x_here & x_has_before & x_differing) != '0;
  assign x_command_reason = x_differs ? hca_spec_pkg::REFUSAL_SEGMENT_0_DIFFERS :
      x_has_length && !x_had_length && !x_is_admitted ? x_admission : hca_spec_pkg::REFUSAL_SEGMENT_BEYOND_LENGTH;
  assign x_ring_reason = x_ring.reserved_3 != '0 || x_ring.reserved_1 != '0 ? hca_spec_pkg::REFUSAL_RESERVED_NOT_ZERO :
      !queue_pair_found ? hca_spec_pkg::REFUSAL_UNKNOWN_QUEUE_PAIR : hca_spec_pkg::REFUSAL_NONE;
  assign x_reason = x_is_partial ? hca_spec_pkg::REFUSAL_PARTIAL_DOUBLE_WORD :
      x_is_beyond ? hca_spec_pkg::REFUSAL_WRITE_BEYOND_COMMAND : x_is_command ? x_command_reason : x_ring_reason;
  assign x_refuses = x_is_beyond
      || x_is_command && (x_differs || x_has_length && (!x_had_length && !x_is_admitted || x_passes_length))
      || x_slot_rings && x_slot != 2'd2 && x_ring_reason != hca_spec_pkg::REFUSAL_NONE;
  assign x_ends = x_is_command && x_has_length && x_is_whole;
  assign x_kicks = x_ends && x_collects && !x_refuses || x_is_summed && x_valid;
  assign x_kicks_send_queue_mode = x_ends && !x_collects && !x_refuses;
  assign x_rings = x_slot_rings && x_slot != 2'd2 && !x_refuses;
  assign x_cancels = x_slot_rings && x_slot == 2'd2 || x_controls && (x_command == CANCEL || x_command == CLOSE) && !x_is_closed;
  assign x_is_incomplete = x_collects_now || x_is_waiting;
  assign x_unbinds = (x_refuses || x_cancels || x_hands_over) && x_collects_now;
  assign x_takes = x_binds && x_gets && !x_refuses;
  assign x_unsure_next = x_kicks && (x_checked_now || x_is_summed) && !x_is_management;
  assign x_began = x_bound_before ? x_now_before : began_kept;
  assign x_tells_half_written = x_valid && x_is_scan && x_row.is_timed && has_limit && x_began <= oldest;

  // The part of the page's state that does not depend on the answer about a queue pair: simulation computes the rest again when it arrives.
  row_t x_held;
  always_comb begin
    x_held = x_row;
    x_held.bound = x_buffer;
    x_held.touched = x_touched_next;
    if (x_may_bring) begin
      x_held.has = x_has;
      x_held.count = x_count;
      x_held.highest = !x_is_free && x_row.highest > x_highest ? x_row.highest : x_highest;
      x_held.is_checked = x_checked_now;
      x_held.is_repeated = x_repeated_now;
      x_held.needed = x_needed;
      x_held.words = x_words_now;
    end
    if (x_locks) begin
      x_held.has = '0;
      x_held.count = '0;
      x_held.highest = '0;
      x_held.is_repeated = 1'b0;
    end
  end
  always_comb begin
    x_next = x_held;
    if (x_locks) x_next.state = COLLECTING;
    else if (x_hands_over) x_next.state = SEND_QUEUE_MODE;
    else if (x_closes || x_is_management && (x_cancels || x_refuses || x_kicks)) x_next.state = CLOSED;
    else if (x_refuses) x_next.state = ERROR;
    else if (x_cancels || x_opens || x_kicks || x_kicks_send_queue_mode) x_next.state = FREE;
    else if (x_binds) x_next.state = x_gets ? COLLECTING : SEND_QUEUE_MODE;
    x_next.is_timed = !x_is_management && (x_row.is_timed || x_binds)
        && !(x_kicks || x_kicks_send_queue_mode || x_refuses || x_cancels || x_tells_half_written);
    x_next.has_slots = x_is_management || x_cancels || x_closes || x_refuses ? '0 : x_has_slots;
    if (x_may_bring) x_next.sum = x_sum;
    if (x_locks) x_next.sum = '0;
  end

  // The start times of commands.
  list_memory #(
      .WIDTH(64),
      .SIZE(VIRTUAL_COLLECT_BUFFERS),
      .BLOCK(1'b1)
  ) i_began (
      .clock(clock),
      .write(x_goes && x_binds),
      .write_address(x_page[VCB_WIDTH-1:0]),
      .write_data(now),
      .read_address(stall ? x_page[VCB_WIDTH-1:0] : d_page[VCB_WIDTH-1:0]),
      .read_data(began_kept)
  );

  // ---- Stage y.
  logic y_paid_level, y_paid_function, y_paid_all;
  logic [FUNCTION_WIDTH-1:0] y_owner;
  logic [PCB_WIDTH-1:0] y_buffer, y_taken_buffer;
  logic [OFFSET_WIDTH-3:0] y_first_dword;
  logic [1:0] y_part;
  logic [7:0] y_reason;
  logic [63:0] y_first_write;
  logic [47:0] y_known_segment_0;
  logic [31:0] y_secret;
  logic [BEAT_SEGMENTS-1:0] y_whole;
  hca_spec_pkg::doorbell_slot_write_t y_ring;
  hca_spec_pkg::quality_of_service_level_t y_level;
  hca_spec_pkg::command_header_t y_header;
  logic [8:0] x_outcome, y_outcome;

  // A command that waits for its sum is set aside in the clock after it arrived at stage y, if no beat of its page is behind it.
  assign y_parks = y_waits && y_may_park;
  assign w_walks = w_valid && !w_summed;
  assign w_is_due = w_summed && !w_issued;
  always_ff @(posedge clock) begin
    y_may_park <= y_waits && y_is_new && !w_valid && !(x_valid && x_page == y_page) && !(d_valid && d_page == y_page)
        && !(c_valid && c_same_y);
    y_may_walk <= y_waits && !w_walks;  // The secret has been read.
    if (reset || x_goes && x_is_summed) w_valid <= 1'b0;
    else if (y_parks) w_valid <= 1'b1;
    w_summed <= !reset && w_valid && (w_summed || walk_done);
    w_issued <= !reset && w_valid && (w_issued || w_issues);
    if (w_walks && walk_done) w_sum <= walk_sum;
    if (!w_valid) begin
      w_page <= y_page;
      w_buffer <= y_buffer;
      w_needed <= y_row.needed[5:0];
      w_first_dword <= y_first_dword;
    end
  end

  assign y_done = y_valid && !y_walks;
  assign y_fails = y_is_unsure && !y_agrees;
  assign y_header = {448'd0, y_row.words};
  always_comb begin
    y_resolved = y_row;
    if (y_walks) y_resolved.state = SUMMING;  // Its sum is not known yet.
    else if (y_fails) begin
      y_resolved.state = ERROR;
      y_resolved.has_slots = '0;
    end
  end
  assign x_outcome = {
    x_valid && !x_is_control && !x_is_scan && !x_is_continued && !x_claimed,
    x_valid && !x_is_control && !x_is_scan && !x_is_continued && x_claimed && !x_is_empty && (x_is_closed || x_is_error && !x_may_cancel),
    x_cancels && x_is_incomplete && !x_is_management,
    x_binds && !x_gets || x_hands_over,
    x_valid && (!x_is_control && !x_is_scan && x_is_last || x_is_summed),
    x_controls,
    x_locks || x_controls && x_command == LOCK && x_collects_now || x_takes_management || x_takes_dedicated,
    x_takes_dedicated,
    x_takes_management
  };

  always_ff @(posedge clock) begin
    if (reset) begin
      y_valid <= 1'b0;
      y_is_new <= 1'b0;
    end else begin
      y_is_new <= x_goes;
      if (!y_waits || y_parks) y_valid <= x_goes;
    end
    if (y_waits) begin
      if (walk_done && !w_walks) begin
        y_walks <= 1'b0;
        y_sum <= walk_sum;
      end
    end else begin
      if (x_goes) begin
        y_page <= x_page;
        y_is_management <= x_is_management;
        y_owner <= x_owner;
        y_part <= x_part;
        y_row <= x_next;
        y_slot <= x_slot;
        y_is_slot <= x_is_slot && x_slot != 2'd2;
        y_slot_words <= x_slot_next;
        y_is_command <= x_is_command;
        y_window <= x_window;
        y_received <= x_received_now;
        y_kicks <= x_kicks;
        y_kicks_send_queue_mode <= x_kicks_send_queue_mode;
        y_is_unsure <= x_unsure_next;
        y_walks <= x_unsure_next && x_repeated_now && !x_is_summed;
        y_rings <= x_rings;
        y_ring <= x_ring;
        y_refuses <= x_refuses;
        y_reason <= x_reason;
        y_takes <= x_takes;
        y_takes_other <= x_locks || x_takes_management || x_takes_dedicated;
        y_taken_buffer <= x_takes ? pool_buffer : x_takes_dedicated ? dedicated_buffer : management_buffer;
        y_unbinds <= x_unbinds;
        y_buffer <= x_is_free || x_locks ? x_buffer : x_row.bound;
        y_paid_level <= x_pays_level;
        y_paid_function <= x_pays_function;
        y_paid_all <= x_pays_all;
        y_takes_number <= x_controls && x_command == TAKE_KICK_NUMBER;
        y_first_dword <= x_is_summed ? w_first_dword : x_first_dword;
        y_first_write <= x_binds ? now : x_began;
        y_known_segment_0 <= x_is_command && !x_differs ? (x_has_length ? x_words_now[47:0] : '0) :
            (x_is_incomplete || x_is_summed) && x_row.has == 2'b11 ? x_row.words[47:0] : '0;
        y_sum <= x_is_summed ? w_sum : x_sum;
        y_level <= queue_pair_quality_of_service_level;
        y_gets_length <= x_has_length && !x_had_length;
        y_collects <= x_is_command && x_collects;
        y_locks <= x_locks;
        y_half_written <= x_tells_half_written;
        y_outcome <= x_outcome;
        for (int unsigned segment = 0; segment < BEAT_SEGMENTS; segment++)
          y_whole[segment] <= x_received_now[2*segment+:2] == 2'b11 && x_brought[2*segment+:2] != '0;
      end
    end
  end

  // ---- Stage z: the new state of the page, and a PCB that is released.
  logic z_gives;
  logic [PCB_WIDTH-1:0] z_buffer;
  always_ff @(posedge clock) begin
    z_valid <= !reset && y_done;
    z_page <= y_page;
    z_row <= y_resolved;
    z_is_slot <= y_is_slot;
    z_slot <= y_slot;
    z_slot_words <= y_slot_words;
    z_is_command <= y_is_command;
    z_window <= y_window;
    z_received <= y_received;
    z_has_failed <= y_fails;
    z_gives <= !reset && y_done && (y_unbinds || y_fails);
    z_buffer <= y_buffer;
  end

  // PCBs.
  logic overdrawn, part_repays;
  logic [PCB_WIDTH-1:0] looked_at_buffer;

  physical_collect_buffer_pool #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(DEDICATED_PHYSICAL_COLLECT_BUFFERS),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS),
      .UPSET(UPSET)
  ) i_physical_collect_buffer_pool (
      .idle(!(c_valid && !c_is_scan) && !(d_valid && !d_is_scan) && !(x_valid && !x_is_scan)),
      .take_pool(x_goes && x_takes),
      .taken(y_is_new && y_takes),
      .taken_other(y_is_new && y_takes_other),
      .taken_buffer(y_taken_buffer),
      .taker(y_owner),
      .taker_part(y_part),
      .paid_by_level(y_paid_level),
      .paid_by_function(y_paid_function),
      .paid_by_all(y_paid_all),
      .give_back(z_gives),
      .give_back_buffer(z_buffer),
      .asked_underlying_function(asks_again ? x_owner : d_owner),
      .asked_part(asks_again ? x_part : d_part),
      .set_allotment_underlying_function(set_underlying_function),
      .*
  );

  // After a division.
  assign write_page = sweeping ? PAGE_WIDTH'(swept) : y_page;

  division_settling #(
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PCB_WIDTH(PCB_WIDTH)
  ) i_division_settling (
      .busy(c_valid || d_valid || x_valid || y_valid || w_valid),
      .write((sweeping || y_done || y_parks) && !write_page[VCB_WIDTH]),
      .write_virtual_collect_buffer(write_page[VCB_WIDTH-1:0]),
      .write_collects(!sweeping && y_resolved.state[1]),
      .write_buffer(sweeping ? swept_row.bound : y_resolved.bound),
      .begins(x_goes && x_binds),
      .begins_virtual_collect_buffer(x_page[VCB_WIDTH-1:0]),
      .issued(issues_settling),
      .*
  );

  // ---- The checksum: of the DWORDs as they arrive, or of the content of the buffers if one arrived twice.
  logic [BEATS_WIDTH-1:0] walk_beat;
  logic [BEAT_BYTES*8-1:0] walk_data;

  doorbell_checksum #(.DWORDS(BEAT_DWORDS)) i_doorbell_checksum (
      .clock(clock),
      .advance(!stall),
      .data(b_data),
      .brought(b_brought),
      .beat_sum(d_beat_sum),
      .sum_before(x_is_free ? '0 : x_row.sum),
      .sum_beat(x_beat_sum),
      .has_secret(x_has_length && !x_had_length),
      .secret(queue_pair_checksum_secret),
      .sum(x_sum),
      .whole(y_sum),
      .agrees(y_agrees)
  );

  list_memory #(
      .WIDTH(32),
      .SIZE(VIRTUAL_COLLECT_BUFFERS),
      .BLOCK(1'b1)
  ) i_secrets (
      .clock(clock),
      .write(x_goes && x_is_command && x_has_length && !x_had_length),
      .write_address(x_page[VCB_WIDTH-1:0]),
      .write_data(queue_pair_checksum_secret),
      .read_address(w_walks ? w_page[VCB_WIDTH-1:0] : y_page[VCB_WIDTH-1:0]),
      .read_data(y_secret)
  );

  checksum_walk #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_checksum_walk (
      .walk(w_walks || y_waits && y_may_walk && !y_may_park),
      .dwords({w_walks ? w_needed : y_row.needed[5:0], 1'b0}),
      .secret(y_secret),
      .read_beat(walk_beat),
      .read_data(walk_data),
      .done(walk_done),
      .sum(walk_sum),
      .*
  );

  command_memory #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(BUFFERS)
  ) i_command_memory (
      .may_write(x_may_bring),
      .write_buffer(x_is_free ? pool_buffer : x_row.bound),
      .write_beat(BEATS_WIDTH'(x_window)),
      .write_data(x_data),
      .write_dwords(x_goes && x_is_command && x_collects ? x_brought : '0),
      .read_buffer(read_physical_collect_buffer),
      .again_buffer(w_walks ? w_buffer : y_buffer),
      .again_beat(walk_beat),
      .again_data(walk_data),
      .*
  );

  // ---- Outputs.
  logic unused_outcome;
  assign unused_outcome = &{1'b0, x_header, y_header};
  collect_buffer_units #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PCB_WIDTH(PCB_WIDTH)
  ) i_collect_buffer_units (
      .kicks(y_done && y_kicks && !y_fails),
      .collected(y_kicks),
      .kicks_send_queue_mode(y_done && y_kicks_send_queue_mode),
      .rings(y_done && y_rings),
      .refuses(y_done && (y_refuses || y_fails)),
      .reason(y_fails ? hca_spec_pkg::REFUSAL_CHECKSUM_MISMATCH : y_reason),
      .takes_kick_number(y_done && (y_takes_number || (y_kicks && !y_fails || y_kicks_send_queue_mode) && !y_is_management)),
      .tells_half_written(y_done && y_half_written),
      .page(y_page),
      .is_management(y_is_management),
      .underlying_function(y_owner),
      .buffer(y_buffer),
      .header(y_header),
      .known_segment_0(y_known_segment_0),
      .first_write(y_first_write),
      .slot(y_slot),
      .ring(y_ring),
      .named_level(y_level),
      .first_dword(y_first_dword),
      .*
  );

  always_ff @(posedge clock) begin
    write_unclaimed <= !reset && y_done && y_outcome[8];
    write_dropped <= !reset && y_done && y_outcome[7];
    command_cancelled <= !reset && y_done && y_outcome[6];
    send_queue_mode_entered <= !reset && y_done && y_outcome[5];
    beat_done <= !reset && y_done && y_outcome[4];
    beat_page <= y_page;
    control_done <= !reset && y_done && y_outcome[3];
    control_granted <= y_outcome[2];
    control_physical_collect_buffer <= y_outcome[1] || y_outcome[0] ? y_taken_buffer : y_buffer;
    counted_underlying_function <= y_owner;
  end

  collect_inspect #(
      .BEAT_BYTES(BEAT_BYTES),
      .PAGE_WIDTH(PAGE_WIDTH),
      .PCB_WIDTH(PCB_WIDTH)
  ) i_collect_inspect (
      .write(sweeping || y_done),
      .page(write_page),
      .state(y_fails && !sweeping ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_ERROR :
          state_number(sweeping ? swept_row.state : y_row.state)),
      .buffer(y_row.bound),
      .has_length(y_row.has == 2'b11),
      .needed(y_row.needed),
      .touched(y_row.touched),
      .refuses(y_done && (y_refuses || y_fails)),
      .reason(y_fails ? hca_spec_pkg::REFUSAL_CHECKSUM_MISMATCH : y_reason),
      .begins(y_done && y_locks),
      .collects(y_done && y_collects),
      .window(y_window),
      .received(y_received),
      .whole(y_whole),
      .gets_length(y_gets_length),
      .inspect_state(inspected_state),
      .*
  );

  // While a reset sweeps, the state from before it is hidden.
  logic inspects_management, swept_when_asked;
  always_ff @(posedge clock) begin
    inspects_management <= inspect_page[VCB_WIDTH];
    swept_when_asked <= sweeping;
  end
  assign inspect_state = !swept_when_asked ? inspected_state :
      inspects_management ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED : hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE;
endmodule
