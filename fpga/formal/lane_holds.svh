// A queue pair that has commands which are not finished stays on its lane, and one that has none is on no lane. `watched` stands
// for any queue pair. By induction, over the block alone.
(* anyconst *) logic [QUEUE_PAIR_WIDTH-1:0] watched;
logic [COUNT_WIDTH-1:0] watched_commands;
logic [LANE_WIDTH-1:0] watched_lane;
logic started = 1'b0;
logic was_clearing = 1'b1;
logic watched_joins;
logic watched_finishes;

assign watched_joins = join_lane && queue_pair == watched;
assign watched_finishes = finish && finish_queue_pair == watched;

always_ff @(posedge clock) begin
  started <= 1'b1;
  was_clearing <= clearing || reset;
  if (reset || clearing) watched_commands <= '0;
  else watched_commands <= watched_commands + COUNT_WIDTH'(watched_joins) - COUNT_WIDTH'(watched_finishes);
  if (watched_joins) watched_lane <= joined_lane;
end

always_comb begin
  if (!started) assume (reset);
  // The promises of the surroundings.
  if (clearing || was_clearing) assume (!join_lane);
  if (clearing) assume (!finish);
  if (watched_commands == '0) assume (!watched_finishes);
  if (watched_commands == '1) assume (!watched_joins);

  if (started && clearing && watched < clear_queue_pair)
    assert (joined[watched] == '0 && finished[watched] == '0);
  if (started && clearing) assert (!finishing);
  if (started && !clearing) begin
    assert (joined[watched][COUNT_WIDTH-1:0] - finished[watched]
        - COUNT_WIDTH'(finishing && finishing_queue_pair == watched) == watched_commands);
    if (watched_commands != '0) assert (joined[watched][COUNT_WIDTH+:LANE_WIDTH] == watched_lane);
    if (finishing)
      assert ((finishing_before ? finished_written : finishing_read) == finished[finishing_queue_pair]);
    if (!was_clearing) begin
      assert (joined_now == joined[queue_pair]);
      assert ((finished_before ? finished_written : finished_read) == finished[queue_pair]);
      if (queue_pair == watched) begin
        assert (held == (watched_commands != '0));
        if (held) assert (held_lane == watched_lane);
      end
    end
  end
end
