// The port of collect_buffer's pages, and the host of a bench, keep the rules of AXI4.
bind collect_buffer axi_write_protocol #(
    .ADDRESS_WIDTH(ADDRESS_WIDTH),
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH(FUNCTION_WIDTH + 1)
) i_write_protocol (.*);
bind collect_buffer axi_read_protocol #(
    .ADDRESS_WIDTH(12),
    .BEAT_BYTES(BEAT_BYTES)
) i_read_protocol (
    .araddr('0),
    .arsize('0),
    .aruser('0),
    .*
);
