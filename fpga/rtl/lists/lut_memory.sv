// A memory of look-up tables: one writer, and a parameterized number of readers, which see a write at once. Each reader has its own copy.
module lut_memory #(
    parameter int unsigned WIDTH = 1,
    parameter int unsigned SIZE = 64,
    parameter int unsigned READERS = 1,
    localparam int unsigned ADDRESS_WIDTH = SIZE > 1 ? $clog2(SIZE) : 1
) (
    input logic clock,
    input logic write,
    input logic [ADDRESS_WIDTH-1:0] write_address,
    input logic [WIDTH-1:0] write_data,
    input logic [READERS*ADDRESS_WIDTH-1:0] read_addresses,
    output logic [READERS*WIDTH-1:0] read_data
);
  for (genvar reader = 0; reader < READERS; reader++) begin : gen_reader
    (* ram_style = "distributed" *)
    logic [WIDTH-1:0] memory[1<<ADDRESS_WIDTH];
    always_ff @(posedge clock) if (write) memory[write_address] <= write_data;
    assign read_data[reader*WIDTH+:WIDTH] = memory[read_addresses[reader*ADDRESS_WIDTH+:ADDRESS_WIDTH]];
  end
endmodule
