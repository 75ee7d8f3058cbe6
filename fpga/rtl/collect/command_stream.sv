// Commands that virtual_kick starts, as an AXI4-Stream: header and payload from their PCB, from the first byte on, one beat a clock, with
// the kick unit beside every beat. A command without a PCB is one beat without bytes. A beat that is not accepted at once is held, so that
// another reader can use the memory.
module command_stream #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS
        + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned COMMANDS = 4,  // The number that can wait.
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    output logic kick_started_credit,  // There is room for two more commands.
    input logic kick_started,
    input hca_spec_pkg::kick_unit_t kick_started_unit,

    // Command data, one clock after a read that is accepted.
    output logic read,
    input logic read_ready,
    output logic [PCB_WIDTH-1:0] read_physical_collect_buffer,
    output logic [BEATS_WIDTH-1:0] read_beat,
    input logic [BEAT_BYTES*8-1:0] read_data,

    output logic command_tvalid,
    input logic command_tready,
    output logic [BEAT_BYTES*8-1:0] command_tdata,
    output logic [BEAT_BYTES-1:0] command_tkeep,
    output logic command_tlast,
    output hca_spec_pkg::kick_unit_t command_tuser
);
  localparam int unsigned ENTRIES = COMMANDS > 2 ? 1 << $clog2(COMMANDS) : 2;

  logic has_unit, taken, in_buffer, is_there, is_fresh;  // The beat is present; it was read in the preceding clock.
  hca_spec_pkg::kick_unit_t unit;
  logic [$clog2(ENTRIES):0] filling;
  logic [BEATS_WIDTH-1:0] beat;
  logic [9:0] bytes, bytes_left;  // Of the command, and from this beat on.
  logic [BEAT_BYTES*8-1:0] held_data;

  unit_queue #(
      .UNIT_WIDTH(hca_spec_pkg::KICK_UNIT_BYTES * 8),
      .ENTRIES(ENTRIES)
  ) i_units (
      .push(kick_started),
      .push_unit(kick_started_unit),
      .valid(has_unit),
      .unit(unit),
      .pop(taken && command_tlast),
      .*
  );

  assign kick_started_credit = 32'(filling) + 2 <= ENTRIES;
  assign in_buffer = unit.origin != hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE;
  assign bytes = in_buffer ? 10'(hca_spec_pkg::COMMAND_HEADER_BYTES) + 10'(unit.length) : '0;
  assign taken = command_tvalid && command_tready;

  assign command_tvalid = has_unit && is_there;
  assign command_tdata = is_fresh ? read_data : held_data;
  assign command_tkeep = command_tlast ? ~({BEAT_BYTES{1'b1}} << bytes_left) : '1;
  assign command_tuser = unit;

  // A beat that is read in this clock is present in the next: the one behind the accepted beat, or the first.
  assign read = has_unit && (!is_there || taken && !command_tlast);
  assign read_physical_collect_buffer = PCB_WIDTH'(unit.physical_collect_buffer);
  assign read_beat = taken ? beat + BEATS_WIDTH'(1) : beat;

  always_ff @(posedge clock) begin
    if (reset || taken && command_tlast) begin
      beat <= '0;
      is_there <= 1'b0;
    end else begin
      beat <= read_beat;
      is_there <= read && read_ready || is_there && !taken;
    end
    // Before the first beat is present, of the command at the head; then of the next beat.
    if (!is_there) begin
      bytes_left <= bytes;
      command_tlast <= bytes <= 10'(BEAT_BYTES);
    end else if (taken) begin
      bytes_left <= bytes_left - 10'(BEAT_BYTES);
      command_tlast <= bytes_left <= 10'(2 * BEAT_BYTES);
    end
    is_fresh <= read && read_ready;
    if (is_fresh) held_data <= read_data;
  end
endmodule
