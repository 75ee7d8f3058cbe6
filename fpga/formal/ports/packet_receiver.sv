// Packets sent to packet_receiver keep the rules of AXI4-Stream, and a packet that it offers stays until it is accepted.
bind packet_receiver axi_stream_protocol #(
    .BEAT_BYTES(BEAT_BYTES)
) i_link_protocol (
    .tvalid(link_tvalid), .tready(link_tready), .tdata(link_tdata), .tkeep(link_tkeep), .tlast(link_tlast), .tuser(1'b0), .*
);
bind packet_receiver axi_channel_protocol #(
    .WIDTH(PACKET_WIDTH + FIELDS + 13)
) i_packet_protocol (
    .valid(packet_valid), .ready(packet_ready), .payload({packet, packet_fields, packet_payload_bytes}), .*
);
