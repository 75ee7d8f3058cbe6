// Queue pair contexts on chip. A block reads a whole context by the number of the queue pair. The module serves one reader per clock, in turn; a
// single reader has a turn in every second clock. Each block writes only the fields of which fpga/spec names it the writer; they are in memories of
// their own. The control port reads and writes rows of 64 B, as a write-back cache will. A failure changes the state of a queue pair.
module queue_pair_contexts #(
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,  // A power of two. The index in a number is the place of the context.
    parameter int unsigned READERS = 8,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset, until no context is valid; there are no reads or writes.

    // Reads the context of a queue pair by number. Answers to one reader are in the order of its requests and include all writes of clocks before the
    // request. Not found: no queue pair has this number.
    input logic [READERS-1:0] read,
    output logic [READERS-1:0] read_ready,
    input logic [READERS*NUMBER_WIDTH-1:0] read_number,
    output logic [READERS-1:0] answer,
    output logic answer_found,
    output hca_spec_pkg::queue_pair_control_t answer_control,
    output hca_spec_pkg::queue_pair_requester_t answer_requester,
    output hca_spec_pkg::queue_pair_completion_t answer_completion,
    output hca_spec_pkg::queue_pair_responder_t answer_responder,

    // Each writer writes its own fields of an existing queue pair; other bits are ignored.
    input logic fetch_write,  // By queue_pair_fetch.
    input logic [NUMBER_WIDTH-1:0] fetch_number,
    input hca_spec_pkg::queue_pair_requester_t fetch_requester,
    input logic builder_write,  // By packet_builder.
    input logic [NUMBER_WIDTH-1:0] builder_number,
    input hca_spec_pkg::queue_pair_requester_t builder_requester,
    input logic completion_write,
    input logic [NUMBER_WIDTH-1:0] completion_number,
    input hca_spec_pkg::queue_pair_completion_t completion_completion,
    input logic receive_write,
    input logic [NUMBER_WIDTH-1:0] receive_number,
    input hca_spec_pkg::queue_pair_responder_t receive_responder,
    input logic response_write,
    input logic [NUMBER_WIDTH-1:0] response_number,
    input hca_spec_pkg::queue_pair_responder_t response_responder,
    input logic validation_write,  // By dma_validation.
    input logic [NUMBER_WIDTH-1:0] validation_number,
    input hca_spec_pkg::queue_pair_responder_t validation_responder,
    input logic descriptor_write,  // By descriptor_fetch.
    input logic [NUMBER_WIDTH-1:0] descriptor_number,
    input hca_spec_pkg::queue_pair_responder_t descriptor_responder,

    // A work request of a function's queue pair has failed. Requests are processed one by one. The queue pair enters ERR (enters_error); or SQE,
    // unless it is in ERR or SQE (enters_send_queue_error); or the flag that flushes later work requests is set or cleared (neither, flushes). Done:
    // the queue pair exists and its state changed.
    input logic fail,
    output logic fail_ready,
    input logic [NUMBER_WIDTH-1:0] fail_number,
    input logic [7:0] fail_underlying_function,
    input logic fail_enters_error,
    input logic fail_enters_send_queue_error,
    input logic fail_flushes,
    output logic failed,
    output logic failed_done,

    // Writes a row of a context, 0 to 6, in a clock in which no writer writes in its part; row_written reports it.
    input logic row_write,
    output logic row_write_ready,
    input logic [CONTEXT_WIDTH-1:0] row_write_context,
    input logic [2:0] row_write_row,
    input logic [511:0] row_write_data,
    output logic row_written,

    // Reads a row of a context, in turn with the readers.
    input logic row_read,
    output logic row_read_ready,
    input logic [CONTEXT_WIDTH-1:0] row_read_context,
    input logic [2:0] row_read_row,
    output logic row_answer,
    output logic [511:0] row_answer_data
);
  if (CONTEXTS < 8 || CONTEXTS != 1 << CONTEXT_WIDTH || CONTEXTS > 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS) begin : gen_check
    $error("CONTEXTS has to be a power of two, 8 at least, and within the index of a number");
  end
  localparam int unsigned INDEX_BITS = hca_spec_pkg::QUEUE_PAIR_INDEX_BITS;
  localparam int unsigned ENTRIES = 8;
  localparam int unsigned CONTROL_ROWS = hca_spec_pkg::QUEUE_PAIR_CONTROL_BYTES / 64;
  localparam int unsigned RESPONDER_ROWS = hca_spec_pkg::QUEUE_PAIR_RESPONDER_BYTES / 64;
  localparam int unsigned REQUESTER_ROW = hca_spec_pkg::QUEUE_PAIR_CONTEXT_REQUESTER_LSB / 512;
  localparam int unsigned COMPLETION_ROW = hca_spec_pkg::QUEUE_PAIR_CONTEXT_COMPLETION_LSB / 512;
  localparam int unsigned RESPONDER_ROW = hca_spec_pkg::QUEUE_PAIR_CONTEXT_RESPONDER_LSB / 512;

  // Readers: the blocks, then failures, then rows. Each waits for its turn.
  localparam int unsigned ALL = READERS + 2;
  localparam int unsigned FAILS = READERS;
  localparam int unsigned TURN_WIDTH = $clog2(ALL);
  logic [ALL-1:0] waits, others_wait, takes;
  logic [ALL*NUMBER_WIDTH-1:0] waiting_numbers;
  logic [TURN_WIDTH-1:0] next_turn, turn;
  logic has_turn;
  logic asks_state, asks_row;
  for (genvar reader = 0; reader < READERS; reader++) begin : gen_reader
    logic [$clog2(ENTRIES):0] filling;
    unit_queue #(
        .UNIT_WIDTH(NUMBER_WIDTH),
        .ENTRIES(ENTRIES)
    ) i_reads (
        .push(read[reader] && read_ready[reader]),
        .push_unit(read_number[reader*NUMBER_WIDTH+:NUMBER_WIDTH]),
        .valid(waits[reader]),
        .unit(waiting_numbers[reader*NUMBER_WIDTH+:NUMBER_WIDTH]),
        .pop(takes[reader]),
        .*
    );
    always_ff @(posedge clock) read_ready[reader] <= !reset && !clearing && 32'(filling) + 2 < ENTRIES;
  end
  find_next #(
      .SIZE(ALL)
  ) i_turn (
      .bits(others_wait),
      .after(turn),
      .next(next_turn)
  );

  // 1: select the reader. 2: read the memories. 3: the context. 4: answer.
  logic [ALL-1:0] turn_1, turn_2, turn_3;
  logic [NUMBER_WIDTH-1:0] number_1, number_2, number_3;
  logic found_3, valid_1, valid_2, valid_3;
  hca_spec_pkg::queue_pair_control_t manager_3, state_3, control_3;
  hca_spec_pkg::queue_pair_requester_t fetch_3, builder_3, requester_3;
  hca_spec_pkg::queue_pair_completion_t completion_3;
  hca_spec_pkg::queue_pair_responder_t receive_3, response_3, validation_3, descriptor_3, responder_3;
  logic [NUMBER_WIDTH-1:0] turn_number;
  assign takes = has_turn ? ALL'(1) << turn : '0;
  // A part-select at `turn` could become a multiplier, because tools may multiply `turn` by the width of a number.
  always_comb begin
    turn_number = '0;
    for (int unsigned reader = 0; reader < ALL; reader++)
      if (TURN_WIDTH'(reader) == turn) turn_number = turn_number | waiting_numbers[reader*NUMBER_WIDTH+:NUMBER_WIDTH];
  end
  assign others_wait = waits & ~takes;  // The next request of the same reader waits for a clock.
  always_ff @(posedge clock) begin
    has_turn <= !reset && others_wait != '0;
    if (reset) turn <= '0;
    else if (others_wait != '0) turn <= next_turn;
    valid_1 <= !reset && has_turn;
    turn_1 <= takes;
    number_1 <= turn_number;
    valid_2 <= !reset && valid_1;
    turn_2 <= turn_1;
    number_2 <= number_1;
    valid_3 <= !reset && valid_2;
    turn_3 <= turn_2;
    number_3 <= number_2;
  end
  assign control_3 = manager_3 | state_3;
  assign requester_3 = fetch_3 | builder_3;
  assign responder_3 = receive_3 | response_3 | validation_3 | descriptor_3;
  assign found_3 = control_3.valid && {control_3.generation, INDEX_BITS'(number_3[CONTEXT_WIDTH-1:0])} == number_3;
  always_ff @(posedge clock) begin
    answer <= reset || !valid_3 ? '0 : turn_3[READERS-1:0];
    answer_found <= found_3;
    answer_control <= control_3;
    answer_requester <= requester_3;
    answer_completion <= completion_3;
    answer_responder <= responder_3;
  end

  // A row to be written waits here until the writers of its part do not write.
  logic row_waits, row_enters, part_is_busy, is_control_row, is_requester_row, is_completion_row, is_responder_row, state_is_busy;
  logic [CONTEXT_WIDTH-1:0] row_context, swept;
  logic [2:0] row;
  logic [511:0] row_data;
  logic [CONTROL_ROWS-1:0] control_row;
  logic [RESPONDER_ROWS-1:0] responder_row;
  assign is_control_row = 32'(row) < CONTROL_ROWS;
  assign is_requester_row = 32'(row) == REQUESTER_ROW;
  assign is_completion_row = 32'(row) == COMPLETION_ROW;
  assign is_responder_row = 32'(row) >= RESPONDER_ROW && 32'(row) < RESPONDER_ROW + RESPONDER_ROWS;
  assign part_is_busy = is_control_row && state_is_busy || is_requester_row && (fetch_write || builder_write) ||
      is_completion_row && completion_write ||
      is_responder_row && (receive_write || response_write || validation_write || descriptor_write);
  assign row_enters = row_waits && !part_is_busy;
  assign control_row = clearing || row_enters && is_control_row ? CONTROL_ROWS'(1) << row : '0;
  assign responder_row = row_enters && is_responder_row ? RESPONDER_ROWS'(1) << (row - 3'(RESPONDER_ROW)) : '0;
  assign row_write_ready = !row_waits && !clearing;
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      swept <= '0;
    end else if (clearing) begin
      clearing <= swept != CONTEXT_WIDTH'(CONTEXTS - 1);
      swept <= swept + CONTEXT_WIDTH'(1);
    end
    row_waits <= !reset && !clearing && (row_write && row_write_ready || row_waits && !row_enters);
    if (reset || clearing) begin
      row <= '0;
      row_context <= reset ? '0 : swept + CONTEXT_WIDTH'(1);
      row_data <= '0;
    end else if (row_write_ready) begin
      row <= row_write_row;
      row_context <= row_write_context;
      row_data <= row_write_data;
    end
    row_written <= !reset && row_enters;
  end

  // A row read has no number to check.
  logic row_is_under_way;
  logic [2:0] row_read_kept;
  logic [CONTEXT_WIDTH-1:0] row_read_place;
  logic [6*512+511:0] context_4;
  logic row_4;
  assign waits[FAILS+1] = asks_row;
  assign waiting_numbers[(FAILS+1)*NUMBER_WIDTH+:NUMBER_WIDTH] = NUMBER_WIDTH'(row_read_place);
  assign context_4 = {answer_responder, answer_completion, answer_requester, answer_control};
  assign row_read_ready = !row_is_under_way && !clearing;
  always_ff @(posedge clock) begin
    if (row_read && row_read_ready) begin
      row_read_kept <= row_read_row;
      row_read_place <= row_read_context;
    end
    asks_row <= !reset && (row_read && row_read_ready || asks_row && !takes[FAILS+1]);
    row_is_under_way <= !reset && (row_read && row_read_ready || row_is_under_way && !row_answer);
    row_4 <= !reset && valid_3 && turn_3[FAILS+1];
    row_answer <= !reset && row_4;
    row_answer_data <= '0;
    for (int unsigned each = 0; each < 7; each++)
    if (row_read_kept == 3'(each)) row_answer_data <= context_4[each*512+:512];
  end

  // A failure: read the context, then write the state.
  logic fails, enters_error, enters_send_queue_error, flushes, state_write, is_of_function, is_in_error, is_in_send_queue_error, changes;
  logic fail_4;
  logic [NUMBER_WIDTH-1:0] failing;
  logic [7:0] failing_function;
  hca_spec_pkg::queue_pair_control_t next_state;
  assign waits[FAILS] = asks_state;
  assign waiting_numbers[FAILS*NUMBER_WIDTH+:NUMBER_WIDTH] = failing;
  assign fail_ready = !fails && !clearing;
  assign is_of_function = answer_found && answer_control.underlying_function == failing_function;
  assign is_in_error = answer_control.state == hca_spec_pkg::QUEUE_PAIR_STATE_ERROR;
  assign is_in_send_queue_error = answer_control.state == hca_spec_pkg::QUEUE_PAIR_STATE_SEND_QUEUE_ERROR;
  assign changes = is_of_function && !(enters_error && is_in_error) && !(enters_send_queue_error && (is_in_error || is_in_send_queue_error));
  assign state_is_busy = fails;
  always_ff @(posedge clock) begin
    if (fail && fail_ready) begin
      failing <= fail_number;
      failing_function <= fail_underlying_function;
      enters_error <= fail_enters_error;
      enters_send_queue_error <= fail_enters_send_queue_error;
      flushes <= fail_flushes;
    end
    asks_state <= !reset && (fail && fail_ready || asks_state && !takes[FAILS]);
    fails <= !reset && (fail && fail_ready || fails && !failed);
    fail_4 <= !reset && valid_3 && turn_3[FAILS];
    state_write <= !reset && fail_4 && changes;
    next_state <= answer_control;
    if (enters_error) next_state.state <= hca_spec_pkg::QUEUE_PAIR_STATE_ERROR;
    else if (enters_send_queue_error) next_state.state <= hca_spec_pkg::QUEUE_PAIR_STATE_SEND_QUEUE_ERROR;
    else next_state.send_error <= flushes;
    failed <= !reset && fail_4;
    failed_done <= changes;
  end

  // The memories.
  logic [CONTEXT_WIDTH-1:0] read_context;
  assign read_context = number_1[CONTEXT_WIDTH-1:0];
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .ROWS(CONTROL_ROWS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_CONTROL_OF_RESOURCE_MANAGER)
  ) i_manager (
      .write(1'b0),
      .write_context('0),
      .write_part('0),
      .row_write(control_row),
      .read_part(manager_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .ROWS(CONTROL_ROWS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_CONTROL_OF_QUEUE_PAIR_STATE_CACHE)
  ) i_state (
      .write(state_write),
      .write_context(failing[CONTEXT_WIDTH-1:0]),
      .write_part(next_state),
      .row_write(control_row),
      .read_part(state_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_REQUESTER_OF_QUEUE_PAIR_FETCH)
  ) i_fetch (
      .write(fetch_write),
      .write_context(fetch_number[CONTEXT_WIDTH-1:0]),
      .write_part(fetch_requester),
      .row_write(row_enters && is_requester_row),
      .read_part(fetch_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_REQUESTER_OF_PACKET_BUILDER)
  ) i_builder (
      .write(builder_write),
      .write_context(builder_number[CONTEXT_WIDTH-1:0]),
      .write_part(builder_requester),
      .row_write(row_enters && is_requester_row),
      .read_part(builder_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_COMPLETION_OF_COMPLETION)
  ) i_completion (
      .write(completion_write),
      .write_context(completion_number[CONTEXT_WIDTH-1:0]),
      .write_part(completion_completion),
      .row_write(row_enters && is_completion_row),
      .read_part(completion_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .ROWS(RESPONDER_ROWS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_RESPONDER_OF_RECEIVE)
  ) i_receive (
      .write(receive_write),
      .write_context(receive_number[CONTEXT_WIDTH-1:0]),
      .write_part(receive_responder),
      .row_write(responder_row),
      .read_part(receive_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .ROWS(RESPONDER_ROWS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_RESPONDER_OF_RESPONSE)
  ) i_response (
      .write(response_write),
      .write_context(response_number[CONTEXT_WIDTH-1:0]),
      .write_part(response_responder),
      .row_write(responder_row),
      .read_part(response_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .ROWS(RESPONDER_ROWS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_RESPONDER_OF_DMA_VALIDATION)
  ) i_validation (
      .write(validation_write),
      .write_context(validation_number[CONTEXT_WIDTH-1:0]),
      .write_part(validation_responder),
      .row_write(responder_row),
      .read_part(validation_3),
      .*
  );
  queue_pair_context_fields #(
      .CONTEXTS(CONTEXTS),
      .ROWS(RESPONDER_ROWS),
      .FIELDS(hca_spec_pkg::QUEUE_PAIR_RESPONDER_OF_DESCRIPTOR_FETCH)
  ) i_descriptor (
      .write(descriptor_write),
      .write_context(descriptor_number[CONTEXT_WIDTH-1:0]),
      .write_part(descriptor_responder),
      .row_write(responder_row),
      .read_part(descriptor_3),
      .*
  );
  logic unused_numbers;
  assign unused_numbers = &{1'b0, fetch_number, builder_number, completion_number, receive_number, response_number, validation_number,
      descriptor_number};
endmodule
