// Corrects a single-bit error of a stored word by its syndrome (the check bits of its data exclusive or the stored ones). If the error
// cannot be corrected, returns the word as read.
module secded_decoder (
    input logic [secded_pkg::BITS-1:0] stored,  // The check bits, then the data.
    input logic [secded_pkg::CHECK_BITS-1:0] syndrome,
    output logic [secded_pkg::BITS-1:0] corrected,
    output logic [1:0] status  // secded_status_t
);
  localparam logic [secded_pkg::DATA_BITS*secded_pkg::CHECK_BITS-1:0] COLUMNS = secded_pkg::columns();

  logic [secded_pkg::BITS-1:0] wrong;

  // Without a wrong bit, which is the usual case, simulation skips the search.
  always_comb begin
    wrong = '0;
    if (syndrome != '0) begin
      for (int unsigned place = 0; place < secded_pkg::DATA_BITS; place++)
        wrong[place] = syndrome == COLUMNS[place*secded_pkg::CHECK_BITS+:secded_pkg::CHECK_BITS];
      for (int unsigned row = 0; row < secded_pkg::CHECK_BITS; row++)
        wrong[secded_pkg::DATA_BITS+row] = syndrome == secded_pkg::CHECK_BITS'(1) << row;
    end
  end

  assign corrected = stored ^ wrong;
`ifdef FPGA_VERBS_MUTANT_DOUBLE_BIT_ERROR_MISSED
  assign status = syndrome == '0 ? linked_list_queue_pkg::SECDED_STATUS_CLEAN :
      linked_list_queue_pkg::SECDED_STATUS_CORRECTED;
`else
  // Every column has an odd number of ones, and each with one or three belongs to a bit.
  assign status = syndrome == '0 ? linked_list_queue_pkg::SECDED_STATUS_CLEAN :
      wrong != '0 ? linked_list_queue_pkg::SECDED_STATUS_CORRECTED : linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE;
`endif
endmodule
