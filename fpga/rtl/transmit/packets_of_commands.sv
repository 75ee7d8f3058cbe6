// Counts the packets in flight of each command, so that a command whose memory answers late takes no more buffers than it needs.
module packets_of_commands #(
    parameter int unsigned BUFFERS = 72,
    parameter int unsigned MOST = 8,  // Packets of a command.
    localparam int unsigned BUFFER_WIDTH = $clog2(BUFFERS)
) (
    input logic clock,
    input logic reset,
    output logic clearing,
    input logic [BUFFER_WIDTH-1:0] buffer,
    output logic is_full,  // This PCB's command may have no more packets.
    input logic begins,  // A packet of this command.
    input logic ends,
    input logic [BUFFER_WIDTH-1:0] ends_buffer
);
  localparam int unsigned COUNT_WIDTH = $clog2(MOST + 1);
  logic sweeps;
  logic [BUFFER_WIDTH-1:0] swept;
  logic [COUNT_WIDTH-1:0] begun, ended, ended_before;
  assign clearing = sweeps;
  always_ff @(posedge clock) begin
    if (reset) begin
      sweeps <= 1'b1;
      swept <= '0;
    end else if (sweeps) begin
      sweeps <= swept != BUFFER_WIDTH'(BUFFERS - 1);
      swept <= swept + BUFFER_WIDTH'(1);
    end
  end
  lut_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE (BUFFERS)
  ) i_begun (
      .write(sweeps || begins),
      .write_address(sweeps ? swept : buffer),
      .write_data(sweeps ? '0 : begun + COUNT_WIDTH'(1)),
      .read_addresses(buffer),
      .read_data(begun),
      .*
  );
  lut_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(BUFFERS),
      .READERS(2)
  ) i_ended (
      .write(sweeps || ends),
      .write_address(sweeps ? swept : ends_buffer),
      .write_data(sweeps ? '0 : ended_before + COUNT_WIDTH'(1)),
      .read_addresses({ends_buffer, buffer}),
      .read_data({ended_before, ended}),
      .*
  );
  assign is_full = begun - ended == COUNT_WIDTH'(MOST);
endmodule
