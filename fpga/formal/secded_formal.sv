// Of any data any one flipped bit is corrected and any two are detected.
module secded_formal (
    input logic [secded_pkg::DATA_BITS-1:0] data,
    input logic [$clog2(secded_pkg::BITS)-1:0] first,
    input logic [$clog2(secded_pkg::BITS)-1:0] second
);
  logic [secded_pkg::BITS-1:0] stored;
  logic [secded_pkg::BITS-1:0] one_wrong;
  logic [secded_pkg::BITS-1:0] two_wrong;
  logic [secded_pkg::DATA_BITS-1:0] clean_data;
  logic [secded_pkg::DATA_BITS-1:0] one_data;
  logic [secded_pkg::DATA_BITS-1:0] two_data;
  logic [1:0] clean_status;
  logic [1:0] one_status;
  logic [1:0] two_status;

  assign stored = {secded_pkg::encode(data), data};
  assign one_wrong = stored ^ secded_pkg::BITS'(1) << first;
  assign two_wrong = one_wrong ^ secded_pkg::BITS'(1) << second;

  secded_decoder i_clean (.data(stored[63:0]), .check(stored[71:64]), .corrected(clean_data), .status(clean_status));
  secded_decoder i_one (.data(one_wrong[63:0]), .check(one_wrong[71:64]), .corrected(one_data), .status(one_status));
  secded_decoder i_two (.data(two_wrong[63:0]), .check(two_wrong[71:64]), .corrected(two_data), .status(two_status));

  always_comb begin
    assume (first < 7'd72 && second < 7'd72);
    assert (clean_data == data && clean_status == linked_list_queue_pkg::SECDED_STATUS_CLEAN);
    assert (one_data == data && one_status == linked_list_queue_pkg::SECDED_STATUS_CORRECTED);
    if (first != second) assert (two_status == linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE);
  end
endmodule
