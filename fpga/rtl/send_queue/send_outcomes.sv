// Carries out the decisions of queue_pair_fetch in order: pins a queue pair that needs the scheduler, puts one in error, hands units to the links,
// and writes the requester part. It requests pins ahead, and waits until a failure is in the context.
module send_outcomes #(
    parameter int unsigned ENTRIES = 16,  // Maximum number of outcomes in flight.
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,
    input logic decided,
    input queue_pair_fetch_pkg::fetch_outcome_t decided_outcome,

    output logic pin,
    input logic pin_ready,
    output logic [NUMBER_WIDTH-1:0] pin_number,
    input logic pinned,
    input logic pinned_done,
    output logic unpin,
    output logic [NUMBER_WIDTH-1:0] unpin_number,

    output logic fail,
    input logic fail_ready,
    output logic [NUMBER_WIDTH-1:0] fail_number,
    output logic [7:0] fail_underlying_function,
    output logic fail_enters_error,
    output logic fail_flushes,
    input logic failed,

    output logic fetch_write,
    output logic [NUMBER_WIDTH-1:0] fetch_number,
    output hca_spec_pkg::queue_pair_requester_t fetch_requester,

    output logic execution_valid,
    input logic execution_ready,
    output hca_spec_pkg::kick_unit_t execution_unit,
    output logic schedule_request_valid,
    input logic schedule_request_ready,
    output hca_spec_pkg::schedule_request_t schedule_request_unit,
    output logic finish_handed_back_valid,
    input logic finish_handed_back_ready,
    output hca_spec_pkg::finish_unit_t finish_handed_back_unit,
    output logic event_valid,
    input logic event_ready,
    output hca_spec_pkg::event_unit_t event_unit,
    output logic rewind_valid,
    input logic rewind_ready,
    output logic [NUMBER_WIDTH-1:0] rewind_number,
    output logic [23:0] rewind_psn,
    output logic release_buffer,
    output logic [7:0] release_physical_collect_buffer,

    output logic [3:0] counted_underlying_function,
    output logic counted_stale,
    output logic counted_handed_back,
    output logic counted_refused,
    output logic counted_checksum_mismatch,
    output logic [2:0] counted_hold,  // send_hold_t, or none.

    output logic goes,  // An outcome is carried out in this clock.
    output queue_pair_fetch_pkg::fetch_outcome_t outcome
);
  logic has_outcome, has_pin, has_pinned, pins, is_pinned, asks_to_fail, is_asked, has_failed, can_go;
  logic [$clog2(ENTRIES):0] outcomes, to_pin, answered;
  hca_spec_pkg::kick_unit_t kick, decided_kick;
  hca_spec_pkg::queue_pair_requester_t requester;
  logic unused_bits;
  assign unused_bits = &{1'b0, outcomes, to_pin, answered, kick, decided_kick};
  assign kick = outcome.kick;
  assign decided_kick = decided_outcome.kick;
  assign requester = outcome.requester;

  unit_queue #(
      .UNIT_WIDTH($bits(outcome)),
      .ENTRIES(ENTRIES)
  ) i_outcomes (
      .push(decided),
      .push_unit(decided_outcome),
      .valid(has_outcome),
      .unit(outcome),
      .pop(goes),
      .filling(outcomes),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(NUMBER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_pins (
      .push(decided && decided_outcome.asks_to_schedule),
      .push_unit(decided_kick.queue_pair_number),
      .valid(has_pin),
      .unit(pin_number),
      .pop(pin && pin_ready),
      .filling(to_pin),
      .*
  );
  assign pin = has_pin;
  unit_queue #(
      .UNIT_WIDTH(1),
      .ENTRIES(ENTRIES)
  ) i_pinned (
      .push(pinned),
      .push_unit(pinned_done),
      .valid(has_pinned),
      .unit(is_pinned),
      .pop(goes && outcome.asks_to_schedule),
      .filling(answered),
      .*
  );

  // A failure is in the context before the next unit of the queue pair reads it.
  assign asks_to_fail = has_outcome && (outcome.fails || outcome.flushes);
  assign fail = asks_to_fail && !is_asked;
  assign fail_number = kick.queue_pair_number;
  assign fail_underlying_function = 8'(kick.underlying_function);
  assign fail_enters_error = outcome.fails;
  assign fail_flushes = outcome.flushes;
  always_ff @(posedge clock) begin
    is_asked <= !reset && !goes && (fail && fail_ready || is_asked);
    has_failed <= !reset && !goes && (failed || has_failed);
  end

  assign pins = outcome.asks_to_schedule && is_pinned;
  assign can_go = (!outcome.executes || !execution_valid || execution_ready) &&
      (!outcome.asks_to_schedule || has_pinned && (!schedule_request_valid || schedule_request_ready)) &&
      (!outcome.gives_back || !finish_handed_back_valid || finish_handed_back_ready) &&
      (!outcome.fails || !event_valid || event_ready) &&
      (!outcome.rewinds || !rewind_valid || rewind_ready);
  assign goes = has_outcome && can_go && (!asks_to_fail || has_failed);

  always_ff @(posedge clock) begin
    fetch_write <= !reset && goes && outcome.writes;
    fetch_number <= kick.queue_pair_number;
    fetch_requester <= requester;
    fetch_requester.scheduled <= requester.scheduled || pins;
    unpin <= !reset && goes && outcome.kind == queue_pair_fetch_pkg::FETCH_UNIT_SCHEDULE_DONE;
    unpin_number <= kick.queue_pair_number;
    release_buffer <= !reset && goes && outcome.gives_back;
    release_physical_collect_buffer <= kick.physical_collect_buffer;

    execution_valid <= !reset && (goes && outcome.executes || execution_valid && !execution_ready);
    if (goes && outcome.executes) execution_unit <= kick;
    schedule_request_valid <= !reset && (goes && pins || schedule_request_valid && !schedule_request_ready);
    if (goes && pins)
      schedule_request_unit <= {34'd0, outcome.quality_of_service_level, kick.underlying_function, kick.queue_pair_number};
    finish_handed_back_valid <= !reset && (goes && outcome.gives_back || finish_handed_back_valid && !finish_handed_back_ready);
    if (goes && outcome.gives_back) begin
      finish_handed_back_unit <= '0;
      finish_handed_back_unit.physical_collect_buffer <= kick.physical_collect_buffer;
      finish_handed_back_unit.transmit_virtual_lane <= kick.transmit_virtual_lane;
      finish_handed_back_unit.underlying_function <= kick.underlying_function;
      finish_handed_back_unit.quality_of_service_level <= kick.quality_of_service_level;
      finish_handed_back_unit.execution_credit_shared <= kick.execution_credit_shared;
      finish_handed_back_unit.completion_credit_shared <= kick.completion_credit_shared;
      finish_handed_back_unit.execution_credit_returned <= 1'b1;
      finish_handed_back_unit.completion_credit_returned <= 1'b1;
      finish_handed_back_unit.finished <= 1'b1;
      finish_handed_back_unit.queue_pair_number <= kick.queue_pair_number;
      finish_handed_back_unit.send_queue_sequence_number <= kick.send_queue_sequence_number;
    end
    event_valid <= !reset && (goes && outcome.fails || event_valid && !event_ready);
    if (goes && outcome.fails) begin
      event_unit <= '0;
      event_unit.type_ <= hca_spec_pkg::EVENT_TYPE_QUEUE_PAIR_FATAL;
      event_unit.underlying_function <= 8'(kick.underlying_function);
      event_unit.reason <= outcome.refusal;
      event_unit.object <= 32'(kick.queue_pair_number);
      event_unit.detail <= 48'(kick.send_queue_sequence_number);
    end
    rewind_valid <= !reset && (goes && outcome.rewinds || rewind_valid && !rewind_ready);
    if (goes && outcome.rewinds) begin
      rewind_number <= kick.queue_pair_number;
      rewind_psn <= outcome.rewind_psn;
    end

    counted_underlying_function <= kick.underlying_function;
    counted_stale <= !reset && goes && outcome.is_stale;
    counted_handed_back <= !reset && goes && outcome.is_handed_back;
    counted_refused <= !reset && goes && outcome.fails;
    counted_checksum_mismatch <= !reset && goes && outcome.fails && outcome.refusal == 8'(hca_spec_pkg::REFUSAL_CHECKSUM_MISMATCH);
    counted_hold <= !reset && goes ? outcome.hold : '0;
  end
endmodule
