// Reads management commands from their PCBs into a separate stream. They are rare, and are read before started commands. Each command waits
// until the PCB of the previous one is released.
module management_commands #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned COMMANDS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,  // The number that can wait.
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,
    input logic management,  // A command is complete.
    input hca_spec_pkg::kick_unit_t kick_unit,
    output logic is_under_way,

    // Command data, one clock after the request.
    output logic read,
    output logic [PCB_WIDTH-1:0] read_physical_collect_buffer,
    output logic [BEATS_WIDTH-1:0] read_beat,
    input logic [BEAT_BYTES*8-1:0] read_data,

    output logic management_tvalid,
    input logic management_tready,
    output logic [BEAT_BYTES*8-1:0] management_tdata,
    output logic [BEAT_BYTES-1:0] management_tkeep,
    output logic management_tlast,
    output hca_spec_pkg::management_unit_t management_tuser,

    // Releases its PCB in the first clock in which no other is released.
    output logic back,
    output logic [PCB_WIDTH-1:0] back_number,
    input logic other_back
);
  logic is_valid, unused_credit, unused_kick;
  hca_spec_pkg::kick_unit_t started;

  assign unused_kick = &{1'b0, started};
  assign is_under_way = is_valid || back;
  assign management_tvalid = is_valid && !back;
  always_comb begin
    management_tuser = '0;
    management_tuser.physical_collect_buffer = started.physical_collect_buffer;
    management_tuser.underlying_function = 8'(started.underlying_function);
    management_tuser.send_queue_sequence_number = started.send_queue_sequence_number;
  end
  always_ff @(posedge clock) begin
    if (reset) back <= 1'b0;
    else back <= management_tvalid && management_tready && management_tlast || back && other_back;
    if (management_tvalid) back_number <= PCB_WIDTH'(started.physical_collect_buffer);
  end

  command_stream #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(BUFFERS),
      .COMMANDS(COMMANDS)
  ) i_command_stream (
      .kick_started_credit(unused_credit),
      .kick_started(management),
      .kick_started_unit(kick_unit),
      .read_ready(1'b1),
      .command_tvalid(is_valid),
      .command_tready(management_tready && !back),
      .command_tdata(management_tdata),
      .command_tkeep(management_tkeep),
      .command_tlast(management_tlast),
      .command_tuser(started),
      .*
  );
endmodule
