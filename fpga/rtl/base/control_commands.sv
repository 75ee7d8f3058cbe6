// Serializes the control commands of several parts for collect_buffer; the lowest waiting part goes first. A part holds its request until
// it is done. The block chooses a part in one clock and takes its command in the next, because a part may form its request and its command
// from a comparison or a sum of its own.
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
  logic busy, taken;
  logic [PART_WIDTH-1:0] part, first;

  find_first #(.SIZE(PARTS)) i_first (.bits(request), .first(first));
  assign request_done = control_done && busy ? PARTS'(1) << part : '0;

  always_ff @(posedge clock) begin
    if (reset) begin
      busy <= 1'b0;
      taken <= 1'b0;
      control <= 1'b0;
    end else begin
      busy <= busy ? !control_done : request != '0;
      taken <= busy && !control_done;
      control <= busy && !taken || control && !control_ready;
    end
    if (!busy) part <= first;
    if (!taken) begin
      control_command <= request_command[part*3+:3];
      control_page <= request_page[part*PAGE_WIDTH+:PAGE_WIDTH];
    end
  end
endmodule
