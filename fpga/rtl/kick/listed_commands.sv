// Finds the commands of a queue pair on the lists of virtual_kick, which drops them when the queue pair must become quiet. It waits until
// all commands on their way to or from a list have arrived, then scans the entries, one per clock.
module listed_commands #(
    parameter int unsigned ENTRIES = 72,
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned FUNCTION_WIDTH = 3,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1
) (
    input logic clock,
    input logic reset,

    // A command is listed; its entry and lane follow four clocks later.
    input hca_spec_pkg::kick_unit_t push_unit,
    input logic pushed,
    input logic [ENTRY_WIDTH-1:0] pushed_entry,
    input logic [LANE_WIDTH-1:0] pushed_lane,

    // A command leaves its list: its function, and whether send_queue_scheduler had fetched it.
    input logic left,
    input logic [ENTRY_WIDTH-1:0] left_entry,
    output logic [FUNCTION_WIDTH-1:0] left_function,
    output logic left_fetched,

    // Drops the commands of a queue pair, including those listed in this clock. While `dropping`, virtual_kick lists and starts no command.
    input logic drop,
    input logic [23:0] drop_queue_pair_number,
    output logic dropping,
    output logic dropped,  // A command is dropped in this clock.
    output logic [ENTRY_WIDTH-1:0] dropped_entry,
    output logic [LANE_WIDTH-1:0] dropped_lane,
    output logic [FUNCTION_WIDTH-1:0] dropped_underlying_function,
    output logic [23:0] dropped_queue_pair_number
);
  localparam int unsigned WIDTH = FUNCTION_WIDTH + LANE_WIDTH + 24;
  localparam int unsigned COMMAND_WIDTH = FUNCTION_WIDTH + 1 + 24;
  localparam int unsigned SETTLE_WIDTH = 4;  // 16 clocks.

  logic [WIDTH-1:0] commands[ENTRIES];
  logic [FUNCTION_WIDTH:0] origins[ENTRIES];  // Function, and whether send_queue_scheduler fetched the command.
  logic [ENTRIES-1:0] alive;
  logic [COMMAND_WIDTH-1:0] on_the_way_1, on_the_way_2, on_the_way_3, arrived;
  logic [SETTLE_WIDTH:0] settled;
  logic is_settled, scanning, finds;
  logic [ENTRY_WIDTH-1:0] entry;
  logic [FUNCTION_WIDTH-1:0] found_underlying_function;
  logic [LANE_WIDTH-1:0] found_lane;
  logic [23:0] named;
  logic unused_push_unit;
  assign unused_push_unit = &{1'b0, push_unit};

  assign {left_function, left_fetched} = origins[left_entry];
  assign {found_underlying_function, found_lane, named} = commands[entry];
  assign is_settled = settled[SETTLE_WIDTH];
  assign finds = scanning && is_settled && alive[entry] && named == dropped_queue_pair_number;

  always_ff @(posedge clock) begin
    if (reset) alive <= '0;
    else
      alive <= ENTRIES'(pushed) << pushed_entry | alive & ~(ENTRIES'(left) << left_entry) & ~(ENTRIES'(finds) << entry);
  end

  always_ff @(posedge clock) begin
    on_the_way_1 <= {FUNCTION_WIDTH'(push_unit.underlying_function), push_unit.origin == hca_spec_pkg::KICK_ORIGIN_SCHEDULED,
        push_unit.queue_pair_number};
    {on_the_way_2, on_the_way_3, arrived} <= {on_the_way_1, on_the_way_2, on_the_way_3};
    if (pushed) begin
      commands[pushed_entry] <= {arrived[COMMAND_WIDTH-1:25], pushed_lane, arrived[23:0]};
      origins[pushed_entry] <= arrived[COMMAND_WIDTH-1:24];
    end
    dropped <= finds && !reset;
    dropped_entry <= entry;
    dropped_lane <= found_lane;
    dropped_underlying_function <= found_underlying_function;
    scanning <= !reset && (drop || scanning && !(is_settled && entry == ENTRY_WIDTH'(ENTRIES - 1)));
    dropping <= !reset && (drop || scanning);  // The last command is dropped a clock after the scan has found it.
    if (!scanning) begin
      settled <= '0;
      entry <= '0;
      if (drop) dropped_queue_pair_number <= drop_queue_pair_number;
    end else if (is_settled) entry <= entry + ENTRY_WIDTH'(1);
    else settled <= settled + (SETTLE_WIDTH + 1)'(1);
  end
endmodule
