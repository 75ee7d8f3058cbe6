// Rules for AXI4 reads whose bursts have identifiers (AMBA AXI protocol specification, IHI 0022, A5): bursts of one identifier are answered
// in their order, as in axi_read_protocol; bursts of different ones have no order.
module axi_tagged_read_protocol #(
    parameter int unsigned ADDRESS_WIDTH = 64,
    parameter int unsigned BEAT_BYTES = 64,
    parameter int unsigned USER_WIDTH = 1,
    parameter int unsigned TAG_WIDTH = 1,
    parameter int unsigned BURSTS = 2  // Maximum in flight with one identifier. A power of two.
) (
    input logic clock,
    input logic reset,
    input logic [TAG_WIDTH-1:0] arid,
    input logic [ADDRESS_WIDTH-1:0] araddr,
    input logic [7:0] arlen,
    input logic [2:0] arsize,
    input logic [USER_WIDTH-1:0] aruser,
    input logic arvalid,
    input logic arready,
    input logic [TAG_WIDTH-1:0] rid,
    input logic [BEAT_BYTES*8-1:0] rdata,
    input logic [1:0] rresp,
    input logic rlast,
    input logic rvalid,
    input logic rready
);
  for (genvar tag = 0; tag < 1 << TAG_WIDTH; tag++) begin : gen_tag
    axi_read_protocol #(
        .ADDRESS_WIDTH(ADDRESS_WIDTH),
        .BEAT_BYTES(BEAT_BYTES),
        .USER_WIDTH(USER_WIDTH),
        .BURSTS(BURSTS)
    ) i_protocol (
        .arvalid(arvalid && arid == TAG_WIDTH'(tag)),
        .rvalid(rvalid && rid == TAG_WIDTH'(tag)),
        .*
    );
  end
endmodule
