// Decides an access to a completion queue in three clocks, and computes the new row in the last one. The inputs are the access and the row in
// each of these clocks.
module completion_queue_decision #(
    parameter int unsigned QUEUES = 4096
) (
    input logic clock,
    input logic [63:0] now,
    input completion_queue_pkg::command_t command,  // For an access of the control port.

    input completion_queue_pkg::access_t access_3,
    input completion_queue_pkg::row_t row_3,
    input completion_queue_pkg::row_t row_4,
    input completion_queue_pkg::access_t access_5,
    input completion_queue_pkg::row_t row_5,

    // In the last clock: the new row; the outcome, if the access is answered; whether it waits for the host's head; the place of an entry.
    output completion_queue_pkg::row_t next,
    output logic is_answered,
    output completion_queue_pkg::outcome_t outcome,
    output logic waits,
    output logic written,
    output completion_queue_pkg::place_t place
);
  localparam int unsigned INDEX_WIDTH = $clog2(QUEUES);
  localparam int unsigned NUMBER_WIDTH = 24;
  logic unused_bits;
  assign unused_bits = &{1'b0, command, access_3, row_3, row_4};

  // 3, 4: compute the operands that 4 and 5 compare.
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
    due_4 <= time_3[31:0] + (access_3.kind == completion_queue_pkg::ACCESS_CONTROL ? command.moderation_ticks : row_3.moderation_ticks);
    is_in_range_4 <= access_3.number != '0 && access_3.number == NUMBER_WIDTH'(access_3.number[INDEX_WIDTH-1:0]);
    is_found_4 <= row_3.underlying_function == access_3.underlying_function;
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
    reaches_count_5 <= row_4.awaited >= command.moderation_count;
    fits_5 <= used_4[16:0] <= command.entries;
    fits_told_5 <= waiting_4[16:0] <= command.entries;
    is_phase_5 <= !row_4.tail[{1'b0, row_4.entries_log2}];
    for (int unsigned at = 0; at < 15; at++) mask_5[at] <= 4'(at) < row_4.entries_log2;
  end

  // 5: decide.
  logic is_awaited, is_full, signals;
  logic [15:0] least;
  always_comb begin
    next = row_5;
    outcome = '0;
    outcome.kind = completion_queue_pkg::ANSWER_SWEEP;
    outcome.number = access_5.number;
    outcome.underlying_function = access_5.underlying_function;
    outcome.in_error = row_5.in_error;
    outcome.tail = row_5.tail;
    outcome.event_queue = row_5.event_queue;
    outcome.arm_sequence = row_5.arm_sequence;
    outcome.user_handle = row_5.user_handle;
    outcome.head_address = row_5.head_address[47:0];
    outcome.waited = access_5.is_again;
    outcome.done = is_found_5;
    outcome.status = is_found_5 ? hca_spec_pkg::MANAGEMENT_STATUS_SUCCESS : hca_spec_pkg::MANAGEMENT_STATUS_BAD_OBJECT;
    {waits, written, is_awaited, signals} = '0;
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
            waits = 1'b1;
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
        outcome.creates = command.creates;
        if (command.creates) begin
          outcome.done = is_new_5;
          outcome.in_error = 1'b0;
          outcome.status = is_new_5 ? hca_spec_pkg::MANAGEMENT_STATUS_SUCCESS : hca_spec_pkg::MANAGEMENT_STATUS_BAD_OBJECT;
          if (is_new_5) begin
            next = '0;
            next.is_live = 1'b1;
            next.event_sequence = '1;
            next.underlying_function = command.underlying_function;
            next.event_queue = command.event_queue;
            next.entries_log2 = command.entries_log2;
            next.page_table = command.page_table;
            next.head_address = command.head_address;
            next.user_handle = command.user_handle;
          end
        end else if (command.resizes && is_found_5) begin
          outcome.done = 1'b0;
          if (access_5.is_again) next.waiting = row_5.waiting - 6'd1;
          if (row_5.in_error) outcome.status = hca_spec_pkg::MANAGEMENT_STATUS_BAD_STATE;
          else if (!access_5.is_again) begin
            waits = 1'b1;
            is_answered = 1'b0;
            next.waiting = row_5.waiting + 6'd1;
          end else if (access_5.is_unreadable) begin
            outcome.faults = 1'b1;
            outcome.status = hca_spec_pkg::MANAGEMENT_STATUS_MAILBOX_FAULT;
          end else begin
            if (is_believed_5) next.head = access_5.head;
            if (is_believed_5 ? fits_told_5 : fits_5) begin
              outcome.done = 1'b1;
              next.entries_log2 = command.entries_log2;
              next.page_table = command.page_table;
            end else outcome.status = hca_spec_pkg::MANAGEMENT_STATUS_BAD_PARAMETER;
          end
        end else if (command.moderates && is_found_5) begin
          next.moderation_count = command.moderation_count;
          next.moderation_ticks = command.moderation_ticks;
          if (row_5.awaited != '0) begin
            signals = reaches_count_5;
            next.deadline = due_5;
          end
        end else if (command.destroys && is_found_5) begin
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
  always_comb begin
    place.page_table = row_5.page_table;
    {place.page, place.place} = row_5.tail[14:0] & mask_5;
    place.underlying_function = row_5.underlying_function;
    place.sequence_ = row_5.tail[30:0];
    place.phase = is_phase_5;
    place.timestamp = time_5;
  end
endmodule
