// The packets of packet_headers keep the rules of AXI4-Stream.
bind packet_headers axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES)
) i_whole_protocol (
    .tvalid(whole_tvalid), .tready(whole_tready), .tdata(whole_tdata), .tkeep(whole_tkeep), .tlast(whole_tlast), .tuser(1'b0), .*
);
