// The streams of icrc_append keep the rules of AXI4-Stream.
bind icrc_append axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES),
    .USER_WIDTH(3)
) i_bare_protocol (
    .tvalid(bare_tvalid), .tready(bare_tready), .tdata(bare_tdata), .tkeep(bare_tkeep), .tlast(bare_tlast), .tuser(bare_tuser), .*
);
bind icrc_append axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES)
) i_whole_protocol (
    .tvalid(whole_tvalid), .tready(whole_tready), .tdata(whole_tdata), .tkeep(whole_tkeep), .tlast(whole_tlast), .tuser(1'b0), .*
);
