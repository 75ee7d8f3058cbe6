// A large memory with a write strobe for each byte: one writer, and one reader with a latency of one clock.
module byte_memory #(
    parameter int unsigned BYTES = 64,  // Bytes of a word.
    parameter int unsigned WORDS = 1024,
    parameter bit ULTRA = 1'b1,  // Ultra memories, which some FPGAs do not have; otherwise block memories.
    localparam int unsigned ADDRESS_WIDTH = $clog2(WORDS)
) (
    input logic clock,
    input logic [BYTES-1:0] write,  // A strobe for each byte of the word.
    input logic [ADDRESS_WIDTH-1:0] write_address,
    input logic [BYTES*8-1:0] write_data,
    input logic [ADDRESS_WIDTH-1:0] read_address,
    output logic [BYTES*8-1:0] read_data  // The data of writes in earlier clocks.
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
