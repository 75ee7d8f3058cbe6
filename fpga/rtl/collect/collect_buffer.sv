// Collects commands that are written to VCBs and management pages, piece by piece and in any order, and kicks each at the write
// that completes it (US8589610). Owns the VCBs, the PCBs and who may use them.
//
// A page is a VCB or, behind them, the management page of a function. That is closed until its function locks one of the PCBs for
// management, which it collects in; it is closed again when its command is complete or refused.
//
// A beat passes two stages. The first finds its function and part, and asks queue_pair_state_cache for the queue pair that it
// names; the answer is due in the next clock. The second binds a PCB, stores, and updates received DWORDs, scoreboard and checksum
// of the VCB, all in one clock, so that beats need not wait for each other. The kick is seen three clocks after the completing
// beat was taken. Control commands enter the second stage before beats.
module collect_buffer #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,  // A power of two.
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,  // Of the pool.
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter bit FAULT = 1'b0,  // For tests: the bit of segment 0 that goes to the scoreboard is flipped.
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
    input hca_spec_pkg::scoreboard_variant_t scoreboard_variant,  // The same always.

    // The pages, VCBs first. awuser: whose BAR was written, and in its highest bit whether that is known.
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

    // Whether there is room for the units of four more beats. Clear, beats wait.
    input logic unit_credit,

    // The queue pair that a command or doorbell slot names, answered in the next clock.
    output logic find,
    output logic [FUNCTION_WIDTH-1:0] find_underlying_function,
    output logic [23:0] find_queue_pair_number,
    input logic queue_pair_found,
    input hca_spec_pkg::quality_of_service_level_t queue_pair_quality_of_service_level,
    input logic [31:0] queue_pair_checksum_secret,

    // A command is complete in a PCB; it lies in the send queue (send queue mode, doorbell slots); it is for management; it was
    // refused; it is half written for longer than the limit, in clock ticks, 0: never.
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

    // What a kick record of the kick tells besides: either kind of kick has one.
    output logic kick_record,
    output logic [VCB_WIDTH-1:0] kick_virtual_collect_buffer,
    output hca_spec_pkg::opcode_t kick_opcode,
    output logic [63:0] kick_first_write,

    // What is counted beside them, and for which function.
    output logic write_unclaimed,
    output logic write_dropped,
    output logic command_cancelled,
    output logic send_queue_mode_entered,
    output logic [FUNCTION_WIDTH-1:0] counted_underlying_function,
    output logic beat_done,
    output logic control_done,

    // A PCB that was kicked, or taken by a control command, comes back.
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer,

    // Control commands. With control_done comes whether there is a PCB to lock or to take, and which. Not ready while a beat goes
    // through several slots.
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

    // A beat of a command that was fetched into a PCB that was taken for it.
    input logic store,
    output logic store_ready,
    input logic [PCB_WIDTH-1:0] store_physical_collect_buffer,
    input logic [BEATS_WIDTH-1:0] store_beat,
    input logic [BEAT_BYTES*8-1:0] store_data,

    // Command data of a PCB, in the next clock; what the control function may see of pages and PCBs, in this one.
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

  localparam int unsigned SEGMENTS = hca_spec_pkg::SEGMENTS;
  localparam int unsigned DWORDS = 2 * SEGMENTS;
  localparam int unsigned BEAT_DWORDS = BEAT_BYTES / 4;
  localparam int unsigned LINE_DWORDS = 16, LINE_BITS = 512;
  localparam int unsigned LINE_WIDTH = OFFSET_WIDTH - 6;
  localparam logic [LINE_WIDTH-1:0] COMMAND_LINES = LINE_WIDTH'(hca_spec_pkg::COMMAND_BYTES / 64);
  localparam logic [LINE_WIDTH-1:0] SLOTS_LINE = LINE_WIDTH'(hca_spec_pkg::DOORBELL_SLOTS_OFFSET / 64);
  localparam logic [LINE_DWORDS-1:0] CANCEL_DWORDS = 16'h0030;
  localparam int unsigned PAGES = VIRTUAL_COLLECT_BUFFERS + UNDERLYING_FUNCTIONS;

  // From the host.
  logic host_beat, host_beat_ready;
  logic [ADDRESS_WIDTH-1:0] host_beat_address;
  logic [FUNCTION_WIDTH:0] host_beat_user;
  logic [BEAT_BYTES*8-1:0] host_beat_data;
  logic [BEAT_BYTES-1:0] host_beat_strobes;

  collect_buffer_host #(
      .BEAT_BYTES(BEAT_BYTES),
      .ADDRESS_WIDTH(ADDRESS_WIDTH),
      .USER_WIDTH(FUNCTION_WIDTH + 1)
  ) i_host (.*);
  // Per page.
  logic [2:0] state[PAGES];
  logic [PCB_WIDTH-1:0] bound[PAGES];  // While it collects.
  logic [7:0] refusal[PAGES];  // In error.
  logic [DWORDS-1:0] received[PAGES];  // Of the command that is collected or extracted.
  logic [63:0] segment_0[PAGES];
  logic checksum_enable[PAGES];
  logic [39:0] checksum[PAGES];  // Sum of the DWORDs that it holds and the secret; carries gather on top.

  // Per PCB.
  logic [SEGMENTS-1:0] scoreboards[BUFFERS], scoreboard_masks[BUFFERS];
  logic [FUNCTION_WIDTH-1:0] buffer_function[BUFFERS];
  logic [1:0] buffer_part[BUFFERS];

  // First stage: whose page it is, what the beat brings, and which queue pair it names.
  logic [ADDRESS_WIDTH-1:0] first_address;
  logic [FUNCTION_WIDTH:0] first_user;
  logic [BEAT_BYTES*8-1:0] first_data;
  logic [BEAT_BYTES-1:0] first_strobes;
  logic [2:0] first_slots_done;
  logic first_valid, first_leaves, takes_control, enters_control, first_goes, first_is_management;
  logic settle_starts, settling, settled, newest_goes;  // After a division of PCBs; see division_settling.
  logic [VCB_WIDTH-1:0] newest, looked_at;
  logic [PAGE_WIDTH-1:0] first_page;
  logic [OFFSET_WIDTH-1:0] first_offset;  // Of its first byte lane.
  logic [LINE_BITS-1:0] first_line_data, line_data;
  logic [LINE_DWORDS-1:0] first_dwords, dwords;  // Of the line.
  logic [1:0] first_slot;
  logic first_is_partial, first_is_slots, first_last, owned, owned_buffer;
  logic [FUNCTION_WIDTH-1:0] owner, buffer_owner;
  logic [1:0] part;

  assign host_beat_ready = (!first_valid || first_leaves) && unit_credit;
  assign control_ready = (!first_valid || first_slots_done == '0) && !settling;
  assign takes_control = control && control_ready;
  assign settle_starts = takes_control && control_command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_SETTLE_DIVISION;
  assign enters_control = takes_control && !settle_starts || newest_goes || settled;
  assign first_page = newest_goes ? {1'b0, newest} : takes_control ? control_page : first_address[ADDRESS_WIDTH-1:OFFSET_WIDTH];
  assign first_is_management = first_page[VCB_WIDTH];
  assign first_goes = first_valid && !takes_control && !settling;
  assign first_leaves = first_goes && first_last;

  write_portion #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_write_portion (
      .address(first_address[OFFSET_WIDTH-1:0]),
      .data(first_data),
      .strobes(first_strobes),
      .is_management(first_is_management),
      .slots_done(first_slots_done),
      .offset(first_offset),
      .line_data(first_line_data),
      .dwords(first_dwords),
      .is_partial(first_is_partial),
      .is_slots(first_is_slots),
      .slot(first_slot),
      .is_last(first_last)
  );

  always_ff @(posedge clock) begin
    if (reset) first_valid <= 1'b0;
    else first_valid <= host_beat && host_beat_ready || first_valid && !first_leaves;
    if (host_beat && host_beat_ready) begin
      first_address <= host_beat_address;
      first_user <= host_beat_user;
      first_data <= host_beat_data;
      first_strobes <= host_beat_strobes;
      first_slots_done <= '0;
    end else if (first_goes) first_slots_done <= first_slots_done | 3'd1 << first_slot;
  end

  underlying_function_table #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS)
  ) i_underlying_function_table (
      .set_bar_underlying_function(set_underlying_function),
      .virtual_collect_buffer(first_page[VCB_WIDTH-1:0]),
      .owned(owned_buffer),
      .underlying_function(buffer_owner),
      .*
  );
  assign owned = first_is_management ? 32'(first_page) < PAGES : owned_buffer;
  assign owner = first_is_management ? first_page[FUNCTION_WIDTH-1:0] : buffer_owner;

  // Second stage.
  logic valid, is_control;
  logic is_handover;  // With is_control: a half-written command goes to send queue mode.
  logic [2:0] command;
  logic [PAGE_WIDTH-1:0] page;
  logic is_management;
  logic [OFFSET_WIDTH-1:0] offset;
  logic [OFFSET_WIDTH-3:0] first_dword;  // Of the page, with which the write begins.
  logic is_partial, is_empty, is_slots, is_last;
  logic is_continued;  // The beat goes through one more slot.
  logic [1:0] slot;
  logic claimed;
  logic [FUNCTION_WIDTH-1:0] underlying_function;
  logic [1:0] group;

  always_ff @(posedge clock) begin
    valid <= !reset && (enters_control || first_goes);
    is_control <= enters_control;
    is_handover <= newest_goes;
    command <= settling ? hca_spec_pkg::COLLECT_BUFFER_CONTROL_SETTLE_DIVISION : control_command;
    page <= first_page;
    is_management <= first_is_management;
    offset <= first_offset;
    first_dword <= first_address[OFFSET_WIDTH-1:2];
    line_data <= first_line_data;
    dwords <= first_dwords;
    is_partial <= first_is_partial;
    is_empty <= first_strobes == '0;
    is_slots <= first_is_slots;
    is_continued <= first_slots_done != '0;
    is_last <= first_last;
    slot <= first_is_slots ? first_slot : 2'd2;
