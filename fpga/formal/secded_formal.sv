// Of any data any one flipped bit is corrected and any two are detected.
module secded_formal (
    input logic [secded_pkg::DATA_BITS-1:0] data,
    input logic [$clog2(secded_pkg::BITS)-1:0] first,
    input logic [$clog2(secded_pkg::BITS)-1:0] second
);
  logic [secded_pkg::BITS-1:0] stored;
  logic [secded_pkg::BITS-1:0] one_wrong;
  logic [secded_pkg::BITS-1:0] two_wrong;
  logic [secded_pkg::BITS-1:0] clean_read, one_read, two_read;
  logic [1:0] clean_status, one_status, two_status;

  function automatic logic [secded_pkg::CHECK_BITS-1:0] syndrome(input logic [secded_pkg::BITS-1:0] word);
    syndrome = secded_pkg::encode(word[secded_pkg::DATA_BITS-1:0]) ^ word[secded_pkg::DATA_BITS+:secded_pkg::CHECK_BITS];
  endfunction

  assign stored = {secded_pkg::encode(data), data};
  assign one_wrong = stored ^ secded_pkg::BITS'(1) << first;
  assign two_wrong = one_wrong ^ secded_pkg::BITS'(1) << second;

  secded_decoder i_clean (.stored(stored), .syndrome(syndrome(stored)), .corrected(clean_read), .status(clean_status));
  secded_decoder i_one (.stored(one_wrong), .syndrome(syndrome(one_wrong)), .corrected(one_read), .status(one_status));
  secded_decoder i_two (.stored(two_wrong), .syndrome(syndrome(two_wrong)), .corrected(two_read), .status(two_status));

  always_comb begin
    assume (first < 7'd72 && second < 7'd72);
    assert (clean_read == stored && clean_status == linked_list_queue_pkg::SECDED_STATUS_CLEAN);
    assert (one_read == stored && one_status == linked_list_queue_pkg::SECDED_STATUS_CORRECTED);
    if (first != second) assert (two_status == linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE);
  end
endmodule
