// Credits are conserved: a lane holds those of its commands that were started and have not given them back, no more and no
// fewer, of each kind and source. query_lane stands for any one. Counted at the ports; that a pool gives no more than there are
// is credit_pool's to prove.
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_execution[LANES];
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_shared_execution[LANES];
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_completion[LANES];
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_shared_completion[LANES];
logic started = 1'b0;
logic [LANE_WIDTH-1:0] lane_before;

// Credits of a kind and source that the finish ports return for a lane in this clock; the numbers are places in a finish unit.
function automatic logic [CREDIT_WIDTH-1:0] returned(input logic [LANE_WIDTH-1:0] of_lane, input int unsigned is_returned,
                                                    input int unsigned is_shared, input logic shared);
  returned = '0;
  for (int unsigned port = 0; port < FINISHES; port++)
    if (finish[port] && finish_ready[port] && finish_unit[port*FINISH_WIDTH+is_returned]
        && finish_unit[port*FINISH_WIDTH+is_shared] == shared
        && finish_unit[port*FINISH_WIDTH+hca_spec_pkg::FINISH_UNIT_TRANSMIT_VIRTUAL_LANE_LSB+:LANE_WIDTH] == of_lane)
      returned = returned + CREDIT_WIDTH'(1);
endfunction

for (genvar number = 0; number < LANES; number++) begin : gen_formal
  localparam logic [LANE_WIDTH-1:0] NUMBER = LANE_WIDTH'(number);
  logic here;  // A command of this lane comes out.
  logic [CREDIT_WIDTH-1:0] execution_back;
  logic [CREDIT_WIDTH-1:0] shared_execution_back;
  logic [CREDIT_WIDTH-1:0] completion_back;
  logic [CREDIT_WIDTH-1:0] shared_completion_back;
  assign here = popped && !kick_corrupted && !was_discard && popped_lane == NUMBER;
  assign execution_back = returned(NUMBER, hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_RETURNED_LSB,
      hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_SHARED_LSB, 1'b0);
  assign shared_execution_back = returned(NUMBER, hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_RETURNED_LSB,
      hca_spec_pkg::FINISH_UNIT_EXECUTION_CREDIT_SHARED_LSB, 1'b1);
  assign completion_back = returned(NUMBER, hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_RETURNED_LSB,
      hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_SHARED_LSB, 1'b0);
  assign shared_completion_back = returned(NUMBER, hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_RETURNED_LSB,
      hca_spec_pkg::FINISH_UNIT_COMPLETION_CREDIT_SHARED_LSB, 1'b1);

  always_ff @(posedge clock) begin
    if (reset) begin
      owed_execution[number] <= '0;
      owed_shared_execution[number] <= '0;
      owed_completion[number] <= '0;
      owed_shared_completion[number] <= '0;
    end else begin
      owed_execution[number] <= owed_execution[number]
          + CREDIT_WIDTH'(here && !kick_started_unit.execution_credit_shared) - execution_back;
      owed_shared_execution[number] <= owed_shared_execution[number]
          + CREDIT_WIDTH'(here && kick_started_unit.execution_credit_shared) - shared_execution_back;
      owed_completion[number] <= owed_completion[number]
          + CREDIT_WIDTH'(here && !kick_started_unit.completion_credit_shared) - completion_back;
      owed_shared_completion[number] <= owed_shared_completion[number]
          + CREDIT_WIDTH'(here && kick_started_unit.completion_credit_shared) - shared_completion_back;
    end
  end

  // Nobody returns what it has not.
  always_comb begin
    assume (execution_back <= owed_execution[number]);
    assume (shared_execution_back <= owed_shared_execution[number]);
    assume (completion_back <= owed_completion[number]);
    assume (shared_completion_back <= owed_shared_completion[number]);
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
    if (popped && !was_discard) begin
      assert (execution_taken == linked_list_queue_pkg::CREDIT_SOURCE_OWN
          || execution_taken == linked_list_queue_pkg::CREDIT_SOURCE_SHARED);
      assert (completion_taken == linked_list_queue_pkg::CREDIT_SOURCE_OWN
          || completion_taken == linked_list_queue_pkg::CREDIT_SOURCE_SHARED);
      assert (!was_refused);
    end
    assert (query_execution_credits_held == owed_execution[query_lane] + CREDIT_WIDTH'(popped
        && !was_discard && popped_lane == query_lane && execution_taken == linked_list_queue_pkg::CREDIT_SOURCE_OWN));
    assert (query_shared_execution_credits_held == owed_shared_execution[query_lane] + CREDIT_WIDTH'(popped
        && !was_discard && popped_lane == query_lane && execution_taken == linked_list_queue_pkg::CREDIT_SOURCE_SHARED));
    assert (query_completion_credits_held == owed_completion[query_lane] + CREDIT_WIDTH'(popped
        && !was_discard && popped_lane == query_lane && completion_taken == linked_list_queue_pkg::CREDIT_SOURCE_OWN));
    assert (query_shared_completion_credits_held == owed_shared_completion[query_lane] + CREDIT_WIDTH'(popped
        && !was_discard && popped_lane == query_lane && completion_taken == linked_list_queue_pkg::CREDIT_SOURCE_SHARED));
  end
end
