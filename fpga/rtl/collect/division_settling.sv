// After a division of PCBs that leaves functions with more than they own and all share: looks at one VCB a clock for the half-written
// command begun last whose PCB another function owns now, has it handed over to the send queue, and looks again, until every function
// finds what it owns or no such command is left. What kicked commands hold comes back as they are sent. Meanwhile no beat and no
// control command goes on, so that what a division promises holds from its answer on.
module division_settling #(
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS)
) (
    input logic clock,
    input logic reset,
    input logic settle_starts,
    input logic overdrawn,

    // The VCB that is looked at: whether its PCB, given back, is one less that its function borrows, and when its command began.
    output logic [VCB_WIDTH-1:0] looked_at,
    input logic looked_at_repays,
    input logic [63:0] looked_at_began,

    output logic settling,
    output logic newest_goes,  // The newest is to be handed over, in the second stage in the next clock.
    output logic [VCB_WIDTH-1:0] newest,
    output logic settled
);
  logic pauses;  // The second stage is busy in this clock.
  logic decides;
  logic has_newest;
  logic [63:0] newest_began;
  logic is_newer;

  assign is_newer = looked_at_repays && (!has_newest || looked_at_began >= newest_began);
  assign newest_goes = settling && decides && overdrawn && has_newest;
  assign settled = settling && !pauses && (!overdrawn || decides && !has_newest);

  always_ff @(posedge clock) begin
    if (reset || settled) settling <= 1'b0;
    else if (settle_starts) settling <= 1'b1;
    pauses <= settle_starts || newest_goes;
    decides <= settling && !pauses && !decides && looked_at == '1;
    if (!settling || pauses || decides) begin
      looked_at <= '0;
      has_newest <= 1'b0;
    end else begin
      looked_at <= looked_at + VCB_WIDTH'(1);
      if (is_newer) begin
        has_newest <= 1'b1;
        newest <= looked_at;
        newest_began <= looked_at_began;
      end
    end
  end
endmodule
