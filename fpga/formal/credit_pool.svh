// Credits are conserved: an owner holds exactly the credits that it took and has not returned, its own up to their number and shared ones
// up to the cap; owners together hold exactly the shared credits in use, at most as many as exist. No credit is lost: without an event in
// the last two clocks, an owner's bits are set exactly if it may take a credit. Proved by induction over the block alone, for a fixed
// division.
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_own[OWNERS];
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_shared[OWNERS];
(* mem2reg *) logic [2*CREDIT_WIDTH-1:0] owed_before[OWNERS];
logic [CREDIT_WIDTH+OWNER_WIDTH:0] sum_shared;
logic [OWNERS-1:0] had_own, was_below_cap;  // One clock earlier.
logic started = 1'b0;

// Takes and returns one to three clocks ago.
logic [2:0] took, took_shared, gave, gave_shared;
logic [OWNER_WIDTH-1:0] took_1, took_2, took_3, gave_1, gave_2;

always_ff @(posedge clock) begin
  started <= 1'b1;
  took <= reset ? '0 : {took[1:0], take};
  took_shared <= {took_shared[1:0], take_shared};
  gave <= reset ? '0 : {gave[1:0], give_back};
  gave_shared <= {gave_shared[1:0], give_back_shared};
  {took_1, took_2, took_3} <= {take_owner, took_1, took_2};
  {gave_1, gave_2} <= {give_back_owner, gave_1};
  had_own <= reset ? '0 : has_own;
  was_below_cap <= reset ? '0 : below_cap;
end

always_comb begin
  if (!started) assume (reset);
  // Assumptions about the surrounding block.
  if (took[0] && took_1 == take_owner || took[1] && took_2 == take_owner || took[2] && took_3 == take_owner) assume (!take);
  if (take) assume (take_shared ? was_below_cap[take_owner] && has_shared : had_own[take_owner]);
end

for (genvar number = 0; number < OWNERS; number++) begin : gen_formal
  localparam logic [OWNER_WIDTH-1:0] NUMBER = OWNER_WIDTH'(number);
  logic own_back, shared_back;
  logic [2:0] own_taken, shared_taken;
  logic [1:0] own_returned, shared_returned;
  assign own_back = give_back && give_back_owner == NUMBER && !give_back_shared;
  assign shared_back = give_back && give_back_owner == NUMBER && give_back_shared;
  assign own_taken = took & ~took_shared & {took_3 == NUMBER, took_2 == NUMBER, took_1 == NUMBER};
  assign shared_taken = took & took_shared & {took_3 == NUMBER, took_2 == NUMBER, took_1 == NUMBER};
  assign own_returned = gave[1:0] & ~gave_shared[1:0] & {gave_2 == NUMBER, gave_1 == NUMBER};
  assign shared_returned = gave[1:0] & gave_shared[1:0] & {gave_2 == NUMBER, gave_1 == NUMBER};

  // Sums that cannot overflow.
  function automatic logic [CREDIT_WIDTH+1:0] with_events(input logic [CREDIT_WIDTH-1:0] credits, input logic [1:0] events);
    with_events = (CREDIT_WIDTH + 2)'(credits) + (CREDIT_WIDTH + 2)'(events[0]) + (CREDIT_WIDTH + 2)'(events[1]);
  endfunction

  always_ff @(posedge clock) begin
    owed_own[number] <= reset ? '0 : owed_own[number] - CREDIT_WIDTH'(own_back)
        + CREDIT_WIDTH'(take && take_owner == NUMBER && !take_shared);
    owed_shared[number] <= reset ? '0 : owed_shared[number] - CREDIT_WIDTH'(shared_back)
        + CREDIT_WIDTH'(take && take_owner == NUMBER && take_shared);
    owed_before[number] <= reset ? '0 : {owed_own[number], owed_shared[number]};
  end
  always_comb begin
    // A block returns only a credit that it holds.
    assume (CREDIT_WIDTH'(own_back) <= owed_own[number]);
    assume (CREDIT_WIDTH'(shared_back) <= owed_shared[number]);
    if (started) begin
      assert ((used[number] ? difference(taken_of[number], returned_of[number]) : '0) == {owed_own[number], owed_shared[number]});
      assert (owed_own[number] <= CREDIT_WIDTH'(OWN) && owed_shared[number] <= CREDIT_WIDTH'(SHARED_CAP));
      assert (owed_before[number][CREDIT_WIDTH+:CREDIT_WIDTH] <= CREDIT_WIDTH'(OWN));
      assert (owed_before[number][CREDIT_WIDTH-1:0] <= CREDIT_WIDTH'(SHARED_CAP));
      if (has_own[number]) assert ((CREDIT_WIDTH + 2)'(owed_own[number]) < with_events(CREDIT_WIDTH'(OWN), own_taken[1:0]));
      else assert (with_events(owed_own[number], own_returned) >= (CREDIT_WIDTH + 2)'(OWN));
      if (below_cap[number])
        assert ((CREDIT_WIDTH + 2)'(owed_shared[number]) < with_events(CREDIT_WIDTH'(SHARED_CAP), shared_taken[1:0]));
      else assert (with_events(owed_shared[number], shared_returned) >= (CREDIT_WIDTH + 2)'(SHARED_CAP));
      if (had_own[number])
        assert ((CREDIT_WIDTH + 2)'(owed_before[number][CREDIT_WIDTH+:CREDIT_WIDTH]) < with_events(CREDIT_WIDTH'(OWN), own_taken[2:1]));
      if (was_below_cap[number])
        assert ((CREDIT_WIDTH + 2)'(owed_before[number][CREDIT_WIDTH-1:0]) < with_events(CREDIT_WIDTH'(SHARED_CAP), shared_taken[2:1]));
      assert ({owed_own[number], owed_shared[number]} == owed_before[number]
          + {CREDIT_WIDTH'(own_taken[0]), CREDIT_WIDTH'(shared_taken[0])} - {CREDIT_WIDTH'(own_returned[0]), CREDIT_WIDTH'(shared_returned[0])});
    end
  end
end

always_comb begin
  sum_shared = '0;
  for (int unsigned number = 0; number < OWNERS; number++)
    sum_shared = sum_shared + (CREDIT_WIDTH + OWNER_WIDTH + 1)'(owed_shared[number]);
end

always_comb begin
  if (started) begin
    assert (sum_shared == (CREDIT_WIDTH + OWNER_WIDTH + 1)'(all_shared_held));
    assert (all_shared_held <= CREDIT_WIDTH'(SHARED));
    assert (shared_left == (CREDIT_WIDTH + 1)'(SHARED) - {1'b0, all_shared_held});
    // The stages of the events; an owner has at most one take in them.
    if (took[0]) assert (!(took[1] && took_1 == took_2) && !(took[2] && took_1 == took_3));
    if (took[1]) assert (!(took[2] && took_2 == took_3));
    assert (take_read == took[0] && give_back_read == gave[0]);
    assert (take_compared == OWNERS'(took[1]) << took_2 && give_back_compared == OWNERS'(gave[1]) << gave_2 && set_compared == '0);
    if (take_read) assert (take_read_owner == took_1);
    if (give_back_read) assert (give_back_read_owner == gave_1);
    if (took[1])
      assert (take_held == owed_before[took_2]
          && take_limits == {CREDIT_WIDTH'(OWN), CREDIT_WIDTH'(SHARED_CAP)});
    if (gave[1])
      assert (give_back_held == owed_before[gave_2]
          && give_back_limits == {CREDIT_WIDTH'(OWN), CREDIT_WIDTH'(SHARED_CAP)});
  end
end
