// A voted_memory that stores one bit of each word wrong returns the data written.
module voted_memory_formal #(
    parameter int unsigned WIDTH = 2
) (
    input logic clock,
    input logic reset,
    input logic write,
    input logic write_address,
    input logic [WIDTH-1:0] write_data,
    input logic [1:0] read_addresses
);
  logic [2*WIDTH-1:0] read_data;
  logic [WIDTH-1:0] words[2];
  logic [1:0] is_written;
  logic begun;

  voted_memory #(
      .WIDTH(WIDTH),
      .SIZE(2),
      .READERS(2),
      .UPSET(1'b1)
  ) i_voted_memory (.*);

  initial begun = 1'b0;
  initial is_written = 2'b00;
  always_ff @(posedge clock) begin
    begun <= 1'b1;
    if (write) words[write_address] <= write_data;
    is_written <= reset ? 2'b00 : is_written | 2'(write) << write_address;
  end

  always_comb begin
    assume (reset == !begun);
    for (int unsigned reader = 0; reader < 2; reader++)
      if (begun && is_written[read_addresses[reader]])
        assert (read_data[reader*WIDTH+:WIDTH] == words[read_addresses[reader]]);
  end
endmodule
