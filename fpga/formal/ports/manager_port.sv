// The registers of manager_port keep the rules of AXI4-Lite.
bind manager_port axi_write_protocol #(
    .ADDRESS_WIDTH(ADDRESS_WIDTH),
    .BEAT_BYTES(4)
) i_register_write_protocol (
    .awaddr(register_awaddr), .awlen('0), .awsize(3'd2), .awuser('0), .awvalid(register_awvalid), .awready(register_awready),
    .wdata(register_wdata), .wstrb(register_wstrb), .wlast(1'b1), .wvalid(register_wvalid), .wready(register_wready),
    .bresp(register_bresp), .bvalid(register_bvalid), .bready(register_bready), .*
);
bind manager_port axi_read_protocol #(
    .ADDRESS_WIDTH(ADDRESS_WIDTH),
    .BEAT_BYTES(4)
) i_register_read_protocol (
    .araddr(register_araddr), .arlen('0), .arsize(3'd2), .aruser('0), .arvalid(register_arvalid), .arready(register_arready),
    .rdata(register_rdata), .rresp(register_rresp), .rlast(1'b1), .rvalid(register_rvalid), .rready(register_rready), .*
);
