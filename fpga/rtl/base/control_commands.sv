// Serializes the control commands of several parts for collect_buffer; the lowest waiting part goes first. A part holds its request until
// it is done.
module control_commands #(
    parameter int unsigned PARTS = 3,
    parameter int unsigned PAGE_WIDTH = 9,
    parameter int unsigned PART_WIDTH = PARTS > 1 ? $clog2(PARTS) : 1
) (
    input logic clock,
    input logic reset,
    input logic [PARTS-1:0] request,
    input logic [PARTS*3-1:0] request_command,
    input logic [PARTS*PAGE_WIDTH-1:0] request_page,
    output logic [PARTS-1:0] request_done,

    // To collect_buffer, which has ports of these names.
    output logic control,
    input logic control_ready,
    input logic control_done,
    output logic [2:0] control_command,
    output logic [PAGE_WIDTH-1:0] control_page
);
  logic busy;
  logic [PART_WIDTH-1:0] part, first;

  find_first #(.SIZE(PARTS)) i_first (.bits(request), .first(first));
  assign request_done = control_done && busy ? PARTS'(1) << part : '0;

  always_ff @(posedge clock) begin
    if (reset) begin
      busy <= 1'b0;
      control <= 1'b0;
    end else if (!busy) begin
      busy <= request != '0;
      control <= request != '0;
    end else begin
      if (control_ready) control <= 1'b0;
      if (control_done) busy <= 1'b0;
    end
    if (!busy) begin
      part <= first;
      control_command <= request_command[first*3+:3];
      control_page <= request_page[first*PAGE_WIDTH+:PAGE_WIDTH];
    end
  end
endmodule
