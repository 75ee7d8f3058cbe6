// Credits are conserved: an owner holds what it took and has not given back, its own up to their number and shared ones up to the
// cap, and all shared ones that are held are held by an owner, no more than there are. For a division that stays, by induction,
// over the block alone.
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_own[OWNERS];
(* mem2reg *) logic [CREDIT_WIDTH-1:0] owed_shared[OWNERS];
logic [CREDIT_WIDTH+OWNER_WIDTH:0] sum_shared;
logic started = 1'b0;

for (genvar number = 0; number < OWNERS; number++) begin : gen_formal
  localparam logic [OWNER_WIDTH-1:0] NUMBER = OWNER_WIDTH'(number);
  logic [CREDIT_WIDTH-1:0] own_back;
  logic [CREDIT_WIDTH-1:0] shared_back;
  logic [CREDIT_WIDTH-1:0] own_held, shared_held;
  assign own_back = CREDIT_WIDTH'(give_back && give_back_owner == NUMBER
      && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_OWN);
  assign shared_back = CREDIT_WIDTH'(give_back && give_back_owner == NUMBER
      && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED);
  assign {own_held, shared_held} = used[number] ? difference(taken_of[number], returned_of[number]) : '0;
  always_ff @(posedge clock) begin
    owed_own[number] <= reset ? '0 : owed_own[number] - own_back
        + CREDIT_WIDTH'(take && owner == NUMBER && source == linked_list_queue_pkg::CREDIT_SOURCE_OWN);
    owed_shared[number] <= reset ? '0 : owed_shared[number] - shared_back
        + CREDIT_WIDTH'(take && owner == NUMBER && source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED);
  end
  always_comb begin
    // Assumption on the surroundings: no block gives back a credit that it does not hold.
    assume (own_back <= owed_own[number]);
    assume (shared_back <= owed_shared[number]);
    if (started) begin
      assert (own_held == owed_own[number] && owed_own[number] <= CREDIT_WIDTH'(OWN));
      assert (shared_held == owed_shared[number] && owed_shared[number] <= CREDIT_WIDTH'(SHARED_CAP));
      assert (has_own[number] == (owed_own[number] < CREDIT_WIDTH'(OWN)) && below_cap[number] == (owed_shared[number] < CREDIT_WIDTH'(SHARED_CAP)));
    end
  end
end

always_ff @(posedge clock) started <= 1'b1;

always_comb begin
  sum_shared = '0;
  for (int unsigned number = 0; number < OWNERS; number++)
    sum_shared = sum_shared + (CREDIT_WIDTH + OWNER_WIDTH + 1)'(owed_shared[number]);
end

always_comb begin
  if (!started) assume (reset);
  if (started) begin
    assert (sum_shared == (CREDIT_WIDTH + OWNER_WIDTH + 1)'(all_shared_held));
    assert (all_shared_held <= CREDIT_WIDTH'(SHARED));
    if (take && available[owner]) assert (source != linked_list_queue_pkg::CREDIT_SOURCE_NONE);
  end
end
