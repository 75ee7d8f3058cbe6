// The UDP source port of packets from one queue pair to another: a hash of both numbers, C000h to FFFFh (annex A17), so that the flows of queue pairs
// spread over the paths of the network. Multiplies twice by the golden ratio, 9E3779B1h, as a sum of eleven powers of two, three clocks each time.
module source_port_hash (
    input logic clock,
    input logic reset,

    // The numbers stay the same until `done`, eight clocks later.
    input logic start,
    input logic [23:0] source_queue_pair,
    input logic [23:0] destination_queue_pair,
    output logic done,
    output logic [15:0] port
);
  localparam int unsigned CLOCKS = 8;
  localparam int unsigned HALF = 3;  // The first product is there.
  logic [CLOCKS-1:0] steps;
  logic [31:0] factor, added_0, added_1, added_2, taken_0, taken_1, taken_2, added, taken, product;
  assign done = steps[CLOCKS-1];
  always_ff @(posedge clock) begin
    steps <= reset ? '0 : {steps[CLOCKS-2:0], start};
    if (start) factor <= 32'(source_queue_pair);
    else if (steps[HALF]) factor <= product ^ 32'(destination_queue_pair);
    added_0 <= factor + (factor << 9);
    added_1 <= (factor << 22) + (factor << 29);
    added_2 <= factor << 31;
    taken_0 <= (factor << 4) + (factor << 6);
    taken_1 <= (factor << 11) + (factor << 15);
    taken_2 <= (factor << 19) + (factor << 25);
    added <= added_0 + added_1 + added_2;
    taken <= taken_0 + taken_1 + taken_2;
    product <= added - taken;
  end
  assign port = {2'b11, product[31:18]};
endmodule
