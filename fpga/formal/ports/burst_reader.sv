// The reads of burst_reader, and the host of a bench, keep the rules of AXI4.
bind burst_reader axi_tagged_read_protocol #(
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH(FUNCTION_WIDTH),
    .TAG_WIDTH(TAG_WIDTH)
) i_read_protocol (
    .arid(memory_arid), .araddr(memory_araddr), .arlen(memory_arlen), .arsize(memory_arsize), .aruser(memory_aruser),
    .arvalid(memory_arvalid), .arready(memory_arready), .rid(memory_rid), .rdata(memory_rdata), .rresp(memory_rresp),
    .rlast(memory_rlast), .rvalid(memory_rvalid), .rready(memory_rready), .*
);
