// Entries of completion_queue. A slot holds an entry until its place is known; the block then writes it to its page with phase, sequence and
// time stamp. It reports an entry without a mapped page in order.
module completion_queue_entries #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned ENTRIES = 64,
    localparam int unsigned SLOT_WIDTH = $clog2(ENTRIES)
) (
    input logic clock,
    input logic reset,

    input logic keep,
    input logic [SLOT_WIDTH-1:0] keep_slot,
    input hca_spec_pkg::completion_queue_entry_t keep_entry,

    // One entry is written, another one is dropped.
    input logic put,
    input logic [SLOT_WIDTH-1:0] put_slot,
    input completion_queue_pkg::place_t put_place,
    input logic drop,
    input logic [SLOT_WIDTH-1:0] drop_slot,
    output logic frees,
    output logic [SLOT_WIDTH-1:0] freed_slot,

    output logic translate,
    input logic translate_ready,
    output logic [31:0] translate_page_table,
    output logic [8:0] translate_page,
    input logic translated,
    input logic translated_done,
    input logic [51:0] translated_page,

    output logic piece,
    input logic piece_ready,
    output logic [FUNCTION_WIDTH-1:0] piece_underlying_function,
    output logic [63:0] piece_address,
    output logic data_valid,
    input logic data_ready,
    output logic [BEAT_BYTES*8-1:0] data,
    input logic piece_answer,
    input logic piece_answer_failed,

    // The oldest entry, once it has been written or has failed.
    output logic has_gone,
    output logic gone_is_piece,
    output logic gone_failed,
    output logic [47:0] gone_address,
    input logic gone
);
  localparam int unsigned BEATS = 64 / BEAT_BYTES;
  localparam int unsigned BEAT_WIDTH = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam int unsigned DROPPED = 16;
  localparam int unsigned PLACE_WIDTH = $bits(put_place) - 32 - 9;

  // Places wait for the address of their page.
  logic asks, has_place, has_page, is_page, takes;
  logic [SLOT_WIDTH-1:0] slot, asked_slot;
  logic [51:0] page;
  logic [PLACE_WIDTH-1:0] asked_place;
  logic [5:0] place;
  logic [7:0] unused_function, underlying_function;
  logic [30:0] sequence_number;
  logic phase;
  logic [63:0] timestamp;
  logic [$clog2(ENTRIES):0] unused_asked, unused_places, unused_pages, unused_issued, unused_answers;
  unit_queue #(
      .UNIT_WIDTH(SLOT_WIDTH + $bits(put_place)),
      .ENTRIES(ENTRIES)
  ) i_asked (
      .push(put),
      .push_unit({put_slot, put_place}),
      .valid(translate),
      .unit({asked_slot, translate_page_table, translate_page, asked_place}),
      .pop(asks),
      .filling(unused_asked),
      .*
  );
  assign asks = translate && translate_ready;
  unit_queue #(
      .UNIT_WIDTH(SLOT_WIDTH + PLACE_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_places (
      .push(asks),
      .push_unit({asked_slot, asked_place}),
      .valid(has_place),
      .unit({slot, place, underlying_function, sequence_number, phase, timestamp}),
      .pop(takes),
      .filling(unused_places),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(53),
      .ENTRIES(ENTRIES)
  ) i_pages (
      .push(translated),
      .push_unit({translated_done, translated_page}),
      .valid(has_page),
      .unit({is_page, page}),
      .pop(takes),
      .filling(unused_pages),
      .*
  );
  assign unused_function = underlying_function;

  // Reads the entry from the memory, then sends it beat by beat.
  logic is_loading, loads, is_last;
  logic [511:0] entry_read, shifted;
  logic [BEAT_WIDTH-1:0] beats_left;
  hca_spec_pkg::completion_queue_entry_t entry;
  logic [30:0] loading_sequence;
  logic loading_phase;
  logic [63:0] loading_timestamp;
  list_memory #(
      .WIDTH(512),
      .SIZE(ENTRIES),
      .BLOCK(1'b1)
  ) i_memory (
      .write(keep),
      .write_address(keep_slot),
      .write_data(keep_entry),
      .read_address(slot),
      .read_data(entry_read),
      .*
  );
  assign takes = has_place && has_page && !is_loading && !piece && !data_valid;
  assign loads = takes && is_page;
  assign is_last = beats_left == '0;
  assign data = shifted[BEAT_BYTES*8-1:0];
  always_comb begin
    entry = entry_read;
    entry.timestamp = loading_timestamp;
    entry.phase = loading_phase;
    entry.sequence_ = loading_sequence;
  end
  always_ff @(posedge clock) begin
    is_loading <= !reset && loads;
    if (takes) begin
      piece_underlying_function <= FUNCTION_WIDTH'(underlying_function);
      piece_address <= {page, place, 6'd0};
      {loading_sequence, loading_phase, loading_timestamp} <= {sequence_number, phase, timestamp};
    end
    if (reset) begin
      piece <= 1'b0;
      data_valid <= 1'b0;
    end else begin
      piece <= is_loading || piece && !piece_ready;
      data_valid <= is_loading || data_valid && !(data_ready && is_last);
    end
    if (is_loading) begin
      shifted <= entry;
      beats_left <= BEAT_WIDTH'(BEATS - 1);
    end else if (data_valid && data_ready) begin
      shifted <= 512'({shifted, shifted} >> BEAT_BYTES * 8);
      beats_left <= beats_left - BEAT_WIDTH'(1);
    end
  end

  // Frees slots: those of written entries first, those of dropped ones in the other clocks.
  logic is_dropped, has_left;
  logic [SLOT_WIDTH-1:0] dropped_slot, left_slot;
  logic [$clog2(DROPPED):0] unused_dropped;
  unit_queue #(
      .UNIT_WIDTH(SLOT_WIDTH),
      .ENTRIES(DROPPED)
  ) i_dropped (
      .push(drop),
      .push_unit(drop_slot),
      .valid(is_dropped),
      .unit(dropped_slot),
      .pop(is_dropped && !has_left),
      .filling(unused_dropped),
      .*
  );
  always_ff @(posedge clock) begin
    has_left <= !reset && takes;
    left_slot <= slot;
    frees <= !reset && (has_left || is_dropped);
    freed_slot <= has_left ? left_slot : dropped_slot;
  end

  // Reports results in order.
  logic is_issued, is_piece, has_answer, is_bad;
  unit_queue #(
      .UNIT_WIDTH(49),
      .ENTRIES(ENTRIES)
  ) i_issued (
      .push(takes),
      .push_unit({is_page, page[35:0], place, 6'd0}),
      .valid(is_issued),
      .unit({is_piece, gone_address}),
      .pop(gone),
      .filling(unused_issued),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(1),
      .ENTRIES(ENTRIES)
  ) i_answers (
      .push(piece_answer),
      .push_unit(piece_answer_failed),
      .valid(has_answer),
      .unit(is_bad),
      .pop(gone && is_piece),
      .filling(unused_answers),
      .*
  );
  assign has_gone = is_issued && (!is_piece || has_answer);
  assign gone_is_piece = is_piece;
  assign gone_failed = !is_piece || is_bad;
endmodule
