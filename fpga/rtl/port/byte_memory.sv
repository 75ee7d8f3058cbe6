// A large memory whose bytes are written one by one: one writer, and one reader, which sees a word a clock later.
module byte_memory #(
    parameter int unsigned BYTES = 64,  // Of a word.
    parameter int unsigned WORDS = 1024,
    parameter bit ULTRA = 1'b1,  // Of ultra memories, which not every FPGA has; otherwise of block memories.
    localparam int unsigned ADDRESS_WIDTH = $clog2(WORDS)
) (
    input logic clock,
    input logic [BYTES-1:0] write,  // Each byte of the word.
    input logic [ADDRESS_WIDTH-1:0] write_address,
    input logic [BYTES*8-1:0] write_data,
    input logic [ADDRESS_WIDTH-1:0] read_address,
    output logic [BYTES*8-1:0] read_data  // With all that was written in clocks before.
);
  if (ULTRA) begin : gen_ultra
    (* ram_style = "ultra" *)
    logic [BYTES*8-1:0] memory[WORDS];
    always_ff @(posedge clock) begin
      for (int unsigned lane = 0; lane < BYTES; lane++) if (write[lane]) memory[write_address][lane*8+:8] <= write_data[lane*8+:8];
      read_data <= memory[read_address];
    end
  end else begin : gen_block
    (* ram_style = "block" *)
    logic [BYTES*8-1:0] memory[WORDS];
    always_ff @(posedge clock) begin
      for (int unsigned lane = 0; lane < BYTES; lane++) if (write[lane]) memory[write_address][lane*8+:8] <= write_data[lane*8+:8];
      read_data <= memory[read_address];
    end
  end
endmodule
