// Reads pieces of host memory as AXI4 bursts of full beats, many in flight: any bytes, to any offset in a beat. A burst does not cross 4 KiB or a
// multiple of the maximum read request size. Each burst has its own identifier, so the host may answer bursts in any order and interleave their
// beats; the block stores the data until all earlier data have left. Pieces leave whole, in the order of their requests.
module burst_reader #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned LENGTH_WIDTH = 13,  // Width of the length of a piece.
    parameter int unsigned USER_WIDTH = 16,
    parameter int unsigned TAGS = 32,  // Maximum bursts in flight. A power of two, at least 4.
    parameter int unsigned MOST_BYTES = 512,  // Largest burst, in bytes. A power of two, 128 to 4096; at most 256 beats.
    parameter int unsigned PIECES = 32,  // Maximum pieces in flight. A power of two, at least 4.
    localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES),
    localparam int unsigned TAG_WIDTH = $clog2(TAGS)
) (
    input logic clock,
    input logic reset,  // Only while idle, except for the first.
    output logic idle,  // Nothing is in flight.
    input logic [2:0] maximum_read_request,  // 128 B << this value, as in PCIe. Changes only while idle.

    // A piece of at least one byte; its first byte goes to lane read_lane of its first beat.
    input logic read,
    output logic read_ready,
    input logic [FUNCTION_WIDTH-1:0] read_underlying_function,  // Owner of the memory.
    input logic [63:0] read_address,
    input logic [LENGTH_WIDTH-1:0] read_bytes,
    input logic [LANE_WIDTH-1:0] read_lane,
    input logic [USER_WIDTH-1:0] read_user,  // Returned with each beat of the piece.

    // The beats of a piece; the last one reports a failed read, after which the bytes of the piece are undefined.
    output logic data_valid,
    input logic data_ready,
    output logic [BEAT_BYTES*8-1:0] data,
    output logic [BEAT_BYTES-1:0] data_strobe,
    output logic data_first,
    output logic data_last,
    output logic data_failed,
    output logic [USER_WIDTH-1:0] data_user,

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
  if (TAGS < 4 || TAGS != 1 << $clog2(TAGS) || PIECES < 4 || PIECES != 1 << $clog2(PIECES)) begin : gen_check
    $error("TAGS and PIECES have to be powers of two, 4 at least");
  end

  localparam int unsigned SLOT_BEATS = MOST_BYTES / BEAT_BYTES;
  localparam int unsigned SLOT_WIDTH = $clog2(SLOT_BEATS);
  localparam int unsigned PLACE_WIDTH = TAG_WIDTH + SLOT_WIDTH;
  localparam int unsigned LEFT_WIDTH = $clog2(PIECES) + 2;
  localparam logic [1:0] OKAY = 2'b00;

  // Requested pieces that have not left.
  logic splitter_ready, aligner_ready, begins, ends;
  logic [LEFT_WIDTH-1:0] left;
  assign read_ready = splitter_ready && aligner_ready;
  assign begins = read && read_ready;
  assign ends = data_valid && data_ready && data_last;
  assign idle = left == '0;
  always_ff @(posedge clock) begin
    if (reset) left <= '0;
    else left <= left + LEFT_WIDTH'(begins) - LEFT_WIDTH'(ends);
  end

  // Bursts, each with the next tag. A tag is free when its slot of the buffer has been read; this is known a clock later.
  logic burst, unused_last, has_tag, asks;
  logic [63:0] burst_address;
  logic [7:0] burst_length;
  logic [11:0] unused_mask;
  logic [FUNCTION_WIDTH-1:0] burst_underlying_function;
  logic [TAG_WIDTH:0] asked, drained;
  burst_splitter #(
      .BEAT_BYTES(BEAT_BYTES),
      .LENGTH_WIDTH(LENGTH_WIDTH),
      .MOST_BYTES(MOST_BYTES),
      .USER_WIDTH(FUNCTION_WIDTH)
  ) i_splitter (
      .size(maximum_read_request),
      .access(read && aligner_ready),
      .access_ready(splitter_ready),
      .access_address(read_address),
      .access_bytes(read_bytes),
      .access_user(read_underlying_function),
      .burst(burst),
      .burst_ready(asks),
      .burst_address(burst_address),
      .burst_length(burst_length),
      .burst_last(unused_last),
      .burst_user(burst_underlying_function),
      .mask(unused_mask),
      .*
  );
  assign asks = burst && has_tag && (!memory_arvalid || memory_arready);
  assign memory_arsize = 3'(LANE_WIDTH);
  always_ff @(posedge clock) begin
    has_tag <= !reset && (TAG_WIDTH + 1)'(asked - drained) < (TAG_WIDTH + 1)'(TAGS - 1);
    if (reset) begin
      asked <= '0;
      memory_arvalid <= 1'b0;
    end else begin
      asked <= asked + (TAG_WIDTH + 1)'(asks);
      memory_arvalid <= asks || memory_arvalid && !memory_arready;
    end
    if (asks) begin
      memory_arid <= asked[TAG_WIDTH-1:0];
      memory_araddr <= burst_address;
      memory_arlen <= burst_length;
      memory_aruser <= burst_underlying_function;
    end
  end

  // Stores the beats of the host's answers; counts the beats of each burst and notes a failure. All counts start at zero.
  logic clearing, came, came_last, came_failed, has_failed;
  logic [TAG_WIDTH-1:0] cleared, came_tag;
  logic [BEAT_BYTES*8-1:0] came_data;
  logic [SLOT_WIDTH-1:0] came_beat;
  logic [TAGS-1:0] done;  // Each complete burst toggles its bit.
  assign memory_rready = !clearing;
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      cleared <= '0;
    end else if (clearing) begin
      clearing <= cleared != TAG_WIDTH'(TAGS - 1);
      cleared <= cleared + TAG_WIDTH'(1);
    end
    came <= !reset && memory_rvalid && memory_rready;
    came_tag <= memory_rid;
    came_data <= memory_rdata;
    came_last <= memory_rlast;
    came_failed <= memory_rresp != OKAY;
    for (int unsigned tag = 0; tag < TAGS; tag++)
      if (reset) done[tag] <= 1'b0;
      else if (came && came_last && came_tag == TAG_WIDTH'(tag)) done[tag] <= !done[tag];
  end
  lut_memory #(
      .WIDTH(SLOT_WIDTH + 1),
      .SIZE(TAGS)
  ) i_came (
      .write(clearing || came),
      .write_address(clearing ? cleared : came_tag),
      .write_data(clearing || came_last ? '0 : {has_failed || came_failed, came_beat + SLOT_WIDTH'(1)}),
      .read_addresses(came_tag),
      .read_data({has_failed, came_beat}),
      .*
  );

  // Reads the oldest burst from the buffer, beat by beat, when it is complete.
  logic is_whole, steps, is_end, is_out, is_out_failed, out_ready, out_failed;
  logic [TAG_WIDTH-1:0] tag;
  logic [SLOT_WIDTH-1:0] slot_beat, slot_end;
  logic [BEAT_BYTES*8-1:0] out_data;
  lut_memory #(
      .WIDTH(SLOT_WIDTH),
      .SIZE(TAGS)
  ) i_lengths (
      .write(asks),
      .write_address(asked[TAG_WIDTH-1:0]),
      .write_data(SLOT_WIDTH'(burst_length)),
      .read_addresses(tag),
      .read_data(slot_end),
      .*
  );
  lut_memory #(
      .WIDTH(1),
      .SIZE(TAGS)
  ) i_outcomes (
      .write(came && came_last),
      .write_address(came_tag),
      .write_data(has_failed || came_failed),
      .read_addresses(tag),
      .read_data(is_out_failed),
      .*
  );
  (* ram_style = "block" *)
  logic [BEAT_BYTES*8-1:0] buffer[1<<PLACE_WIDTH];
  assign tag = drained[TAG_WIDTH-1:0];
  assign is_whole = done[tag] != drained[TAG_WIDTH];
  assign steps = is_whole && (!is_out || out_ready);
  assign is_end = slot_beat == slot_end;
  always_ff @(posedge clock) begin
    if (came) buffer[{came_tag, came_beat}] <= came_data;
    if (steps) out_data <= buffer[{tag, slot_beat}];
    if (reset) begin
      drained <= '0;
      slot_beat <= '0;
      is_out <= 1'b0;
    end else begin
      drained <= drained + (TAG_WIDTH + 1)'(steps && is_end);
      if (steps) slot_beat <= is_end ? '0 : slot_beat + SLOT_WIDTH'(1);
      is_out <= steps || is_out && !out_ready;
    end
    if (steps) out_failed <= is_out_failed;
  end

  byte_aligner #(
      .BEAT_BYTES(BEAT_BYTES),
      .LENGTH_WIDTH(LENGTH_WIDTH),
      .USER_WIDTH(USER_WIDTH),
      .PIECES(PIECES)
  ) i_aligner (
      .piece(read && splitter_ready),
      .piece_ready(aligner_ready),
      .piece_from(read_address[LANE_WIDTH-1:0]),
      .piece_to(read_lane),
      .piece_bytes(read_bytes),
      .piece_user(read_user),
      .beat(is_out),
      .beat_ready(out_ready),
      .beat_data(out_data),
      .beat_failed(out_failed),
      .moved(data_valid),
      .moved_ready(data_ready),
      .moved_data(data),
      .moved_strobe(data_strobe),
      .moved_first(data_first),
      .moved_last(data_last),
      .moved_failed(data_failed),
      .moved_user(data_user),
      .*
  );
endmodule
