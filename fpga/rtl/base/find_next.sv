// Round robin: the first set bit after `after`, wrapping to 0; `after` itself comes last. 0 when none is set.
module find_next #(
    parameter int unsigned SIZE = 64,
    parameter int unsigned WIDTH = SIZE > 1 ? $clog2(SIZE) : 1
) (
    input logic [SIZE-1:0] bits,
    input logic [WIDTH-1:0] after,
    output logic [WIDTH-1:0] next
);
  localparam logic [SIZE-1:0] ABOVE = ~(SIZE'(1));  // All bits but bit 0.

  logic [SIZE-1:0] behind;
  logic [WIDTH-1:0] first;
  logic [WIDTH-1:0] first_behind;

  assign behind = bits & (ABOVE << after);

  find_first #(.SIZE(SIZE)) i_first (.bits(bits), .first(first));
  find_first #(.SIZE(SIZE)) i_first_behind (.bits(behind), .first(first_behind));

  assign next = behind != '0 ? first_behind : first;
endmodule
