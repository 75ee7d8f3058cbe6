// Properties of collect_buffer at its ports, independent of its implementation, with the division of VCBs after a reset. A reference model
// follows each accepted beat: what the beat's page holds of a command, and therefore what the block must do. The block must report exactly
// that for every beat, in order and within a bound: it kicks if and only if the command is complete; it refuses if and only if there is a
// reason, and reports the reason; a PCB belongs to one command at a time, and its buffers hold the data written for that command; it takes
// a PCB whenever one is allowed, and never one beyond the limits.
//
// command_memory keeps one bit of each DWORD, and the result of a checksum is arbitrary (fpga/formal/command_memory.sv,
// doorbell_checksum.sv). The bench covers slots other than cancel, control commands and management pages.
module collect_buffer_ports #(
    parameter int unsigned BEAT_BYTES = 64,
    parameter int unsigned ABOUT = 0,  // Selects the properties to prove, below.
    parameter int unsigned APART = 0,  // The DWORD whose beat arrives in parts, with its neighbor.
    parameter int unsigned POOL = 3,  // PCBs: one for each function, and one shared.
    parameter int unsigned SETTLES = 12,  // Clocks after which a returned PCB can be taken.
    parameter bit STALLS = 1'b0,  // Checksums and credits may delay beats.
    parameter int unsigned LATENCY = 7,  // Clocks until a beat is done, if nothing delays it.
    parameter int unsigned BEATS = 4,  // Maximum beats of the proof.
    parameter int unsigned MAXIMUM_CLOCKS = 16,  // Clocks within which a beat is done if no other is ahead of it.
    localparam int unsigned FUNCTIONS = 2,
    localparam int unsigned VCBS = 2,
    localparam int unsigned DWORDS = BEAT_BYTES / 4,
    localparam int unsigned PCB_WIDTH = $clog2(POOL + 2),
    localparam int unsigned ADDRESS_WIDTH = 14,
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic [ADDRESS_WIDTH-1:0] awaddr,
    input logic [1:0] awuser,
    input logic awvalid,
    input logic [BEAT_BYTES*8-1:0] wdata,
    input logic [BEAT_BYTES-1:0] wstrb,
    input logic wlast,
    input logic wvalid,
    input logic bready,
    input logic unit_credit,
    input logic [31:0] queue_pair_checksum_secret,
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer,
    input logic any_found
);
  localparam int unsigned COMMAND_DWORDS = 80;
  localparam int unsigned LINES = 2;  // Lines of 64 B of a command that the proof writes: header and payload.
  localparam int unsigned DEPTH = 8;  // Beats in flight.
  localparam logic [5:0] SLOTS_LINE = 6'd62;

  logic reset, awready, wready, bvalid, find, queue_pair_found, kick, post_notice, send_queue_mode_kick, management, refused,
      half_written, kick_record, write_unclaimed, write_dropped, command_cancelled, send_queue_mode_entered, beat_done, control_done;
  logic find_underlying_function, counted_underlying_function, kick_virtual_collect_buffer;
  logic [23:0] find_queue_pair_number;
  hca_spec_pkg::quality_of_service_level_t level;
  hca_spec_pkg::kick_unit_t kick_unit;
  hca_spec_pkg::post_notice_t post_notice_unit;
  hca_spec_pkg::event_unit_t refused_event;
  hca_spec_pkg::opcode_t kick_opcode;
  logic [POOL+1:0] free_buffers;
  logic [BEAT_BYTES*8-1:0] read_data;
  logic [PCB_WIDTH-1:0] read_buffer;
  logic [BEATS_WIDTH-1:0] read_beat;

  collect_buffer #(
      .BEAT_BYTES(BEAT_BYTES),
      .UNDERLYING_FUNCTIONS(FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VCBS),
      .PHYSICAL_COLLECT_BUFFERS(POOL),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(2),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(1)
  ) i_collect_buffer (
      .scoreboard_variant(hca_spec_pkg::SCOREBOARD_VARIANT_MASKED),
      .awlen(8'd0),
      .awsize(3'($clog2(BEAT_BYTES))),
      .arlen(8'd0),
      .arvalid(1'b0),
      .rready(1'b1),
      .queue_pair_quality_of_service_level(level),
      .now(64'd0),
      .half_written_limit(64'd0),
      .control(1'b0),
      .control_command(3'd0),
      .control_page('0),
      .set_bar(1'b0),
      .set_underlying_function('0),
      .set_bar_base('0),
      .set_bar_count('0),
      .set_bar_low('0),
      .set_bar_high('0),
      .set_allotment(1'b0),
      .set_allotment_low('0),
      .set_allotment_high('0),
      .set_allotment_shared('0),
      .store(1'b0),
      .store_physical_collect_buffer('0),
      .store_beat('0),
      .store_data('0),
      .read_physical_collect_buffer(read_buffer),
      .inspect_page('0),
      // Not checked.
      .bresp(),
      .arready(),
      .rdata(),
      .rresp(),
      .rlast(),
      .rvalid(),
      .management_unit(),
      .half_written_event(),
      .kick_first_write(),
      .beat_page(),
      .control_ready(),
      .control_granted(),
      .control_physical_collect_buffer(),
      .allotment_allowed(),
      .store_ready(),
      .inspect_state(),
      .inspect_refusal(),
      .inspect_physical_collect_buffer(),
      .inspect_scoreboard(),
      .inspect_scoreboard_mask(),
      .*
  );

  // The first clock is a reset.
  logic [6:0] age = '0;
  assign reset = age == '0;
  always_ff @(posedge clock) if (age != '1) age <= age + 7'd1;

  // One queue pair exists, of an arbitrary function and level. Answers without a request are arbitrary too.
  localparam logic [23:0] some_queue_pair = 24'h800001;
  (* anyconst *) logic some_function;
  (* anyconst *) logic some_level;
  logic asked, asked_right;
  always_ff @(posedge clock) begin
    asked <= find;
    asked_right <= find_queue_pair_number == some_queue_pair && find_underlying_function == some_function;
  end
  assign queue_pair_found = asked ? asked_right : any_found;
  assign level = some_level;

  // ---- The host: bursts of whole beats. An offer stays until it is accepted.
  logic in_burst, accepted, addressed, was_offered, was_addressed;
  logic [ADDRESS_WIDTH-1:0] address, held_address;
  logic [1:0] user, held_user;
  logic [BEAT_BYTES*8-1:0] held_data;
  logic [BEAT_BYTES-1:0] held_strobes;
  logic held_last;
  logic [3:0] accepted_beats;
  always_ff @(posedge clock) accepted_beats <= reset ? '0 : accepted_beats + 4'(accepted);
  assign accepted = wvalid && wready;
  assign addressed = awvalid && awready;
  always_ff @(posedge clock) begin
    was_offered <= !reset && wvalid && !wready;
    held_data <= wdata;
    held_strobes <= wstrb;
    held_last <= wlast;
    was_addressed <= !reset && awvalid && !awready;
    held_address <= awaddr;
    held_user <= awuser;
    in_burst <= !reset && (addressed || in_burst && !(accepted && wlast));
    if (addressed) begin
      address <= awaddr;
      user <= awuser;
    end else if (accepted) address <= (address & ~(ADDRESS_WIDTH'(BEAT_BYTES - 1))) + ADDRESS_WIDTH'(BEAT_BYTES);
  end
  always_comb begin
    if (was_offered && !reset)
      assume (wvalid && wdata == held_data && wstrb == held_strobes && wlast == held_last);
    if (was_addressed && !reset) assume (awvalid && awaddr == held_address && awuser == held_user);
    assume (!awaddr[ADDRESS_WIDTH-1]);  // Only VCBs.
    assume (reset ? !wvalid && !awvalid : 1'b1);
    assume (bready);
    if (wvalid && in_burst && (address[11:0] | 12'(BEAT_BYTES - 1)) == '1) assume (wlast);  // No burst crosses 4 KiB.
    assume (age < 7'd100 && accepted_beats <= 4'(BEATS));
    // Only a few bits of a number may differ, because the block treats all its bits alike.
    assume (wdata[7:1] == '0 && wdata[30:9] == '0 && wdata[46:33] == '0);
    assume (wdata[56:48] == 9'd0 || wdata[56:48] == 9'd8 || wdata[56:48] == 9'd257);
    if (wvalid && in_burst) assume (address[11:6] < 6'(LINES) || address[11:6] >= 6'd5);
  end

  // The accepted beat; its DWORDs are those of the line of the first segment.
  localparam int unsigned ENTRY = 1 + 6 + DWORDS + 1 + 1 + 2 + 64 + BEATS_WIDTH + 1 + 1 + 12;
  logic [DWORDS-1:0] whole, touched;
  for (genvar dword = 0; dword < DWORDS; dword++) begin : gen_dword
    assign whole[dword] = wstrb[dword*4+:4] == 4'hf;
    assign touched[dword] = wstrb[dword*4+:4] != 4'h0;
  end
  // Two DWORDs of a command arrive separately (one, in the properties of PCBs), and one arrives in part; the others arrive together.
  localparam int unsigned TOGETHER = ABOUT == 3 ? 1 : 2;
  localparam logic [$clog2(DWORDS)-1:0] apart = $clog2(DWORDS)'(APART);
  // Cancels are mixed with the beats; otherwise every beat brings DWORDs as above.
  localparam bit CANCELS = ABOUT == 1 || ABOUT == 3 || ABOUT >= 10;
  logic together;
  assign together = touched[apart/TOGETHER==0?DWORDS-1:0];
  for (genvar dword = 0; dword < DWORDS; dword++) begin : gen_apart
    always_comb begin
      if (apart != dword) assume (touched[dword] == whole[dword]);
      if (dword / TOGETHER != apart / TOGETHER && !(CANCELS && in_burst && address[11:6] == SLOTS_LINE))
        assume (touched[dword] == together);
    end
  end
  (* anyconst *) logic [6:0] some_dword;  // A DWORD of the command.
  (* anyconst *) logic some_vcb;
  logic [BEATS_WIDTH-1:0] window, some_window;
  logic some_bit;
  assign window = BEATS_WIDTH'(address[8:0] / 9'(BEAT_BYTES));
  assign some_window = BEATS_WIDTH'(some_dword / 7'(DWORDS));
  assign some_bit = wdata[32*(some_dword%7'(DWORDS))];

  // Slots: the last line receives only whole cancels.
  logic is_cancel;
  if (BEAT_BYTES == 64) begin : gen_cancel
    assign is_cancel = whole == DWORDS'(16'h0030) && touched == whole;
  end else begin : gen_cancel_narrow
    assign is_cancel = address[5:0] / 6'(BEAT_BYTES) == 6'(16 / BEAT_BYTES) && touched == whole
        && whole == DWORDS'(16'h0030 >> (16 / BEAT_BYTES * BEAT_BYTES / 4));
  end
  always_comb if (wvalid && in_burst && address[11:6] == SLOTS_LINE) assume (is_cancel);

  // Beats in flight. If nothing delays them, the oldest is the one of LATENCY clocks ago; otherwise the oldest that is not done.
  logic [ENTRY-1:0] entry, oldest;
  logic [3:0] waiting;
  logic done;  // The oldest beat is done.
  assign entry = {address[11:0], some_bit, wdata[hca_spec_pkg::COMMAND_HEADER_CHECKSUM_ENABLE_LSB%(BEAT_BYTES*8)], window, wdata[63:0], user,
      touched == '0, touched != whole, whole, address[11:6], address[12]};
  always_ff @(posedge clock) waiting <= reset ? '0 : waiting + 4'(accepted) - 4'(done);
  if (STALLS) begin : gen_queue
    logic [DEPTH*ENTRY-1:0] queue, queue_next;
    assign done = beat_done;
    assign oldest = queue[ENTRY-1:0];
    always_comb begin
      queue_next = beat_done ? queue >> ENTRY : queue;
      for (int unsigned place = 0; place < DEPTH; place++)
        if (accepted && waiting - 4'(beat_done) == 4'(place)) queue_next[place*ENTRY+:ENTRY] = entry;
    end
    always_ff @(posedge clock) queue <= queue_next;
  end else begin : gen_line
    logic [LATENCY*ENTRY-1:0] line;
    logic [LATENCY-1:0] valid;
    assign done = valid[LATENCY-1];
    assign oldest = line[(LATENCY-1)*ENTRY+:ENTRY];
    always_ff @(posedge clock) begin
      line <= {line[(LATENCY-1)*ENTRY-1:0], entry};
      valid <= reset ? '0 : {valid[LATENCY-2:0], accepted};
    end
    always_comb begin
      assume (unit_credit && !wdata[hca_spec_pkg::COMMAND_HEADER_CHECKSUM_ENABLE_LSB%(BEAT_BYTES*8)]);
      if (age < 7'd12) assume (!wvalid);  // The host waits until the reset has swept the memories.
      if (!reset) assert (beat_done == done);
    end
  end

  logic [11:0] o_offset;
  logic o_bit, o_checks, o_empty, o_partial, o_vcb;
  logic [BEATS_WIDTH-1:0] o_window;
  logic [63:0] o_words;
  logic [1:0] o_user;
  logic [DWORDS-1:0] o_dwords;
  logic [5:0] o_line;
  assign {o_offset, o_bit, o_checks, o_window, o_words, o_user, o_empty, o_partial, o_dwords, o_line, o_vcb} = oldest;

  // ---- The state of each VCB, and the effect of the oldest beat.
  localparam logic [1:0] FREE = 2'd0, COLLECTING = 2'd1, SEND_QUEUE_MODE = 2'd2, ERROR = 2'd3;
  logic [1:0] state_0, state_1, state;
  logic [COMMAND_DWORDS-1:0] received_0, received_1, received, brought, needed_dwords;
  logic [63:0] words_0, words_1, words, words_now;
  logic checked_0, checked_1, checked, checks_now;
  assign state = o_vcb ? state_1 : state_0;
  assign received = state == FREE ? '0 : o_vcb ? received_1 : received_0;
  assign words = o_vcb ? words_1 : words_0;
  assign checked = o_vcb ? checked_1 : checked_0;

  logic claimed, is_command, is_beyond, is_cancelled, has_length, had_length, differs, admitted, passes, complete, gets, refuses, ends,
      fails, kicks;
  logic [7:0] reason;
  logic [9:0] needed;
  hca_spec_pkg::command_header_t header;
  assign claimed = !o_user[1] || o_user[0] == o_vcb;
  assign is_cancelled = done && claimed && !o_empty && !o_partial && o_line == SLOTS_LINE;
  assign is_command = done && claimed && !o_empty && !o_partial && o_line < 6'd5 && state != ERROR;
  assign is_beyond = done && claimed && !o_empty && state != ERROR && (o_partial || o_line >= 6'd5 && o_line != SLOTS_LINE);
  assign brought = is_command ? COMMAND_DWORDS'(o_dwords) << (32'(o_window) * DWORDS) : '0;
  assign words_now = {brought[1] ? o_words[63:32] : words[63:32], brought[0] ? o_words[31:0] : words[31:0]};
  assign header = {448'd0, words_now};
  assign had_length = received[1:0] == 2'b11;
  assign has_length = (received[1:0] | brought[1:0]) == 2'b11;
  assign differs = received[0] && brought[0] && o_words[31:0] != words[31:0] || received[1] && brought[1] && o_words[63:32] != words[63:32];
  assign admitted = header.version == 4'(hca_spec_pkg::COMMAND_VERSION) && !header.reserved_6 && header.length <= 9'd256
      && header.queue_pair_number == some_queue_pair && some_function == o_vcb && header.quality_of_service_level == some_level;
  assign needed = 10'd16 + ((10'(header.length) + 10'd7) >> 3 << 1);
  for (genvar dword = 0; dword < COMMAND_DWORDS; dword++) begin : gen_needed
    assign needed_dwords[dword] = 10'(dword) < needed;
  end
  assign passes = has_length && ((received | brought) & ~needed_dwords) != '0;
  assign complete = has_length && (~(received | brought) & needed_dwords) == '0;
  assign reason = o_partial ? hca_spec_pkg::REFUSAL_PARTIAL_DOUBLE_WORD : is_beyond ? hca_spec_pkg::REFUSAL_WRITE_BEYOND_COMMAND :
      differs ? hca_spec_pkg::REFUSAL_SEGMENT_0_DIFFERS :
      had_length || admitted ? hca_spec_pkg::REFUSAL_SEGMENT_BEYOND_LENGTH :
      header.version != 4'(hca_spec_pkg::COMMAND_VERSION) ? hca_spec_pkg::REFUSAL_UNKNOWN_VERSION :
      header.reserved_6 ? hca_spec_pkg::REFUSAL_RESERVED_NOT_ZERO :
      header.length > 9'd256 ? hca_spec_pkg::REFUSAL_LENGTH_OVER_MAXIMUM :
      header.queue_pair_number != some_queue_pair || some_function != o_vcb ? hca_spec_pkg::REFUSAL_UNKNOWN_QUEUE_PAIR :
      hca_spec_pkg::REFUSAL_WRONG_QUALITY_OF_SERVICE_LEVEL;
  assign refuses = is_beyond || is_command && (differs || has_length && (!had_length && !admitted || passes));
  assign ends = is_command && complete && !refuses;
  assign gets = state == FREE ? !send_queue_mode_entered : state == COLLECTING;
  assign checks_now = brought[2] ? o_checks : checked;
  assign fails = ends && gets && checks_now && refused;  // The checksum may match or not.
  assign kicks = ends && gets && !fails;

  logic [1:0] state_next;
  assign state_next = refuses || fails ? ERROR : is_cancelled || ends ? FREE :
      is_command && state == FREE ? (gets ? COLLECTING : SEND_QUEUE_MODE) : state;
  always_ff @(posedge clock) begin
    if (reset) begin
      state_0 <= FREE;
      state_1 <= FREE;
    end else begin
      if (done && claimed && !o_vcb) begin
        state_0 <= state_next;
        received_0 <= received | brought;
        words_0 <= words_now;
        checked_0 <= checks_now;
      end
      if (done && claimed && o_vcb) begin
        state_1 <= state_next;
        received_1 <= received | brought;
        words_1 <= words_now;
        checked_1 <= checks_now;
      end
    end
  end

  // The last value written to an arbitrary DWORD of a command.
  logic some_value, some_value_now;
  assign some_value_now = o_vcb == some_vcb && brought[some_dword] ? o_bit : some_value;
  always_ff @(posedge clock) if (is_command) some_value <= some_value_now;

  // ---- PCBs: those that a kick passed to the next block, and for which function; the number that each function holds.
  logic [POOL-1:0] out, out_of_1;
  logic [2:0] has_0, has_1, left_alone;
  logic [5:0] since_back;  // Clocks since the last PCB returned.
  logic comes_back, reach_0, reach_1, in_reach, began;
  assign began = is_command && state == FREE;
  // Released by a refusal, a cancel or a wrong checksum.
  assign comes_back = release_buffer || done && (refused || command_cancelled);
  always_comb begin
    has_0 = 3'(state_0 == COLLECTING);
    has_1 = 3'(state_1 == COLLECTING);
    for (int unsigned number = 0; number < POOL; number++) begin
      has_0 = has_0 + 3'(out[number] && !out_of_1[number]);
      has_1 = has_1 + 3'(out[number] && out_of_1[number]);
    end
  end
  assign left_alone = 3'(POOL - 2);  // Shared by both functions.
  assign reach_0 = has_0 == 3'd0 || has_0 - 3'd1 + (has_1 == 3'd0 ? 3'd0 : has_1 - 3'd1) < left_alone;
  assign reach_1 = has_1 == 3'd0 || has_1 - 3'd1 + (has_0 == 3'd0 ? 3'd0 : has_0 - 3'd1) < left_alone;
  assign in_reach = o_vcb ? reach_1 : reach_0;
  always_ff @(posedge clock) begin
    if (reset) begin
      out <= '0;
      since_back <= '1;
    end else begin
      since_back <= comes_back ? '0 : since_back == '1 ? since_back : since_back + 6'd1;
      for (int unsigned number = 0; number < POOL; number++) begin
        if (kick && kick_unit.physical_collect_buffer == 8'(number)) begin
          out[number] <= 1'b1;
          out_of_1[number] <= o_vcb;
        end else if (release_buffer && release_physical_collect_buffer == PCB_WIDTH'(number)) out[number] <= 1'b0;
      end
    end
  end
  always_comb begin
    // The next block returns each of its PCBs once.
    if (release_buffer) assume (release_physical_collect_buffer < PCB_WIDTH'(POOL) && (out >> release_physical_collect_buffer & POOL'(1)) != '0);
  end

  // The next block reads the content of an arbitrary kicked PCB while it holds it.
  logic follows, has_data;
  logic [PCB_WIDTH-1:0] followed;
  logic follow_value;
  (* anyseq *) logic follow;
  logic kicks_some;
  assign kicks_some = kick && o_vcb == some_vcb && 10'(some_dword) < needed;
  assign read_buffer = followed;
  assign read_beat = some_window;
  always_ff @(posedge clock) begin
    if (reset) follows <= 1'b0;
    else if (!follows && follow && kicks_some) begin
      follows <= 1'b1;
      followed <= kick_unit.physical_collect_buffer[PCB_WIDTH-1:0];
      follow_value <= some_value_now;
    end else if (release_buffer && release_physical_collect_buffer == followed) follows <= 1'b0;
    has_data <= !reset && follows && !(release_buffer && release_physical_collect_buffer == followed);
  end

  // ---- Bounds.
  logic [5:0] without_end, without_beat, without_address;
  logic [3:0] units_without_credit;
  logic credit_before, credit_2, credit_3;
  always_ff @(posedge clock) begin
    credit_before <= unit_credit;
    credit_2 <= credit_before;
    credit_3 <= credit_2;
    without_end <= reset || waiting == '0 || done || !unit_credit ? '0 : without_end == '1 ? without_end : without_end + 6'd1;
    without_beat <= reset || age < 7'd12 || !in_burst || !wvalid || wready || !unit_credit ? '0 :
        without_beat == '1 ? without_beat : without_beat + 6'd1;
    without_address <= reset || in_burst || !awvalid || awready ? '0 : without_address == '1 ? without_address : without_address + 6'd1;
    units_without_credit <= reset || unit_credit ? '0 : units_without_credit + 4'(kick || post_notice || refused);
  end

  always_comb begin
    if (!reset) begin
      case (ABOUT)
        0: begin  // Beats are done in time.
          assert (waiting <= 4'(DEPTH) && (!done || waiting != '0));
          assert (!accepted || in_burst);
          assert (without_end <= 6'(MAXIMUM_CLOCKS));
          assert (without_beat <= 6'(MAXIMUM_CLOCKS));
          assert (without_address <= 6'd1);
          assert (units_without_credit <= 4'd8);
        end
        1: begin  // Each beat has its effect, and nothing else happens.
          assert (kick == kicks && kick_record == (kicks || ends && !gets));
          assert (refused == (refuses || fails));
          assert (send_queue_mode_kick == (ends && !gets) && post_notice == send_queue_mode_kick);
          assert (write_unclaimed == (done && !claimed));
          assert (write_dropped == (done && claimed && !o_empty && state == ERROR && !is_cancelled));
          assert (command_cancelled == (is_cancelled && (state == COLLECTING || state == SEND_QUEUE_MODE)));
          assert (!send_queue_mode_entered || began);
          assert (!management && !half_written && !control_done);
        end
        2: begin  // The report of each effect.
          if (done && claimed) assert (counted_underlying_function == o_vcb);
          if (refused) assert (refused_event.reason == (fails ? hca_spec_pkg::REFUSAL_CHECKSUM_MISMATCH : reason)
              && refused_event.underlying_function == 8'(o_vcb) && refused_event.object == 32'(o_vcb)
              && refused_event.offset == {4'd0, o_offset[11:2], 2'd0});
          if (kick || send_queue_mode_kick) assert (kick_virtual_collect_buffer == o_vcb && kick_opcode == header.opcode);
          if (kick) assert (kick_unit.queue_pair_number == header.queue_pair_number && kick_unit.length == header.length
              && kick_unit.send_queue_sequence_number == header.send_queue_sequence_number
              && kick_unit.underlying_function == 4'(o_vcb) && kick_unit.quality_of_service_level == header.quality_of_service_level);
          if (post_notice) assert (post_notice_unit.queue_pair_number == header.queue_pair_number
              && post_notice_unit.send_queue_sequence_number == header.send_queue_sequence_number
              && post_notice_unit.underlying_function == 4'(o_vcb));
        end
        3: begin  // PCBs: one owner at a time; taken if allowed, and only then.
          if (kick) assert (kick_unit.physical_collect_buffer < 8'(POOL)
              && (out >> kick_unit.physical_collect_buffer & POOL'(1)) == '0);
          assert ((free_buffers[POOL-1:0] & out) == '0);
          if (began && !send_queue_mode_entered && !refuses) assert (in_reach);
          if (began && in_reach && since_back >= 6'(SETTLES)) assert (!send_queue_mode_entered);
        end
        4: begin  // Contents of the PCBs.
          if (has_data) assert (read_data[32*(some_dword%7'(DWORDS))] == follow_value);
        end
        // Covers: each of these claims must fail, which shows that the case is reached.
        10: assert (!(ends && gets && !checks_now));  // A command kicks.
        11: assert (!(fails));  // A command with a wrong checksum is refused.
        12: assert (!(ends && state == SEND_QUEUE_MODE));  // A command completes in send queue mode.
        13: assert (!(refuses && differs));  // Segment 0 differs.
        14: assert (!(refuses && passes && had_length && !differs));  // A segment lies beyond the length.
        15: assert (!(is_cancelled && state == COLLECTING));  // A half-written command is cancelled.
        16: assert (!(began && !in_reach && send_queue_mode_entered));  // No PCB is allowed.
        // A PCB is allowed, shortly after one returned.
        17: assert (!(began && in_reach && since_back >= 6'(SETTLES) && since_back < 6'd20 && out != '0));
        18: assert (!(has_data && follow_value));  // A DWORD is read.
        // A command is half written, with its length.
        19: assert (!(is_command && !complete && has_length && state == COLLECTING && !refuses));
        20: assert (!(done && !claimed));  // A beat to another function's page.
        21: assert (!(state == ERROR && is_cancelled));  // A VCB in the error state is cancelled.
        22: assert (!(units_without_credit == 4'd2));  // Units leave without credit.
        23: assert (!(kick && began));  // One beat is a whole command.
        24: assert (!(kick && kick_unit.physical_collect_buffer == 8'(POOL - 1)));  // The last PCB is kicked.
        default: assert (1'b0);
      endcase
    end
  end
endmodule
