// For all data, any one flipped bit is corrected and any two are detected. The proof takes two steps, because exclusive ors of many unknown
// bits are hard for a solver: a flipped bit changes the syndrome of every word by a number that does not depend on the word; and for the
// number of one bit, of two bits, or zero, the decoder returns the right result for every word.
module secded_formal (
    input logic [secded_pkg::DATA_BITS-1:0] data,
    input logic [secded_pkg::BITS-1:0] stored,
    input logic [6:0] first,
    input logic [6:0] second
);
  localparam int unsigned BITS = secded_pkg::BITS;
  localparam int unsigned CHECK_BITS = secded_pkg::CHECK_BITS;

  logic [BITS-1:0] clean_read, one_read, two_read;
  logic [1:0] clean_status, one_status, two_status;
  logic [CHECK_BITS-1:0] first_number, second_number, number[BITS];

  function automatic logic [CHECK_BITS-1:0] syndrome(input logic [BITS-1:0] word);
    syndrome = secded_pkg::encode(word[secded_pkg::DATA_BITS-1:0]) ^ word[secded_pkg::DATA_BITS+:CHECK_BITS];
  endfunction

  for (genvar place = 0; place < BITS; place++) begin : gen_place
    assign number[place] = syndrome(BITS'(1) << place);
    always_comb assert (syndrome(stored ^ BITS'(1) << place) == (syndrome(stored) ^ number[place]));
  end

  always_comb begin
    first_number = '0;
    second_number = '0;
    for (int unsigned place = 0; place < BITS; place++) begin
      if (first == 7'(place)) first_number = number[place];
      if (second == 7'(place)) second_number = number[place];
    end
  end

  secded_decoder i_clean (.stored(stored), .syndrome('0), .corrected(clean_read), .status(clean_status));
  secded_decoder i_one (
      .stored(stored ^ BITS'(1) << first), .syndrome(first_number), .corrected(one_read), .status(one_status)
  );
  secded_decoder i_two (
      .stored(stored), .syndrome(first_number ^ second_number), .corrected(two_read), .status(two_status)
  );

  always_comb begin
    assume (first < 7'(BITS) && second < 7'(BITS));
    assert (syndrome({secded_pkg::encode(data), data}) == '0);
    assert (clean_read == stored && clean_status == linked_list_queue_pkg::SECDED_STATUS_CLEAN);
    assert (one_read == stored && one_status == linked_list_queue_pkg::SECDED_STATUS_CORRECTED);
    if (first != second)
      assert (two_read == stored && two_status == linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE);
  end
endmodule
