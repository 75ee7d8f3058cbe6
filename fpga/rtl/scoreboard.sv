// Takes one write into scoreboard and mask (US8589610, scoreboard update). `received`: the segments that it brought and that are
// whole; `unused`: the unused segments if the length came in with it, else 0. The command is complete when the check is all ones.
// In the direct variant the scoreboard holds received segments alone, and the mask keeps the unused ones.
module scoreboard #(
    parameter bit DIRECT = 1'b0  // scoreboard_variant_t
) (
    input logic [hca_spec_pkg::SEGMENTS-1:0] scoreboard,
    input logic [hca_spec_pkg::SEGMENTS-1:0] mask,
    input logic [hca_spec_pkg::SEGMENTS-1:0] received,
    input logic [hca_spec_pkg::SEGMENTS-1:0] unused,
    output logic [hca_spec_pkg::SEGMENTS-1:0] scoreboard_next,
    output logic [hca_spec_pkg::SEGMENTS-1:0] mask_next,
    output logic complete
);
  if (DIRECT) begin : gen_direct
    assign scoreboard_next = scoreboard | received;
    assign mask_next = mask | unused;
    assign complete = (scoreboard_next | mask_next) == '1;
  end else begin : gen_masked
    logic unused_mask;
    assign unused_mask = &{1'b0, mask};
`ifdef FPGA_VERBS_MUTANT_MASK_IGNORED
    assign mask_next = received;
`else
    assign mask_next = received | unused;
`endif
    assign scoreboard_next = scoreboard | mask_next;
`ifdef FPGA_VERBS_MUTANT_KICK_ONE_WRITE_EARLY
    assign complete = (~scoreboard_next & (~scoreboard_next - 40'd1)) == '0;
`else
    assign complete = scoreboard_next == '1;
`endif
  end
endmodule
