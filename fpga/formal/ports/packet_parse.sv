// Packets sent to packet_parse keep the rules of AXI4-Stream. The block relies on them, because it is always ready.
bind packet_parse axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES)
) i_beat_protocol (
    .tvalid(beat), .tready(1'b1), .tdata(beat_tdata), .tkeep(beat_tkeep), .tlast(beat_tlast), .tuser(1'b0), .*
);
