// Commands that change keys and page tables, one at a time. The block answers a command when no access from before it is in flight, not even a
// transfer of its data: each access belongs to one of two epochs; a command begins the next epoch when the caches hold no old entry, and waits until
// all accesses of the last one have finished.
module translation_control #(
    parameter int unsigned KEYS = 65536,
    parameter int unsigned LINE_WIDTH = 18,
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned UNITS = 64,  // Maximum unfinished accesses. A power of two.
    localparam int unsigned VARIANT_WIDTH = 32 - hca_spec_pkg::MEMORY_KEY_INDEX_BITS,
    localparam int unsigned KEY_WIDTH = $clog2(KEYS)
) (
    input logic clock,
    input logic reset,

    input logic control,
    output logic control_ready,
    input memory_translation_pkg::control_t control_command,
    input logic [KEY_WIDTH-1:0] control_key,
    input logic control_live,
    input logic control_quiesced,
    input logic [VARIANT_WIDTH-1:0] control_variant,
    input logic [FUNCTION_WIDTH-1:0] control_underlying_function,
    input logic [LINE_WIDTH-1:0] control_first,
    input logic [LINE_WIDTH-1:0] control_last,
    output logic controlled,

    // The command in progress, for directory and caches.
    output logic row_write,
    output logic [KEY_WIDTH-1:0] key,
    output logic live,
    output logic quiesced,
    output logic [VARIANT_WIDTH-1:0] variant,
    output logic [FUNCTION_WIDTH-1:0] underlying_function,
    output logic clear_keys,
    output logic clear_lines,
    output logic clears_key,
    output logic clears_function,
    output logic [LINE_WIDTH-1:0] first,
    output logic [LINE_WIDTH-1:0] last,
    input logic clearing,  // The directory or a cache is being cleared.

    // The caches may keep answers to accesses of this epoch.
    output logic epoch,
    output logic keeps,

    input logic takes,
    output logic may_take,
    input logic finish,
    input logic finish_epoch
);
  localparam int unsigned COUNT_WIDTH = $clog2(UNITS) + 1;
  typedef enum logic [2:0] {
    WAITS,
    BEGINS,
    CLEARS,
    TURNS,
    SETTLES,
    ENDS
  } state_t;
  state_t state;
  memory_translation_pkg::control_t command;
  logic [COUNT_WIDTH-1:0] of_epoch_0, of_epoch_1, all;
  logic is_drained, was_begun;
  assign control_ready = state == WAITS && !clearing;
  assign row_write = state == BEGINS && command == memory_translation_pkg::CONTROL_KEY;
  assign clear_keys = state == BEGINS && command != memory_translation_pkg::CONTROL_PAGES;
  assign clear_lines = state == BEGINS && command != memory_translation_pkg::CONTROL_KEY;
  assign clears_key = command == memory_translation_pkg::CONTROL_KEY;
  assign clears_function = command == memory_translation_pkg::CONTROL_FUNCTION;
  assign keeps = state == WAITS || state == SETTLES || state == ENDS;
  always_ff @(posedge clock) begin
    if (control && control_ready) begin
      command <= control_command;
      key <= control_key;
      live <= control_live;
      quiesced <= control_quiesced;
      variant <= control_variant;
      underlying_function <= control_underlying_function;
      first <= control_command == memory_translation_pkg::CONTROL_PAGES ? control_first : '0;
      last <= control_command == memory_translation_pkg::CONTROL_PAGES ? control_last : '1;
    end
    was_begun <= state == BEGINS;
    is_drained <= epoch ? of_epoch_0 == '0 : of_epoch_1 == '0;
    controlled <= !reset && state == ENDS && is_drained;
    if (reset) begin
      state <= WAITS;
      epoch <= 1'b0;
    end else
      case (state)
        WAITS: if (control && control_ready) state <= BEGINS;
        BEGINS: state <= CLEARS;
        CLEARS: if (!was_begun && !clearing) state <= TURNS;
        TURNS: begin
          epoch <= !epoch;
          state <= SETTLES;
        end
        SETTLES: state <= ENDS;
        default: if (is_drained) state <= WAITS;
      endcase
  end

  logic adds_0, adds_1, leaves_0, leaves_1;
  assign adds_0 = takes && !epoch;
  assign adds_1 = takes && epoch;
  assign leaves_0 = finish && !finish_epoch;
  assign leaves_1 = finish && finish_epoch;
  always_ff @(posedge clock) begin
    if (reset) begin
      of_epoch_0 <= '0;
      of_epoch_1 <= '0;
      all <= '0;
    end else begin
      of_epoch_0 <= of_epoch_0 + COUNT_WIDTH'(adds_0) - COUNT_WIDTH'(leaves_0);
      of_epoch_1 <= of_epoch_1 + COUNT_WIDTH'(adds_1) - COUNT_WIDTH'(leaves_1);
      all <= all + COUNT_WIDTH'(takes) - COUNT_WIDTH'(finish);
    end
    may_take <= !reset && all < COUNT_WIDTH'(UNITS - 2);
  end
endmodule
