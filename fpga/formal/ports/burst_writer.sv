// The writes of burst_writer, and the host of a bench, keep the rules of AXI4.
bind burst_writer axi_write_protocol #(
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH(FUNCTION_WIDTH),
    .BURSTS(2 * OUTSTANDING)
) i_write_protocol (
    .awaddr(memory_awaddr), .awlen(memory_awlen), .awsize(memory_awsize), .awuser(memory_awuser), .awvalid(memory_awvalid),
    .awready(memory_awready), .wdata(memory_wdata), .wstrb(memory_wstrb), .wlast(memory_wlast), .wvalid(memory_wvalid),
    .wready(memory_wready), .bresp(memory_bresp), .bvalid(memory_bvalid), .bready(memory_bready), .*
);
