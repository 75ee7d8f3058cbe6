// Moves pieces of bytes to another offset: from lane piece_from of the piece's first input beat to lane piece_to of its first output beat. Pieces
// leave in the order in which they were announced, one beat per clock. A piece takes an extra clock if its bytes move to higher lanes and its end
// crosses the end of a beat.
//
// The block rotates each beat by the distance and joins its lower part with the upper part of the previous beat.
module byte_aligner #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned LENGTH_WIDTH = 13,  // Width of the length of a piece.
    parameter int unsigned USER_WIDTH = 1,
    parameter int unsigned PIECES = 8,  // Maximum announced pieces. A power of two, at least 4.
    localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    // A piece of at least one byte.
    input logic piece,
    output logic piece_ready,
    input logic [LANE_WIDTH-1:0] piece_from,
    input logic [LANE_WIDTH-1:0] piece_to,
    input logic [LENGTH_WIDTH-1:0] piece_bytes,
    input logic [USER_WIDTH-1:0] piece_user,

    // Its beats.
    input logic beat,
    output logic beat_ready,
    input logic [BEAT_BYTES*8-1:0] beat_data,
    input logic beat_failed,

    // Output beats. The last beat reports that one of the piece's beats failed.
    output logic moved,
    input logic moved_ready,
    output logic [BEAT_BYTES*8-1:0] moved_data,
    output logic [BEAT_BYTES-1:0] moved_strobe,
    output logic moved_first,
    output logic moved_last,
    output logic moved_failed,
    output logic [USER_WIDTH-1:0] moved_user
);
  localparam int unsigned BITS = BEAT_BYTES * 8;
  localparam int unsigned END_WIDTH = LENGTH_WIDTH + 1;
  localparam int unsigned NUMBER_WIDTH = END_WIDTH - LANE_WIDTH;
  localparam int unsigned LOW_WIDTH = LANE_WIDTH / 2;
  localparam int unsigned ENTRIES = 32;  // Output beats that can wait.

  // Announced pieces: the place of the last byte in input and output.
  logic piece_1, is_up_1, ends_more, ends_same, flushes;
  logic [NUMBER_WIDTH-1:0] last_from_1, last_to_1;
  logic [LANE_WIDTH-1:0] unused_end_1, end_1;
  logic [LANE_WIDTH-1:0] to_1, distance_1;
  logic [USER_WIDTH-1:0] user_1;
  logic [$clog2(PIECES):0] pieces;
  always_ff @(posedge clock) begin
    piece_ready <= !reset && 32'(pieces) + 3 < PIECES;
    piece_1 <= !reset && piece && piece_ready;
    {last_from_1, unused_end_1} <= END_WIDTH'(piece_bytes) + END_WIDTH'(piece_from) - END_WIDTH'(1);
    {last_to_1, end_1} <= END_WIDTH'(piece_bytes) + END_WIDTH'(piece_to) - END_WIDTH'(1);
    to_1 <= piece_to;
    distance_1 <= piece_to - piece_from;
    is_up_1 <= piece_from > piece_to;
    user_1 <= piece_user;
  end
  // A piece has as many output beats as input beats, one more or one fewer. If bytes move to lower lanes, the first input beat produces no output.
  assign ends_more = last_to_1 > last_from_1;
  assign ends_same = last_to_1 == last_from_1;
  assign flushes = ends_more || is_up_1 && ends_same;

  // Beats of the current piece. A piece with a rest after its last input beat ends with that beat; the rest leaves a clock later, in which the next
  // piece can begin if its first beat produces no output.
  logic has_piece, is_up, flush, flushing, takes, is_step, ends, has_room, is_last, begun, has_failed, over_first, over_failed;
  logic [LANE_WIDTH-1:0] to, distance, end_lane, over_to, over_end;
  logic [NUMBER_WIDTH-1:0] last_number, number;
  logic [USER_WIDTH-1:0] user, over_user;
  unit_queue #(
      .UNIT_WIDTH(2 + 3 * LANE_WIDTH + NUMBER_WIDTH + USER_WIDTH),
      .ENTRIES(PIECES)
  ) i_pieces (
      .push(piece_1),
      .push_unit({is_up_1, flushes, to_1, distance_1, end_1, last_from_1, user_1}),
      .valid(has_piece),
      .unit({is_up, flush, to, distance, end_lane, last_number, user}),
      .pop(ends),
      .filling(pieces),
      .*
  );
  assign beat_ready = has_room && has_piece && (!flushing || is_up);
  assign takes = beat && beat_ready;
  assign is_last = number == last_number;
  assign ends = takes && is_last;
  assign is_step = takes || flushing && has_room;

  // 1: the input beat, and the output that it produces.
  logic step_1, emits, emits_1, over_1, first_1, last_1, failed_1;
  logic [LANE_WIDTH-1:0] to_lane_1, distance_lane_1, end_lane_1;
  logic [USER_WIDTH-1:0] beat_user_1;
  logic [BITS-1:0] data_1;
  assign emits = flushing ? has_room : takes && (!is_up || number != '0);
  always_ff @(posedge clock) begin
    if (reset) begin
      flushing <= 1'b0;
      number <= '0;
      begun <= 1'b0;
      has_failed <= 1'b0;
    end else begin
      if (is_step) flushing <= ends && flush;
      if (takes) begin
        number <= ends ? '0 : number + NUMBER_WIDTH'(1);
        begun <= !ends && (begun || emits && !flushing);
        has_failed <= !ends && (has_failed || beat_failed);
      end
    end
    if (ends) begin
      over_first <= !begun && (flushing || !emits);
      over_failed <= has_failed || beat_failed;
      over_to <= to;
      over_end <= end_lane;
      over_user <= user;
    end
    step_1 <= !reset && is_step;
    emits_1 <= !reset && emits;
    first_1 <= flushing ? over_first : !begun;
    last_1 <= flushing || ends && !flush;
    failed_1 <= flushing ? over_failed : has_failed || beat_failed;
    to_lane_1 <= flushing ? over_to : to;
    distance_lane_1 <= distance;
    end_lane_1 <= flushing ? over_end : end_lane;
    beat_user_1 <= flushing ? over_user : user;
    over_1 <= flushing;
    data_1 <= beat_data;
  end

  // 2, 3: rotate by a coarse, then by a fine distance; select the lanes.
  logic step_2, emits_2, first_2, last_2, failed_2, step_3, emits_3, first_3, last_3, failed_3;
  logic [LOW_WIDTH-1:0] distance_2;
  logic [USER_WIDTH-1:0] user_2, user_3;
  logic [BITS-1:0] turned_1, turned_2, data_2, data_3;
  logic [BEAT_BYTES-1:0] now_2, now_3, from_2, until_2, strobe_3;
  assign turned_1 = BITS'({data_1, data_1} << {distance_lane_1[LANE_WIDTH-1:LOW_WIDTH], {LOW_WIDTH + 3{1'b0}}} >> BITS);
  assign turned_2 = BITS'({data_2, data_2} << {distance_2, 3'd0} >> BITS);
  always_ff @(posedge clock) begin
    step_2 <= !reset && step_1;
    emits_2 <= !reset && emits_1;
    first_2 <= first_1;
    last_2 <= last_1;
    failed_2 <= failed_1;
    distance_2 <= distance_lane_1[LOW_WIDTH-1:0];
    user_2 <= beat_user_1;
    data_2 <= turned_1;
    for (int unsigned lane = 0; lane < BEAT_BYTES; lane++) begin
      now_2[lane] <= !over_1 && LANE_WIDTH'(lane) >= distance_lane_1;
      from_2[lane] <= !first_1 || LANE_WIDTH'(lane) >= to_lane_1;
      until_2[lane] <= !last_1 || LANE_WIDTH'(lane) <= end_lane_1;
    end
    step_3 <= !reset && step_2;
    emits_3 <= !reset && emits_2;
    first_3 <= first_2;
    last_3 <= last_2;
    failed_3 <= failed_2;
    user_3 <= user_2;
    data_3 <= turned_2;
    now_3 <= now_2;
    strobe_3 <= from_2 & until_2;
  end

  // 4: join with the held part of the previous beat.
  logic emits_4, first_4, last_4, failed_4;
  logic [USER_WIDTH-1:0] user_4;
  logic [BITS-1:0] held, data_4;
  logic [BEAT_BYTES-1:0] strobe_4;
  logic [$clog2(ENTRIES):0] waiting;
  always_ff @(posedge clock) begin
    if (step_3) held <= data_3;
    emits_4 <= !reset && emits_3;
    first_4 <= first_3;
    last_4 <= last_3;
    failed_4 <= failed_3;
    user_4 <= user_3;
    strobe_4 <= strobe_3;
    for (int unsigned lane = 0; lane < BEAT_BYTES; lane++) data_4[lane*8+:8] <= now_3[lane] ? data_3[lane*8+:8] : held[lane*8+:8];
    has_room <= !reset && 32'(waiting) + 8 < ENTRIES;  // Room for those in flight.
  end
  unit_queue #(
      .UNIT_WIDTH(BITS + BEAT_BYTES + 3 + USER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_moved (
      .push(emits_4),
      .push_unit({user_4, failed_4, last_4, first_4, strobe_4, data_4}),
      .valid(moved),
      .unit({moved_user, moved_failed, moved_last, moved_first, moved_strobe, moved_data}),
      .pop(moved && moved_ready),
      .filling(waiting),
      .*
  );
endmodule
