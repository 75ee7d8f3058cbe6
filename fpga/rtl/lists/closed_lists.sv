// Lists to be reclaimed, in the order of closing; presents the first of them until it is empty.
module closed_lists #(
    parameter int unsigned LISTS = 64,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1
) (
    input logic clock,
    input logic reset,
    input logic close,
    input logic [LIST_WIDTH-1:0] close_list,
    output logic valid,
    output logic [LIST_WIDTH-1:0] first,
    input logic ends,
    output logic any
);
  logic [LIST_WIDTH:0] written, read;
  logic [LIST_WIDTH-1:0] next;

  lut_memory #(
      .WIDTH(LIST_WIDTH),
      .SIZE(1 << LIST_WIDTH)
  ) i_lists (
      .clock(clock),
      .write(close),
      .write_address(written[LIST_WIDTH-1:0]),
      .write_data(close_list),
      .read_addresses(read[LIST_WIDTH-1:0]),
      .read_data(next)
  );

  assign any = valid || read != written;

  always_ff @(posedge clock) begin
    if (reset) begin
      written <= '0;
      read <= '0;
      valid <= 1'b0;
    end else begin
      written <= written + (LIST_WIDTH + 1)'(close);
      if (!valid || ends) begin
        valid <= !ends && read != written;
        read <= read + (LIST_WIDTH + 1)'(!ends && read != written);
      end
    end
    if (!valid) first <= next;
  end
endmodule
