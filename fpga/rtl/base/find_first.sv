// The lowest set bit of a bit string: isolated by a carry chain, then encoded. 0 when none is set.
module find_first #(
    parameter int unsigned SIZE = 64,
    parameter int unsigned WIDTH = SIZE > 1 ? $clog2(SIZE) : 1
) (
    input logic [SIZE-1:0] bits,
    output logic [WIDTH-1:0] first
);
  logic [SIZE-1:0] lowest;
  assign lowest = bits & (~bits + SIZE'(1));

  always_comb begin
    first = '0;
    for (int unsigned place = 0; place < SIZE; place++) if (lowest[place]) first = first | WIDTH'(place);
  end
endmodule
