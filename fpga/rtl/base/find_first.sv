// The lowest set bit of a bit string: isolated by a carry chain, then encoded. 0 when none is set.
module find_first #(
    parameter int unsigned SIZE = 64,
    parameter int unsigned WIDTH = SIZE > 1 ? $clog2(SIZE) : 1,
    parameter bit ISOLATED = 1'b0  // One is set at most.
) (
    input logic [SIZE-1:0] bits,
    output logic [WIDTH-1:0] first
);
  logic [SIZE-1:0] lowest;
  assign lowest = ISOLATED ? bits : bits & (~bits + SIZE'(1));

  // The places whose number has this bit set: whole words for simulation.
  function automatic logic [SIZE-1:0] having(input int unsigned number_bit);
    having = '0;
    for (int unsigned place = 0; place < SIZE; place++) having[place] = ((place >> number_bit) & 1) != 0;
  endfunction

  for (genvar number_bit = 0; number_bit < WIDTH; number_bit++) begin : gen_bit
    localparam logic [SIZE-1:0] HAVING = having(number_bit);
    assign first[number_bit] = (lowest & HAVING) != '0;
  end
endmodule
