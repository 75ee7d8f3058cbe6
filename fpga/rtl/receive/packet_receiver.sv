// Stores packets from a link in buffers, parses them, and drops and counts invalid ones by reason. It counts and drops congestion notifications. It
// queues all others in order, as handle and fields, until the next block takes them; a packet keeps its buffer until a later block frees it.
// destination_check looks up the queue pair.
module packet_receiver #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned BUFFERS = hca_spec_pkg::RECEIVE_PACKET_BUFFERS,  // A power of two, at least 4.
    parameter bit ULTRA = 1'b1,  // Buffers in ultra memories, which some FPGAs do not have.
    localparam int unsigned PACKET_WIDTH = $clog2(BUFFERS),
    localparam int unsigned COUNT_WIDTH = $clog2(BUFFERS + 1),
    localparam int unsigned BUFFER_BEATS = hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES,
    localparam int unsigned PLACE_WIDTH = $clog2(BUFFER_BEATS)
) (
    input logic clock,
    input logic reset,
    input logic is_infiniband,  // Link type; 0: Ethernet. Changes only while no packet is in flight.

    // Packets, AXI4-Stream: from their first link byte, without VCRC or frame check sequence; at most 65,535 B. Bytes beyond the end of a buffer are
    // checked but not stored: only the frame of a valid packet can be that long.
    input logic link_tvalid,
    output logic link_tready,
    input logic [BEAT_BYTES*8-1:0] link_tdata,
    input logic [BEAT_BYTES-1:0] link_tkeep,
    input logic link_tlast,

    // A valid packet. Its first byte is the first of its buffer.
    output logic packet_valid,
    input logic packet_ready,
    output logic [PACKET_WIDTH-1:0] packet,
    output packet_fields_pkg::packet_fields_t packet_fields,
    output logic [12:0] packet_payload_bytes,

    // Reads a beat of a buffer, with three clocks of latency.
    input logic [PACKET_WIDTH-1:0] read_packet,
    input logic [PLACE_WIDTH-1:0] read_place,
    output logic [BEAT_BYTES*8-1:0] read_data,

    // Frees the buffer of a packet.
    input logic give_back,
    input logic [PACKET_WIDTH-1:0] give_back_packet,
    output logic [COUNT_WIDTH-1:0] free,

    // Dropped packets by reason (packet_drop_t), a clock later; and congestion notifications.
    input logic [4:0] count_reason,
    output logic [63:0] count,
    output logic [63:0] congestion_notifications
);
  localparam int unsigned FIELDS = $bits(packet_fields);
  localparam int unsigned PARSING = 64;  // Packets without a verdict; more than the clocks until a verdict.

  // Inputs: each beat goes to its buffer and to the parser.
  logic has_free, clearing, takes, begins, is_begun, is_full, ended_returns;
  logic [PACKET_WIDTH-1:0] free_packet, begun_packet, written_packet, ended_packet;
  logic [PLACE_WIDTH-1:0] place;
  assign link_tready = is_begun || has_free && !clearing;
  assign takes = link_tvalid && link_tready;
  assign begins = takes && !is_begun;
  assign written_packet = is_begun ? begun_packet : free_packet;
  always_ff @(posedge clock) begin
    if (reset) begin
      is_begun <= 1'b0;
      is_full <= 1'b0;
      place <= '0;
    end else if (takes) begin
      is_begun <= !link_tlast;
      is_full <= !link_tlast && (is_full || place == PLACE_WIDTH'(BUFFER_BEATS - 1));
      place <= link_tlast ? '0 : place + PLACE_WIDTH'(!is_full);
    end
    if (begins) begun_packet <= free_packet;
  end
  packet_memory #(
      .BEAT_BYTES(BEAT_BYTES),
      .USES(1),
      .BUFFERS_OF_USE(BUFFERS),
      .ULTRA(ULTRA)
  ) i_memory (
      .allocate(begins),
      .allocate_use(1'b0),
      .give_back(give_back || ended_returns),
      .give_back_packet(give_back ? give_back_packet : ended_packet),
      .write(takes && !is_full),
      .write_packet(written_packet),
      .write_place(place),
      .write_data(link_tdata),
      .write_strobe(link_tkeep),
      .*
  );

  // Verdicts, in the order of packets.
  logic parsed, is_none, is_notification, is_right, is_dropped, is_parsing, unused_counts, has_ended;
  logic [4:0] parsed_drop;
  logic [12:0] parsed_payload_bytes;
  logic [PACKET_WIDTH-1:0] parsed_packet;
  logic [$clog2(PARSING):0] parsing;
  logic [PACKET_WIDTH:0] waiting, ending;
  packet_fields_pkg::packet_fields_t parsed_fields;
  packet_parse #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_parse (
      .beat(takes),
      .beat_tdata(link_tdata),
      .beat_tkeep(link_tkeep),
      .beat_tlast(link_tlast),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(PACKET_WIDTH),
      .ENTRIES(PARSING)
  ) i_parsing (
      .push(takes && link_tlast),
      .push_unit(written_packet),
      .valid(is_parsing),
      .unit(parsed_packet),
      .pop(parsed),
      .filling(parsing),
      .*
  );
  assign unused_counts = &{1'b0, is_parsing, parsing, waiting, ending};
  assign is_none = parsed_drop == 5'(hca_spec_pkg::PACKET_DROP_NONE);
  assign is_notification = parsed && is_none && parsed_fields.opcode == hca_spec_pkg::PACKET_OPCODE_CONGESTION_NOTIFICATION;
  assign is_right = parsed && is_none && !is_notification;
  assign is_dropped = parsed && !is_none;

  // Valid packets: fields in a memory by buffer, handles in a queue; reading takes two clocks.
  logic waits, fetches, fetched, is_out;
  logic [PACKET_WIDTH-1:0] waiting_packet, fetched_packet;
  logic [FIELDS+12:0] facts_read;
  (* ram_style = "block" *)
  logic [FIELDS+12:0] facts[BUFFERS];
  unit_queue #(
      .UNIT_WIDTH(PACKET_WIDTH),
      .ENTRIES(BUFFERS)
  ) i_waiting (
      .push(is_right),
      .push_unit(parsed_packet),
      .valid(waits),
      .unit(waiting_packet),
      .pop(fetches),
      .filling(waiting),
      .*
  );
  assign is_out = !packet_valid || packet_ready;
  assign fetches = waits && (!fetched || is_out);
  always_ff @(posedge clock) begin
    if (is_right) facts[parsed_packet] <= {parsed_fields, parsed_payload_bytes};
    if (fetches) begin
      facts_read <= facts[waiting_packet];
      fetched_packet <= waiting_packet;
    end
    fetched <= !reset && (fetches || fetched && !is_out);
    packet_valid <= !reset && (fetched || packet_valid && !packet_ready);
    if (fetched && is_out) begin
      {packet_fields, packet_payload_bytes} <= facts_read;
      packet <= fetched_packet;
    end
  end

  // Dropped packets: their buffers are freed in clocks in which no later block frees one.
  unit_queue #(
      .UNIT_WIDTH(PACKET_WIDTH),
      .ENTRIES(BUFFERS)
  ) i_ended (
      .push(is_dropped || is_notification),
      .push_unit(parsed_packet),
      .valid(has_ended),
      .unit(ended_packet),
      .pop(ended_returns),
      .filling(ending),
      .*
  );
  assign ended_returns = has_ended && !give_back;

  logic notified_1;
  drop_counts i_counts (
      .dropped(is_dropped),
      .dropped_reason(parsed_drop),
      .*
  );
  always_ff @(posedge clock) begin
    notified_1 <= !reset && is_notification;
    if (reset) congestion_notifications <= '0;
    else congestion_notifications <= congestion_notifications + 64'(notified_1);
  end
endmodule
