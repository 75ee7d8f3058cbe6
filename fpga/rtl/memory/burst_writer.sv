// Writes pieces to host memory as AXI4 bursts of full beats, many in flight: bytes from any offset in a beat, to any address. A burst does not cross
// 4 KiB or a multiple of the maximum payload size. All bursts have one identifier, so the host executes them in order; the block answers pieces in
// order.
module burst_writer #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned LENGTH_WIDTH = 13,  // Width of the length of a piece.
    parameter int unsigned USER_WIDTH = 16,
    parameter int unsigned OUTSTANDING = 32,  // Maximum bursts in flight. A power of two, at least 4.
    parameter int unsigned MOST_BYTES = 512,  // Largest burst, in bytes. A power of two, 128 to 4096; at most 256 beats.
    parameter int unsigned PIECES = 8,  // Maximum pieces with data still to come. A power of two, at least 4.
    localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES)
) (
    input logic clock,
    input logic reset,  // Only while idle, except for the first.
    output logic idle,  // Nothing is in flight.
    input logic [2:0] maximum_payload,  // 128 B << this value, as in PCIe. Changes only while idle.

    // A piece of at least one byte; its first byte is in lane write_lane of its first beat.
    input logic write,
    output logic write_ready,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,  // Owner of the memory.
    input logic [63:0] write_address,
    input logic [LENGTH_WIDTH-1:0] write_bytes,
    input logic [LANE_WIDTH-1:0] write_lane,
    input logic [USER_WIDTH-1:0] write_user,  // Returned in the answer.

    // Beats of pieces, in order; each piece starts at lane write_lane.
    input logic data_valid,
    output logic data_ready,
    input logic [BEAT_BYTES*8-1:0] data,

    // The host has responded to all bursts of a piece.
    output logic answer,
    output logic answer_failed,
    output logic [USER_WIDTH-1:0] answer_user,

    // AXI4, incrementing bursts.
    output logic [63:0] memory_awaddr,
    output logic [7:0] memory_awlen,
    output logic [2:0] memory_awsize,
    output logic [FUNCTION_WIDTH-1:0] memory_awuser,
    output logic memory_awvalid,
    input logic memory_awready,
    output logic [BEAT_BYTES*8-1:0] memory_wdata,
    output logic [BEAT_BYTES-1:0] memory_wstrb,
    output logic memory_wlast,
    output logic memory_wvalid,
    input logic memory_wready,
    input logic [1:0] memory_bresp,
    input logic memory_bvalid,
    output logic memory_bready
);
  if (OUTSTANDING < 4 || OUTSTANDING != 1 << $clog2(OUTSTANDING) || PIECES < 4 || PIECES != 1 << $clog2(PIECES)) begin : gen_check
    $error("OUTSTANDING and PIECES have to be powers of two, 4 at least");
  end

  localparam int unsigned BURST_WIDTH = 12 - LANE_WIDTH;  // Width of the number of a beat in 4 KiB.
  localparam int unsigned LEFT_WIDTH = $clog2(PIECES + OUTSTANDING) + 2;
  localparam logic [1:0] OKAY = 2'b00;

  logic splitter_ready, aligner_ready, begins;
  logic [LEFT_WIDTH-1:0] left;  // Pieces without an answer.
  logic [BURST_WIDTH-1:0] beat_mask;
  logic [LANE_WIDTH-1:0] unused_mask;
  assign write_ready = splitter_ready && aligner_ready;
  assign begins = write && write_ready;
  assign idle = left == '0;
  always_ff @(posedge clock) begin
    if (reset) left <= '0;
    else left <= left + LEFT_WIDTH'(begins) - LEFT_WIDTH'(answer);
  end

  // Addresses of bursts, and bursts that wait for their response.
  logic burst, burst_last, asks, has_room, is_answered, is_outstanding, ends_piece, has_failed;
  logic [63:0] burst_address;
  logic [7:0] burst_length;
  logic [FUNCTION_WIDTH-1:0] burst_underlying_function;
  logic [USER_WIDTH-1:0] burst_user, answered_user;
  logic [$clog2(OUTSTANDING):0] outstanding;
  burst_splitter #(
      .BEAT_BYTES(BEAT_BYTES),
      .LENGTH_WIDTH(LENGTH_WIDTH),
      .MOST_BYTES(MOST_BYTES),
      .USER_WIDTH(FUNCTION_WIDTH + USER_WIDTH)
  ) i_splitter (
      .size(maximum_payload),
      .access(write && aligner_ready),
      .access_ready(splitter_ready),
      .access_address(write_address),
      .access_bytes(write_bytes),
      .access_user({write_underlying_function, write_user}),
      .burst(burst),
      .burst_ready(asks),
      .burst_address(burst_address),
      .burst_length(burst_length),
      .burst_last(burst_last),
      .burst_user({burst_underlying_function, burst_user}),
      .mask({beat_mask, unused_mask}),
      .*
  );
  assign asks = burst && has_room && (!memory_awvalid || memory_awready);
  assign memory_awsize = 3'(LANE_WIDTH);
  always_ff @(posedge clock) begin
    has_room <= !reset && 32'(outstanding) + 1 < OUTSTANDING;
    if (reset) memory_awvalid <= 1'b0;
    else memory_awvalid <= asks || memory_awvalid && !memory_awready;
    if (asks) begin
      memory_awaddr <= burst_address;
      memory_awlen <= burst_length;
      memory_awuser <= burst_underlying_function;
    end
  end
  unit_queue #(
      .UNIT_WIDTH(1 + USER_WIDTH),
      .ENTRIES(OUTSTANDING)
  ) i_outstanding (
      .push(asks),
      .push_unit({burst_last, burst_user}),
      .valid(is_outstanding),
      .unit({ends_piece, answered_user}),
      .pop(is_answered),
      .filling(outstanding),
      .*
  );
  assign memory_bready = is_outstanding;
  assign is_answered = memory_bvalid && memory_bready;
  always_ff @(posedge clock) begin
    answer <= !reset && is_answered && ends_piece;
    answer_failed <= has_failed || memory_bresp != OKAY;
    answer_user <= answered_user;
    if (reset) has_failed <= 1'b0;
    else if (is_answered) has_failed <= !ends_piece && (has_failed || memory_bresp != OKAY);
  end

  // Data, never before its address: a burst ends with its piece, or where the next burst begins.
  logic moved, moved_first, moved_last, unused_failed;
  logic [$clog2(OUTSTANDING):0] owed;  // Bursts whose address has been issued and whose data are incomplete.
  logic [BURST_WIDTH-1:0] first_beat, next_beat, beat;
  byte_aligner #(
      .BEAT_BYTES(BEAT_BYTES),
      .LENGTH_WIDTH(LENGTH_WIDTH),
      .USER_WIDTH(BURST_WIDTH),
      .PIECES(PIECES)
  ) i_aligner (
      .piece(write && splitter_ready),
      .piece_ready(aligner_ready),
      .piece_from(write_lane),
      .piece_to(write_address[LANE_WIDTH-1:0]),
      .piece_bytes(write_bytes),
      .piece_user(write_address[11:LANE_WIDTH]),
      .beat(data_valid),
      .beat_ready(data_ready),
      .beat_data(data),
      .beat_failed(1'b0),
      .moved(moved),
      .moved_ready(memory_wready && owed != '0),
      .moved_data(memory_wdata),
      .moved_strobe(memory_wstrb),
      .moved_first(moved_first),
      .moved_last(moved_last),
      .moved_failed(unused_failed),
      .moved_user(first_beat),
      .*
  );
  assign memory_wvalid = moved && owed != '0;
  assign beat = moved_first ? first_beat : next_beat;
  assign memory_wlast = moved_last || (beat | ~beat_mask) == '1;
  always_ff @(posedge clock) begin
    if (memory_wvalid && memory_wready) next_beat <= beat + BURST_WIDTH'(1);
    if (reset) owed <= '0;
    else owed <= owed + ($clog2(OUTSTANDING) + 1)'(asks) - ($clog2(OUTSTANDING) + 1)'(memory_wvalid && memory_wready && memory_wlast);
  end
endmodule
