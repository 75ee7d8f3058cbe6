// The doorbell checksum: the 32-bit ones' complement sum over the DWORDs of a command's used segments and the queue pair's secret is
// all ones when nothing was lost or changed (US8589610, doorbell checksum state). Takes the DWORDs of one beat into a running sum, whose
// carries gather on top: a command cannot overflow it.
module doorbell_checksum #(
    parameter int unsigned DWORDS = 2
) (
    input logic [39:0] sum_before,
    input logic [DWORDS*32-1:0] data,
    input logic [DWORDS-1:0] counted,  // DWORDs that count: the first copy of each.
    input logic has_secret,
    input logic [31:0] secret,
    input logic enable,  // The command asks for the comparison.
    output logic [39:0] sum,
    output logic agrees
);
  logic [32:0] folded;
  logic [31:0] folded_again;

  always_comb begin
    sum = sum_before;
    for (int unsigned dword = 0; dword < DWORDS; dword++)
      sum = sum + (counted[dword] ? 40'(data[dword*32+:32]) : 40'd0);
    if (has_secret) sum = sum + 40'(secret);
  end

  assign folded = 33'(sum[31:0]) + 33'(sum[39:32]);
  assign folded_again = folded[31:0] + 32'(folded[32]);
`ifdef FPGA_VERBS_MUTANT_CHECKSUM_IGNORED
  assign agrees = !enable || folded_again != '0;
`else
  assign agrees = !enable || folded_again == '1;
`endif
endmodule
