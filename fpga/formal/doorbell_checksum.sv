// The ports of doorbell_checksum and nothing behind them: a proof holds whatever it answers.
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
endmodule
