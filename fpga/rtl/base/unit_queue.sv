// A FIFO of a few units between two blocks. `filling` counts them, so that the producer can stop in time.
module unit_queue #(
    parameter int unsigned UNIT_WIDTH = 128,
    parameter int unsigned ENTRIES = 8,  // A power of two.
    parameter int unsigned COUNT_WIDTH = $clog2(ENTRIES) + 1
) (
    input logic clock,
    input logic reset,
    input logic push,
    input logic [UNIT_WIDTH-1:0] push_unit,
    output logic valid,
    output logic [UNIT_WIDTH-1:0] unit,
    input logic pop,
    output logic [COUNT_WIDTH-1:0] filling
);
  logic [UNIT_WIDTH-1:0] units[ENTRIES];
  logic [COUNT_WIDTH-1:0] head, tail;

  assign filling = tail - head;
  assign valid = tail != head;
  assign unit = units[head[COUNT_WIDTH-2:0]];

  always_ff @(posedge clock) begin
    if (reset) begin
      head <= '0;
      tail <= '0;
    end else begin
      head <= head + COUNT_WIDTH'(pop);
      tail <= tail + COUNT_WIDTH'(push);
    end
    if (push) units[tail[COUNT_WIDTH-2:0]] <= push_unit;
  end
endmodule
