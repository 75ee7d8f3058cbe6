// Reads the header of a command from its PCB, beat by beat.
module command_header #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,
    input logic start,
    output logic done,  // From the clock in which the header is complete to the next start.
    output hca_spec_pkg::command_header_t header,

    // A beat of the PCB, in the clock after an accepted read.
    output logic read,
    input logic read_ready,
    output logic [BEATS_WIDTH-1:0] read_beat,
    input logic [BEAT_BYTES*8-1:0] read_data
);
  localparam int unsigned BITS = BEAT_BYTES * 8;
  localparam int unsigned BEATS = hca_spec_pkg::COMMAND_HEADER_BYTES / BEAT_BYTES;
  logic comes;
  logic [BEATS_WIDTH-1:0] coming_beat;
  logic [BEATS*BITS-1:0] bytes;
  assign header = bytes;
  always_ff @(posedge clock) begin
    read <= !reset && (start || read && !(read_ready && read_beat == BEATS_WIDTH'(BEATS - 1)));
    if (start) read_beat <= '0;
    else if (read && read_ready) read_beat <= read_beat + BEATS_WIDTH'(1);
    comes <= !reset && read && read_ready;
    coming_beat <= read_beat;
    for (int unsigned beat = 0; beat < BEATS; beat++)
      if (comes && coming_beat == BEATS_WIDTH'(beat)) bytes[beat*BITS+:BITS] <= read_data;
    done <= !reset && !start && (comes && coming_beat == BEATS_WIDTH'(BEATS - 1) || done);
  end
endmodule
