// Receives finish units from the blocks that end commands, for virtual_kick. Every clock it accepts units that together return one credit of
// each kind and end one command, at most; the ports take turns.
module finish_ports #(
    parameter int unsigned FINISHES = 3,
    localparam int unsigned FINISH_WIDTH = hca_spec_pkg::FINISH_UNIT_BYTES * 8,
    localparam int unsigned PORT_WIDTH = FINISHES > 1 ? $clog2(FINISHES) : 1
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
  logic [FINISHES-1:0] offered, ends_command, has_execution, has_completion;
  logic [PORT_WIDTH-1:0] ending_port, execution_port, completion_port, first_port, last_port;

  for (genvar port = 0; port < FINISHES; port++) begin : gen_finish
    localparam int unsigned LSB = port * FINISH_WIDTH;
    assign offered[port] = finish[port] && may_take && (may_end || !finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_FINISHED_LSB]);
    assign ends_command[port] = offered[port] && finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_FINISHED_LSB];
    assign has_execution[port] = offered[port] && finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_RETURNED_LSB];
    assign has_completion[port] = offered[port] && finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_RETURNED_LSB];
    assign finish_ready[port] = offered[port] && (!ends_command[port] || ending_port == PORT_WIDTH'(port))
        && (!has_execution[port] || execution_port == PORT_WIDTH'(port))
        && (!has_completion[port] || completion_port == PORT_WIDTH'(port));
  end

  find_next #(.SIZE(FINISHES)) i_first (.bits(offered), .after(last_port), .next(first_port));
  find_next #(.SIZE(FINISHES)) i_ending (.bits(ends_command), .after(last_port), .next(ending_port));
  find_next #(.SIZE(FINISHES)) i_execution (.bits(has_execution), .after(last_port), .next(execution_port));
  find_next #(.SIZE(FINISHES)) i_completion (.bits(has_completion), .after(last_port), .next(completion_port));

  assign ends = (ends_command & finish_ready) != '0;
  assign ended = finish_unit[ending_port*FINISH_WIDTH+:FINISH_WIDTH];
  assign execution_returned = (has_execution & finish_ready) != '0;
  assign execution_unit = finish_unit[execution_port*FINISH_WIDTH+:FINISH_WIDTH];
`ifdef FPGA_VERBS_MUTANT_CREDIT_LEAKED
  assign completion_returned = 1'b0;
`else
  assign completion_returned = (has_completion & finish_ready) != '0;
`endif
  assign completion_unit = finish_unit[completion_port*FINISH_WIDTH+:FINISH_WIDTH];
  always_ff @(posedge clock) begin
    if (reset) last_port <= '0;
    else if (offered != '0) last_port <= first_port;
  end
endmodule