`ifdef FPGA_VERBS_MUTANT_OTHER_FUNCTION_VCB_ACCEPTED
    claimed <= owned;
`else
    claimed <= owned && (!first_user[FUNCTION_WIDTH] || first_user[FUNCTION_WIDTH-1:0] == owner);
`endif
    underlying_function <= owner;
    group <= part;
  end

  // The queue pair that it names, of what is kept where it is not in these beats.
  logic [31:0] kept_command, kept_slot;
  assign kept_command = segment_0[first_page][31:0];
  assign find = first_goes && owned_buffer && !first_is_management && (first_is_slots || first_offset[OFFSET_WIDTH-1:6] == '0 && first_dwords[1:0] != '0);
  assign find_underlying_function = owner;

  named_queue_pair i_named_queue_pair (
      .is_same_page(valid && !is_control && claimed && page == first_page),
      .queue_pair_number(find_queue_pair_number),
      .*
  );

  // What becomes of the beat.
  logic [2:0] state_now;
  logic [LINE_WIDTH-1:0] line;
  logic in_error, may_cancel, passes, is_command, is_beyond, is_slot;
  logic collects;  // In a PCB, not in send queue mode.
  logic binds, gets_buffer;
  logic [PCB_WIDTH-1:0] free_buffer, buffer, management_buffer, dedicated_buffer;
  logic pool_available, management_available, dedicated_available, group_available, locks, has_lock, has_lock_asked, takes_dedicated, takes_management;

  // Only a cancel gets through to a VCB in error, whatever comes with it.
  assign may_cancel = line == SLOTS_LINE && !is_partial && (dwords & CANCEL_DWORDS) != '0;
  assign state_now = state[page];
  assign line = offset[OFFSET_WIDTH-1:6];
  assign in_error = state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_ERROR;
  assign passes = valid && !is_control && claimed && !is_empty
      && state_now != hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
  assign is_command = passes && !in_error && !is_partial && line < COMMAND_LINES;
  assign is_slot = passes && (in_error ? may_cancel && slot == 2'd2 : is_slots);
  assign is_beyond = passes && !in_error && (is_partial || line >= COMMAND_LINES && !is_slots);
  assign binds = is_command && state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE;
  assign gets_buffer = pool_available && group_available;
  assign collects = state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING || binds && gets_buffer;
  assign buffer = locks ? management_buffer : binds ? free_buffer : bound[page];

  // Dedicated PCBs.
  assign has_lock = state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;
  assign has_lock_asked = command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_LOCK && has_lock;
  assign locks = valid && is_control && command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_LOCK && !has_lock && management_available;
  assign takes_management = valid && is_control && command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_TAKE_MANAGEMENT
      && management_available;
  assign takes_dedicated = valid && is_control && command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_TAKE_DEDICATED
      && dedicated_available;

  // Where it is stored.
  logic [BEATS_WIDTH-1:0] write_beat, first_beat;
  logic [BEAT_DWORDS-1:0] stored_of_beat;

  // Received DWORDs and segment 0.
  logic [DWORDS-1:0] received_before, received_now, brought;
  logic [BEAT_DWORDS-1:0] brought_of_beat, repeated_of_beat;  // Repeated: received before.
  logic [SEGMENTS-1:0] unused, whole_segments;
  logic [DWORDS-1:0] unused_dwords;
  logic had_length, has_length, checksum_enable_now;
  logic [63:0] segment_0_now;
  logic [1:0] segment_0_differs;  // A DWORD of it came before, with another value: it is of another command.
  hca_spec_pkg::command_header_t header;

  assign received_before = binds ? '0 : received[page];
  assign brought_of_beat = BEAT_DWORDS'(dwords >> offset[5:2]);
  assign repeated_of_beat = BEAT_DWORDS'(LINE_DWORDS'((brought & received_before) >> {line[2:0], 4'd0}) >> offset[5:2]);

  received_dwords i_received_dwords (
      .line(line[2:0]),
      .length(header.length),
      .*
  );

  assign had_length = received_before[1:0] == 2'b11;
  assign has_length = received_now[1:0] == 2'b11;
  for (genvar half = 0; half < 2; half++) begin : gen_segment_0
    logic is_here, is_repeated;
    assign is_here = line == '0 && dwords[half];
    assign is_repeated = is_here && received_before[half];
    assign segment_0_now[32*half+:32] = is_here && !is_repeated ? line_data[32*half+:32] : segment_0[page][32*half+:32];
    assign segment_0_differs[half] = is_repeated && line_data[32*half+:32] != segment_0[page][32*half+:32];
  end
  assign header = {448'd0, segment_0_now};
  assign checksum_enable_now = line == '0 && dwords[2] ? line_data[hca_spec_pkg::COMMAND_HEADER_CHECKSUM_ENABLE_LSB] :
      checksum_enable[page];

  logic [7:0] admission;

  command_admission i_command_admission (
      .refusal(admission),
      .*
  );

  logic [SEGMENTS-1:0] scoreboard_before, mask_before, scoreboard_next, mask_next;
  logic scoreboard_complete;
  logic [SEGMENTS-1:0] unused_now;  // If the length came in with this write.

  assign scoreboard_before = binds ? '0 : scoreboards[buffer];
  assign mask_before = binds ? '0 : scoreboard_masks[buffer];
  assign unused_now = has_length && !had_length ? unused : '0;

  scoreboard i_scoreboard (
      .is_direct(scoreboard_variant == hca_spec_pkg::SCOREBOARD_VARIANT_DIRECT),
      .scoreboard(scoreboard_before),
      .mask(mask_before),
      .received(whole_segments ^ SEGMENTS'(FAULT)),
      .unused(unused_now),
      .complete(scoreboard_complete),
      .*
  );

  // Checksum: the last copy of a DWORD counts. What the buffers held of the beat was read while it was in the first stage; what the
  // beat before it wrote there in that clock is kept beside it.
  logic [39:0] sum_before, sum;
  logic checksum_matches, has_secret;
  logic [BEAT_BYTES*8-1:0] stored_before, just_stored_data, data_before;
  logic [BEAT_DWORDS-1:0] just_stored;

  always_ff @(posedge clock) begin
    just_stored <= page == first_page && write_beat == first_beat ? stored_of_beat : '0;
    just_stored_data <= line_data[BEAT_BYTES*8-1:0];
  end
  for (genvar lane = 0; lane < BEAT_DWORDS; lane++) begin : gen_before
    assign data_before[lane*32+:32] = just_stored[lane] ? just_stored_data[lane*32+:32] : stored_before[lane*32+:32];
  end

  assign sum_before = binds ? '0 : checksum[page];
  assign has_secret = has_length && !had_length;

  doorbell_checksum #(.DWORDS(BEAT_DWORDS)) i_doorbell_checksum (
      .sum_before(sum_before),
      .data(line_data[BEAT_BYTES*8-1:0]),
      .brought(brought_of_beat),
      .data_before(data_before),
      .repeated(repeated_of_beat),
      .has_secret(has_secret),
      .secret(queue_pair_checksum_secret),
      .enable(checksum_enable_now && !is_management),
      .sum(sum),
      .agrees(checksum_matches)
  );

  // Doorbell slots, and what comes of a write.
  logic complete, kicks, kicks_send_queue_mode, rings, cancels, closes, opens, refuses;
  logic slot_rings;
  logic [7:0] ring_refusal;
  hca_spec_pkg::doorbell_slot_write_t ring;

  doorbell_slots #(
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS)
  ) i_doorbell_slots (
      .virtual_collect_buffer(page[VCB_WIDTH-1:0]),
      .write(is_slot),
      .line_dwords(dwords[5:0]),
      .line_data(line_data[191:0]),
      .slot_value(ring),
      .clear(!is_management && (cancels || closes || refuses)),
      .query_virtual_collect_buffer(first_page[VCB_WIDTH-1:0]),
      .query_stop(first_slot == 2'd1),
      .query_dword(kept_slot),
      .*
  );
  assign ring_refusal = ring.reserved_3 != '0 || ring.reserved_1 != '0 ? hca_spec_pkg::REFUSAL_RESERVED_NOT_ZERO :
      !queue_pair_found ? hca_spec_pkg::REFUSAL_UNKNOWN_QUEUE_PAIR : hca_spec_pkg::REFUSAL_NONE;

  // Outcome.
  logic [7:0] reason, command_reason;
  logic is_incomplete, unbinds;  // Before this clock; a PCB comes back without a kick.
  logic hands_over;

  assign complete = has_length && (collects ? scoreboard_complete : (received_now | unused_dwords) == '1);
  assign command_reason = segment_0_differs != '0 ? hca_spec_pkg::REFUSAL_SEGMENT_0_DIFFERS :
      has_length && !had_length && admission != hca_spec_pkg::REFUSAL_NONE ? admission :
      has_length && (received_now & unused_dwords) != '0 ? hca_spec_pkg::REFUSAL_SEGMENT_BEYOND_LENGTH :
      complete && collects && !checksum_matches ? hca_spec_pkg::REFUSAL_CHECKSUM_MISMATCH : hca_spec_pkg::REFUSAL_NONE;
  assign reason = is_partial ? hca_spec_pkg::REFUSAL_PARTIAL_DOUBLE_WORD :
      is_beyond ? hca_spec_pkg::REFUSAL_WRITE_BEYOND_COMMAND : is_command ? command_reason : ring_refusal;
  assign refuses = is_beyond || is_command && command_reason != hca_spec_pkg::REFUSAL_NONE
      || slot_rings && slot != 2'd2 && ring_refusal != hca_spec_pkg::REFUSAL_NONE;
  assign kicks = is_command && complete && collects && !refuses;
  assign kicks_send_queue_mode = is_command && complete && !collects && !refuses;
  assign rings = slot_rings && slot != 2'd2 && !refuses;
  assign cancels = slot_rings && slot == 2'd2
      || valid && is_control
      && (command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_CANCEL || command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_CLOSE)
      && state_now != hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
  assign closes = valid && is_control && command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_CLOSE;
  assign opens = valid && is_control && command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_OPEN && !is_management
      && state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
  assign is_incomplete = state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING
      || state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_SEND_QUEUE_MODE;
  assign hands_over = valid && is_control && is_handover && !is_management
      && state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;
  assign unbinds = (refuses || cancels || hands_over) && state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;

  logic [2:0] state_next;
  always_comb begin
    state_next = state_now;
    if (locks) state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;
    else if (hands_over) state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_SEND_QUEUE_MODE;
    else if (closes || is_management && (cancels || refuses || kicks))
      state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
    else if (refuses) state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_ERROR;
    else if (cancels || opens || kicks || kicks_send_queue_mode) state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE;
    else if (binds)
      state_next = gets_buffer ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING :
          hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_SEND_QUEUE_MODE;
  end

  for (genvar number = 0; number < PAGES; number++) begin : gen_page
    always_ff @(posedge clock) begin
      if (reset)
        state[number] <= number < VIRTUAL_COLLECT_BUFFERS ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE :
            hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
      else if (page == PAGE_WIDTH'(number)) state[number] <= state_next;
    end
  end

  logic takes;  // A PCB of the pool.
  assign takes = binds && gets_buffer && !refuses;

  always_ff @(posedge clock) begin
    if (is_command || locks) begin
      received[page] <= locks ? '0 : received_now;
      segment_0[page] <= segment_0_now;
      checksum_enable[page] <= checksum_enable_now;
      checksum[page] <= locks ? '0 : sum;
      bound[page] <= buffer;
    end
    if (refuses) refusal[page] <= reason;
    if (locks || is_command && collects && !(refuses && command_reason != hca_spec_pkg::REFUSAL_CHECKSUM_MISMATCH)) begin
      scoreboards[buffer] <= locks ? '0 : scoreboard_next;
      scoreboard_masks[buffer] <= locks ? '0 : mask_next;
    end
    if (takes) begin
      buffer_function[free_buffer] <= underlying_function;
      buffer_part[free_buffer] <= group;
    end
  end

  physical_collect_buffer_list #(
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(DEDICATED_PHYSICAL_COLLECT_BUFFERS),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS)
  ) i_physical_collect_buffer_list (
      .pool_buffer(free_buffer),
      .take(takes || locks || takes_management || takes_dedicated),
      .take_buffer(takes ? free_buffer : takes_dedicated ? dedicated_buffer : management_buffer),
      .give_back(unbinds),
      .give_back_buffer(bound[page]),
      .*
  );

  // What a division of PCBs leaves to be handed over.
  logic [PCB_WIDTH-1:0] looked_at_buffer;
  logic overdrawn, part_repays, looked_at_repays;
  logic [63:0] looked_at_began;

  assign looked_at_buffer = bound[{1'b0, looked_at}];
  assign looked_at_repays = part_repays
      && state[{1'b0, looked_at}] == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;

  collect_group_table #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS)
  ) i_collect_group_table (
      .part(group),
      .available(group_available),
      .take(takes),
      .give_back(unbinds && !is_management),
      .give_back_underlying_function(buffer_function[bound[page]]),
      .give_back_part(buffer_part[bound[page]]),
      .release_buffer(release_buffer && 32'(release_physical_collect_buffer) < PHYSICAL_COLLECT_BUFFERS),
      .release_underlying_function(buffer_function[release_physical_collect_buffer]),
      .release_part(buffer_part[release_physical_collect_buffer]),
      .set_allotment_underlying_function(set_underlying_function),
      .looked_at_underlying_function(buffer_function[looked_at_buffer]),
      .looked_at_part(buffer_part[looked_at_buffer]),
      .*
  );

  assign write_beat = BEATS_WIDTH'(offset >> $clog2(BEAT_BYTES));
  assign first_beat = BEATS_WIDTH'(first_offset >> $clog2(BEAT_BYTES));
  assign stored_of_beat = is_command && collects ? brought_of_beat : '0;

  command_memory #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(BUFFERS)
  ) i_command_memory (
      .write_buffer(buffer),
      .write_data(line_data[BEAT_BYTES*8-1:0]),
      .write_dwords(stored_of_beat),
      .read_buffer(read_physical_collect_buffer),
      .before_buffer(bound[first_page]),
      .before_beat(first_beat),
      .before_data(stored_before),
      .*
  );

  // After a division.
  division_settling #(.VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS)) i_division_settling (.*);

  // Commands that stay half written.
  logic [63:0] first_write;
  logic [VCB_WIDTH-1:0] scanned;
  logic [47:0] scanned_segment_0;

  assign scanned_segment_0 = received[{1'b0, scanned}][1:0] == 2'b11 ? segment_0[{1'b0, scanned}][47:0] : '0;

  half_written_scan #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS)
  ) i_half_written_scan (
      .busy(valid && !is_management),
      .virtual_collect_buffer(page[VCB_WIDTH-1:0]),
      .begins(binds),
      .ends(!is_management && (kicks || kicks_send_queue_mode || refuses || cancels)),
      .*
  );

  // What goes out.
  logic takes_kick_number, has_segment_0;
  logic [47:0] known_segment_0;

  assign takes_kick_number = (kicks || kicks_send_queue_mode) && !is_management
      || valid && is_control && command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_TAKE_KICK_NUMBER;
  assign has_segment_0 = is_command && segment_0_differs == '0 ? has_length : is_incomplete && received[page][1:0] == 2'b11;
  assign known_segment_0 = !has_segment_0 ? '0 : is_command ? segment_0_now[47:0] : segment_0[page][47:0];

  collect_buffer_units #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PCB_WIDTH(PCB_WIDTH)
  ) i_collect_buffer_units (.*);

  collect_buffer_outcome #(
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .PCB_WIDTH(PCB_WIDTH)
  ) i_collect_buffer_outcome (.*);

  assign inspect_state = state[inspect_page];
  assign inspect_refusal = refusal[inspect_page];
  assign inspect_physical_collect_buffer = bound[inspect_page];
  assign inspect_scoreboard = scoreboards[inspect_physical_collect_buffer];
  assign inspect_scoreboard_mask = scoreboard_masks[inspect_physical_collect_buffer];

`ifdef FORMAL
`include "collect_buffer.svh"
`endif
endmodule
