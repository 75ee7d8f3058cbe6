// The outcomes of accesses to completion queues, in order. The block raises the events of an access and answers it once the entries before it
// have been written. A queue has failed if an entry could not be written or found it full: entries in flight to it count as dropped and raise no
// event.
module completion_queue_outcomes #(
    parameter int unsigned QUEUES = 4096,
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned USER_WIDTH = 16,
    parameter int unsigned ENTRIES = 64,
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,
    input logic clearing,
    input logic [$clog2(QUEUES)-1:0] swept,
    output logic idle,

    input logic push,
    input completion_queue_pkg::outcome_t push_outcome,
    input logic [USER_WIDTH-1:0] push_user,
    output logic [$clog2(ENTRIES):0] left,

    // The oldest entry that has been written or has failed.
    input logic has_gone,
    input logic gone_is_piece,
    input logic gone_failed,
    input logic [47:0] gone_address,
    output logic gone,

    // A failure, for the row of the queue.
    output logic fails,
    input logic takes_fail,
    output logic [NUMBER_WIDTH-1:0] failing_number,
    output logic [31:0] failing_tail,

    output logic answered,
    output logic [1:0] answered_kind,
    output logic answered_done,
    output logic [USER_WIDTH-1:0] answered_user,
    output logic answered_waited,
    output logic [NUMBER_WIDTH-1:0] answered_number,
    output logic [FUNCTION_WIDTH-1:0] answered_underlying_function,
    output logic [7:0] answered_status,
    output logic [31:0] answered_tail,
    output logic answered_in_error,
    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit,
    output logic failed,
    output logic [NUMBER_WIDTH-1:0] failed_number,
    output logic [FUNCTION_WIDTH-1:0] failed_underlying_function
);
  localparam int unsigned INDEX_WIDTH = $clog2(QUEUES);

  logic is_left, takes, is_bad, faults, is_known, had_failed;
  logic [47:0] fault_address;
  logic [USER_WIDTH-1:0] next_user, user;
  completion_queue_pkg::outcome_t next, outcome;
  logic [49:0] unused_outcome;  // Fields that are only used when the outcome is taken.
  unit_queue #(
      .UNIT_WIDTH($bits(next) + USER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_outcomes (
      .push(push),
      .push_unit({push_outcome, push_user}),
      .valid(is_left),
      .unit({next, next_user}),
      .pop(takes),
      .filling(left),
      .*
  );

  // 1: take the oldest outcome once its entry is done, at least a clock after reading its number. 2: check whether its queue has failed or fails
  // now. 3: raise its events, one by one. 4: answer.
  typedef enum logic [1:0] {
    STEP_TAKE,
    STEP_JUDGE,
    STEP_TELL,
    STEP_LAST
  } step_t;
  step_t step;
  logic tells_fault, tells_error, tells_event, judges, is_failing, known_failed, can_tell;
  logic [INDEX_WIDTH-1:0] index, next_index;
  assign takes = step == STEP_TAKE && is_known && (!next.is_written || has_gone);
  assign gone = takes && next.is_written;
  assign idle = step == STEP_TAKE;
  assign index = outcome.number[INDEX_WIDTH-1:0];
  assign unused_outcome = {outcome.is_written, outcome.faults, outcome.head_address};
  assign judges = step == STEP_JUDGE;
  assign is_failing = !known_failed && (is_bad || outcome.fails);
  list_memory #(
      .WIDTH(1),
      .SIZE(QUEUES),
      .BLOCK(1'b1)
  ) i_failed (
      .write(clearing || judges && (is_failing || outcome.creates && outcome.done)),
      .write_address(clearing ? swept : index),
      .write_data(!clearing && is_failing),
      .read_address(next_index),
      .read_data(known_failed),
      .*
  );
  assign can_tell = !event_valid || event_ready;
  always_ff @(posedge clock) begin
    answered <= 1'b0;
    failed <= 1'b0;
    is_known <= !reset && is_left;
    next_index <= next.number[INDEX_WIDTH-1:0];
    if (event_ready) event_valid <= 1'b0;
    case (step)
      STEP_TAKE: begin
        if (takes) step <= STEP_JUDGE;
        outcome <= next;
        user <= next_user;
        is_bad <= next.is_written && gone_failed;
        faults <= next.is_written ? gone_failed && gone_is_piece : next.faults;
        fault_address <= next.is_written ? gone_address : next.head_address;
      end
      STEP_JUDGE: begin
        step <= STEP_TELL;
        had_failed <= known_failed;
        tells_fault <= faults && !known_failed;
        tells_error <= is_failing;
        tells_event <= outcome.signals && !is_bad && !known_failed;
        fails <= is_failing && is_bad;
        failed <= is_failing;
      end
      STEP_TELL: begin
        if (takes_fail) fails <= 1'b0;
        if (can_tell) begin
          event_valid <= tells_fault || tells_error || tells_event;
          tells_fault <= 1'b0;
          if (!tells_fault) tells_error <= 1'b0;
          if (!tells_fault && !tells_error) tells_event <= 1'b0;
          if (!(tells_fault && (tells_error || tells_event)) && !(tells_error && tells_event)) step <= STEP_LAST;
        end
      end
      default: begin
        if (takes_fail) fails <= 1'b0;
        if (!fails && can_tell) begin
          step <= STEP_TAKE;
          answered <= !(had_failed && outcome.kind == completion_queue_pkg::ANSWER_SWEEP);  // A failed queue raises no event.
        end
      end
    endcase
    if (step == STEP_TELL && can_tell) begin
      event_unit <= '0;
      event_unit.underlying_function <= outcome.underlying_function;
      if (tells_fault) begin
        event_unit.type_ <= hca_spec_pkg::EVENT_TYPE_DMA_FAULT;
        event_unit.detail <= fault_address;
      end else begin
        event_unit.type_ <= tells_error ? hca_spec_pkg::EVENT_TYPE_COMPLETION_QUEUE_ERROR : hca_spec_pkg::EVENT_TYPE_COMPLETION;
        event_unit.object <= 32'(outcome.number);
        event_unit.detail <= outcome.user_handle;
        if (!tells_error) begin
          event_unit.event_queue <= outcome.event_queue;
          event_unit.reason <= 8'(outcome.arm_sequence);
        end
      end
    end
    if (reset) begin
      step <= STEP_TAKE;
      event_valid <= 1'b0;
      answered <= 1'b0;
      failed <= 1'b0;
      fails <= 1'b0;
    end
  end
  always_ff @(posedge clock) begin
    answered_kind <= outcome.kind;
    answered_done <= outcome.done && !is_bad && !(had_failed && outcome.kind == completion_queue_pkg::ANSWER_WRITE);
    answered_user <= user;
    answered_waited <= outcome.waited;
    answered_number <= outcome.number;
    answered_underlying_function <= FUNCTION_WIDTH'(outcome.underlying_function);
    answered_status <= outcome.status;
    answered_tail <= outcome.tail;
    answered_in_error <= outcome.in_error || had_failed && !outcome.creates;
    failed_number <= outcome.number;
    failed_underlying_function <= FUNCTION_WIDTH'(outcome.underlying_function);
  end
  assign failing_number = outcome.number;
  assign failing_tail = outcome.tail;
endmodule
