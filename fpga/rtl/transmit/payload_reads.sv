// Reads the translated pieces of accesses into the buffers of their packets, one behind the other. Ends of accesses leave in the order of
// their reads; ends of packets that read nothing pass them.
module payload_reads #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned PACKETS = 128,
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned TAGS = 32,
    parameter int unsigned MOST_BYTES = 512,
    localparam int unsigned TAG_WIDTH = $clog2(TAGS),
    localparam int unsigned PACKET_WIDTH = $clog2(PACKETS),
    localparam int unsigned PLACE_WIDTH = $clog2(hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,  // Only while idle, except for the first.
    output logic clearing,
    output logic idle,  // No read is in flight.
    input logic [2:0] maximum_read_request,

    // Bursts of accesses, from memory_translation; none is longer than a packet. A packet that reads nothing is direct.
    input logic burst,
    output logic burst_ready,
    input logic [FUNCTION_WIDTH-1:0] burst_underlying_function,
    input logic [63:0] burst_address,
    input logic [31:0] burst_bytes,
    input logic burst_last,
    input logic burst_refused,
    input logic burst_epoch,
    input logic [PACKET_WIDTH-1:0] burst_packet,
    input logic burst_is_direct,
    input logic burst_is_end,  // The last access of its packet.

    // The end of a burst, of an access (is_access) or of a packet (is_packet). Failed: refused, or its read failed.
    output logic over,
    input logic over_ready,
    output logic [PACKET_WIDTH-1:0] over_packet,
    output logic over_is_access,
    output logic over_is_packet,
    output logic over_epoch,
    output logic over_refused,
    output logic over_unread,
    output logic [47:0] over_address,  // Address of the read.

    // To packet memory; inline data have priority.
    input logic inline_write,
    input logic [PACKET_WIDTH-1:0] inline_packet,
    input logic [PLACE_WIDTH-1:0] inline_place,
    input logic [BEAT_BYTES*8-1:0] inline_data,
    output logic packet_write,
    output logic [PACKET_WIDTH-1:0] packet_write_packet,
    output logic [PLACE_WIDTH-1:0] packet_write_place,
    output logic [BEAT_BYTES*8-1:0] packet_write_data,
    output logic [BEAT_BYTES-1:0] packet_write_strobe,

    // AXI4, incrementing bursts.
    output logic [TAG_WIDTH-1:0] memory_arid,
    output logic [63:0] memory_araddr,
    output logic [7:0] memory_arlen,
    output logic [2:0] memory_arsize,
    output logic [FUNCTION_WIDTH-1:0] memory_aruser,
    output logic memory_arvalid,
    input logic memory_arready,
    input logic [TAG_WIDTH-1:0] memory_rid,
    input logic [BEAT_BYTES*8-1:0] memory_rdata,
    input logic [1:0] memory_rresp,
    input logic memory_rlast,
    input logic memory_rvalid,
    output logic memory_rready
);
  localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES);
  localparam int unsigned BYTES_WIDTH = 13;
  localparam int unsigned BURSTS = 8;
  localparam int unsigned PIECES = 32;  // Maximum pieces in flight, with their ends.
  localparam int unsigned LABEL_WIDTH = PACKET_WIDTH + 4;

  // Maximum bursts that wait.
  logic has_burst, is_direct, is_end, last, refused, epoch, has_bytes, goes, may_follow, follows, reads, read_ready;
  logic [FUNCTION_WIDTH-1:0] underlying_function;
  logic [63:0] address;
  logic [BYTES_WIDTH-1:0] bytes;
  logic [PACKET_WIDTH-1:0] packet;
  logic [$clog2(BURSTS):0] bursts;
  logic [$clog2(PIECES):0] pieces, unused_done;
  unit_queue #(
      .UNIT_WIDTH(FUNCTION_WIDTH + 64 + BYTES_WIDTH + 1 + PACKET_WIDTH + 5),
      .ENTRIES(BURSTS)
  ) i_bursts (
      .push(burst && burst_ready),
      .push_unit({burst_underlying_function, burst_address, burst_bytes[BYTES_WIDTH-1:0], burst_bytes != '0, burst_packet, burst_is_direct,
          burst_is_end, burst_last, burst_refused, burst_epoch}),
      .valid(has_burst),
      .unit({underlying_function, address, bytes, has_bytes, packet, is_direct, is_end, last, refused, epoch}),
      .pop(goes),
      .filling(bursts),
      .*
  );
  assign reads = has_burst && !is_direct && has_bytes && may_follow;
  assign follows = has_burst && !is_direct && may_follow && (!has_bytes || read_ready);
  assign goes = follows || has_burst && is_direct && over_ready;
  always_ff @(posedge clock) begin
    burst_ready <= !reset && !clearing && 32'(bursts) + 2 < BURSTS;
    may_follow <= !reset && 32'(pieces) + 2 < PIECES;
  end

  // The place of each packet's next byte in its buffer.
  logic sweeps, is_over;
  logic [PACKET_WIDTH-1:0] swept;
  logic [BYTES_WIDTH-1:0] place;
  assign is_over = last && is_end;
  assign clearing = sweeps;
  always_ff @(posedge clock) begin
    if (reset) begin
      sweeps <= 1'b1;
      swept <= '0;
    end else if (sweeps) begin
      sweeps <= swept != PACKET_WIDTH'(PACKETS - 1);
      swept <= swept + PACKET_WIDTH'(1);
    end
  end
  lut_memory #(
      .WIDTH(BYTES_WIDTH),
      .SIZE (PACKETS)
  ) i_places (
      .write(sweeps || follows),
      .write_address(sweeps ? swept : packet),
      .write_data(sweeps || is_over ? BYTES_WIDTH'(hca_spec_pkg::PACKET_HEADROOM) : place + bytes),
      .read_addresses(packet),
      .read_data(place),
      .*
  );

  // Read data, and the ends that follow them.
  logic data_valid, data_ready, data_first, data_last, data_failed, has_done, done_failed, is_piece, piece_is_read, piece_over;
  logic [BEAT_BYTES*8-1:0] data;
  logic [BEAT_BYTES-1:0] data_strobe;
  logic [PACKET_WIDTH-1:0] data_packet;
  logic [PLACE_WIDTH-1:0] data_place, next_place;
  logic [LABEL_WIDTH-1:0] piece_label;
  logic [47:0] piece_address;
  burst_reader #(
      .BEAT_BYTES(BEAT_BYTES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .LENGTH_WIDTH(BYTES_WIDTH),
      .USER_WIDTH(PACKET_WIDTH + PLACE_WIDTH),
      .TAGS(TAGS),
      .MOST_BYTES(MOST_BYTES),
      .PIECES(PIECES)
  ) i_reader (
      .read(reads),
      .read_underlying_function(underlying_function),
      .read_address(address),
      .read_bytes(bytes),
      .read_lane(place[LANE_WIDTH-1:0]),
      .read_user({packet, PLACE_WIDTH'(place[BYTES_WIDTH-1:LANE_WIDTH])}),
      .data_user({data_packet, data_place}),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(1 + LABEL_WIDTH + 48),
      .ENTRIES(PIECES)
  ) i_pieces (
      .push(follows),
      .push_unit({has_bytes, packet, last, is_over, epoch, refused, address[47:0]}),
      .valid(is_piece),
      .unit({piece_is_read, piece_label, piece_address}),
      .pop(piece_over),
      .filling(pieces),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(1),
      .ENTRIES(PIECES)
  ) i_done (
      .push(data_valid && data_ready && data_last),
      .push_unit(data_failed),
      .valid(has_done),
      .unit(done_failed),
      .pop(piece_over && piece_is_read),
      .filling(unused_done),
      .*
  );

  // A packet that reads nothing passes the others.
  logic passes, piece_ends;
  assign passes = has_burst && is_direct;
  assign piece_ends = is_piece && (!piece_is_read || has_done);
  assign over = passes || piece_ends;
  assign piece_over = piece_ends && !passes && over_ready;
  assign {over_packet, over_is_access, over_is_packet, over_epoch, over_refused} = passes ? {packet, last, is_over, epoch, refused} : piece_label;
  assign over_unread = !passes && piece_is_read && done_failed;
  assign over_address = piece_address;

  assign data_ready = !inline_write;
  always_ff @(posedge clock) begin
    packet_write <= !reset && (inline_write || data_valid);
    packet_write_packet <= inline_write ? inline_packet : data_packet;
    packet_write_place <= inline_write ? inline_place : data_first ? data_place : next_place;
    packet_write_data <= inline_write ? inline_data : data;
    packet_write_strobe <= inline_write ? '1 : data_strobe;
    if (data_valid && data_ready) next_place <= (data_first ? data_place : next_place) + PLACE_WIDTH'(1);
  end
endmodule
