// The registers of hca_front keep the rules of AXI4-Lite, its pages and its DMA those of AXI4, its streams those of AXI4-Stream; so does
// the other side of each, which is a bench or the rest of a board.
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
bind hca_front axi_write_protocol #(
    .ADDRESS_WIDTH(VCB_WIDTH + 12),
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH(FUNCTION_WIDTH + 1)
) i_collect_write_protocol (
    .awaddr(collect_awaddr), .awlen(collect_awlen), .awsize(collect_awsize), .awuser(collect_awuser), .awvalid(collect_awvalid),
    .awready(collect_awready), .wdata(collect_wdata), .wstrb(collect_wstrb), .wlast(collect_wlast), .wvalid(collect_wvalid),
    .wready(collect_wready), .bresp(collect_bresp), .bvalid(collect_bvalid), .bready(collect_bready), .*
);
bind hca_front axi_read_protocol #(
    .ADDRESS_WIDTH(12),
    .BEAT_BYTES(BEAT_BYTES)
) i_collect_read_protocol (
    .araddr('0), .arlen(collect_arlen), .arsize('0), .aruser('0), .arvalid(collect_arvalid), .arready(collect_arready),
    .rdata(collect_rdata), .rresp(collect_rresp), .rlast(collect_rlast), .rvalid(collect_rvalid), .rready(collect_rready), .*
);
bind hca_front axi_write_protocol #(
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH(FUNCTION_WIDTH),
    .BURSTS(128)
) i_memory_write_protocol (
    .awaddr(memory_awaddr), .awlen(memory_awlen), .awsize(memory_awsize), .awuser(memory_awuser), .awvalid(memory_awvalid),
    .awready(memory_awready), .wdata(memory_wdata), .wstrb(memory_wstrb), .wlast(memory_wlast), .wvalid(memory_wvalid),
    .wready(memory_wready), .bresp(memory_bresp), .bvalid(memory_bvalid), .bready(memory_bready), .*
);
bind hca_front axi_read_protocol #(
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH(FUNCTION_WIDTH),
    .BURSTS(128)
) i_memory_read_protocol (
    .araddr(memory_araddr), .arlen(memory_arlen), .arsize(memory_arsize), .aruser(memory_aruser), .arvalid(memory_arvalid),
    .arready(memory_arready), .rdata(memory_rdata), .rresp(memory_rresp), .rlast(memory_rlast), .rvalid(memory_rvalid),
    .rready(memory_rready), .*
);
