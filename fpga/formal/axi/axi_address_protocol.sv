// Rules for the addresses of write and read bursts of AXI4 and AXI4-Lite (AMBA AXI protocol specification, IHI 0022, A3.4.1): an offer
// stays; a beat is no wider than the data; no burst crosses 4 KiB. Asserted for one side; a proof assumes them of the other side.
module axi_address_protocol #(
    parameter int unsigned ADDRESS_WIDTH = 64,
    parameter int unsigned BEAT_BYTES = 64,
    parameter int unsigned USER_WIDTH = 1,
    parameter bit ASSUMED = 1'b0
) (
    input logic clock,
    input logic reset,
    input logic valid,
    input logic ready,
    input logic [ADDRESS_WIDTH-1:0] address,
    input logic [7:0] length,  // Number of beats minus one.
    input logic [2:0] size,  // log2 of the bytes per beat.
    input logic [USER_WIDTH-1:0] user
);
  axi_channel_protocol #(.WIDTH(ADDRESS_WIDTH + 11 + USER_WIDTH), .ASSUMED(ASSUMED)) i_channel (
      .payload({address, length, size, user}), .*
  );

  logic [12:0] end_of_burst;
  logic is_in_page, is_size_right;
  assign end_of_burst = {1'b0, address[11:0] >> size << size} + ((13'(length) + 13'd1) << size);
  assign is_size_right = 32'(1) << size <= BEAT_BYTES;
  assign is_in_page = end_of_burst <= 13'd4096;
  if (ASSUMED) begin : gen_assumed
    always_ff @(posedge clock)
      if (!reset && valid) begin
        size_fits : assume (is_size_right);
        stays_in_page : assume (is_in_page);
      end
  end else begin : gen_asserted
    always_ff @(posedge clock)
      if (!reset && valid) begin
        size_fits : assert (is_size_right);
        stays_in_page : assert (is_in_page);
      end
  end
endmodule
