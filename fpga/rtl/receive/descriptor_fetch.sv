// Fetches receive work requests for queue pairs, from their own receive queues or shared ones (InfiniBand volume 1, 10.2.9): reads the references of a
// queue a line of 64 B ahead, and the host's tail before it says that none is posted, or that fewer are left than a limit. The questions of a queue
// pair are answered in order. A question that waits for host memory, or for another one at its shared queue, delays no other queue.
module descriptor_fetch #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,  // Places of queue pairs. A power of two, 8 to 256.
    parameter int unsigned SHARED = hca_spec_pkg::SHARED_RECEIVE_QUEUES,  // Number 0 is unused. A power of two, 2 to CONTEXTS.
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned QUEUES = 2 * CONTEXTS,
    localparam int unsigned QUEUE_WIDTH = CONTEXT_WIDTH + 1,  // Its own, or with the highest bit a shared one.
    localparam int unsigned SHARED_WIDTH = $clog2(SHARED),
    localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset, until no shared queue exists; nothing enters.

    // Questions of receive, one of a queue pair at a time, and their answers.
    input logic wanted_valid,
    output logic wanted_ready,
    input hca_spec_pkg::queue_pair_notice_t wanted,
    output logic fetched_valid,
    input logic fetched_ready,
    output hca_spec_pkg::queue_pair_notice_t fetched,

    // A function's write to receive_doorbell; and queue pairs whose doorbell concerns receive: they are in ERR, or owe their peers credits.
    input logic doorbell,
    output logic doorbell_ready,
    input logic [3:0] doorbell_underlying_function,
    input hca_spec_pkg::underlying_function_receive_doorbell_t doorbell_value,
    output logic doorbell_unknown,  // The function has no such queue.
    output logic rung_valid,
    input logic rung_ready,
    output hca_spec_pkg::queue_pair_notice_t rung,

    // A command of the control port, one at a time: create a shared queue with an unused number, replace its tables by larger ones, set its limit
    // (0: none), or destroy it when no queue pair receives from it. Without any of these flags: look.
    input logic control,
    output logic control_ready,
    input logic control_create,
    input logic control_resize,
    input logic control_arm,
    input logic control_destroy,
    input logic [NUMBER_WIDTH-1:0] control_number,
    input logic [3:0] control_underlying_function,
    input logic [4:0] control_queue_log2,
    input logic [31:0] control_queue_pages,
    input logic [31:0] control_entry_bytes,
    input logic [63:0] control_tail_address,
    input logic [15:0] control_limit,
    output logic controlled,
    output logic [7:0] controlled_status,  // A management_status_t.
    output logic [15:0] controlled_limit,  // Before the command.
    output logic [4:0] controlled_queue_log2,
    output logic controlled_failed,

    // A reader, the writer and the failures of queue_pair_contexts.
    output logic read_context,
    input logic read_context_ready,
    output logic [NUMBER_WIDTH-1:0] read_context_number,
    input logic answer,
    input logic answer_found,
    input hca_spec_pkg::queue_pair_control_t answer_control,
    input hca_spec_pkg::queue_pair_responder_t answer_responder,
    output logic descriptor_write,
    output logic [NUMBER_WIDTH-1:0] descriptor_number,
    output hca_spec_pkg::queue_pair_responder_t descriptor_responder,
    output logic fail,  // The queue pair enters ERR.
    input logic fail_ready,
    output logic [NUMBER_WIDTH-1:0] fail_number,
    output logic [7:0] fail_underlying_function,
    input logic failed,
    input logic failed_done,

    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit,
    output logic counted_dma_fault,
    output logic [3:0] counted_underlying_function,

    // Requests for the DMA address of a table's page; answers in any order, not done if the page is not mapped.
    output logic translate,
    input logic translate_ready,
    output logic [3:0] translate_underlying_function,
    output logic [31:0] translate_page_table,
    output logic [8:0] translate_page,
    output logic [QUEUE_WIDTH-1:0] translate_user,
    input logic translated,
    output logic translated_ready,
    input logic translated_done,
    input logic [51:0] translated_page,
    input logic [QUEUE_WIDTH-1:0] translated_user,

    // Reads of host memory, 4 or 8 to 64 B; the first byte goes to a lane. Answers in any order, each of them whole; they are always accepted.
    output logic read,
    input logic read_ready,
    output logic [3:0] read_underlying_function,
    output logic [63:0] read_address,
    output logic [6:0] read_bytes,
    output logic [LANE_WIDTH-1:0] read_lane,
    output logic [QUEUE_WIDTH-1:0] read_user,
    input logic data_valid,
    input logic [BEAT_BYTES*8-1:0] data,
    input logic data_last,
    input logic data_failed,  // With the last beat.
    input logic [QUEUE_WIDTH-1:0] data_user,

    // An access: of a question, a limit, a doorbell or a command.
    output logic worked,
    output logic [2:0] worked_kind,  // descriptor_fetch_pkg::access_kind_t.
    output logic worked_done,  // It has taken effect. Otherwise the question reads host memory or waits for its turn, or the doorbell waits for it.
    output logic worked_looks,  // The tail is read for a limit.
    output logic [NUMBER_WIDTH-1:0] worked_number,  // Of the queue pair; of a doorbell, command or limit: of the queue.
    output logic [15:0] worked_tail  // Of a doorbell.
);
  if (CONTEXTS < 8 || CONTEXTS != 1 << CONTEXT_WIDTH || CONTEXTS > 256 || SHARED < 2 || SHARED != 1 << SHARED_WIDTH || SHARED > CONTEXTS)
  begin : gen_check
    $error("CONTEXTS and SHARED have to be powers of two: CONTEXTS 8 to 256, SHARED 2 to CONTEXTS");
  end
  localparam int unsigned DOORBELLS = 16;

  // After a reset the block clears the rows, and what waits for queue pairs.
  logic [CONTEXT_WIDTH-1:0] swept;
  logic is_sweeping, list_clearing;
  assign clearing = is_sweeping || list_clearing;
  always_ff @(posedge clock) begin
    if (reset) begin
      is_sweeping <= 1'b1;
      swept <= '0;
    end else if (is_sweeping) begin
      is_sweeping <= swept != '1;
      swept <= swept + CONTEXT_WIDTH'(1);
    end
  end

  // Inputs: questions, with room for one of each queue pair, so that receive never waits here; doorbells, commands.
  logic has_wanted, wanted_taken, has_doorbell, doorbell_taken, has_command, command_ends;
  logic [NUMBER_WIDTH+3:0] wanted_unit;
  logic [3:0] next_doorbell_function;
  hca_spec_pkg::underlying_function_receive_doorbell_t next_doorbell;
  logic [CONTEXT_WIDTH:0] wanted_waiting, fetched_waiting;
  logic [$clog2(DOORBELLS):0] doorbells_waiting;
  descriptor_fetch_pkg::command_t command;
  logic [NUMBER_WIDTH-1:0] command_number;
  logic [3:0] command_function;
  unit_queue #(
      .UNIT_WIDTH(NUMBER_WIDTH + 4),
      .ENTRIES(CONTEXTS)
  ) i_wanted (
      .push(wanted_valid && wanted_ready),
      .push_unit({wanted.underlying_function, wanted.queue_pair_number}),
      .valid(has_wanted),
      .unit(wanted_unit),
      .pop(wanted_taken),
      .filling(wanted_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(4 + $bits(doorbell_value)),
      .ENTRIES(DOORBELLS)
  ) i_doorbells (
      .push(doorbell && doorbell_ready),
      .push_unit({doorbell_underlying_function, doorbell_value}),
      .valid(has_doorbell),
      .unit({next_doorbell_function, next_doorbell}),
      .pop(doorbell_taken),
      .filling(doorbells_waiting),
      .*
  );
  always_ff @(posedge clock) begin
    wanted_ready <= !reset && !clearing && 32'(wanted_waiting) + 2 < CONTEXTS;
    doorbell_ready <= !reset && !clearing && 32'(doorbells_waiting) + 2 < DOORBELLS;
    control_ready <= !reset && !clearing && !has_command && !(control && control_ready);
    has_command <= !reset && (control && control_ready || has_command && !command_ends);
    if (control && control_ready) begin
      command.creates <= control_create;
      command.resizes <= control_resize;
      command.arms <= control_arm;
      command.destroys <= control_destroy;
      command.queue_log2 <= control_queue_log2;
      command.queue_pages <= control_queue_pages;
      command.entry_bytes <= control_entry_bytes;
      command.tail_address <= control_tail_address;
      command.limit <= control_limit;
      command_number <= control_number;
      command_function <= control_underlying_function;
    end
  end

  // The next access.
  logic returned, returned_failed, returned_unmapped, returned_taken, has_again, next_again_is_doorbell, again_taken, ready, taken, found_next;
  logic is_deciding, found, carry, done, again, again_is_doorbell;
  logic [QUEUE_WIDTH-1:0] returned_queue, work_queue, queue;
  logic [CONTEXT_WIDTH-1:0] next_again_context, again_context, look_context, pair;
  logic [35:0] waiting;
  logic [43:0] rung_doorbell;
  logic [CONTEXT_WIDTH+1:0] unused_again;
  descriptor_fetch_pkg::work_t work, ask_work;
  descriptor_fetch_pkg::access_t next_access, access;
  hca_spec_pkg::queue_pair_control_t next_control, control_part;
  hca_spec_pkg::queue_pair_responder_t next_responder, responder;
  descriptor_accesses #(
      .CONTEXTS(CONTEXTS),
      .QUEUES(QUEUES)
  ) i_accesses (
      .enabled(!clearing),
      .command(has_command),
      .command_underlying_function(command_function),
      .command_tried(carry && access.kind == descriptor_fetch_pkg::ACCESS_CONTROL),
      .again(has_again),
      .again_is_doorbell(next_again_is_doorbell),
      .again_context(next_again_context),
      .rung(rung_doorbell),
      .doorbell(has_doorbell),
      .doorbell_underlying_function(next_doorbell_function),
      .doorbell_value(next_doorbell),
      .wanted(has_wanted),
      .read(read_context),
      .read_ready(read_context_ready),
      .read_number(read_context_number),
      .deciding_context(pair),
      .access(next_access),
      .found(found_next),
      .control(next_control),
      .responder(next_responder),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(1 + CONTEXT_WIDTH),
      .ENTRIES(QUEUES)
  ) i_again (
      .push(again),
      .push_unit({again_is_doorbell, again_context}),
      .valid(has_again),
      .unit({next_again_is_doorbell, next_again_context}),
      .pop(again_taken),
      .filling(unused_again),
      .*
  );

  // One access at a time is decided and carried out.
  logic [3:0] age;
  assign taken = ready && !is_deciding;
  assign pair = access.number[CONTEXT_WIDTH-1:0];
  assign carry = is_deciding && age == 4'd8;
  always_ff @(posedge clock) begin
    is_deciding <= !reset && (taken || is_deciding && !done);
    age <= taken ? '0 : age == 4'd9 ? age : age + 4'd1;
    if (taken) begin
      access <= next_access;
      found <= found_next;
      control_part <= next_control;
      responder <= next_responder;
    end
  end

  // Shared queues, and the bits of queue pairs: a question waits for host memory, a doorbell for the question.
  logic row_write, pair_write, pair_at_work, pair_pending, is_pair_at_work, is_doorbell_pending, append;
  logic [SHARED_WIDTH-1:0] row_index;
  logic [CONTEXT_WIDTH-1:0] next_of_first, asked_context;
  descriptor_fetch_pkg::row_t row_read, row, row_data;
  descriptor_fetch_pkg::numbers_t numbers;
  descriptor_fetch_pkg::decision_t decision;
  descriptor_fetch_pkg::read_t ask_read;
  logic ask;
  logic [QUEUE_WIDTH-1:0] ask_queue;
  logic [8:0] first;
  logic [5:0] page;
  logic [2:0] line_place;
  logic [47:0] look_address;
  hca_spec_pkg::receive_queue_tail_t look_tail;
  hca_spec_pkg::work_queue_reference_t line_reference, reference;
  list_memory #(
      .WIDTH($bits(row_read)),
      .SIZE(SHARED),
      .BLOCK(1'b1)
  ) i_rows (
      .write(is_sweeping || row_write),
      .write_address(is_sweeping ? swept[SHARED_WIDTH-1:0] : row_index),
      .write_data(is_sweeping ? '0 : row_data),
      .read_address(row_index),
      .read_data(row_read),
      .*
  );
  lut_memory #(
      .WIDTH(2),
      .SIZE(CONTEXTS)
  ) i_pairs (
      .write(is_sweeping || pair_write),
      .write_address(is_sweeping ? swept : pair),
      .write_data(is_sweeping ? '0 : {pair_at_work, pair_pending}),
      .read_addresses(pair),
      .read_data({is_pair_at_work, is_doorbell_pending}),
      .*
  );
  assign asked_context = row.last[CONTEXT_WIDTH-1:0];
  lut_memory #(
      .WIDTH(CONTEXT_WIDTH),
      .SIZE(CONTEXTS)
  ) i_next (
      .write(append && row.has_waiting),
      .write_address(asked_context),
      .write_data(pair),
      .read_addresses(row.first[CONTEXT_WIDTH-1:0]),
      .read_data(next_of_first),
      .*
  );
  list_memory #(
      .WIDTH(36),
      .SIZE(CONTEXTS),
      .BLOCK(1'b1)
  ) i_waiting (
      .write(append),
      .write_address(pair),
      .write_data({8'(row_index), access.underlying_function, access.number}),
      .read_address(look_context),
      .read_data(waiting),
      .*
  );
  list_memory #(
      .WIDTH(44),
      .SIZE(CONTEXTS),
      .BLOCK(1'b1)
  ) i_rung (
      .write(carry && decision.is_deferred),
      .write_address(pair),
      .write_data({access.tail, access.underlying_function, access.number}),
      .read_address(look_context),
      .read_data(rung_doorbell),
      .*
  );
  list_memory #(
      .WIDTH($bits(work)),
      .SIZE(QUEUES),
      .BLOCK(1'b1)
  ) i_works (
      .write(ask),
      .write_address(ask_queue),
      .write_data(ask_work),
      .read_address(work_queue),
      .read_data(work),
      .*
  );

  descriptor_decision #(
      .QUEUES(QUEUES),
      .SHARED(SHARED)
  ) i_decision (
      .control(control_part),
      .hold(age[3]),
      .*
  );
  logic answers, answers_taken;
  descriptor_outcome #(
      .CONTEXTS(CONTEXTS),
      .QUEUES(QUEUES),
      .SHARED(SHARED)
  ) i_outcome (.*);
  always_ff @(posedge clock) ask_queue <= queue;
  descriptor_reads #(
      .BEAT_BYTES(BEAT_BYTES),
      .QUEUES(QUEUES)
  ) i_reads (
      .look_queue(queue),
      .line_queue(queue),
      .*
  );

  // Answers, with room for one to each queue pair; and doorbells for receive, each queue pair once.
  logic fetched_is_taken, rings, list_busy, list_valid, list_take;
  logic [3:0] fetched_function, list_function, rung_function;
  logic [NUMBER_WIDTH-1:0] fetched_number, list_number, rung_number;
  unit_queue #(
      .UNIT_WIDTH(1 + 4 + NUMBER_WIDTH),
      .ENTRIES(CONTEXTS)
  ) i_fetched (
      .push(answers),
      .push_unit({answers_taken, access.underlying_function, access.number}),
      .valid(fetched_valid),
      .unit({fetched_is_taken, fetched_function, fetched_number}),
      .pop(fetched_valid && fetched_ready),
      .filling(fetched_waiting),
      .*
  );
  assign rings = carry && decision.rings;
  quiet_list #(
      .CONTEXTS(CONTEXTS)
  ) i_rung_list (
      .clearing(list_clearing),
      .quiet(rings),
      .quiet_number(access.number),
      .busy(list_busy),
      .valid(list_valid),
      .number(list_number),
      .take(list_take),
      .*
  );
  lut_memory #(
      .WIDTH(4),
      .SIZE(CONTEXTS)
  ) i_rung_functions (
      .write(rings),
      .write_address(pair),
      .write_data(access.underlying_function),
      .read_addresses(list_number[CONTEXT_WIDTH-1:0]),
      .read_data(list_function),
      .*
  );
  assign list_take = list_valid && !list_busy && !rings && (!rung_valid || rung_ready);
  always_ff @(posedge clock) begin
    rung_valid <= !reset && (list_take || rung_valid && !rung_ready);
    if (list_take) {rung_function, rung_number} <= {list_function, list_number};
  end
  always_comb begin
    fetched = '0;
    fetched.kind = fetched_is_taken ? hca_spec_pkg::QUEUE_PAIR_NOTICE_KIND_DESCRIPTOR_TAKEN :
        hca_spec_pkg::QUEUE_PAIR_NOTICE_KIND_NO_DESCRIPTOR;
    fetched.underlying_function = fetched_function;
    fetched.queue_pair_number = fetched_number;
    rung = '0;
    rung.kind = hca_spec_pkg::QUEUE_PAIR_NOTICE_KIND_FLUSH;
    rung.underlying_function = rung_function;
    rung.queue_pair_number = rung_number;
  end

  logic is_question;
  assign is_question = access.kind == descriptor_fetch_pkg::ACCESS_QUESTION || access.kind == descriptor_fetch_pkg::ACCESS_TAIL
      || access.kind == descriptor_fetch_pkg::ACCESS_REFERENCES;
  assign command_ends = carry && decision.commanded;
  always_ff @(posedge clock) begin
    controlled <= !reset && command_ends;
    controlled_status <= decision.command_result == 2'd0 ? 8'(hca_spec_pkg::MANAGEMENT_STATUS_SUCCESS) :
        decision.command_result == 2'd1 ? 8'(hca_spec_pkg::MANAGEMENT_STATUS_BAD_OBJECT) : 8'(hca_spec_pkg::MANAGEMENT_STATUS_BAD_STATE);
    controlled_limit <= row.limit;
    controlled_queue_log2 <= row.queue_log2;
    controlled_failed <= row.failure != 8'(hca_spec_pkg::REFUSAL_NONE);
    doorbell_unknown <= !reset && carry && decision.is_unknown;
    counted_dma_fault <= !reset && carry && decision.faults;
    counted_underlying_function <= access.underlying_function;
    worked <= !reset && carry && !decision.retries;
    worked_kind <= access.kind;
    worked_done <= !is_question || decision.answers ? !decision.is_deferred : 1'b0;
    worked_looks <= decision.reads_limit;
    worked_number <= access.number;
    worked_tail <= access.tail;
  end
  logic unused_bits;
  assign unused_bits = &{1'b0, wanted, fetched_waiting, row, numbers};
endmodule
