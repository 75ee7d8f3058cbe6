// What was stored as `data` and `check`, a wrong bit corrected; as it was read if that cannot be.
module secded_decoder (
    input logic [secded_pkg::DATA_BITS-1:0] data,
    input logic [secded_pkg::CHECK_BITS-1:0] check,
    output logic [secded_pkg::DATA_BITS-1:0] corrected,
    output logic [1:0] status  // secded_status_t
);
  localparam logic [secded_pkg::DATA_BITS*secded_pkg::CHECK_BITS-1:0] COLUMNS = secded_pkg::columns();

  logic [secded_pkg::CHECK_BITS-1:0] syndrome;
  logic [secded_pkg::DATA_BITS-1:0] wrong_data;
  logic [secded_pkg::CHECK_BITS-1:0] wrong_check;

  assign syndrome = secded_pkg::encode(data) ^ check;

  for (genvar place = 0; place < secded_pkg::DATA_BITS; place++) begin : gen_data
    assign wrong_data[place] = syndrome == COLUMNS[place*secded_pkg::CHECK_BITS+:secded_pkg::CHECK_BITS];
  end
  for (genvar row = 0; row < secded_pkg::CHECK_BITS; row++) begin : gen_check
    assign wrong_check[row] = syndrome == secded_pkg::CHECK_BITS'(1) << row;
  end

  assign corrected = data ^ wrong_data;
`ifdef FPGA_VERBS_MUTANT_DOUBLE_BIT_ERROR_MISSED
  assign status = syndrome == '0 ? linked_list_queue_pkg::SECDED_STATUS_CLEAN :
      linked_list_queue_pkg::SECDED_STATUS_CORRECTED;
`else
  assign status = syndrome == '0 ? linked_list_queue_pkg::SECDED_STATUS_CLEAN :
      wrong_data != '0 || wrong_check != '0 ? linked_list_queue_pkg::SECDED_STATUS_CORRECTED :
      linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE;
`endif
endmodule
