// The directory of queue_pair_state_cache. For each index it stores whether a queue pair exists, its function and generation, its pins (the number of
// data units that refer to it) and whether it is quiescing. It executes one access per clock, in order of entry: an unpin at once, a pin or a command
// of the control port in a clock without an unpin. A number consists of index and generation, so the number of a former queue pair finds nothing.
module queue_pair_directory #(
    parameter int unsigned QUEUE_PAIRS = 65536,  // Number of indices. A power of two, at least 8.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned PINS_WIDTH = 16,
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset, until no queue pair exists; there are no accesses.

    // Removes a pin. No effect on a queue pair that no longer exists.
    input logic unpin,
    input logic [NUMBER_WIDTH-1:0] unpin_number,

    // Adds a pin: a data unit refers to the queue pair. Refused if the queue pair does not exist or is quiescing. Answers are in the order of the
    // pins.
    input logic pin,
    output logic pin_ready,
    input logic [NUMBER_WIDTH-1:0] pin_number,
    output logic pinned,
    output logic pinned_done,
    output logic [FUNCTION_WIDTH-1:0] pinned_underlying_function,

    // A command of the control port; answers are in order. One of: create a queue pair at an unused index; quiesce: no new pin until resume or
    // destroy; resume; destroy a queue pair without pins. With none of these flags: query.
    input logic control,
    output logic control_ready,
    input logic control_create,
    input logic control_quiesce,
    input logic control_resume,
    input logic control_destroy,
    input logic [NUMBER_WIDTH-1:0] control_number,
    input logic [FUNCTION_WIDTH-1:0] control_underlying_function,  // Of the new queue pair.
    output logic controlled,
    output logic controlled_done,  // The number belongs to an existing or a destroyed queue pair, and the command was executed.
    output logic [FUNCTION_WIDTH-1:0] controlled_underlying_function,
    output logic controlled_quiescing,
    output logic [PINS_WIDTH-1:0] controlled_pins,

    // A quiescing queue pair has no pins left; reported with the access that caused it.
    output logic quiet,
    output logic [NUMBER_WIDTH-1:0] quiet_number
);
  if (QUEUE_PAIRS < 8 || QUEUE_PAIRS != 1 << $clog2(QUEUE_PAIRS) || QUEUE_PAIRS > 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS) begin : gen_check
    $error("QUEUE_PAIRS has to be a power of two, 8 at least, and within the index of a number");
  end
  localparam int unsigned INDEX_WIDTH = $clog2(QUEUE_PAIRS);
  localparam int unsigned INDEX_BITS = hca_spec_pkg::QUEUE_PAIR_INDEX_BITS;
  localparam int unsigned GENERATION_WIDTH = NUMBER_WIDTH - INDEX_BITS;
  localparam int unsigned ENTRIES = 8;

  typedef struct packed {
    logic is_live;
    logic is_quiescing;
    logic [GENERATION_WIDTH-1:0] generation;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
    logic [PINS_WIDTH-1:0] pins;
  } row_t;
  typedef struct packed {
    logic unpin;
    logic pin;
    logic control;
    logic create;
    logic quiesce;
    logic resume;
    logic destroy;
    logic [NUMBER_WIDTH-1:0] number;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
  } access_t;

  // Pins and commands wait for a clock without an unpin.
  logic has_pin, has_control, takes_pin, takes_control;
  logic [NUMBER_WIDTH-1:0] next_pin;
  logic [NUMBER_WIDTH+FUNCTION_WIDTH+3:0] next_control;
  logic [$clog2(ENTRIES):0] pins_waiting, controls_waiting;
  unit_queue #(
      .UNIT_WIDTH(NUMBER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_pins (
      .push(pin && pin_ready),
      .push_unit(pin_number),
      .valid(has_pin),
      .unit(next_pin),
      .pop(takes_pin),
      .filling(pins_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(NUMBER_WIDTH + FUNCTION_WIDTH + 4),
      .ENTRIES(ENTRIES)
  ) i_controls (
      .push(control && control_ready),
      .push_unit({control_create, control_quiesce, control_resume, control_destroy, control_number, control_underlying_function}),
      .valid(has_control),
      .unit(next_control),
      .pop(takes_control),
      .filling(controls_waiting),
      .*
  );
  assign takes_pin = has_pin && !unpin;
  assign takes_control = has_control && !unpin && !has_pin;

  // 1: accept the access. 2: read the row. 3: decide. 4: write. The memory does not have the results of the three accesses before yet.
  access_t access, access_1, access_2, access_3;
  row_t row_read, row_3, row, next, row_4, row_5;
  logic valid_1, valid_2, valid_3, writes, writes_4, writes_5, was_before, was_two_before, was_three_before, is_found, is_new, is_last, done;
  logic [INDEX_WIDTH-1:0] swept, index_1, index_2, index_3, index_4;
  assign index_1 = access_1.number[INDEX_WIDTH-1:0];
  assign index_2 = access_2.number[INDEX_WIDTH-1:0];
  assign index_3 = access_3.number[INDEX_WIDTH-1:0];
  always_comb begin
    access = '0;
    access.unpin = unpin;
    access.pin = takes_pin;
    access.control = takes_control;
    if (unpin) access.number = unpin_number;
    else if (has_pin) access.number = next_pin;
    else {access.create, access.quiesce, access.resume, access.destroy, access.number, access.underlying_function} = next_control;
  end
  always_ff @(posedge clock) begin
    pin_ready <= !reset && !clearing && 32'(pins_waiting) + 2 < ENTRIES;
    control_ready <= !reset && !clearing && 32'(controls_waiting) + 2 < ENTRIES;
    valid_1 <= !reset && !clearing && (unpin || takes_pin || takes_control);
    access_1 <= access;
    valid_2 <= !reset && valid_1;
    access_2 <= access_1;
    valid_3 <= !reset && valid_2;
    access_3 <= access_2;
    was_before <= valid_3 && index_3 == index_2;
    was_two_before <= valid_3 && index_3 == index_1;
    was_three_before <= writes_4 && index_4 == index_1;
    row_3 <= was_two_before && writes_4 ? row_4 : was_three_before && writes_5 ? row_5 : row_read;
  end
  list_memory #(
      .WIDTH($bits(row_read)),
      .SIZE(QUEUE_PAIRS),
      .BLOCK(1'b1)
  ) i_rows (
      .write(clearing || writes_4),
      .write_address(clearing ? swept : index_4),
      .write_data(clearing ? '0 : row_4),
      .read_address(index_1),
      .read_data(row_read),
      .*
  );
  assign row = was_before && writes_4 ? row_4 : row_3;
  assign is_found = row.is_live && {row.generation, INDEX_BITS'(index_3)} == access_3.number;
  assign is_new = !row.is_live && access_3.number[INDEX_BITS-1:0] == INDEX_BITS'(index_3);
  assign is_last = row.pins == PINS_WIDTH'(access_3.unpin);  // The access removes the last pin.
  always_comb begin
    next = row;
    done = is_found;
    if (access_3.unpin) begin
      done = is_found && row.pins != '0;
      if (done) next.pins = row.pins - PINS_WIDTH'(1);
    end else if (access_3.pin) begin
      done = is_found && !row.is_quiescing;
      if (done) next.pins = row.pins + PINS_WIDTH'(1);
    end else if (access_3.create) begin
      done = is_new;
      if (done) next = {1'b1, 1'b0, access_3.number[NUMBER_WIDTH-1:INDEX_BITS], access_3.underlying_function, PINS_WIDTH'(0)};
    end else if (access_3.destroy) begin
      done = is_found && row.pins == '0;
      if (done) next.is_live = 1'b0;
    end else if (access_3.quiesce && done) next.is_quiescing = 1'b1;
    else if (access_3.resume && done) next.is_quiescing = 1'b0;
  end
  assign writes = valid_3 && done;
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      swept <= '0;
    end else if (clearing) begin
      clearing <= swept != INDEX_WIDTH'(QUEUE_PAIRS - 1);
      swept <= swept + INDEX_WIDTH'(1);
    end
    writes_4 <= !reset && writes;
    row_4 <= next;
    index_4 <= index_3;
    writes_5 <= !reset && writes_4;
    row_5 <= row_4;
    pinned <= !reset && valid_3 && access_3.pin;
    pinned_done <= done;
    pinned_underlying_function <= row.underlying_function;
    controlled <= !reset && valid_3 && access_3.control;
    controlled_done <= done;
    controlled_underlying_function <= next.underlying_function;
    controlled_quiescing <= next.is_quiescing;
    controlled_pins <= next.pins;
    quiet <= !reset && valid_3 && is_found && is_last && (access_3.unpin && row.is_quiescing || access_3.quiesce);
    quiet_number <= access_3.number;
  end
endmodule
