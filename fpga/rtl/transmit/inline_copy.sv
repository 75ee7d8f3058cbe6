// Copies the inline data of a command from its PCB into the buffer of its packet, beat by beat: they begin with a beat in both.
module inline_copy #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES),
    localparam int unsigned PLACE_WIDTH = $clog2(hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,
    input logic start,
    input logic [12:0] start_bytes,
    output logic done,  // Every beat is on its way to the buffer.

    // A beat of the PCB, in the clock after the one in which the read is taken.
    output logic read,
    input logic read_ready,
    output logic [BEATS_WIDTH-1:0] read_beat,
    input logic [BEAT_BYTES*8-1:0] read_data,

    output logic write,
    output logic [PLACE_WIDTH-1:0] write_place,
    output logic [BEAT_BYTES*8-1:0] write_data
);
  localparam int unsigned FIRST = hca_spec_pkg::COMMAND_HEADER_BYTES / BEAT_BYTES;
  localparam int unsigned TO = hca_spec_pkg::PACKET_HEADROOM / BEAT_BYTES;
  localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES);

  logic is_on, came, is_last;
  logic [12-LANE_WIDTH:0] beat, last;
  logic [LANE_WIDTH-1:0] unused_lane;
  logic [PLACE_WIDTH-1:0] place;
  assign is_last = beat == last;
  assign read = is_on;
  assign read_beat = BEATS_WIDTH'(beat) + BEATS_WIDTH'(FIRST);
  assign place = PLACE_WIDTH'(beat) + PLACE_WIDTH'(TO);
  always_ff @(posedge clock) begin
    is_on <= !reset && (start && start_bytes != '0 || is_on && !(read_ready && is_last));
    done <= !reset && (start && start_bytes == '0 || is_on && read_ready && is_last);
    if (start) begin
      beat <= '0;
      {last, unused_lane} <= start_bytes - 13'd1;
    end else if (is_on && read_ready) beat <= beat + (13 - LANE_WIDTH)'(1);
    came <= !reset && is_on && read_ready;
    if (is_on && read_ready) write_place <= place;
  end
  assign write = came;
  assign write_data = read_data;
endmodule
