// Whose commands are on the lists of virtual_kick, so that those of a queue pair that is to become quiet can be dropped: all
// entries are gone through, one a clock.
module listed_commands #(
    parameter int unsigned ENTRIES = 72,
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    parameter int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1
) (
    input logic clock,
    input logic reset,

    // A command is listed; in the next clock, where.
    input logic [LANE_WIDTH-1:0] push_lane,
    input hca_spec_pkg::kick_unit_t push_unit,
    input logic pushed,
    input logic [ENTRY_WIDTH-1:0] pushed_entry,

    // Drops the commands of a queue pair, those that are listed in this clock too. Nothing is listed, and nothing leaves, as long as
    // it is dropping. Alive are the entries that have a command and were not dropped.
    input logic drop,
    input logic [23:0] drop_queue_pair_number,
    input logic [ENTRIES-1:0] alive,
    output logic dropping,
    output logic dropped,  // One, in this clock.
    output logic [ENTRY_WIDTH-1:0] dropped_entry,
    output logic [LANE_WIDTH-1:0] dropped_lane,
    output logic [FUNCTION_WIDTH-1:0] dropped_underlying_function,
    output logic [23:0] dropped_queue_pair_number
);
  localparam int unsigned WIDTH = FUNCTION_WIDTH + LANE_WIDTH + 24;

  logic [WIDTH-1:0] commands[ENTRIES];
  logic [WIDTH-1:0] pushed_command;
  logic is_settled;  // What was listed in the clock of the drop has its entry.
  logic [23:0] named;
  logic unused_push_unit;
  assign unused_push_unit = &{1'b0, push_unit};

  assign {dropped_underlying_function, dropped_lane, named} = commands[dropped_entry];
  assign dropped = dropping && is_settled && alive[dropped_entry] && named == dropped_queue_pair_number;

  always_ff @(posedge clock) begin
    pushed_command <= {FUNCTION_WIDTH'(push_unit.underlying_function), push_lane, push_unit.queue_pair_number};
    if (pushed) commands[pushed_entry] <= pushed_command;
    if (reset) dropping <= 1'b0;
    else dropping <= drop || dropping && !(is_settled && dropped_entry == ENTRY_WIDTH'(ENTRIES - 1));
    is_settled <= dropping;
    if (!dropping) begin
      dropped_entry <= '0;
      dropped_queue_pair_number <= drop_queue_pair_number;
    end else if (is_settled) dropped_entry <= dropped_entry + ENTRY_WIDTH'(1);
  end
endmodule
