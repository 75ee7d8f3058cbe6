// Receives finish units from the blocks that end commands, for virtual_kick. Every clock it accepts units that together return one credit of
// each kind and end one command, at most. The ports take turns: a unit waits for those offered before it in this order that return a credit
// of the same kind, or end a command too.
module finish_ports #(
    parameter int unsigned FINISHES = 3,
    localparam int unsigned FINISH_WIDTH = hca_spec_pkg::FINISH_UNIT_BYTES * 8
) (
    input logic clock,
    input logic reset,
    input logic [FINISHES-1:0] finish,
    output logic [FINISHES-1:0] finish_ready,
    input logic [FINISHES*FINISH_WIDTH-1:0] finish_unit,

    // A unit may be taken in this clock, one that ends a command too; it ends.
    input logic may_take,
    input logic may_end,
    output logic ends,
    output hca_spec_pkg::finish_unit_t ended,

    // Credits that come back, and the units that return them.
    output logic execution_returned,
    output hca_spec_pkg::finish_unit_t execution_unit,
    output logic completion_returned,
    output hca_spec_pkg::finish_unit_t completion_unit
);
  localparam logic [FINISHES-1:0] ALL = '1;

  logic [FINISHES-1:0] offered, ends_command, has_execution, has_completion, first;
  logic [FINISHES-1:0] behind_last;  // The ports after the last one that was first.

  for (genvar port = 0; port < FINISHES; port++) begin : gen_finish
    localparam int unsigned LSB = port * FINISH_WIDTH;
    localparam logic [FINISHES-1:0] LOWER = ~(ALL << port);
    logic [FINISHES-1:0] earlier, against;  // Other ports whose turn is before; whose unit cannot be taken beside this one.
    assign earlier = behind_last[port] ? behind_last & LOWER : behind_last | LOWER;
    assign offered[port] = finish[port] && may_take && (may_end || !finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_FINISHED_LSB]);
    assign ends_command[port] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_FINISHED_LSB];
    assign has_execution[port] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_RETURNED_LSB];
    assign has_completion[port] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_RETURNED_LSB];
    assign against = (ends_command[port] ? ends_command : '0) | (has_execution[port] ? has_execution : '0)
        | (has_completion[port] ? has_completion : '0);
    assign finish_ready[port] = offered[port] && (offered & earlier & against) == '0;
    assign first[port] = offered[port] && (offered & earlier) == '0;
  end

  // The unit of the only port that is set, if any.
  function automatic logic [FINISH_WIDTH-1:0] unit_of(input logic [FINISHES-1:0] ports, input logic [FINISHES*FINISH_WIDTH-1:0] units);
    unit_of = '0;
    for (int unsigned port = 0; port < FINISHES; port++)
      if (ports[port]) unit_of = unit_of | units[port*FINISH_WIDTH+:FINISH_WIDTH];
  endfunction

  assign ends = (ends_command & finish_ready) != '0;
  assign ended = unit_of(ends_command & finish_ready, finish_unit);
  assign execution_returned = (has_execution & finish_ready) != '0;
  assign execution_unit = unit_of(has_execution & finish_ready, finish_unit);
`ifdef FPGA_VERBS_MUTANT_CREDIT_LEAKED
  assign completion_returned = 1'b0;
`else
  assign completion_returned = (has_completion & finish_ready) != '0;
`endif
  assign completion_unit = unit_of(has_completion & finish_ready, finish_unit);
  always_ff @(posedge clock) begin
    if (reset) behind_last <= '0;
    else if (offered != '0) behind_last <= ~(first | (first - FINISHES'(1)));
  end
endmodule
