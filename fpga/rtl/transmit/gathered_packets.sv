// Ends packets in the order of their queue pair: hands each on, or drops it if a packet of its command has failed. The last packet of a command that
// failed, or goes no further, leaves without a buffer and with the status of the command.
module gathered_packets #(
    parameter int unsigned BUFFERS = 72,
    parameter int unsigned PACKETS = 128,
    parameter int unsigned FUNCTION_WIDTH = 3,
    localparam int unsigned BUFFER_WIDTH = $clog2(BUFFERS),
    localparam int unsigned PACKET_WIDTH = $clog2(PACKETS)
) (
    input logic clock,
    input logic reset,

    // The description of a packet.
    input logic describe,
    input logic [PACKET_WIDTH-1:0] packet,
    input logic [BUFFER_WIDTH-1:0] buffer,
    input logic [FUNCTION_WIDTH-1:0] underlying_function,
    input logic [23:0] queue_pair,
    input logic [23:0] number,
    input logic [12:0] bytes,
    input logic is_last,
    input logic is_end,
    input logic is_abandoned,
    input hca_spec_pkg::completion_status_t status,
    output logic has_failed,  // A packet of this buffer's command.

    // The end of a burst, an access or a packet.
    input logic over,
    output logic over_ready,
    input logic [PACKET_WIDTH-1:0] over_packet,
    input logic over_is_access,
    input logic over_is_packet,
    input logic over_epoch,
    input logic over_refused,
    input logic over_unread,
    input logic [47:0] over_address,
    output logic finish,
    output logic finish_epoch,

    // A read of memory has failed.
    output logic dma_fault,
    input logic dma_fault_ready,
    output logic [FUNCTION_WIDTH-1:0] dma_fault_underlying_function,
    output logic [47:0] dma_fault_address,

    // A work request has failed: those behind it are flushed.
    output logic fail,
    input logic fail_ready,
    output logic [FUNCTION_WIDTH-1:0] fail_underlying_function,
    output logic [23:0] fail_number,
    input logic failed,

    output logic give_back,
    output logic [PACKET_WIDTH-1:0] give_back_packet,

    output logic ends,  // A packet of a command, handed on or not.
    output logic [BUFFER_WIDTH-1:0] ends_buffer,

    // The packet. Its command leaves its list with the last one.
    output logic gathered,
    input logic gathered_ready,
    output hca_spec_pkg::packet_unit_t gathered_unit,
    output logic [12:0] gathered_bytes,
    output logic [23:0] gathered_number,
    output hca_spec_pkg::completion_status_t gathered_status,
    output logic leave,
    input logic leave_ready,
    output logic [BUFFER_WIDTH-1:0] leave_buffer
);
  localparam logic [15:0] NO_PACKET = 16'hffff;
  typedef struct packed {
    logic [BUFFER_WIDTH-1:0] buffer;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
    logic [23:0] queue_pair;
    logic [23:0] number;
    logic [12:0] bytes;
    logic is_last;
    logic is_end;
    logic is_abandoned;
  } description_t;
  typedef enum logic [2:0] {
    STATE_REST = 3'd0,
    STATE_LOOKS = 3'd1,
    STATE_DECIDES = 3'd2,
    STATE_REPORTS = 3'd3,
    STATE_FAILS = 3'd4,
    STATE_FLUSHES = 3'd5,
    STATE_HANDS_ON = 3'd6
  } state_t;

  state_t state;
  description_t said, now;
  logic takes, is_packet, refused, unread, had_failed, is_bad, drops, hands_on, fails, with_packet, was_first, is_first;
  logic [PACKET_WIDTH-1:0] over_now;
  logic [47:0] address;
  logic [BUFFERS-1:0] failures, firsts;  // Commands of which a packet has failed; whether it was the first failure.
  hca_spec_pkg::completion_status_t said_status, now_status, ends_with;

  list_memory #(
      .WIDTH($bits(said) + $bits(said_status)),
      .SIZE (PACKETS)
  ) i_descriptions (
      .write(describe),
      .write_address(packet),
      .write_data({buffer, underlying_function, queue_pair, number, bytes, is_last, is_end, is_abandoned, status}),
      .read_address(over_packet),
      .read_data({said, said_status}),
      .*
  );
  assign has_failed = failures[buffer];

  // Most ends of accesses have no further effect.
  assign over_ready = state == STATE_REST;
  assign takes = over && over_ready;
  assign is_bad = had_failed || refused || unread;
  assign ends_with = is_bad ? hca_spec_pkg::COMPLETION_STATUS_LOCAL_PROTECTION_ERROR : now_status;
  assign drops = is_packet && (is_bad || now.is_end);
  assign hands_on = is_packet && (!is_bad || now.is_last);
  assign fails = is_packet && now.is_last && ends_with != hca_spec_pkg::COMPLETION_STATUS_SUCCESS
      && ends_with != hca_spec_pkg::COMPLETION_STATUS_WORK_REQUEST_FLUSHED_ERROR && (is_bad || !now.is_abandoned);
  always_ff @(posedge clock) begin
    finish <= !reset && takes && over_is_access;
    finish_epoch <= over_epoch;
    give_back <= !reset && state == STATE_DECIDES && drops;
    give_back_packet <= over_now;
    if (takes) begin
      over_now <= over_packet;
      is_packet <= over_is_packet;
      refused <= over_refused;
      unread <= over_unread;
      address <= over_address;
    end
    if (state == STATE_LOOKS) begin
      now <= said;
      now_status <= said_status;
      had_failed <= failures[said.buffer];
      was_first <= firsts[said.buffer];
    end
    if (reset) state <= STATE_REST;
    else
      case (state)
        STATE_REST: if (over && (over_is_packet || over_refused || over_unread)) state <= STATE_LOOKS;
        STATE_LOOKS: state <= STATE_DECIDES;
        STATE_DECIDES: state <= unread && !had_failed ? STATE_REPORTS : fails ? STATE_FAILS : hands_on ? STATE_HANDS_ON : STATE_REST;
        STATE_REPORTS: if (dma_fault_ready) state <= fails ? STATE_FAILS : hands_on ? STATE_HANDS_ON : STATE_REST;
        STATE_FAILS: if (fail_ready) state <= STATE_FLUSHES;
        STATE_FLUSHES: if (failed) state <= STATE_HANDS_ON;
        default: if (gathered && gathered_ready) state <= STATE_REST;
      endcase
    for (int unsigned each = 0; each < BUFFERS; each++)
      if (reset) failures[each] <= 1'b0;
      else if (state == STATE_DECIDES && now.buffer == BUFFER_WIDTH'(each)) begin
        failures[each] <= is_bad && !(is_packet && now.is_last);
        if (!had_failed) firsts[each] <= now.number == '0;
      end
    if (state == STATE_DECIDES) begin
      with_packet <= !is_bad && !now.is_end;
      gathered_status <= ends_with;
      is_first <= had_failed ? was_first : now.number == '0;
    end
  end
  assign ends = state == STATE_DECIDES && is_packet;
  assign ends_buffer = now.buffer;
  assign dma_fault = state == STATE_REPORTS;
  assign dma_fault_underlying_function = now.underlying_function;
  assign dma_fault_address = address;
  assign fail = state == STATE_FAILS;
  assign fail_underlying_function = now.underlying_function;
  assign fail_number = now.queue_pair;
  assign gathered = state == STATE_HANDS_ON && leave_ready;
  assign gathered_bytes = now.bytes;
  assign gathered_number = now.number;
  assign leave = gathered && gathered_ready && now.is_last;
  assign leave_buffer = now.buffer;
  assign gathered_unit = {8'd0, now.queue_pair, 2'd0, now.is_last, is_first, 4'(now.underlying_function), 8'(now.buffer),
      with_packet ? 16'(over_now) : NO_PACKET};
endmodule
