// A lut_memory that a wrong bit does not change: it stores each word three times, and a reader gets the majority of each bit. A single-bit
// upset, and any number of them in one of the three copies of a word, is corrected until the word is written again.
//
// The second copy is stored inverted, so that no tool merges the copies.
module voted_memory #(
    parameter int unsigned WIDTH = 1,
    parameter int unsigned SIZE = 64,
    parameter int unsigned READERS = 1,
    parameter bit UPSET = 1'b0,  // For tests: one bit of each word is stored wrong, one after the other.
    localparam int unsigned ADDRESS_WIDTH = SIZE > 1 ? $clog2(SIZE) : 1
) (
    input logic clock,
    input logic reset,
    input logic write,
    input logic [ADDRESS_WIDTH-1:0] write_address,
    input logic [WIDTH-1:0] write_data,
    input logic [READERS*ADDRESS_WIDTH-1:0] read_addresses,
    output logic [READERS*WIDTH-1:0] read_data
);
  localparam int unsigned STORED_WIDTH = 3 * WIDTH;

  logic [STORED_WIDTH-1:0] stored, upset;
  logic [READERS*STORED_WIDTH-1:0] read_stored;

  assign stored = {write_data, ~write_data, write_data} ^ upset;
  if (UPSET) begin : gen_upset
    always_ff @(posedge clock) begin
      if (reset) upset <= STORED_WIDTH'(1);
      else if (write) upset <= {upset[STORED_WIDTH-2:0], upset[STORED_WIDTH-1]};
    end
  end else begin : gen_no_upset
    logic unused_reset;
    assign unused_reset = &{1'b0, reset};
    assign upset = '0;
  end

  lut_memory #(
      .WIDTH(STORED_WIDTH),
      .SIZE(SIZE),
      .READERS(READERS)
  ) i_memory (
      .clock(clock),
      .write(write),
      .write_address(write_address),
      .write_data(stored),
      .read_addresses(read_addresses),
      .read_data(read_stored)
  );

  for (genvar reader = 0; reader < READERS; reader++) begin : gen_reader
    logic [WIDTH-1:0] one, two, three;
    assign {three, two, one} = read_stored[reader*STORED_WIDTH+:STORED_WIDTH] ^ {WIDTH'(0), {WIDTH{1'b1}}, WIDTH'(0)};
    assign read_data[reader*WIDTH+:WIDTH] = one & two | two & three | one & three;
  end
endmodule
