// Accepts finish units from the blocks that end commands, for virtual_kick: each clock, units that together return at most one credit of
// each kind and end at most one command. The ports take turns. A unit waits while an earlier port in this order offers a unit that returns
// a credit of the same kind, or that also ends a command.
module finish_ports #(
    parameter int unsigned FINISHES = 3,
    localparam int unsigned FINISH_WIDTH = hca_spec_pkg::FINISH_UNIT_BYTES * 8
) (
    input logic clock,
    input logic reset,
    input logic [FINISHES-1:0] finish,
    output logic [FINISHES-1:0] finish_ready,
    input logic [FINISHES*FINISH_WIDTH-1:0] finish_unit,

    // may_take: units can be accepted in this clock. may_end: also a unit that ends a command. ends: such a unit is accepted.
    input logic may_take,
    input logic may_end,
    output logic ends,
    output logic [23:0] ended_queue_pair_number,
    output logic [7:0] ended_lane,
    output logic [3:0] ended_underlying_function,

    // Returned credits, and the lane and pool that each returns to.
    output logic execution_returned,
    output logic [7:0] execution_lane,
    output logic execution_shared,
    output logic completion_returned,
    output logic [7:0] completion_lane,
    output logic completion_shared
);
  localparam logic [FINISHES-1:0] ALL = '1;
  // The bits of a unit that this block reads.
  localparam int unsigned FIELDS_WIDTH = hca_spec_pkg::FINISH_UNIT_QUEUE_PAIR_NUMBER_LSB
      + hca_spec_pkg::FINISH_UNIT_QUEUE_PAIR_NUMBER_WIDTH;

  logic [FINISHES*FIELDS_WIDTH-1:0] fields;
  logic [FINISHES-1:0] offered, ends_command, has_execution, has_completion, first;
  logic [FINISHES-1:0] first_end, first_execution, first_completion;  // The first offered unit of each kind.
  logic [FINISHES-1:0] behind_last;  // The ports after the one served last.

  for (genvar port = 0; port < FINISHES; port++) begin : gen_finish
    localparam int unsigned LSB = port * FINISH_WIDTH;
    assign fields[port*FIELDS_WIDTH+:FIELDS_WIDTH] = finish_unit[LSB+:FIELDS_WIDTH];
    assign ends_command[port] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_FINISHED_LSB];
    assign has_execution[port] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_RETURNED_LSB];
    assign has_completion[port] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_RETURNED_LSB];
  end

  // The first of these ports in turn, one-hot.
  function automatic logic [FINISHES-1:0] first_of(input logic [FINISHES-1:0] ports, input logic [FINISHES-1:0] behind);
    logic [FINISHES-1:0] candidates;
    candidates = (ports & behind) != '0 ? ports & behind : ports;
    for (int unsigned port = 0; port < FINISHES; port++)  // With few ports this is faster than a carry chain.
      first_of[port] = candidates[port] && (candidates & ~(ALL << port)) == '0;
  endfunction

  // may_take does not change whose turn it is, so it enters the path last.
  assign offered = finish & ({FINISHES{may_end}} | ~ends_command);
  assign first_end = first_of(offered & ends_command, behind_last);
  assign first_execution = first_of(offered & has_execution, behind_last);
  assign first_completion = first_of(offered & has_completion, behind_last);
  assign finish_ready = may_take ? offered & (first_end | ~ends_command) & (first_execution | ~has_execution)
      & (first_completion | ~has_completion) : '0;

  // The fields of the one port whose bit is set, or 0.
  function automatic logic [FIELDS_WIDTH-1:0] fields_of(input logic [FINISHES-1:0] ports, input logic [FINISHES*FIELDS_WIDTH-1:0] from);
    fields_of = '0;
    for (int unsigned port = 0; port < FINISHES; port++)
      if (ports[port]) fields_of = fields_of | from[port*FIELDS_WIDTH+:FIELDS_WIDTH];
  endfunction

  // The fields of the first units, accepted or not.
  logic [FIELDS_WIDTH-1:0] ended, execution, completion;
  logic unused_fields;
  assign ended = fields_of(first_end, fields);
  assign execution = fields_of(first_execution, fields);
  assign completion = fields_of(first_completion, fields);
  assign unused_fields = &{1'b0, ended, execution, completion};

  assign ends = (first_end & finish_ready) != '0;
  assign ended_queue_pair_number = ended[hca_spec_pkg::FINISH_UNIT_QUEUE_PAIR_NUMBER_LSB+:24];
  assign ended_lane = ended[hca_spec_pkg::FINISH_UNIT_TRANSMIT_VIRTUAL_LANE_LSB+:8];
  assign ended_underlying_function = ended[hca_spec_pkg::FINISH_UNIT_UNDERLYING_FUNCTION_LSB+:4];
  assign execution_returned = (first_execution & finish_ready) != '0;
  assign execution_lane = execution[hca_spec_pkg::FINISH_UNIT_TRANSMIT_VIRTUAL_LANE_LSB+:8];
  assign execution_shared = execution[hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_SHARED_LSB];
`ifdef FPGA_VERBS_MUTANT_CREDIT_LEAKED
  assign completion_returned = 1'b0;
`else
  assign completion_returned = (first_completion & finish_ready) != '0;
`endif
  assign completion_lane = completion[hca_spec_pkg::FINISH_UNIT_TRANSMIT_VIRTUAL_LANE_LSB+:8];
  assign completion_shared = completion[hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_SHARED_LSB];

  assign first = first_of(offered, behind_last);
  always_ff @(posedge clock) begin
    if (reset) behind_last <= '0;
    else if (may_take && offered != '0)
      for (int unsigned port = 0; port < FINISHES; port++) behind_last[port] <= (first & ~(ALL << port)) != '0;
  end
endmodule
