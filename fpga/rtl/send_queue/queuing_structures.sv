// The queuing structures: per function and QoS level a FIFO in host memory of the queue pairs that send_queue_scheduler has to serve
// (US8589610, queuing structure), and their turns. A queue pair is in at most one FIFO, once, so no FIFO overflows.
//
// A memory by queue pair notes the FIFO in which each queue pair waits. The block trusts an entry that it reads back only if it was written
// to that FIFO. It condemns a FIFO that cannot be accessed, is too small, or returns a changed entry, and removes all queue pairs that wait
// in it one by one, so that none is lost.
//
// The block executes one request at a time; the priority is forget, append, turn_out, take.
module queuing_structures #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,  // A power of two.
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,  // The block accepts nothing for QUEUE_PAIRS clocks after a reset.

    // Appends a queue pair to its FIFO. One that already waits keeps its place.
    input logic append,
    output logic append_ready,
    input hca_spec_pkg::schedule_request_t append_unit,

    output logic [2*UNDERLYING_FUNCTIONS-1:0] given,  // By function and level: the FIFO's address is not zero.

    // Takes the head of the FIFO whose turn it is: functions take turns, and so do the levels of each. An accepted take is followed by
    // taken or condemned.
    output logic any,  // A FIFO that is not condemned has an entry.
    input logic take,
    output logic take_ready,
    output logic taken,
    output hca_spec_pkg::schedule_request_t taken_unit,
    output logic condemned,  // The take found a damaged FIFO, which is condemned in this clock.

    // Checks the next queue pair, and removes it if it waits in a condemned FIFO.
    output logic any_condemned,
    input logic turn_out,
    output logic turn_out_ready,
    output logic turned_out,
    output hca_spec_pkg::schedule_request_t turned_out_unit,
    output logic [7:0] turned_out_refusal,

    // Forgets all of a function: the waiting queue pairs and the FIFOs. Takes QUEUE_PAIRS clocks; the request is held until it is done.
    input logic forget,
    input logic [FUNCTION_WIDTH-1:0] forget_underlying_function,
    output logic forget_done,

    // Registers of the functions, as in kick_records.
    input logic write,
    output logic write_ready,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [15:0] write_offset,
    input logic [31:0] write_data,
    output logic write_known,
    output logic write_allowed,
    input logic [FUNCTION_WIDTH-1:0] read_underlying_function,
    input logic [15:0] read_offset,
    output logic [63:0] read_value,  // A clock after read_offset, and as long as read_offset stays.

    // To host_port: writes and reads words.
    output logic request,
    input logic request_ready,
    output logic request_is_write,
    output logic [FUNCTION_WIDTH-1:0] request_underlying_function,
    output logic [63:0] request_address,
    output hca_spec_pkg::queuing_structure_entry_t request_entry,
    input logic answer,
    input logic answer_ok,
    input logic [63:0] answer_data
);
  if (QUEUE_PAIRS < 2 || QUEUE_PAIRS != 1 << $clog2(QUEUE_PAIRS)
      || QUEUE_PAIRS > 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS || QUEUE_PAIRS < 2 << FUNCTION_WIDTH) begin : gen_check
    $error("QUEUE_PAIRS has to be a power of two that queue pair numbers have room for, and twice the functions at least");
  end

  localparam int unsigned STRUCTURES = 2 * UNDERLYING_FUNCTIONS;
  localparam int unsigned STRUCTURE_WIDTH = FUNCTION_WIDTH + 1;  // Function and level.
  localparam int unsigned INDEX_WIDTH = $clog2(QUEUE_PAIRS);
  localparam int unsigned GENERATION_WIDTH = 24 - hca_spec_pkg::QUEUE_PAIR_INDEX_BITS;
  localparam int unsigned COUNT_WIDTH = INDEX_WIDTH + 1;
  localparam int unsigned ENTRIES_LOG2_MAXIMUM = 16;
  localparam logic [3:0] CLEAR = 4'd0;
  localparam logic [3:0] IDLE = 4'd1;
  localparam logic [3:0] WRITE = 4'd2;
  localparam logic [3:0] APPEND_LOOK = 4'd3;
  localparam logic [3:0] APPEND_DECIDE = 4'd4;
  localparam logic [3:0] APPEND_WRITE = 4'd5;
  localparam logic [3:0] APPEND_AWAIT = 4'd6;
  localparam logic [3:0] TAKE_CHOOSE = 4'd7;
  localparam logic [3:0] TAKE_FIND = 4'd8;
  localparam logic [3:0] TAKE_SIZE = 4'd9;
  localparam logic [3:0] TAKE_READ = 4'd10;
  localparam logic [3:0] TAKE_AWAIT = 4'd11;
  localparam logic [3:0] TAKE_LOOK = 4'd12;
  localparam logic [3:0] TURN_LOOK = 4'd13;
  localparam logic [3:0] TURN_OUT = 4'd14;
  localparam logic [3:0] FORGET = 4'd15;

  // By structure. Each clock works on one row; per-row values are in memories, bits of all rows in registers.
  logic [STRUCTURE_WIDTH-1:0] row, read_row;  // row: selected a clock before its memories are read.
  logic [63:0] row_address, read_address;
  logic [31:0] row_head, row_tail;  // Number of entries taken and number written, free-running.
  logic [COUNT_WIDTH-1:0] row_waiting;
  logic [7:0] row_refusal, place_refusal;  // Reason for which the FIFO is condemned; 0: it is not.
  logic [4:0] row_size, read_size;  // log2 of the number of entries; by function.
  logic [STRUCTURES-1:0] ready, has_entries, is_condemned;

  // The request being executed.
  logic [3:0] state;
  logic takes_forget, takes_append, takes_turn_out, takes_take, takes_write;
  logic [STRUCTURE_WIDTH-1:0] appended_structure, next_structure;
  logic [23:0] number;  // Its queue pair.
  logic [INDEX_WIDTH-1:0] turned_index, clear_index, forget_index;

  // The FIFO in which the queue pair of each index waits.
  logic [STRUCTURE_WIDTH+GENERATION_WIDTH:0] places[QUEUE_PAIRS];
  logic [INDEX_WIDTH-1:0] look_index, place_index;
  logic forgets, place_write, place_waits, place_waits_next;
  logic [STRUCTURE_WIDTH-1:0] place_structure;
  logic [GENERATION_WIDTH-1:0] place_generation;

  assign append_ready = state == IDLE && !write && !forget;
  assign turn_out_ready = append_ready && !append;
  assign take_ready = turn_out_ready && !turn_out && any;
  assign takes_forget = forget && state == IDLE && !write;
  assign forget_done = state == FORGET && forget_index == '1;
  assign takes_append = append && append_ready;
  assign takes_turn_out = turn_out && turn_out_ready;
  assign takes_take = take && take_ready;
  assign takes_write = write && write_known && state == IDLE;
  assign any = ready != '0;
  assign any_condemned = is_condemned != '0;
  assign ready = has_entries & ~is_condemned;
  assign appended_structure = {FUNCTION_WIDTH'(append_unit.underlying_function),
      append_unit.quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH};

  // Selects the FIFO whose turn it is.
  logic [UNDERLYING_FUNCTIONS-1:0] ready_functions;
  logic [FUNCTION_WIDTH-1:0] last_function, next_function, chosen_function;
  logic [UNDERLYING_FUNCTIONS-1:0] last_levels;
  logic [1:0] ready_levels;

  for (genvar function_number = 0; function_number < UNDERLYING_FUNCTIONS; function_number++) begin : gen_ready
    assign ready_functions[function_number] = ready[2*function_number+:2] != 2'b00;
  end

  find_next #(
      .SIZE(UNDERLYING_FUNCTIONS)
  ) i_next_function (
      .bits(ready_functions),
      .after(last_function),
      .next(next_function)
  );
  assign ready_levels = 2'(ready >> {chosen_function, 1'b0});
  assign next_structure = {chosen_function, ready_levels == 2'b11 ? !last_levels[chosen_function] : ready_levels[1]};

  // The entry to write or read.
  logic [31:0] entries, used, place_of_entry;  // One clock after the row. place_of_entry: the index of the entry in the FIFO.
  logic [31:0] position;
  logic [4:0] entries_log2;
  logic is_append, is_full, is_entry, is_believed;
  hca_spec_pkg::queuing_structure_entry_t entry_read;

  assign is_append = state == APPEND_DECIDE || state == APPEND_WRITE || state == APPEND_AWAIT;
  assign entries_log2 = row_size > 5'(ENTRIES_LOG2_MAXIMUM) ? 5'(ENTRIES_LOG2_MAXIMUM) : row_size;
  always_ff @(posedge clock) begin
    entries <= 32'd1 << entries_log2;
    place_of_entry <= position & ~({32{1'b1}} << entries_log2);
    used <= row_tail - row_head;
  end
  assign position = is_append ? row_tail : row_head;
  assign is_full = used == entries;
  assign request = state == APPEND_WRITE || state == TAKE_READ;
  assign request_is_write = state == APPEND_WRITE;
  assign request_underlying_function = row[STRUCTURE_WIDTH-1:1];
  assign request_address = row_address + {29'd0, place_of_entry, 3'd0};
  always_comb begin
    request_entry = '0;
    request_entry.queue_pair_number = number;
    request_entry.valid = 1'b1;
    request_entry.sequence_ = position;
  end

  assign entry_read = answer_data;
  assign is_entry = answer_ok && entry_read.valid && entry_read.reserved_2 == '0 && entry_read.sequence_ == row_head
      && 32'(entry_read.queue_pair_number[hca_spec_pkg::QUEUE_PAIR_INDEX_BITS-1:0]) < QUEUE_PAIRS;
  assign is_believed = place_waits && place_structure == row
      && place_generation == number[23-:GENERATION_WIDTH];

  // The effects of the current step.
  logic joins, leaves, is_appended, is_turned_out, was_turned_out, condemns;
  logic [7:0] reason;

  assign joins = state == APPEND_DECIDE && !place_waits;
  assign leaves = state == TAKE_LOOK && is_believed;
  assign is_appended = state == APPEND_AWAIT && answer && answer_ok;
  assign is_turned_out = state == TURN_LOOK && place_waits && place_refusal != hca_spec_pkg::REFUSAL_NONE;
  assign condemns = joins && is_full && row_refusal == hca_spec_pkg::REFUSAL_NONE
      || (state == APPEND_AWAIT || state == TAKE_AWAIT) && answer && !answer_ok
      || state == TAKE_AWAIT && answer && !is_entry || state == TAKE_LOOK && !is_believed;
  assign reason = state == TAKE_LOOK || state == TAKE_AWAIT && answer_ok ? hca_spec_pkg::REFUSAL_QUEUING_STRUCTURE_MISMATCH :
      hca_spec_pkg::REFUSAL_QUEUING_STRUCTURE_FAULT;
  assign condemned = condemns && !is_append;
  assign taken = leaves;
  assign turned_out = is_turned_out;

  always_comb begin
    taken_unit = '0;
    taken_unit.queue_pair_number = number;
    taken_unit.underlying_function = 4'(row[STRUCTURE_WIDTH-1:1]);
    taken_unit.quality_of_service_level = row[0] ? hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH :
        hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW;
    turned_out_unit = '0;
    turned_out_unit.queue_pair_number = {place_generation, hca_spec_pkg::QUEUE_PAIR_INDEX_BITS'(turned_index)};
    turned_out_unit.underlying_function = 4'(place_structure[STRUCTURE_WIDTH-1:1]);
    turned_out_unit.quality_of_service_level = place_structure[0] ? hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH :
        hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW;
  end
  assign turned_out_refusal = place_refusal;

  logic write_level;
  always_ff @(posedge clock) begin
    if (reset) state <= CLEAR;
    else
      case (state)
        CLEAR: if (clear_index == '1) state <= IDLE;
        IDLE:
        if (takes_write) state <= WRITE;
        else if (takes_forget) state <= FORGET;
        else if (takes_append) state <= APPEND_LOOK;
        else if (takes_turn_out) state <= TURN_LOOK;
        else if (takes_take) state <= TAKE_CHOOSE;
        APPEND_LOOK: state <= APPEND_DECIDE;
        APPEND_DECIDE:
        state <= joins && !is_full && row_refusal == hca_spec_pkg::REFUSAL_NONE ? APPEND_WRITE : IDLE;
        APPEND_WRITE: if (request_ready) state <= APPEND_AWAIT;
        TAKE_CHOOSE: state <= TAKE_FIND;
        TAKE_FIND: state <= TAKE_SIZE;
        TAKE_SIZE: state <= TAKE_READ;
        TAKE_READ: if (request_ready) state <= TAKE_AWAIT;
        TAKE_AWAIT: if (answer) state <= is_entry ? TAKE_LOOK : IDLE;
        APPEND_AWAIT: if (answer) state <= IDLE;
        TURN_LOOK: state <= TURN_OUT;
        FORGET: if (forget_done) state <= IDLE;
        default: state <= IDLE;
      endcase

    forget_index <= state == FORGET ? forget_index + INDEX_WIDTH'(1) : '0;
    clear_index <= reset ? '0 : clear_index + INDEX_WIDTH'(1);
    if (reset) row <= '0;
    else
      case (state)
        CLEAR: row <= row + STRUCTURE_WIDTH'(1);
        IDLE:
        row <= takes_write ? {write_underlying_function, write_level} : takes_forget ? {forget_underlying_function, 1'b0} :
            appended_structure;
        TAKE_FIND: row <= next_structure;
        TURN_LOOK: row <= place_structure;
        FORGET: row[0] <= !row[0];
        default: ;
      endcase
    if (takes_append) number <= append_unit.queue_pair_number;
    chosen_function <= next_function;
    was_turned_out <= is_turned_out;
    if (state == TAKE_AWAIT && answer) number <= entry_read.queue_pair_number;
    if (reset) turned_index <= '0;
    else if (state == TURN_LOOK) turned_index <= turned_index + INDEX_WIDTH'(1);
    if (reset) begin
      last_function <= '0;
      last_levels <= '0;
    end else if (state == TAKE_FIND) begin
      last_function <= chosen_function;
      last_levels[chosen_function] <= next_structure[0];
    end
  end

  // The place looked up in this clock is read in the next one.
  assign look_index = state == FORGET ? forget_index + INDEX_WIDTH'(1) : takes_forget ? '0 :
      takes_append ? append_unit.queue_pair_number[INDEX_WIDTH-1:0] : state == APPEND_LOOK ? number[INDEX_WIDTH-1:0] :
      state == TAKE_AWAIT ? entry_read.queue_pair_number[INDEX_WIDTH-1:0] : turned_index;
  assign place_index = state == CLEAR ? clear_index : state == FORGET ? forget_index :
      state == TURN_LOOK ? turned_index : number[INDEX_WIDTH-1:0];
  assign forgets = state == FORGET && place_structure[STRUCTURE_WIDTH-1:1] == forget_underlying_function;
  assign place_write = state == CLEAR || forgets || joins || leaves || is_turned_out;
  assign place_waits_next = joins;
  always_ff @(posedge clock) begin
    if (place_write) places[place_index] <= {place_waits_next, row, number[23-:GENERATION_WIDTH]};
    {place_waits, place_structure, place_generation} <= places[look_index];
  end

  // Registers.
  logic is_size, is_address, is_address_high, read_level, writes, unused_bits;
  hca_spec_pkg::underlying_function_queuing_structure_size_t size_written, size_read;

  localparam int unsigned ADDRESS_OFFSET = hca_spec_pkg::UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET;
  localparam int unsigned ADDRESS_STRIDE = hca_spec_pkg::UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_STRIDE;
  assign write_level = 32'(write_offset) >= ADDRESS_OFFSET + ADDRESS_STRIDE;
  assign read_level = 32'(read_offset) == ADDRESS_OFFSET + ADDRESS_STRIDE;  // Other offsets have no level: read_value ignores it.
  assign is_size = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_QUEUING_STRUCTURE_SIZE_OFFSET;
  assign is_address = 32'(write_offset) == ADDRESS_OFFSET || 32'(write_offset) == ADDRESS_OFFSET + ADDRESS_STRIDE;
  assign is_address_high = 32'(write_offset) == ADDRESS_OFFSET + 4 || 32'(write_offset) == ADDRESS_OFFSET + ADDRESS_STRIDE + 4;
  assign size_written = write_data;
  assign unused_bits = &{1'b0, size_written, append_unit};
  assign write_known = is_size || is_address || is_address_high;
  assign write_allowed = is_size || is_address_high
      || is_address && write_data % hca_spec_pkg::QUEUING_STRUCTURE_ENTRY_BYTES == '0;
  assign write_ready = state == WRITE;
  assign writes = write && write_ready && write_allowed;

  always_ff @(posedge clock) read_row <= {read_underlying_function, read_level};
  always_comb begin
    size_read = '0;
    size_read.entries_log2 = read_size;
    read_value = '0;
    if (state == CLEAR) read_value = '0;
    else if (32'(read_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_QUEUING_STRUCTURE_SIZE_OFFSET) read_value = {32'd0, size_read};
    else if (32'(read_offset) == ADDRESS_OFFSET || 32'(read_offset) == ADDRESS_OFFSET + ADDRESS_STRIDE) read_value = read_address;
  end

  // Updates of the row.
  logic clears, recovers;
  logic [STRUCTURES-1:0] row_bit;
  logic [4:0] entries_log2_written;
  assign row_bit = STRUCTURES'(1) << row;
  assign clears = state == CLEAR || state == FORGET;
  assign recovers = was_turned_out && row_waiting == COUNT_WIDTH'(1);  // With its last queue pair removed, the FIFO is no longer condemned.
  assign entries_log2_written = size_written.entries_log2;

  lut_memory #(
      .WIDTH(32),
      .SIZE(2 << FUNCTION_WIDTH),
      .READERS(2)
  ) i_addresses_low (
      .write(clears || writes && is_address),
      .write_address(row),
      .write_data(clears ? '0 : write_data),
      .read_addresses({read_row, row}),
      .read_data({read_address[31:0], row_address[31:0]}),
      .*
  );

  lut_memory #(
      .WIDTH(32),
      .SIZE(2 << FUNCTION_WIDTH),
      .READERS(2)
  ) i_addresses_high (
      .write(clears || writes && is_address_high),
      .write_address(row),
      .write_data(clears ? '0 : write_data),
      .read_addresses({read_row, row}),
      .read_data({read_address[63:32], row_address[63:32]}),
      .*
  );

  lut_memory #(
      .WIDTH(5),
      .SIZE(1 << FUNCTION_WIDTH),
      .READERS(2)
  ) i_sizes (
      .write(clears || writes && is_size),
      .write_address(row[STRUCTURE_WIDTH-1:1]),
      .write_data(clears ? '0 : entries_log2_written),
      .read_addresses({read_underlying_function, row[STRUCTURE_WIDTH-1:1]}),
      .read_data({read_size, row_size}),
      .*
  );

  lut_memory #(
      .WIDTH(32),
      .SIZE(2 << FUNCTION_WIDTH)
  ) i_heads (
      .write(clears || leaves || recovers),
      .write_address(row),
      .write_data(clears ? '0 : leaves ? row_head + 32'd1 : row_tail),
      .read_addresses(row),
      .read_data(row_head),
      .*
  );

  lut_memory #(
      .WIDTH(32),
      .SIZE(2 << FUNCTION_WIDTH)
  ) i_tails (
      .write(clears || is_appended),
      .write_address(row),
      .write_data(clears ? '0 : row_tail + 32'd1),
      .read_addresses(row),
      .read_data(row_tail),
      .*
  );

  lut_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(2 << FUNCTION_WIDTH)
  ) i_waiting (
      .write(clears || was_turned_out || joins || leaves),
      .write_address(row),
      .write_data(clears ? '0 : joins ? row_waiting + COUNT_WIDTH'(1) : row_waiting - COUNT_WIDTH'(1)),
      .read_addresses(row),
      .read_data(row_waiting),
      .*
  );

  lut_memory #(
      .WIDTH(8),
      .SIZE(2 << FUNCTION_WIDTH),
      .READERS(2)
  ) i_refusals (
      .write(clears || recovers || condemns),
      .write_address(row),
      .write_data(condemns ? reason : hca_spec_pkg::REFUSAL_NONE),
      .read_addresses({place_structure, row}),
      .read_data({place_refusal, row_refusal}),
      .*
  );

  always_ff @(posedge clock) begin
    if (reset) begin
      has_entries <= '0;
      is_condemned <= '0;
      given <= '0;
    end else begin
      if (is_appended) has_entries <= has_entries | row_bit;
      else if (clears || recovers || leaves && used == 32'd1) has_entries <= has_entries & ~row_bit;
      if (condemns) is_condemned <= is_condemned | row_bit;
      else if (clears || recovers) is_condemned <= is_condemned & ~row_bit;
      if (writes && (is_address && {row_address[63:32], write_data} != '0 || is_address_high && {write_data, row_address[31:0]} != '0))
        given <= given | row_bit;
      else if (clears || writes && (is_address || is_address_high)) given <= given & ~row_bit;
    end
  end
endmodule
