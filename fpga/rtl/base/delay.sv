// A value some clocks later.
module delay #(
    parameter int unsigned WIDTH = 1,
    parameter int unsigned CLOCKS = 2  // 2 at least.
) (
    input logic clock,
    input logic [WIDTH-1:0] value,
    output logic [WIDTH-1:0] later
);
  logic [CLOCKS*WIDTH-1:0] values;
  assign later = values[(CLOCKS-1)*WIDTH+:WIDTH];
  always_ff @(posedge clock) values <= {values[(CLOCKS-1)*WIDTH-1:0], value};
endmodule
