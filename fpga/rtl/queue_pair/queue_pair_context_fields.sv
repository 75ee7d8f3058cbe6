// The fields of one writer in a part of the queue pair contexts: a memory for each row of 64 B that has such fields. The writer writes all of them at
// once. A row write enters in a clock in which the writer does not write. A read returns the data of writes in earlier clocks.
module queue_pair_context_fields #(
    parameter int unsigned CONTEXTS = 256,
    parameter int unsigned ROWS = 1,  // Rows of the part.
    localparam int unsigned ROW_BITS = 512,
    parameter logic [ROWS*ROW_BITS-1:0] FIELDS = '1,  // The bits of the part that this writer owns. All others read as 0.
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS)
) (
    input logic clock,

    input logic write,
    input logic [CONTEXT_WIDTH-1:0] write_context,
    input logic [ROWS*ROW_BITS-1:0] write_part,

    input logic [ROWS-1:0] row_write,  // At most one bit is set.
    input logic [CONTEXT_WIDTH-1:0] row_context,
    input logic [ROW_BITS-1:0] row_data,

    // The part, two clocks later.
    input logic [CONTEXT_WIDTH-1:0] read_context,
    output logic [ROWS*ROW_BITS-1:0] read_part
);
  for (genvar row = 0; row < ROWS; row++) begin : gen_row
    localparam logic [ROW_BITS-1:0] MINE = FIELDS[row*ROW_BITS+:ROW_BITS];
    logic [ROW_BITS-1:0] data;
    if (MINE != '0) begin : gen_memory
      list_memory #(
          .WIDTH(ROW_BITS),
          .SIZE(CONTEXTS),
          .BLOCK(1'b1)
      ) i_row (
          .write(write || row_write[row]),
          .write_address(write ? write_context : row_context),
          .write_data((write ? write_part[row*ROW_BITS+:ROW_BITS] : row_data) & MINE),
          .read_address(read_context),
          .read_data(data),
          .*
      );
    end else begin : gen_none
      logic unused_row;
      assign unused_row = &{1'b0, row_write[row], write_part[row*ROW_BITS+:ROW_BITS]};
      assign data = '0;
    end
    always_ff @(posedge clock) read_part[row*ROW_BITS+:ROW_BITS] <= data & MINE;
  end
endmodule
