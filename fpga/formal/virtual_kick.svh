// Credits are conserved: a lane holds exactly the credits of its commands that were started and have not returned them, of each kind.
// query_lane stands for any lane. The proof counts at the ports; returns count one clock later. The proof of credit_pool shows that a pool
// gives out no more credits than exist, and the bench compares which of them are shared.
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_execution[LANES];
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_completion[LANES];
localparam int unsigned FINISH_WIDTH = hca_spec_pkg::FINISH_UNIT_BYTES * 8;
logic started = 1'b0;
logic [LANE_WIDTH-1:0] lane_before;

// Credits of a kind that the finish ports return for a lane in this clock; the number is a bit position in a finish unit.
function automatic logic [CREDIT_WIDTH-1:0] returned(input logic [LANE_WIDTH-1:0] of_lane, input int unsigned is_returned);
  returned = '0;
  for (int unsigned port = 0; port < FINISHES; port++)
    if (finish[port] && finish_ready[port] && finish_unit[port*FINISH_WIDTH+is_returned]
        && finish_unit[port*FINISH_WIDTH+hca_spec_pkg::FINISH_UNIT_TRANSMIT_VIRTUAL_LANE_LSB+:LANE_WIDTH] == of_lane)
      returned = returned + CREDIT_WIDTH'(1);
endfunction

for (genvar number = 0; number < LANES; number++) begin : gen_formal
  localparam logic [LANE_WIDTH-1:0] NUMBER = LANE_WIDTH'(number);
  logic starts_here, execution_lost, completion_lost, is_lost;  // The start of a command that cannot be read.
  logic [CREDIT_WIDTH-1:0] execution_back, completion_back, execution_was_back, completion_was_back;
  assign starts_here = starting && starting_lane == NUMBER;
  assign is_lost = kick_corrupted && !popped_dropped && kick_corrupted_lane == NUMBER;
  assign execution_lost = is_lost;
  assign completion_lost = is_lost;
  assign execution_back = returned(NUMBER, hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_RETURNED_LSB);
  assign completion_back = returned(NUMBER, hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_RETURNED_LSB);

  always_ff @(posedge clock) begin
    execution_was_back <= reset ? '0 : execution_back + CREDIT_WIDTH'(execution_lost);
    completion_was_back <= reset ? '0 : completion_back + CREDIT_WIDTH'(completion_lost);
    if (reset) begin
      owed_execution[number] <= '0;
      owed_completion[number] <= '0;
    end else begin
      owed_execution[number] <= owed_execution[number] + CREDIT_WIDTH'(starts_here) - execution_was_back;
      owed_completion[number] <= owed_completion[number] + CREDIT_WIDTH'(starts_here) - completion_was_back;
    end
  end

  // Only held credits return, and the lists lose only started commands.
  always_comb begin
    assume (execution_back + CREDIT_WIDTH'(execution_lost) + execution_was_back <= owed_execution[number]);
    assume (completion_back + CREDIT_WIDTH'(completion_lost) + completion_was_back <= owed_completion[number]);
    if (started) begin
      assert (execution_was_back == CREDIT_WIDTH'(execution_returned && execution_return_lane == NUMBER));
      assert (completion_was_back == CREDIT_WIDTH'(completion_returned && completion_return_lane == NUMBER));
    end
  end
end

always_ff @(posedge clock) begin
  started <= 1'b1;
  lane_before <= query_lane;
end

always_comb begin
  if (!started) assume (reset);
  if (started) begin
    assume (query_lane == lane_before);
    if (starting)
      assert ((!starting_execution_shared || may_share_execution && execution_shared_free)
          && (!starting_completion_shared || may_share_completion && completion_shared_free));
    assert (query_execution_credits_held + query_shared_execution_credits_held == owed_execution[query_lane]);
    assert (query_completion_credits_held + query_shared_completion_credits_held == owed_completion[query_lane]);
  end
end
