// Counts the kicked, unfinished commands of each lane and of each function. virtual_kick selects the lane of a queue pair without kicked
// commands by the counts of the lanes.
module kick_counts #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned COUNT_WIDTH = 10,
    localparam int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1,
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // A command joins a lane; a command ends.
    input logic joins,
    input logic [LANE_WIDTH-1:0] joined_lane,
    input logic [FUNCTION_WIDTH-1:0] joined_underlying_function,
    input logic ends,
    input logic [LANE_WIDTH-1:0] ends_lane,
    input logic [FUNCTION_WIDTH-1:0] ends_underlying_function,

    // Chooses a lane, one-hot, for a queue pair whose level owns level_lanes: for a kick after three clocks, for a command that
    // send_queue_scheduler fetches after four. The lane chosen for a kick does not count as idle until virtual_kick has listed the command
    // or not.
    input logic [LANES-1:0] shared_lanes,
    input logic choose,
    input logic [LANES-1:0] level_lanes,
    output logic [LANES-1:0] chosen,
    input logic decided,
    input logic [LANE_WIDTH-1:0] decided_lane,
    input logic [LANES-1:0] outlook_lanes,
    output logic [LANE_WIDTH-1:0] outlook_lane,

    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COUNT_WIDTH-1:0] query_function_commands
);
  localparam int unsigned CLASSES = COUNT_WIDTH < 5 ? COUNT_WIDTH : 5;

  logic [COUNT_WIDTH*LANES-1:0] at_least;
  logic [CLASSES*LANES-1:0] loaded, loaded_before;
  logic [LANES-1:0] avoided, outlook_chosen;
  logic was_decided;
  logic [LANE_WIDTH-1:0] was_decided_lane;
  logic unused_at_least;
  assign unused_at_least = &{1'b0, at_least};

  lane_counters #(
      .LANES(LANES),
      .COUNT_WIDTH(COUNT_WIDTH)
  ) i_loads (
      .clock(clock),
      .reset(reset),
      .more(LANES'(joins) << joined_lane),
      .more_too('0),
      .less(LANES'(ends) << ends_lane),
      .at_least(at_least)
  );

  always_ff @(posedge clock) begin
    loaded <= at_least[CLASSES*LANES-1:0];
    loaded_before <= loaded;
    was_decided <= decided;
    was_decided_lane <= decided_lane;
    avoided <= reset ? '0 : (avoided | chosen) & ~(LANES'(was_decided) << was_decided_lane);
  end

  lane_choice #(
      .LANES(LANES),
      .CLASSES(CLASSES)
  ) i_lane_choice (
      .own_lanes(level_lanes),
      .avoided_last(chosen),
      .*
  );
  lane_choice #(
      .LANES(LANES),
      .CLASSES(CLASSES)
  ) i_outlook_choice (
      .choose(1'b1),
      .own_lanes(outlook_lanes),
      .avoided('0),
      .avoided_last('0),
      .chosen(outlook_chosen),
      .*
  );
  logic [LANE_WIDTH-1:0] outlook_first;
  find_first #(.SIZE(LANES), .ISOLATED(1'b1)) i_outlook_lane (.bits(outlook_chosen), .first(outlook_first));
  always_ff @(posedge clock) outlook_lane <= outlook_first;

  // By function, modulo 2^COUNT_WIDTH: commands that joined and commands that ended. Each memory has one writer. Their difference is the
  // count; it is 0 until the bit in `used` is set, and the first command then starts from the number of ended commands.
  logic [COUNT_WIDTH-1:0] joined_of[UNDERLYING_FUNCTIONS];
  logic [COUNT_WIDTH-1:0] ended_of[UNDERLYING_FUNCTIONS];
  logic [UNDERLYING_FUNCTIONS-1:0] used;
  always_ff @(posedge clock) begin
    if (joins)
      joined_of[joined_underlying_function] <= (used[joined_underlying_function] ? joined_of[joined_underlying_function] :
          ended_of[joined_underlying_function]) + COUNT_WIDTH'(1);
    if (ends) ended_of[ends_underlying_function] <= ended_of[ends_underlying_function] + COUNT_WIDTH'(1);
    if (reset) used <= '0;
    else if (joins) used[joined_underlying_function] <= 1'b1;
  end
  assign query_function_commands = used[query_underlying_function] ?
      joined_of[query_underlying_function] - ended_of[query_underlying_function] : '0;
endmodule
