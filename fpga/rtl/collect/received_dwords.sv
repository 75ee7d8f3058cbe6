// The DWORDs of a command that have been received, 80 bits, with one write taken in; and what its length leaves unused.
module received_dwords #(
    parameter int unsigned SEGMENTS = hca_spec_pkg::SEGMENTS,
    parameter int unsigned DWORDS = 2 * SEGMENTS
) (
    input logic [DWORDS-1:0] received_before,
    input logic [2:0] line,  // Of 64 B, that the write lies in.
    input logic [15:0] dwords,  // Of the line, that it holds.
    input logic [8:0] length,  // Payload, 0 to 256. Unit: bytes.
    output logic [DWORDS-1:0] brought,
    output logic [DWORDS-1:0] received_now,
    output logic [SEGMENTS-1:0] whole_segments,  // That this write brought, in part or whole, and that are whole.
    output logic [SEGMENTS-1:0] unused,
    output logic [DWORDS-1:0] unused_dwords
);
  localparam int unsigned HEADER_SEGMENTS = hca_spec_pkg::COMMAND_HEADER_BYTES / hca_spec_pkg::SEGMENT_BYTES;

  logic [5:0] needed;  // Segments: the header's and those that the payload touches.

  assign needed = 6'(HEADER_SEGMENTS) + 6'((length + 9'd7) >> 3);
  assign unused = {SEGMENTS{1'b1}} << needed;
  assign brought = DWORDS'(dwords) << {line, 4'd0};
  assign received_now = received_before | brought;

  for (genvar segment = 0; segment < SEGMENTS; segment++) begin : gen_segment
    assign unused_dwords[segment*2+:2] = {2{unused[segment]}};
    assign whole_segments[segment] = received_now[segment*2+:2] == 2'b11 && brought[segment*2+:2] != 2'b00;
  end
endmodule
