// The doorbell checksum: the 32-bit ones' complement sum over the DWORDs that the buffers of a command hold when it is whole, and over
// the queue pair's secret, is all ones when nothing was lost or changed (US8589610, doorbell checksum state: a checksum of the contents
// of the payload buffer and the header buffer). Takes the DWORDs of one beat into a running sum: of one that was there before, the
// difference. Carries gather on top: a command cannot overflow it.
module doorbell_checksum #(
    parameter int unsigned DWORDS = 2
) (
    input logic [39:0] sum_before,
    input logic [DWORDS*32-1:0] data,
    input logic [DWORDS-1:0] brought,
    input logic [DWORDS*32-1:0] data_before,
    input logic [DWORDS-1:0] repeated,  // DWORDs of `brought` that were there before, as in data_before.
    input logic has_secret,
    input logic [31:0] secret,
    input logic enable,  // The command asks for the comparison.
    output logic [39:0] sum,
    output logic agrees
);
  logic [32:0] folded;

  always_comb begin
    sum = sum_before;
    for (int unsigned dword = 0; dword < DWORDS; dword++)
      sum = sum + (brought[dword] ? 40'(data[dword*32+:32]) : 40'd0)
          - (repeated[dword] ? 40'(data_before[dword*32+:32]) : 40'd0);
    if (has_secret) sum = sum + 40'(secret);
  end

  // The carry of this fold need not be folded in: with it, the low half is at most 254, and no carry makes that all ones.
  assign folded = 33'(sum[31:0]) + 33'(sum[39:32]);
`ifdef FPGA_VERBS_MUTANT_CHECKSUM_IGNORED
  assign agrees = !enable || folded != '0;
`else
  assign agrees = !enable || folded == 33'h0_ffff_ffff;
`endif
endmodule
