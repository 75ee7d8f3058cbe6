// A command of a queue pair with unfinished commands joins their lane. `watched` stands for any queue pair. Proved by induction over the
// block alone.
(* anyconst *) logic [QUEUE_PAIR_WIDTH-1:0] watched;
logic [COUNT_WIDTH-1:0] watched_commands;
logic [LANE_WIDTH-1:0] watched_lane;
logic started = 1'b0;
logic was_clearing = 1'b1;
logic watched_joins, watched_finishes, watched_finished;

// The kicks looked up five to eight clocks ago.
logic [3:0] gone;
logic [QUEUE_PAIR_WIDTH-1:0] queue_pair_5, queue_pair_6, queue_pair_7, queue_pair_8;

assign watched_joins = join_lane && queue_pair_4 == watched;
assign watched_finishes = finish && finish_queue_pair == watched;

always_ff @(posedge clock) begin
  started <= 1'b1;
  was_clearing <= clearing || reset;
  if (reset || clearing) watched_commands <= '0;
  else watched_commands <= watched_commands + COUNT_WIDTH'(watched_joins) - COUNT_WIDTH'(watched_finishes);
  if (watched_joins) watched_lane <= lane_4;
  watched_finished <= !reset && !clearing && finishing && finishing_queue_pair == watched;
  gone <= reset ? '0 : {gone[2:0], valid[3]};
  {queue_pair_5, queue_pair_6, queue_pair_7, queue_pair_8} <= {queue_pair_4, queue_pair_5, queue_pair_6, queue_pair_7};
end

// By stage: the kick is of the watched queue pair. joined_count: its commands that have joined.
logic is_1, is_2, is_3, is_4, is_5;
logic [COUNT_WIDTH-1:0] joined_count;
assign is_1 = valid[0] && queue_pair_1 == watched;
assign is_2 = valid[1] && queue_pair_2 == watched;
assign is_3 = valid[2] && queue_pair_3 == watched;
assign is_4 = valid[3] && queue_pair_4 == watched;
assign is_5 = gone[0] && queue_pair_5 == watched;
assign joined_count = joined[watched][COUNT_WIDTH-1:0];

always_comb begin
  if (!started) assume (reset);
  // Assumptions about the surrounding block.
  if (clearing || was_clearing) assume (!look);
  if (!valid[3]) assume (!join_lane);
  if (clearing) assume (!finish);
  if (watched_commands == '0) assume (!watched_finishes);
  if (watched_commands >= COUNT_WIDTH'((1 << COUNT_WIDTH) - 3)) assume (!watched_joins);

  if (started && clearing) begin
    assert (valid == '0 && !finishing);
    if (watched < clear_queue_pair) assert (joined[watched] == '0 && finished[watched] == '0);
  end
  if (started && clearing && !reset) assert (watched_commands == '0 || was_clearing);
  if (started && !clearing) begin
    // The property, when a command joins.
    if (watched_joins && watched_commands != '0) assert (lane_4 == watched_lane);

    assert (watched_commands <= COUNT_WIDTH'((1 << COUNT_WIDTH) - 3));
    assert (joined_count - finished[watched] - COUNT_WIDTH'(finishing && finishing_queue_pair == watched) == watched_commands);
    if (watched_commands != '0) assert (joined[watched][COUNT_WIDTH+:LANE_WIDTH] == watched_lane);
    if (finishing) assert ((finishing_before ? finished_written : finishing_read) == finished[finishing_queue_pair]);

    // The bits and numbers by which a kick accounts for earlier kicks.
    if (valid[0])
      assert (same_1 == {gone[0] && queue_pair_5 == queue_pair_1, valid[3] && queue_pair_4 == queue_pair_1,
          valid[2] && queue_pair_3 == queue_pair_1, valid[1] && queue_pair_2 == queue_pair_1});
    if (valid[1])
      assert (same_2 == {gone[1] && queue_pair_6 == queue_pair_2, gone[0] && queue_pair_5 == queue_pair_2,
          valid[3] && queue_pair_4 == queue_pair_2, valid[2] && queue_pair_3 == queue_pair_2});
    if (valid[2])
      assert (same_3 == {gone[2] && queue_pair_7 == queue_pair_3, gone[1] && queue_pair_6 == queue_pair_3,
          gone[0] && queue_pair_5 == queue_pair_3, valid[3] && queue_pair_4 == queue_pair_3});
    if (valid[3])
      assert (same_4 == {gone[3] && queue_pair_8 == queue_pair_4, gone[2] && queue_pair_7 == queue_pair_4,
          gone[1] && queue_pair_6 == queue_pair_4, gone[0] && queue_pair_5 == queue_pair_4});
    if (is_1) assert (joined_1[COUNT_WIDTH-1:0] + COUNT_WIDTH'(same_1[3] && joined_before[0]) == joined_count);
    if (is_1) assert (finished_1 + COUNT_WIDTH'(watched_finished) == finished[watched]);
    if (is_2)
      assert (joined_2 + COUNT_WIDTH'(same_2[2] && joined_before[0]) + COUNT_WIDTH'(same_2[3] && joined_before[1]) == joined_count);
    if (is_3)
      assert (joined_3 + COUNT_WIDTH'(same_3[1] && joined_before[0]) + COUNT_WIDTH'(same_3[2] && joined_before[1])
          + COUNT_WIDTH'(same_3[3] && joined_before[2]) == joined_count);
    if (is_4)
      assert (joined_4 + COUNT_WIDTH'(same_4[0] && joined_before[0]) + COUNT_WIDTH'(same_4[1] && joined_before[1])
          + COUNT_WIDTH'(same_4[2] && joined_before[2]) + COUNT_WIDTH'(same_4[3] && joined_before[3]) == joined_count);
    if (is_1 && !same_1[3]) assert (joined_1[COUNT_WIDTH+:LANE_WIDTH] == joined[watched][COUNT_WIDTH+:LANE_WIDTH]);

    // Its lane: that of the previous kick, else that of the queue pair's commands.
    if (is_2) begin
      if (is_3) assert (lane_2 == lane_3);
      else if (is_4) assert (lane_2 == lane_4);
      else if (watched_commands != '0) assert (lane_2 == watched_lane);
    end
    if (is_3) begin
      if (is_4) assert (lane_3 == lane_4);
      else if (watched_commands != '0) assert (lane_3 == watched_lane);
    end
    if (is_4 && watched_commands != '0) assert (lane_4 == watched_lane);
    if (is_5 && watched_commands != '0) assert (lane_5 == watched_lane);
  end
end
