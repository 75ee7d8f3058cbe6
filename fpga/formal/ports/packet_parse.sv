// The packets that come to packet_parse keep the rules of AXI4-Stream, which is always ready: it relies on them.
bind packet_parse axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES)
) i_beat_protocol (
    .tvalid(beat), .tready(1'b1), .tdata(beat_tdata), .tkeep(beat_tkeep), .tlast(beat_tlast), .tuser(1'b0), .*
);
