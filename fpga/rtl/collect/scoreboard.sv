// Takes one write into scoreboard and mask (US8589610, scoreboard update). `received`: the segments that it brought and that are
// whole; `unused`: the unused segments if the length came in with it, else 0. The command is complete when the check is all ones.
// In the direct variant the scoreboard holds received segments alone, and the mask keeps the unused ones.
module scoreboard (
    input logic is_direct,  // scoreboard_variant_t
    input logic [hca_spec_pkg::SEGMENTS-1:0] scoreboard,
    input logic [hca_spec_pkg::SEGMENTS-1:0] mask,
    input logic [hca_spec_pkg::SEGMENTS-1:0] received,
    input logic [hca_spec_pkg::SEGMENTS-1:0] unused,
    output logic [hca_spec_pkg::SEGMENTS-1:0] scoreboard_next,
    output logic [hca_spec_pkg::SEGMENTS-1:0] mask_next,
    output logic complete
);
  logic [hca_spec_pkg::SEGMENTS-1:0] check;

`ifdef FPGA_VERBS_MUTANT_MASK_IGNORED
  assign mask_next = is_direct ? mask : received;
`else
  assign mask_next = is_direct ? mask | unused : received | unused;
`endif
  assign scoreboard_next = scoreboard | (is_direct ? received : mask_next);
  assign check = is_direct ? scoreboard_next | mask_next : scoreboard_next;
`ifdef FPGA_VERBS_MUTANT_KICK_ONE_WRITE_EARLY
  assign complete = (~check & (~check - 40'd1)) == '0;
`else
  assign complete = check == '1;
`endif
endmodule
