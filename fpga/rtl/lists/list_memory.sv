// One word for each list: one writer, and one reader, which gets its word one clock after the request. A read of a word in the clock of its
// write may return the old or the new value: the reader knows what it wrote.
module list_memory #(
    parameter int unsigned WIDTH = 8,
    parameter int unsigned SIZE = 64,
    parameter bit BLOCK = 1'b0,  // Uses block memory.
    localparam int unsigned ADDRESS_WIDTH = SIZE > 1 ? $clog2(SIZE) : 1
) (
    input logic clock,
    input logic write,
    input logic [ADDRESS_WIDTH-1:0] write_address,
    input logic [WIDTH-1:0] write_data,
    input logic [ADDRESS_WIDTH-1:0] read_address,
    output logic [WIDTH-1:0] read_data
);
  if (BLOCK) begin : gen_block
    (* ram_style = "block" *)
    logic [WIDTH-1:0] memory[1<<ADDRESS_WIDTH];
    always_ff @(posedge clock) begin
      if (write) memory[write_address] <= write_data;
      read_data <= memory[read_address];
    end
  end else begin : gen_distributed
    (* ram_style = "distributed" *)
    logic [WIDTH-1:0] memory[1<<ADDRESS_WIDTH];
    always_ff @(posedge clock) begin
      if (write) memory[write_address] <= write_data;
      read_data <= memory[read_address];
    end
  end
endmodule
