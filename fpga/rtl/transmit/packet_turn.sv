// One packet of the command whose turn it is: checks that the command goes on, takes a buffer, and starts the copy or the accesses of its payload.
// memory_translation answers the accesses of a queue pair in order, so that packets also end in the order in which they start here.
module packet_turn #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned BUFFERS = 72,
    parameter int unsigned PACKETS = 128,
    parameter int unsigned FUNCTION_WIDTH = 3,
    localparam int unsigned BUFFER_WIDTH = $clog2(BUFFERS),
    localparam int unsigned PACKET_WIDTH = $clog2(PACKETS),
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES),
    localparam int unsigned PLACE_WIDTH = $clog2(hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    input logic turn,
    input logic [BUFFER_WIDTH-1:0] turn_buffer,
    input logic turn_is_first,
    input logic turn_is_done,
    input logic turn_is_refused,
    output logic take,
    // The command, a clock after turn_buffer.
    input logic [FUNCTION_WIDTH-1:0] turn_underlying_function,
    input logic [23:0] turn_queue_pair,
    input hca_spec_pkg::completion_status_t turn_status,
    input transmit_pkg::plan_t turn_plan,
    output logic again,
    output logic [BUFFER_WIDTH-1:0] buffer,
    input logic has_failed,  // A packet of this command.
    input logic is_full,  // The command has its maximum of packets in flight.

    // The context of its queue pair.
    output logic context_read,
    input logic context_read_ready,
    output logic [23:0] context_read_number,
    input logic context_answer,
    input logic context_found,
    input logic [7:0] context_underlying_function,
    input hca_spec_pkg::queue_pair_state_t context_state,
    input logic context_send_error,
    input logic context_destroying,
    input logic [6:0] context_retry_epoch,
    input logic [23:0] context_protection_domain,
    input hca_spec_pkg::path_mtu_t context_path_mtu,

    // A packet buffer.
    input logic may_allocate,
    input logic [PACKET_WIDTH-1:0] free_packet,
    output logic allocate,

    // A bind or local invalidate.
    output logic local_operation,
    input logic local_operation_ready,

    // A beat of its PCB.
    output logic pcb_read,
    input logic pcb_read_ready,
    output logic [BEATS_WIDTH-1:0] pcb_read_beat,
    input logic [BEAT_BYTES*8-1:0] pcb_read_data,

    // Inline data.
    output logic inline_write,
    output logic [PLACE_WIDTH-1:0] inline_place,
    output logic [BEAT_BYTES*8-1:0] inline_data,

    // The description of the packet, for the end of its accesses.
    output logic describe,
    output logic [PACKET_WIDTH-1:0] packet,
    output logic [FUNCTION_WIDTH-1:0] underlying_function,
    output logic [23:0] queue_pair,
    output logic [23:0] number,
    output logic [12:0] bytes,
    output logic is_last,
    output logic is_end,
    output logic is_abandoned,
    output hca_spec_pkg::completion_status_t status,

    // Accesses.
    output logic request,
    input logic request_ready,
    output logic [23:0] request_protection_domain,
    output logic [31:0] request_key,
    output logic [63:0] request_address,
    output logic [31:0] request_length,
    output logic request_is_check,
    output logic request_is_direct,  // No data of its command can be on the way to the buffer.
    output logic request_last
);
  typedef enum logic [3:0] {
    STATE_REST = 4'd0,
    STATE_COMMAND = 4'd1,
    STATE_ASKS = 4'd2,
    STATE_ANSWER = 4'd3,
    STATE_DECIDES = 4'd4,
    STATE_TAKES = 4'd5,
    STATE_BEGINS = 4'd6,
    STATE_COPIES = 4'd7,
    STATE_WALKS = 4'd8,
    STATE_ENDS = 4'd9,
    STATE_LOCAL = 4'd10,
    STATE_PASSES = 4'd11
  } state_t;

  state_t state;
  transmit_pkg::plan_t plan;
  transmit_pkg::work_t work;
  hca_spec_pkg::completion_status_t given;  // Status with which the command came.
  logic is_first, is_done, is_refused, is_flushed, fits, copied, walked, walks, goes_on, is_local, is_answered, unused_length;
  logic [12:0] largest;
  logic [23:0] on_number;
  logic [31:0] left, on_left, on_offset, start_offset, offset;
  logic [4:0] on_entry, start_entry, entry;

  assign unused_length = &{1'b0, plan.message_length};  // It has become `left`.
  assign take = turn && state == STATE_REST;
  assign is_local = plan.opcode == hca_spec_pkg::OPCODE_LOCAL_INVALIDATE || plan.opcode == hca_spec_pkg::OPCODE_BIND_MEMORY_WINDOW;
  assign is_answered = plan.opcode == hca_spec_pkg::OPCODE_RDMA_READ || plan.opcode == hca_spec_pkg::OPCODE_ATOMIC_COMPARE_AND_SWAP
      || plan.opcode == hca_spec_pkg::OPCODE_ATOMIC_FETCH_AND_ADD;
  assign fits = left <= 32'(largest);
  assign context_read = state == STATE_ASKS;
  assign context_read_number = queue_pair;
  assign allocate = state == STATE_TAKES && work != transmit_pkg::WORK_LOCAL && may_allocate;
  assign local_operation = state == STATE_LOCAL;
  assign describe = state == STATE_BEGINS;
  assign goes_on = state == STATE_ENDS && !is_last;
  assign again = goes_on || state == STATE_PASSES;
  assign walks = describe && work != transmit_pkg::WORK_INLINE || state == STATE_COPIES && copied;

  always_ff @(posedge clock) begin
    if (reset) state <= STATE_REST;
    else
      case (state)
        STATE_REST: if (turn) state <= STATE_COMMAND;
        STATE_COMMAND: state <= is_full ? STATE_PASSES : STATE_ASKS;
        STATE_ASKS: if (context_read_ready) state <= STATE_ANSWER;
        STATE_ANSWER: if (context_answer) state <= STATE_DECIDES;
        STATE_DECIDES: state <= STATE_TAKES;
        STATE_TAKES: if (work == transmit_pkg::WORK_LOCAL) state <= STATE_LOCAL; else if (may_allocate) state <= STATE_BEGINS;
        STATE_BEGINS: state <= work == transmit_pkg::WORK_INLINE ? STATE_COPIES : STATE_WALKS;
        STATE_COPIES: if (copied) state <= STATE_WALKS;
        STATE_WALKS: if (walked) state <= STATE_ENDS;
        STATE_LOCAL: if (local_operation_ready) state <= STATE_REST;
        default: state <= STATE_REST;
      endcase
    if (state == STATE_REST) begin
      buffer <= turn_buffer;
      is_first <= turn_is_first;
      is_done <= turn_is_done;
      is_refused <= turn_is_refused;
    end
    if (state == STATE_COMMAND) begin
      underlying_function <= turn_underlying_function;
      queue_pair <= turn_queue_pair;
      given <= turn_status;
      plan <= turn_plan;
      number <= is_first || is_done ? '0 : on_number;
      left <= is_first || is_done ? turn_plan.message_length : on_left;
      start_entry <= is_first ? '0 : on_entry;
      start_offset <= is_first ? '0 : on_offset;
    end
    if (state == STATE_ANSWER) begin
      is_abandoned <= !is_done && (!context_found || context_underlying_function != 8'(underlying_function) || context_destroying
          || context_retry_epoch != plan.retry_epoch);
      is_flushed <= context_state == hca_spec_pkg::QUEUE_PAIR_STATE_ERROR || context_send_error;
      request_protection_domain <= context_protection_domain;
      largest <= 13'd128 << context_path_mtu;
    end
    if (state == STATE_DECIDES) begin
      is_end <= 1'b0;
      is_last <= 1'b1;
      bytes <= '0;
      status <= given;
      if (is_done) begin
        work <= transmit_pkg::WORK_END;
        is_end <= 1'b1;
        if (is_refused) status <= hca_spec_pkg::COMPLETION_STATUS_MEMORY_WINDOW_BIND_ERROR;
      end else if (has_failed || is_abandoned || given != hca_spec_pkg::COMPLETION_STATUS_SUCCESS) begin
        work <= transmit_pkg::WORK_END;
        is_end <= 1'b1;
      end else if (is_flushed) begin
        work <= transmit_pkg::WORK_END;
        is_end <= 1'b1;
        status <= hca_spec_pkg::COMPLETION_STATUS_WORK_REQUEST_FLUSHED_ERROR;
      end else if (is_local) work <= transmit_pkg::WORK_LOCAL;
      else if (is_answered) work <= transmit_pkg::WORK_CHECK;
      else begin
        work <= plan.is_inline ? transmit_pkg::WORK_INLINE : transmit_pkg::WORK_GATHER;
        is_last <= fits;
        bytes <= fits ? left[12:0] : largest;
      end
    end
    if (allocate) packet <= free_packet;
  end

  // The progress of commands that have more packets.
  list_memory #(
      .WIDTH(24 + 32 + 5 + 32),
      .SIZE (BUFFERS)
  ) i_progress (
      .write(goes_on),
      .write_address(buffer),
      .write_data({number + 24'd1, left - 32'(bytes), entry, offset}),
      .read_address(turn_buffer),
      .read_data({on_number, on_left, on_entry, on_offset}),
      .*
  );

  logic copy_read, walk_read;
  logic [BEATS_WIDTH-1:0] copy_beat, walk_beat;
  assign pcb_read = copy_read || walk_read;
  assign pcb_read_beat = copy_read ? copy_beat : walk_beat;
  inline_copy #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_copy (
      .start(describe && work == transmit_pkg::WORK_INLINE),
      .start_bytes(bytes),
      .done(copied),
      .read(copy_read),
      .read_ready(pcb_read_ready),
      .read_beat(copy_beat),
      .read_data(pcb_read_data),
      .write(inline_write),
      .write_place(inline_place),
      .write_data(inline_data),
      .*
  );
  gather_walk #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_walk (
      .start(walks),
      .start_is_check(work == transmit_pkg::WORK_CHECK),
      .start_count(plan.gather_count),
      .start_entry(start_entry),
      .start_offset(start_offset),
      .start_bytes(work == transmit_pkg::WORK_GATHER ? bytes : '0),
      .done(walked),
      .entry(entry),
      .offset(offset),
      .read(walk_read),
      .read_ready(pcb_read_ready),
      .read_beat(walk_beat),
      .read_data(pcb_read_data),
      .access(request),
      .access_ready(request_ready),
      .access_key(request_key),
      .access_address(request_address),
      .access_length(request_length),
      .access_last(request_last),
      .*
  );
  assign request_is_check = work != transmit_pkg::WORK_GATHER;
  assign request_is_direct = number == '0 && (work != transmit_pkg::WORK_GATHER || bytes == '0);
endmodule
