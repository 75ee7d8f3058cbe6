// Ends commands: returns the PCB and the execution credit, has the kick record written, and announces the message to completion, in this order, so
// that a message is not over before its command. A packet leaves afterwards, so that completion knows its message before the answer.
module message_ends #(
    parameter int unsigned BUFFER_WIDTH = 7
) (
    input logic clock,
    input logic reset,

    // A command, with its last packet; the inputs are there a clock before. `done`: all have taken it.
    input logic ends,
    output logic done,
    input logic [23:0] queue_pair,
    input logic [3:0] underlying_function,
    input logic [7:0] status,  // completion_status_t
    input hca_spec_pkg::kick_unit_t kick,
    input hca_spec_pkg::opcode_t opcode,
    input logic signaled,
    input execution_plan_pkg::execution_plan_t plan,

    output logic release_buffer,
    output logic [BUFFER_WIDTH-1:0] release_physical_collect_buffer,
    output logic finish,
    input logic finish_ready,
    output hca_spec_pkg::finish_unit_t finish_unit,
    output logic record,
    input logic record_ready,
    output hca_spec_pkg::kick_unit_t record_unit,
    output hca_spec_pkg::opcode_t record_opcode,
    output logic [63:0] record_begin,
    output logic message,
    input logic message_ready,
    output hca_spec_pkg::message_unit_t message_unit,

    output logic counted_sent,
    output logic counted_failed,
    output logic [3:0] counted_underlying_function
);
  logic is_finished, is_recorded, finishes, records, begins;
  logic [23:0] behind;
  logic unused_bits;
  assign unused_bits = &{1'b0, kick, plan};
  assign finishes = finish && finish_ready;
  assign records = record && record_ready;
  assign done = message && message_ready;
  assign begins = ends && !finish && !record && !is_finished && !is_recorded && !message;
  always_ff @(posedge clock) begin
    finish <= !reset && (begins || finish && !finish_ready);
    record <= !reset && (begins || record && !record_ready);
    is_finished <= !reset && !done && (finishes || is_finished);
    is_recorded <= !reset && !done && (records || is_recorded);
    message <= !reset && !done && (message || is_finished && is_recorded);
    release_buffer <= !reset && begins;
    counted_sent <= !reset && begins && status == hca_spec_pkg::COMPLETION_STATUS_SUCCESS;
    counted_failed <= !reset && begins && status != hca_spec_pkg::COMPLETION_STATUS_SUCCESS;
    counted_underlying_function <= kick.underlying_function;
    release_physical_collect_buffer <= kick.physical_collect_buffer[BUFFER_WIDTH-1:0];

    behind <= plan.first_psn + plan.packets;
    // From now on the PCB may get another command.
    if (begins) begin
      finish_unit <= '0;
      finish_unit.physical_collect_buffer <= kick.physical_collect_buffer;
      finish_unit.transmit_virtual_lane <= kick.transmit_virtual_lane;
      finish_unit.underlying_function <= kick.underlying_function;
      finish_unit.quality_of_service_level <= kick.quality_of_service_level;
      finish_unit.execution_credit_shared <= kick.execution_credit_shared;
      finish_unit.completion_credit_shared <= kick.completion_credit_shared;
      finish_unit.execution_credit_returned <= 1'b1;
      finish_unit.queue_pair_number <= kick.queue_pair_number;
      finish_unit.send_queue_sequence_number <= kick.send_queue_sequence_number;

      record_unit <= kick;
      record_unit[hca_spec_pkg::KICK_UNIT_STATUS_LSB+:8] <= status;
      record_opcode <= opcode;
      record_begin <= plan.begun;

      message_unit <= '0;
      message_unit.queue_pair_number <= queue_pair;
      message_unit.underlying_function <= underlying_function;
      message_unit.opcode <= opcode[3:0];
      message_unit.send_queue_sequence_number <= kick.send_queue_sequence_number;
      message_unit.transmit_virtual_lane <= kick.transmit_virtual_lane;
      message_unit.quality_of_service_level <= kick.quality_of_service_level;
      message_unit.completion_credit_shared <= kick.completion_credit_shared;
      message_unit.failure <= status[4:0];
      message_unit.last_psn <= behind - 24'd1;
      message_unit.retry_epoch <= plan.retry_epoch;
      message_unit.signaled <= signaled;
      message_unit.message_length <= plan.message_length;
    end
  end
endmodule
