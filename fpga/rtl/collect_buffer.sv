// Collects commands that are written to VCBs, piece by piece and in any order, and kicks each at the write that completes it
// (US8589610). Owns the VCBs, the pool PCBs and who may use them.
//
// A beat passes two stages. The first finds its function and part, and asks queue_pair_state_cache for the queue pair that it
// names; the answer is due in the next clock. The second binds a PCB, stores, and updates received DWORDs, scoreboard and checksum
// of the VCB, all in one clock, so that beats need not wait for each other. The kick is seen three clocks after the completing
// beat was taken. Control commands enter the second stage before beats.
module collect_buffer #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,  // A power of two.
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter bit SCOREBOARD_VARIANT_DIRECT = 1'b0,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned PCB_WIDTH = PHYSICAL_COLLECT_BUFFERS > 1 ? $clog2(PHYSICAL_COLLECT_BUFFERS) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned COUNT_WIDTH = $clog2(PHYSICAL_COLLECT_BUFFERS + 1) + 2,
    parameter int unsigned OFFSET_WIDTH = 12,
    parameter int unsigned ADDRESS_WIDTH = VCB_WIDTH + OFFSET_WIDTH,
    parameter int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    // VCB pages. awuser: whose BAR was written, and in its highest bit whether that is known.
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
    output logic [FUNCTION_WIDTH-1:0] find_underlying_function,
    output logic [23:0] find_queue_pair_number,
    input logic queue_pair_found,
    input hca_spec_pkg::quality_of_service_level_t queue_pair_quality_of_service_level,
    input logic [31:0] queue_pair_checksum_secret,

    // A command is complete in a PCB; it lies in the send queue (send queue mode, doorbell slots); it was refused.
    output logic kick,
    output hca_spec_pkg::kick_unit_t kick_unit,
    output logic [VCB_WIDTH-1:0] kick_virtual_collect_buffer,
    output logic post_notice,
    output hca_spec_pkg::post_notice_t post_notice_unit,
    output logic send_queue_mode_kick,
    output logic refused,
    output hca_spec_pkg::event_unit_t refused_event,

    // What is counted beside them, and for which function.
    output logic write_unclaimed,
    output logic write_dropped,
    output logic command_cancelled,
    output logic [FUNCTION_WIDTH-1:0] counted_underlying_function,
    output logic beat_done,
    output logic control_done,

    // A PCB that was kicked comes back.
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer,

    // Control function: cancel (0), close (1) or open (2) a VCB. Not ready while a beat goes through several slots.
    input logic control,
    output logic control_ready,
    input logic [1:0] control_command,
    input logic [VCB_WIDTH-1:0] control_virtual_collect_buffer,
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

    // Command data of a PCB, in the next clock; what the control function may see of VCBs and PCBs, in this one.
    input logic [PCB_WIDTH-1:0] read_physical_collect_buffer,
    input logic [BEATS_WIDTH-1:0] read_beat,
    output logic [BEAT_BYTES*8-1:0] read_data,
    input logic [VCB_WIDTH-1:0] inspect_virtual_collect_buffer,
    output logic [2:0] inspect_state,  // virtual_collect_buffer_state_t
    output logic [7:0] inspect_refusal,
    output logic [PCB_WIDTH-1:0] inspect_physical_collect_buffer,
    output logic [hca_spec_pkg::SEGMENTS-1:0] inspect_scoreboard,
    output logic [hca_spec_pkg::SEGMENTS-1:0] inspect_scoreboard_mask,
    output logic [PHYSICAL_COLLECT_BUFFERS-1:0] free_buffers
);
  if (BEAT_BYTES != 8 && BEAT_BYTES != 16 && BEAT_BYTES != 32 && BEAT_BYTES != 64
      || VIRTUAL_COLLECT_BUFFERS != 1 << VCB_WIDTH || VCB_WIDTH < 1) begin : gen_check
    $error("BEAT_BYTES can be 8, 16, 32 or 64; VIRTUAL_COLLECT_BUFFERS has to be a power of two from 2 on");
  end

  localparam int unsigned SEGMENTS = hca_spec_pkg::SEGMENTS;
  localparam int unsigned DWORDS = 2 * SEGMENTS;
  localparam int unsigned BEAT_DWORDS = BEAT_BYTES / 4;
  localparam int unsigned LINE_DWORDS = 16;
  localparam int unsigned LINE_BITS = 512;
  localparam int unsigned LINE_WIDTH = OFFSET_WIDTH - 6;
  localparam logic [LINE_WIDTH-1:0] COMMAND_LINES = LINE_WIDTH'(hca_spec_pkg::COMMAND_BYTES / 64);
  localparam logic [LINE_WIDTH-1:0] SLOTS_LINE = LINE_WIDTH'(hca_spec_pkg::DOORBELL_SLOTS_OFFSET / 64);
  localparam logic [LINE_DWORDS-1:0] SLOT_DWORDS = 16'h003f;
  localparam logic [LINE_DWORDS-1:0] CANCEL_DWORDS = 16'h0030;
  localparam logic [1:0] CANCEL = 2'd0;
  localparam logic [1:0] CLOSE = 2'd1;
  localparam logic [1:0] OPEN = 2'd2;

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

  // Per VCB.
  logic [2:0] state[VIRTUAL_COLLECT_BUFFERS];
  logic [PCB_WIDTH-1:0] bound[VIRTUAL_COLLECT_BUFFERS];  // While it collects.
  logic [7:0] refusal[VIRTUAL_COLLECT_BUFFERS];  // In error.
  logic [DWORDS-1:0] received[VIRTUAL_COLLECT_BUFFERS];  // Of the command that is collected or extracted.
  logic [63:0] segment_0[VIRTUAL_COLLECT_BUFFERS];
  logic checksum_enable[VIRTUAL_COLLECT_BUFFERS];
  logic [39:0] checksum[VIRTUAL_COLLECT_BUFFERS];  // Sum of the DWORDs received and the secret; carries gather on top.
  logic [5:0] slots_received[VIRTUAL_COLLECT_BUFFERS];  // By DWORD.
  logic [63:0] slot_start[VIRTUAL_COLLECT_BUFFERS];
  logic [63:0] slot_stop[VIRTUAL_COLLECT_BUFFERS];

  // Per PCB.
  logic [SEGMENTS-1:0] scoreboards[PHYSICAL_COLLECT_BUFFERS];
  logic [SEGMENTS-1:0] scoreboard_masks[PHYSICAL_COLLECT_BUFFERS];
  logic [FUNCTION_WIDTH-1:0] buffer_function[PHYSICAL_COLLECT_BUFFERS];
  logic [1:0] buffer_part[PHYSICAL_COLLECT_BUFFERS];

  // First stage: whose VCB it is, what the beat brings, and which queue pair it names.
  logic first_valid;
  logic [ADDRESS_WIDTH-1:0] first_address;
  logic [FUNCTION_WIDTH:0] first_user;
  logic [BEAT_BYTES*8-1:0] first_data;
  logic [BEAT_BYTES-1:0] first_strobes;
  logic [2:0] first_slots_done;
  logic first_leaves, takes_control, first_goes;
  logic [VCB_WIDTH-1:0] first_page;
  logic [OFFSET_WIDTH-1:0] first_offset;
  logic [LINE_BITS-1:0] first_line_data;
  logic [BEAT_DWORDS-1:0] first_whole, first_touched;
  logic [LINE_DWORDS-1:0] first_dwords;
  logic first_is_slots;
  logic [2:0] first_slots;  // Touched, and still to be gone through.
  logic [1:0] first_slot;
  logic first_last, owned;
  logic [FUNCTION_WIDTH-1:0] owner;
  logic [1:0] part;

  assign host_beat_ready = (!first_valid || first_leaves) && unit_credit;
  assign control_ready = !first_valid || first_slots_done == '0;
  assign takes_control = control && control_ready;
  assign first_page = takes_control ? control_virtual_collect_buffer : first_address[ADDRESS_WIDTH-1:OFFSET_WIDTH];
  assign first_offset = first_address[OFFSET_WIDTH-1:0];
  assign first_line_data = {(64 / BEAT_BYTES) {first_data}};
  for (genvar dword = 0; dword < BEAT_DWORDS; dword++) begin : gen_dword
    assign first_whole[dword] = first_strobes[dword*4+:4] == 4'hf;
    assign first_touched[dword] = first_strobes[dword*4+:4] != 4'h0;
  end
  assign first_dwords = LINE_DWORDS'(first_whole) << first_offset[5:2];
  assign first_is_slots = first_offset[OFFSET_WIDTH-1:6] == SLOTS_LINE && first_whole == first_touched
      && (first_dwords & ~SLOT_DWORDS) == '0;
  assign first_slots = {first_dwords[5:4] != 2'd0, first_dwords[3:2] != 2'd0, first_dwords[1:0] != 2'd0} & ~first_slots_done;
  assign first_slot = first_slots[0] ? 2'd0 : first_slots[1] ? 2'd1 : 2'd2;
  assign first_last = !first_is_slots || (first_slots & (first_slots - 3'd1)) == '0;
  assign first_goes = first_valid && !takes_control;
  assign first_leaves = first_goes && first_last;

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
      .virtual_collect_buffer(first_page),
      .underlying_function(owner),
      .*
  );

  // Second stage.
  logic valid, is_control;
  logic [1:0] command;
  logic [VCB_WIDTH-1:0] page;
  logic [OFFSET_WIDTH-1:0] offset;
  logic [LINE_BITS-1:0] line_data;
  logic [LINE_DWORDS-1:0] dwords;  // Of the line.
  logic is_partial, is_empty, is_slots;
  logic is_continued;  // The beat goes through one more slot.
  logic is_last;
  logic [1:0] first_slot_before;
  logic claimed;
  logic [FUNCTION_WIDTH-1:0] underlying_function;
  logic [1:0] group;

  always_ff @(posedge clock) begin
    valid <= !reset && (takes_control || first_valid);
    is_control <= takes_control;
    command <= control_command;
    page <= first_page;
    offset <= first_offset;
    line_data <= first_line_data;
    dwords <= first_dwords;
    is_partial <= first_whole != first_touched;
    is_empty <= first_strobes == '0;
    is_slots <= first_is_slots;
    is_continued <= first_slots_done != '0;
    is_last <= first_last;
    first_slot_before <= first_slot;
`ifdef FPGA_VERBS_MUTANT_OTHER_FUNCTION_VCB_ACCEPTED
    claimed <= owned;
`else
    claimed <= owned && (!first_user[FUNCTION_WIDTH] || first_user[FUNCTION_WIDTH-1:0] == owner);
`endif
    underlying_function <= owner;
    group <= part;
  end

  logic [1:0] slot;

  // The queue pair is named by the first DWORD of a command or slot: in this beat, in the one before, or in memory.
  logic [31:0] named;
  logic first_dword_here, first_dword_before;
  logic [31:0] dword_before, dword_kept;
  assign first_dword_here = first_is_slots ? first_dwords[{1'b0, first_slot, 1'b0}] : first_dwords[0];
  assign first_dword_before = valid && page == first_page && is_slots == first_is_slots
      && (is_slots ? slot == first_slot && dwords[{1'b0, slot, 1'b0}] : offset[OFFSET_WIDTH-1:6] == '0 && dwords[0]);
  assign dword_before = is_slots && slot == 2'd1 ? line_data[64+:32] : line_data[31:0];
  assign dword_kept = !first_is_slots ? segment_0[first_page][31:0] :
      first_slot == 2'd1 ? slot_stop[first_page][31:0] : slot_start[first_page][31:0];
  assign named = first_dword_here ? (first_is_slots && first_slot == 2'd1 ? first_line_data[64+:32] : first_line_data[31:0]) :
      first_dword_before ? dword_before : dword_kept;
  assign find_underlying_function = owner;
  assign find_queue_pair_number = first_is_slots ? named[hca_spec_pkg::DOORBELL_SLOT_WRITE_QUEUE_PAIR_NUMBER_LSB+:24] :
      named[hca_spec_pkg::COMMAND_HEADER_QUEUE_PAIR_NUMBER_LSB+:24];

  // What becomes of the beat.
  logic [2:0] state_now;
  logic [LINE_WIDTH-1:0] line;
  logic in_error, may_cancel, passes, is_command, is_beyond, is_slot;
  logic collects;  // In a PCB, not in send queue mode.
  logic binds, gets_buffer;
  logic [PCB_WIDTH-1:0] free_buffer, buffer;
  logic group_available;

  // Only a cancel gets through to a VCB in error, whatever comes with it.
  assign may_cancel = line == SLOTS_LINE && !is_partial && (dwords & CANCEL_DWORDS) != '0;
  assign slot = is_slots ? first_slot_before : 2'd2;
  assign state_now = state[page];
  assign line = offset[OFFSET_WIDTH-1:6];
  assign in_error = state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_ERROR;
  assign passes = valid && !is_control && claimed && !is_empty
      && state_now != hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
  assign is_command = passes && !in_error && !is_partial && line < COMMAND_LINES;
  assign is_slot = passes && (in_error ? may_cancel && slot == 2'd2 : is_slots);
  assign is_beyond = passes && !in_error && (is_partial || line >= COMMAND_LINES && !is_slots);
  assign binds = is_command && state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE;
  assign gets_buffer = free_buffers != '0 && group_available;
  assign collects = state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING || binds && gets_buffer;
  assign buffer = binds ? free_buffer : bound[page];

  find_first #(.SIZE(PHYSICAL_COLLECT_BUFFERS)) i_free (.bits(free_buffers), .first(free_buffer));

  // Received DWORDs and segment 0.
  logic [DWORDS-1:0] received_before, received_now, brought;
  logic [BEAT_DWORDS-1:0] fresh_of_beat;  // Not received before.
  logic had_length, has_length;
  logic [SEGMENTS-1:0] unused;
  logic [DWORDS-1:0] unused_dwords;
  logic [SEGMENTS-1:0] whole_segments;
  logic [63:0] segment_0_now;
  hca_spec_pkg::command_header_t header;
  logic unused_header, checksum_enable_now;

  assign received_before = binds ? '0 : received[page];
  assign fresh_of_beat = BEAT_DWORDS'(LINE_DWORDS'((brought & ~received_before) >> {line[2:0], 4'd0}) >> offset[5:2]);

  received_dwords i_received_dwords (
      .received_before(received_before),
      .line(line[2:0]),
      .dwords(dwords),
      .length(header.length),
      .brought(brought),
      .received_now(received_now),
      .whole_segments(whole_segments),
      .unused(unused),
      .unused_dwords(unused_dwords)
  );

  assign had_length = received_before[1:0] == 2'b11;
  assign has_length = received_now[1:0] == 2'b11;
  assign segment_0_now[31:0] = line == '0 && dwords[0] && !had_length ? line_data[31:0] : segment_0[page][31:0];
  assign segment_0_now[63:32] = line == '0 && dwords[1] && !had_length ? line_data[63:32] : segment_0[page][63:32];
  assign header = {448'd0, segment_0_now};
  assign unused_header = &{1'b0, header};
  assign checksum_enable_now = line == '0 && dwords[2] ? line_data[hca_spec_pkg::COMMAND_HEADER_CHECKSUM_ENABLE_LSB] :
      checksum_enable[page];

  // What segment 0 says: version, reserved bits, length, queue pair, level.
  logic [7:0] admission;

  assign admission = header.version != 4'(hca_spec_pkg::COMMAND_VERSION) ? hca_spec_pkg::REFUSAL_UNKNOWN_VERSION :
      header.reserved_6 ? hca_spec_pkg::REFUSAL_RESERVED_NOT_ZERO :
      header.length > 9'(hca_spec_pkg::COMMAND_PAYLOAD_BYTES) ? hca_spec_pkg::REFUSAL_LENGTH_OVER_MAXIMUM :
      !queue_pair_found ? hca_spec_pkg::REFUSAL_UNKNOWN_QUEUE_PAIR :
      header.quality_of_service_level != queue_pair_quality_of_service_level ?
      hca_spec_pkg::REFUSAL_WRONG_QUALITY_OF_SERVICE_LEVEL : hca_spec_pkg::REFUSAL_NONE;

  logic [SEGMENTS-1:0] scoreboard_next, mask_next;
  logic scoreboard_complete;
  logic [SEGMENTS-1:0] scoreboard_before, mask_before;
  logic [SEGMENTS-1:0] unused_now;  // If the length came in with this write.

  assign scoreboard_before = binds ? '0 : scoreboards[buffer];
  assign mask_before = binds ? '0 : scoreboard_masks[buffer];
  assign unused_now = has_length && !had_length ? unused : '0;

  scoreboard #(.DIRECT(SCOREBOARD_VARIANT_DIRECT)) i_scoreboard (
      .scoreboard(scoreboard_before),
      .mask(mask_before),
      .received(whole_segments),
      .unused(unused_now),
      .scoreboard_next(scoreboard_next),
      .mask_next(mask_next),
      .complete(scoreboard_complete)
  );

  // Checksum: the first copy of a DWORD counts.
  logic [39:0] sum_before, sum;
  logic checksum_matches, has_secret;

  assign sum_before = binds ? '0 : checksum[page];
  assign has_secret = has_length && !had_length;

  doorbell_checksum #(.DWORDS(BEAT_DWORDS)) i_doorbell_checksum (
      .sum_before(sum_before),
      .data(line_data[BEAT_BYTES*8-1:0]),
      .counted(fresh_of_beat),
      .has_secret(has_secret),
      .secret(queue_pair_checksum_secret),
      .enable(checksum_enable_now),
      .sum(sum),
      .agrees(checksum_matches)
  );

  // Doorbell slots.
  logic [1:0] slot_dwords, slot_received;
  logic [63:0] slot_value;
  logic slot_rings;
  hca_spec_pkg::doorbell_slot_write_t ring;
  logic [7:0] ring_refusal;

  assign slot_dwords = dwords[{1'b0, slot, 1'b0}+:2];
  assign slot_received = slots_received[page][{slot, 1'b0}+:2] | slot_dwords;
  assign slot_value[31:0] = slot_dwords[0] ? line_data[{1'b0, slot, 6'd0}+:32] :
      slot == 2'd1 ? slot_stop[page][31:0] : slot_start[page][31:0];
  assign slot_value[63:32] = slot_dwords[1] ? line_data[{1'b0, slot, 6'd32}+:32] :
      slot == 2'd1 ? slot_stop[page][63:32] : slot_start[page][63:32];
  assign slot_rings = is_slot && slot_received == 2'b11;
  assign ring = slot_value;
  assign ring_refusal = ring.reserved_3 != '0 || ring.reserved_1 != '0 ? hca_spec_pkg::REFUSAL_RESERVED_NOT_ZERO :
      !queue_pair_found ? hca_spec_pkg::REFUSAL_UNKNOWN_QUEUE_PAIR : hca_spec_pkg::REFUSAL_NONE;

  // Outcome.
  logic complete, kicks, kicks_send_queue_mode, rings, cancels, closes, opens, refuses;
  logic [7:0] reason, command_reason;
  logic is_incomplete;  // Before this clock.
  logic unbinds;  // A PCB comes back without a kick.

  assign complete = has_length && (collects ? scoreboard_complete : (received_now | unused_dwords) == '1);
  assign command_reason = has_length && !had_length && admission != hca_spec_pkg::REFUSAL_NONE ? admission :
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
      || valid && is_control && (command == CANCEL || command == CLOSE)
      && state_now != hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
  assign closes = valid && is_control && command == CLOSE;
  assign opens = valid && is_control && command == OPEN && state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
  assign is_incomplete = state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING
      || state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_SEND_QUEUE_MODE;
  assign unbinds = (refuses || cancels) && state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;

  logic [2:0] state_next;
  always_comb begin
    state_next = state_now;
    if (closes) state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED;
    else if (refuses) state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_ERROR;
    else if (cancels || opens || kicks || kicks_send_queue_mode) state_next = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE;
    else if (binds)
      state_next = gets_buffer ? hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING :
          hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_SEND_QUEUE_MODE;
  end

  for (genvar number = 0; number < VIRTUAL_COLLECT_BUFFERS; number++) begin : gen_vcb
    always_ff @(posedge clock) begin
      if (reset) begin
        state[number] <= hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE;
        slots_received[number] <= '0;
      end else if (page == VCB_WIDTH'(number)) begin
        state[number] <= state_next;
        if (cancels || closes || refuses) slots_received[number] <= '0;
        else if (is_slot) slots_received[number][{slot, 1'b0}+:2] <= slot_rings ? 2'b00 : slot_received;
      end
    end
  end

  always_ff @(posedge clock) begin
    if (is_command) begin
      received[page] <= received_now;
      segment_0[page] <= segment_0_now;
      checksum_enable[page] <= checksum_enable_now;
      checksum[page] <= sum;
      bound[page] <= buffer;
    end
    if (refuses) refusal[page] <= reason;
    if (is_slot && slot == 2'd0) slot_start[page] <= slot_value;
    if (is_slot && slot == 2'd1) slot_stop[page] <= slot_value;
    if (is_command && collects && !(refuses && command_reason != hca_spec_pkg::REFUSAL_CHECKSUM_MISMATCH)) begin
      scoreboards[buffer] <= scoreboard_next;
      scoreboard_masks[buffer] <= mask_next;
    end
    if (takes) begin
      buffer_function[free_buffer] <= underlying_function;
      buffer_part[free_buffer] <= group;
    end
  end

  for (genvar number = 0; number < PHYSICAL_COLLECT_BUFFERS; number++) begin : gen_pcb
    always_ff @(posedge clock) begin
      if (reset) free_buffers[number] <= 1'b1;
      else if (unbinds && bound[page] == PCB_WIDTH'(number) || release_buffer && release_physical_collect_buffer == PCB_WIDTH'(number))
        free_buffers[number] <= 1'b1;
`ifdef FPGA_VERBS_MUTANT_PCB_BOUND_TWICE
      else if (binds && collects && !refuses && !release_buffer && buffer == PCB_WIDTH'(number)) free_buffers[number] <= 1'b0;
`else
      else if (binds && collects && !refuses && buffer == PCB_WIDTH'(number)) free_buffers[number] <= 1'b0;
`endif
    end
  end

  logic [FUNCTION_WIDTH-1:0] unbound_function;
  logic [1:0] unbound_part;
  logic [FUNCTION_WIDTH-1:0] released_function;
  logic [1:0] released_part;
  logic takes;

  assign unbound_function = buffer_function[bound[page]];
  assign unbound_part = buffer_part[bound[page]];
  assign released_function = buffer_function[release_physical_collect_buffer];
  assign released_part = buffer_part[release_physical_collect_buffer];
  assign takes = binds && gets_buffer && !refuses;

  collect_group_table #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS)
  ) i_collect_group_table (
      .part(group),
      .available(group_available),
      .take(takes),
      .give_back(unbinds),
      .give_back_underlying_function(unbound_function),
      .give_back_part(unbound_part),
      .release_underlying_function(released_function),
      .release_part(released_part),
      .set_allotment_underlying_function(set_underlying_function),
      .*
  );

  // Segment 0 stays what it was when it was checked.
  logic [BEATS_WIDTH-1:0] write_beat;
  logic [LINE_DWORDS-1:0] stored;
  logic [BEAT_DWORDS-1:0] stored_of_beat;
  assign write_beat = BEATS_WIDTH'(offset >> $clog2(BEAT_BYTES));
  assign stored = line == '0 && had_length ? dwords & ~16'h0003 : dwords;
  assign stored_of_beat = is_command && collects ? BEAT_DWORDS'(stored >> offset[5:2]) : '0;

  command_memory #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(PHYSICAL_COLLECT_BUFFERS)
  ) i_command_memory (
      .write_buffer(buffer),
      .write_data(line_data[BEAT_BYTES*8-1:0]),
      .write_dwords(stored_of_beat),
      .read_buffer(read_physical_collect_buffer),
      .*
  );

  // What goes out.
  logic [31:0] kick_number;
  logic has_segment_0;
  logic [47:0] known_segment_0;

  assign has_segment_0 = is_command ? has_length : is_incomplete && received[page][1:0] == 2'b11;
  assign known_segment_0 = is_command ? segment_0_now[47:0] : segment_0[page][47:0];

  always_ff @(posedge clock) begin
    if (reset) kick_number <= '0;
    else if (kicks || kicks_send_queue_mode) kick_number <= kick_number + 32'd1;

    kick <= !reset && kicks;
    kick_unit <= '0;
    kick_unit.underlying_function <= 4'(underlying_function);
    kick_unit.quality_of_service_level <= header.quality_of_service_level;
    kick_unit.origin <= hca_spec_pkg::KICK_ORIGIN_COLLECTED;
    kick_unit.queue_pair_number <= header.queue_pair_number;
    kick_unit.send_queue_sequence_number <= header.send_queue_sequence_number;
    kick_unit.length <= header.length;
    kick_unit.kick_number <= kick_number;
    kick_unit.physical_collect_buffer <= 8'(buffer);
    kick_virtual_collect_buffer <= page;

    post_notice <= !reset && (rings || kicks_send_queue_mode);
    send_queue_mode_kick <= !reset && kicks_send_queue_mode;
    post_notice_unit <= '0;
    post_notice_unit.underlying_function <= 4'(underlying_function);
    post_notice_unit.queue_pair_number <= rings ? ring.queue_pair_number : header.queue_pair_number;
    post_notice_unit.send_queue_sequence_number <= rings ? ring.send_queue_sequence_number :
        header.send_queue_sequence_number;
    post_notice_unit.quality_of_service_level <= queue_pair_quality_of_service_level;
    if (kicks_send_queue_mode) post_notice_unit.quality_of_service_level <= header.quality_of_service_level;
    post_notice_unit.slot <= rings ? slot : 2'd0;

    refused <= !reset && refuses;
    refused_event <= '0;
    refused_event.type_ <= hca_spec_pkg::EVENT_TYPE_VIRTUAL_COLLECT_BUFFER_ERROR;
    refused_event.underlying_function <= 8'(underlying_function);
    refused_event.reason <= reason;
    refused_event.object <= 32'(page);
    refused_event.detail <= has_segment_0 ? known_segment_0 : '0;
    refused_event.offset <= 16'(offset);

    write_unclaimed <= !reset && valid && !is_control && !is_continued && !claimed;
    write_dropped <= !reset && valid && !is_control && !is_continued && claimed && !is_empty
        && (state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED
        || in_error && !may_cancel);
    command_cancelled <= !reset && cancels && is_incomplete;
    counted_underlying_function <= underlying_function;
    beat_done <= !reset && valid && !is_control && is_last;
    control_done <= !reset && valid && is_control;
  end

  assign inspect_state = state[inspect_virtual_collect_buffer];
  assign inspect_refusal = refusal[inspect_virtual_collect_buffer];
  assign inspect_physical_collect_buffer = bound[inspect_virtual_collect_buffer];
  assign inspect_scoreboard = scoreboards[inspect_physical_collect_buffer];
  assign inspect_scoreboard_mask = scoreboard_masks[inspect_physical_collect_buffer];

endmodule
