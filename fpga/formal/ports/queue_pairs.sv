// A packet that queue_pairs offers stays until it is accepted.
bind queue_pairs axi_channel_protocol #(
    .WIDTH(PACKET_WIDTH + $bits(checked_fields) + 13 + FUNCTION_WIDTH)
) i_checked_protocol (
    .valid(checked_valid), .ready(checked_ready),
    .payload({checked_packet, checked_fields, checked_payload_bytes, checked_underlying_function}), .*
);
