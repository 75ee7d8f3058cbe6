// Receives finish units from the blocks that end commands, for virtual_kick. Every clock it accepts one from each port, but only one that
// ends a command, the ports in turn. Their credits return to the lanes.
module finish_ports #(
    parameter int unsigned FINISHES = 3,
    parameter int unsigned LANE_WIDTH = 6,
    localparam int unsigned FINISH_WIDTH = hca_spec_pkg::FINISH_UNIT_BYTES * 8,
    localparam int unsigned PORT_WIDTH = FINISHES > 1 ? $clog2(FINISHES) : 1
) (
    input logic clock,
    input logic reset,
    input logic [FINISHES-1:0] finish,
    output logic [FINISHES-1:0] finish_ready,
    input logic [FINISHES*FINISH_WIDTH-1:0] finish_unit,

    // A command may end in this clock; it ends.
    input logic may_end,
    output logic ends,
    output hca_spec_pkg::finish_unit_t ended,

    // By port: the credits that come back, their sources (credit_source_t) and their lane.
    output logic [FINISHES-1:0] execution_returned,
    output logic [FINISHES*2-1:0] execution_return_source,
    output logic [FINISHES-1:0] completion_returned,
    output logic [FINISHES*2-1:0] completion_return_source,
    output logic [FINISHES*LANE_WIDTH-1:0] return_lane
);
  logic [FINISHES-1:0] ends_command;
  logic [PORT_WIDTH-1:0] ending_port, last_port;

  for (genvar port = 0; port < FINISHES; port++) begin : gen_finish
    localparam int unsigned LSB = port * FINISH_WIDTH;
    logic is_taken;
    assign ends_command[port] = finish[port] && finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_FINISHED_LSB];
    assign finish_ready[port] = !ends_command[port] || ends && ending_port == PORT_WIDTH'(port);
    assign is_taken = finish[port] && finish_ready[port];
    assign return_lane[port*LANE_WIDTH+:LANE_WIDTH] =
        finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_TRANSMIT_VIRTUAL_LANE_LSB+:LANE_WIDTH];
    assign execution_returned[port] = is_taken && finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_RETURNED_LSB];
    assign execution_return_source[port*2+:2] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_SHARED_LSB] ?
        linked_list_queue_pkg::CREDIT_SOURCE_SHARED : linked_list_queue_pkg::CREDIT_SOURCE_OWN;
`ifdef FPGA_VERBS_MUTANT_CREDIT_LEAKED
    assign completion_returned[port] = 1'b0;
`else
    assign completion_returned[port] = is_taken && finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_RETURNED_LSB];
`endif
    assign completion_return_source[port*2+:2] = finish_unit[LSB+hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_SHARED_LSB] ?
        linked_list_queue_pkg::CREDIT_SOURCE_SHARED : linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  end

  find_next #(.SIZE(FINISHES)) i_ending (.bits(ends_command), .after(last_port), .next(ending_port));

  assign ends = ends_command != '0 && may_end;
  assign ended = finish_unit[ending_port*FINISH_WIDTH+:FINISH_WIDTH];
  always_ff @(posedge clock) begin
    if (reset) last_port <= '0;
    else if (ends) last_port <= ending_port;
  end
endmodule
