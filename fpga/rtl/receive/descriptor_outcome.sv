// Carries out a decision of descriptor_fetch: the row of a shared queue, the context, what is read next and what waits, in one clock; then the events
// and the failure of the queue pair, one after the other, and behind them the answer to its question.
module descriptor_outcome #(
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,
    parameter int unsigned QUEUES = 512,
    parameter int unsigned SHARED = hca_spec_pkg::SHARED_RECEIVE_QUEUES,
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned SHARED_WIDTH = $clog2(SHARED),
    localparam int unsigned QUEUE_WIDTH = $clog2(QUEUES)
) (
    input logic clock,
    input logic reset,
    input logic carry,  // The decision is there.
    output logic done,

    input descriptor_fetch_pkg::access_t access,
    input hca_spec_pkg::queue_pair_responder_t responder,
    input descriptor_fetch_pkg::command_t command,
    input descriptor_fetch_pkg::row_t row,
    input descriptor_fetch_pkg::numbers_t numbers,
    input logic [SHARED_WIDTH-1:0] row_index,
    input logic [QUEUE_WIDTH-1:0] queue,
    input logic [8:0] first,
    input logic [5:0] page,
    input hca_spec_pkg::work_queue_reference_t reference,
    input logic [47:0] look_address,
    input descriptor_fetch_pkg::decision_t decision,

    output logic row_write,
    output descriptor_fetch_pkg::row_t row_data,
    output logic ask,
    output descriptor_fetch_pkg::read_t ask_read,
    output descriptor_fetch_pkg::work_t ask_work,

    // Questions that wait for a shared queue, and doorbells that wait for their queue pair's question.
    output logic append,
    input logic [CONTEXT_WIDTH-1:0] next_of_first,
    input logic is_pair_at_work,
    input logic is_doorbell_pending,
    output logic pair_write,
    output logic pair_at_work,
    output logic pair_pending,
    output logic again,
    output logic again_is_doorbell,
    output logic [CONTEXT_WIDTH-1:0] again_context,

    output logic descriptor_write,
    output logic [NUMBER_WIDTH-1:0] descriptor_number,
    output hca_spec_pkg::queue_pair_responder_t descriptor_responder,
    output logic fail,
    input logic fail_ready,
    output logic [NUMBER_WIDTH-1:0] fail_number,
    output logic [7:0] fail_underlying_function,
    input logic failed,
    input logic failed_done,

    output logic answers,
    output logic answers_taken,
    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit
);
  typedef enum logic [2:0] {
    OUT_IDLE,
    OUT_FAULT,
    OUT_QUEUE,
    OUT_FAIL,
    OUT_FAILED,
    OUT_PAIR,
    OUT_ANSWER
  } state_t;
  state_t state;
  logic is_shared, is_control, is_free, reads;
  logic [CONTEXT_WIDTH-1:0] pair;
  logic [NUMBER_WIDTH-1:0] row_number;
  assign is_shared = queue[QUEUE_WIDTH-1];
  assign is_control = access.kind == descriptor_fetch_pkg::ACCESS_CONTROL;
  assign pair = access.number[CONTEXT_WIDTH-1:0];
  assign row_number = {row.generation, 16'(row_index)};
  assign reads = decision.reads_tail || decision.reads_references || decision.reads_limit;

  // The row.
  assign row_write = carry && is_shared && (!is_control || decision.writes_row);
  always_comb begin
    row_data = row;
    if (decision.writes_row && !is_control) begin
      row_data.head = decision.head;
      row_data.tail = decision.tail;
      row_data.prefetched = decision.prefetched;
    end
    if (decision.appends) begin
      row_data.has_waiting = 1'b1;
      row_data.last = 8'(pair);
      if (!row.has_waiting) row_data.first = 8'(pair);
    end
    if (reads) begin
      row_data.at_work = 1'b1;
      row_data.is_between = 1'b0;
    end
    if (decision.ends_work) begin
      row_data.at_work = decision.resumes;
      row_data.is_between = decision.resumes;
      if (decision.resumes) begin
        row_data.first = 8'(next_of_first);
        row_data.has_waiting = row.first != row.last;
      end
    end
    if (decision.ends_work || decision.reads_limit) row_data.looks = 1'b0;
    if (decision.fails_queue) row_data.failure = decision.refusal;
    if (decision.fails_queue || decision.reaches_limit) row_data.limit = '0;
    if (is_control) begin
      if (command.creates) begin
        row_data = '0;
        row_data.valid = 1'b1;
        row_data.generation = access.number[23:16];
        row_data.underlying_function = access.underlying_function;
      end
      if (command.creates || command.resizes) begin
        row_data.queue_log2 = command.queue_log2;
        row_data.queue_pages = command.queue_pages;
        row_data.entry_bytes = command.entry_bytes;
        row_data.prefetched = '0;
      end
      if (command.creates) row_data.tail_address = command.tail_address;
      if (command.arms) begin
        row_data.limit = command.limit;
        row_data.looks = row.at_work;
      end
      if (command.destroys) row_data.valid = 1'b0;
    end
  end

  // The next read, and the access that waits for it.
  always_ff @(posedge clock) begin
    ask <= !reset && carry && reads;
    ask_read.is_table <= decision.reads_references;
    ask_read.underlying_function <= access.underlying_function;
    ask_read.address <= decision.reads_references ? {numbers.queue_pages, 26'd0, page} : numbers.tail_address;
    ask_read.place <= first;
    ask_read.count <= decision.count;
    ask_work.kind <= decision.reads_limit ? descriptor_fetch_pkg::ACCESS_LIMIT :
        decision.reads_tail ? descriptor_fetch_pkg::ACCESS_TAIL : descriptor_fetch_pkg::ACCESS_REFERENCES;
    ask_work.underlying_function <= access.underlying_function;
    ask_work.number <= decision.reads_limit ? row_number : access.number;
    ask_work.tail <= decision.tail;
    ask_work.count <= decision.count;
  end
  assign append = carry && decision.appends;
  assign pair_write = carry && !is_shared && (reads || decision.ends_work || decision.is_deferred);
  assign pair_at_work = reads || is_pair_at_work && !decision.ends_work;
  assign pair_pending = decision.is_deferred || is_doorbell_pending && !decision.ends_work;
  always_ff @(posedge clock) begin
    again <= !reset && carry && decision.ends_work && (is_shared ? decision.resumes : is_doorbell_pending);
    again_is_doorbell <= !is_shared;
    again_context <= is_shared ? row.first[CONTEXT_WIDTH-1:0] : pair;
  end

  // The context.
  always_ff @(posedge clock) begin
    descriptor_write <= !reset && carry && decision.writes_context;
    descriptor_number <= access.number;
    descriptor_responder <= responder;
    if (!is_shared) begin
      descriptor_responder.receive_head <= decision.head;
      descriptor_responder.receive_tail <= decision.tail;
      descriptor_responder.receive_prefetched <= decision.prefetched;
    end
    if (decision.taken) begin
      descriptor_responder.receive_entry_number <= numbers.head;
      descriptor_responder.receive_entry_offset <= reference.offset;
      descriptor_responder.receive_entry_length <= reference.length;
    end
  end

  // Events and failures.
  assign is_free = !event_valid || event_ready;
  assign fail = state == OUT_FAIL;
  assign fail_number = access.number;
  assign fail_underlying_function = 8'(access.underlying_function);
  assign answers = carry && decision.answers && !decision.fails_pair || state == OUT_ANSWER;
  assign answers_taken = decision.taken;
  logic is_last_event, raises;
  assign is_last_event = state == OUT_QUEUE && is_free && !decision.fails_pair;
  assign raises = decision.faults || decision.fails_queue || decision.reaches_limit || decision.fails_pair;
  assign done = carry && !raises || is_last_event || state == OUT_ANSWER;
  always_ff @(posedge clock) begin
    if (reset) begin
      state <= OUT_IDLE;
      event_valid <= 1'b0;
    end else begin
      event_valid <= event_valid && !event_ready;
      case (state)
        OUT_IDLE: if (carry && raises) state <= OUT_FAULT;
        OUT_FAULT:
        if (!decision.faults || is_free) begin
          event_valid <= decision.faults || event_valid && !event_ready;
          state <= OUT_QUEUE;
        end
        OUT_QUEUE:
        if (is_free) begin
          event_valid <= decision.fails_queue || decision.reaches_limit;
          state <= decision.fails_pair ? OUT_FAIL : OUT_IDLE;
        end
        OUT_FAIL: if (fail_ready) state <= OUT_FAILED;
        OUT_FAILED: if (failed) state <= failed_done ? OUT_PAIR : OUT_ANSWER;
        OUT_PAIR:
        if (is_free) begin
          event_valid <= 1'b1;
          state <= OUT_ANSWER;
        end
        default: state <= OUT_IDLE;
      endcase
    end
    if (is_free) begin
      event_unit <= '0;
      event_unit.underlying_function <= 8'(access.underlying_function);
      case (state)
        OUT_FAULT: begin
          event_unit.type_ <= hca_spec_pkg::EVENT_TYPE_DMA_FAULT;
          event_unit.detail <= look_address;
        end
        OUT_QUEUE: begin
          event_unit.type_ <= decision.fails_queue ? hca_spec_pkg::EVENT_TYPE_SHARED_RECEIVE_QUEUE_ERROR :
              hca_spec_pkg::EVENT_TYPE_SHARED_RECEIVE_QUEUE_LIMIT_REACHED;
          event_unit.reason <= decision.refusal;
          event_unit.object <= 32'(row_number);
          event_unit.detail <= decision.fails_queue ? 48'(numbers.head) : 48'(decision.left);
        end
        default: begin
          event_unit.type_ <= hca_spec_pkg::EVENT_TYPE_QUEUE_PAIR_FATAL;
          event_unit.reason <= decision.refusal;
          event_unit.object <= 32'(access.number);
          event_unit.detail <= 48'(numbers.head);
        end
      endcase
    end
  end
  logic unused_bits;
  assign unused_bits = &{1'b0, access, command, decision, numbers, reference};
endmodule
