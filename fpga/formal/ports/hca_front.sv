// The registers of hca_front keep the rules of AXI4-Lite, its streams those of AXI4-Stream.
bind hca_front axi_write_protocol #(
    .ADDRESS_WIDTH(REGISTER_ADDRESS_WIDTH),
    .BEAT_BYTES(4)
) i_register_write_protocol (
    .awaddr(register_awaddr), .awlen('0), .awsize(3'd2), .awuser('0), .awvalid(register_awvalid), .awready(register_awready),
    .wdata(register_wdata), .wstrb(register_wstrb), .wlast(1'b1), .wvalid(register_wvalid), .wready(register_wready),
    .bresp(register_bresp), .bvalid(register_bvalid), .bready(register_bready), .*
);
bind hca_front axi_read_protocol #(
    .ADDRESS_WIDTH(REGISTER_ADDRESS_WIDTH),
    .BEAT_BYTES(4)
) i_register_read_protocol (
    .araddr(register_araddr), .arlen('0), .arsize(3'd2), .aruser('0), .arvalid(register_arvalid), .arready(register_arready),
    .rdata(register_rdata), .rresp(register_rresp), .rlast(1'b1), .rvalid(register_rvalid), .rready(register_rready), .*
);
bind hca_front axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH($bits(command_tuser))
) i_command_protocol (
    .tvalid(command_tvalid), .tready(command_tready), .tdata(command_tdata), .tkeep(command_tkeep), .tlast(command_tlast),
    .tuser(command_tuser), .*
);
bind hca_front axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH($bits(management_tuser))
) i_management_protocol (
    .tvalid(management_tvalid), .tready(management_tready), .tdata(management_tdata), .tkeep(management_tkeep),
    .tlast(management_tlast), .tuser(management_tuser), .*
);
