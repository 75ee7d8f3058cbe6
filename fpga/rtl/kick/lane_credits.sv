// The execution and completion credits of the lanes, one pool for each kind; and the credits that send_queue_scheduler can count on for a
// command that it fetches.
module lane_credits #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned EXECUTION_CREDITS_PER_LANE = hca_spec_pkg::EXECUTION_CREDITS_PER_LANE,
    parameter int unsigned COMPLETION_CREDITS_PER_LANE = hca_spec_pkg::COMPLETION_CREDITS_PER_LANE,
    parameter int unsigned SHARED_EXECUTION_CREDITS = hca_spec_pkg::SHARED_EXECUTION_CREDITS,
    parameter int unsigned SHARED_COMPLETION_CREDITS = hca_spec_pkg::SHARED_COMPLETION_CREDITS,
    parameter int unsigned SHARED_EXECUTION_CREDITS_CAP = hca_spec_pkg::SHARED_EXECUTION_CREDITS_CAP,
    parameter int unsigned SHARED_COMPLETION_CREDITS_CAP = hca_spec_pkg::SHARED_COMPLETION_CREDITS_CAP,
    parameter bit DIVISIBLE = 1'b1,
    parameter int unsigned COUNT_WIDTH = 7,  // Width of the number of commands on a list.
    parameter int unsigned CREDIT_WIDTH = 10,
    localparam int unsigned LANE_WIDTH = LANES > 1 ? $clog2(LANES) : 1
) (
    input logic clock,
    input logic reset,

    // As in credit_pool, for each kind.
    output logic [LANES-1:0] execution_own,
    output logic [LANES-1:0] execution_below_cap,
    output logic execution_shared_free,
    output logic [LANES-1:0] completion_own,
    output logic [LANES-1:0] completion_below_cap,
    output logic completion_shared_free,

    // A lane takes a credit of each kind; a credit of either kind returns.
    input logic starting,
    input logic [LANE_WIDTH-1:0] starting_lane,
    input logic starting_execution_shared,
    input logic starting_completion_shared,
    input logic execution_returned,
    input logic [LANE_WIDTH-1:0] execution_return_lane,
    input logic execution_return_shared,
    input logic completion_returned,
    input logic [LANE_WIDTH-1:0] completion_return_lane,
    input logic completion_return_shared,

    input logic set_execution_credits,
    input logic set_completion_credits,
    input logic [LANE_WIDTH-1:0] set_credits_lane,
    input logic [CREDIT_WIDTH-1:0] set_credits_own,
    input logic [CREDIT_WIDTH-1:0] set_credits_shared_cap,
    input logic set_shared_execution_credits,
    input logic set_shared_completion_credits,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,

    input logic [LANE_WIDTH-1:0] query_lane,
    input logic [COUNT_WIDTH-1:0] query_commands,  // Commands on the list of query_lane.
    output logic [CREDIT_WIDTH-1:0] outlook_credits,  // Credits left once these commands have theirs; five clocks later.
    output logic [CREDIT_WIDTH-1:0] query_execution_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_execution_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_completion_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_completion_credits_held,
    output logic [CREDIT_WIDTH-1:0] shared_execution_credits_held,
    output logic [CREDIT_WIDTH-1:0] shared_completion_credits_held
);
  // Credits for a fetched command, beyond those for the commands on the list.
  logic [CREDIT_WIDTH-1:0] available_execution_credits, available_completion_credits, available_credits;
  logic [4*COUNT_WIDTH-1:0] queried_commands;
  logic [CREDIT_WIDTH-1:0] commands_then;
  assign commands_then = CREDIT_WIDTH'(queried_commands[3*COUNT_WIDTH+:COUNT_WIDTH]);
  always_ff @(posedge clock) begin
    queried_commands <= {queried_commands[3*COUNT_WIDTH-1:0], query_commands};
    available_credits <= available_execution_credits < available_completion_credits ?
        available_execution_credits : available_completion_credits;
    outlook_credits <= available_credits > commands_then ? available_credits - commands_then : '0;
  end

  credit_pool #(
      .OWNERS(LANES),
      .OWN(EXECUTION_CREDITS_PER_LANE),
      .SHARED(SHARED_EXECUTION_CREDITS),
      .SHARED_CAP(SHARED_EXECUTION_CREDITS_CAP),
      .SETTABLE(DIVISIBLE),
      .CREDIT_WIDTH(CREDIT_WIDTH)
  ) i_execution_credits (
      .clock(clock),
      .reset(reset),
      .has_own(execution_own),
      .below_cap(execution_below_cap),
      .has_shared(execution_shared_free),
      .take(starting),
      .take_owner(starting_lane),
      .take_shared(starting_execution_shared),
      .give_back(execution_returned),
      .give_back_owner(execution_return_lane),
      .give_back_shared(execution_return_shared),
      .set_limits(set_execution_credits),
      .set_limits_owner(set_credits_lane),
      .set_own_credits(set_credits_own),
      .set_shared_cap_credits(set_credits_shared_cap),
      .set_shared(set_shared_execution_credits),
      .set_shared_credits(set_shared_credits),
      .query_owner(query_lane),
      .query_available(available_execution_credits),
      .query_own_held(query_execution_credits_held),
      .query_shared_held(query_shared_execution_credits_held),
      .all_shared_held(shared_execution_credits_held)
  );

  credit_pool #(
      .OWNERS(LANES),
      .OWN(COMPLETION_CREDITS_PER_LANE),
      .SHARED(SHARED_COMPLETION_CREDITS),
      .SHARED_CAP(SHARED_COMPLETION_CREDITS_CAP),
      .SETTABLE(DIVISIBLE),
      .CREDIT_WIDTH(CREDIT_WIDTH)
  ) i_completion_credits (
      .clock(clock),
      .reset(reset),
      .has_own(completion_own),
      .below_cap(completion_below_cap),
      .has_shared(completion_shared_free),
      .take(starting),
      .take_owner(starting_lane),
      .take_shared(starting_completion_shared),
      .give_back(completion_returned),
      .give_back_owner(completion_return_lane),
      .give_back_shared(completion_return_shared),
      .set_limits(set_completion_credits),
      .set_limits_owner(set_credits_lane),
      .set_own_credits(set_credits_own),
      .set_shared_cap_credits(set_credits_shared_cap),
      .set_shared(set_shared_completion_credits),
      .set_shared_credits(set_shared_credits),
      .query_owner(query_lane),
      .query_available(available_completion_credits),
      .query_own_held(query_completion_credits_held),
      .query_shared_held(query_shared_completion_credits_held),
      .all_shared_held(shared_completion_credits_held)
  );
endmodule
