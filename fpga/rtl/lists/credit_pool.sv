// Credits of one kind, divided among owners. Each owner has its own credits, and all draw on shared ones up to a cap. A credit returns to
// where it came from. A division below current use takes effect as credits return.
module credit_pool #(
    parameter int unsigned OWNERS = 8,
    parameter int unsigned OWN = 64,  // At first, as the next two.
    parameter int unsigned SHARED = 0,
    parameter int unsigned SHARED_CAP = 0,
    parameter bit SETTABLE = 1'b1,  // Else what was at first stays.
    parameter int unsigned CREDIT_WIDTH = 7,
    parameter int unsigned OWNER_WIDTH = OWNERS > 1 ? $clog2(OWNERS) : 1
) (
    input logic clock,
    input logic reset,

    // The owners that can get a credit, and where the next one of `owner` comes from; `take` takes it.
    output logic [OWNERS-1:0] available,
    input logic [OWNER_WIDTH-1:0] owner,
    output linked_list_queue_pkg::credit_source_t source,
    input logic take,

    input logic give_back,
    input logic [OWNER_WIDTH-1:0] give_back_owner,
    input logic [1:0] give_back_source,  // credit_source_t

    input logic set_limits,  // Of one owner.
    input logic [OWNER_WIDTH-1:0] set_limits_owner,
    input logic [CREDIT_WIDTH-1:0] set_own_credits,
    input logic [CREDIT_WIDTH-1:0] set_shared_cap_credits,
    input logic set_shared,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,

    input logic [OWNER_WIDTH-1:0] query_owner,
    output logic [CREDIT_WIDTH-1:0] query_own_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_held,
    output logic [CREDIT_WIDTH-1:0] query_available,  // That the owner could take one after the other.
    output logic [CREDIT_WIDTH-1:0] all_shared_held
);
  // By owner: its own credits and shared ones, as many as were taken and as came back, each modulo 2^CREDIT_WIDTH; what is held is the
  // difference, none before an owner is used. Its limits hold once they are divided, else they are those at first. Each memory has one
  // writer.
  logic [2*CREDIT_WIDTH-1:0] taken_of[OWNERS];
  logic [2*CREDIT_WIDTH-1:0] returned_of[OWNERS];
  logic [2*CREDIT_WIDTH-1:0] limits_of[OWNERS];
  logic [OWNERS-1:0] used, divided, has_own, below_cap;
  logic [CREDIT_WIDTH-1:0] shared, query_own_limit, query_shared_cap;
  logic has_shared;

  function automatic logic [2*CREDIT_WIDTH-1:0] limits(input logic [OWNER_WIDTH-1:0] number);
    limits = SETTABLE && divided[number] ? limits_of[number] : {CREDIT_WIDTH'(OWN), CREDIT_WIDTH'(SHARED_CAP)};
  endfunction

  // Each half by itself: own and shared.
  function automatic logic [2*CREDIT_WIDTH-1:0] sum(input logic [2*CREDIT_WIDTH-1:0] counts, input logic own, input logic of_shared);
    sum = {counts[CREDIT_WIDTH+:CREDIT_WIDTH] + CREDIT_WIDTH'(own), counts[CREDIT_WIDTH-1:0] + CREDIT_WIDTH'(of_shared)};
  endfunction
  function automatic logic [2*CREDIT_WIDTH-1:0] difference(input logic [2*CREDIT_WIDTH-1:0] counts,
                                                           input logic [2*CREDIT_WIDTH-1:0] less);
    difference = {counts[CREDIT_WIDTH+:CREDIT_WIDTH] - less[CREDIT_WIDTH+:CREDIT_WIDTH],
        counts[CREDIT_WIDTH-1:0] - less[CREDIT_WIDTH-1:0]};
  endfunction

  assign {query_own_held, query_shared_held} =
      used[query_owner] ? difference(taken_of[query_owner], returned_of[query_owner]) : '0;
  assign {query_own_limit, query_shared_cap} = limits(query_owner);
  assign has_shared = all_shared_held < shared;

  // Credits that an owner could take.
  logic [CREDIT_WIDTH-1:0] own_free, shared_free, left_below_cap;
  assign own_free = has_own[query_owner] ? query_own_limit - query_own_held : '0;
  assign shared_free = has_shared ? shared - all_shared_held : '0;
  assign left_below_cap = below_cap[query_owner] ? query_shared_cap - query_shared_held : '0;
  assign query_available = own_free + (shared_free < left_below_cap ? shared_free : left_below_cap);

`ifdef FPGA_VERBS_MUTANT_SHARED_CREDIT_CAP_IGNORED
  assign available = has_own | {OWNERS{has_shared}};
  assign source = has_own[owner] ? linked_list_queue_pkg::CREDIT_SOURCE_OWN :
      has_shared ? linked_list_queue_pkg::CREDIT_SOURCE_SHARED : linked_list_queue_pkg::CREDIT_SOURCE_NONE;
`else
  assign available = has_own | below_cap & {OWNERS{has_shared}};
  assign source = has_own[owner] ? linked_list_queue_pkg::CREDIT_SOURCE_OWN :
      has_shared && below_cap[owner] ? linked_list_queue_pkg::CREDIT_SOURCE_SHARED :
      linked_list_queue_pkg::CREDIT_SOURCE_NONE;
`endif

  logic takes_own, takes_shared, returns_own, returns_shared;
  assign takes_own = take && source == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  assign takes_shared = take && source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
`ifdef FPGA_VERBS_MUTANT_ENTRY_CREDIT_LEAKED
  assign returns_own = 1'b0;
`else
  assign returns_own = give_back && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
`endif
  assign returns_shared = give_back && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;

  // After this clock, whether an owner has credits of its own, and whether it is below its cap.
  function automatic logic has_own_after(input logic [OWNER_WIDTH-1:0] number);
    logic [CREDIT_WIDTH-1:0] held, most;
    held = used[number] ? CREDIT_WIDTH'(taken_of[number] >> CREDIT_WIDTH) - CREDIT_WIDTH'(returned_of[number] >> CREDIT_WIDTH) : '0;
    held = held + CREDIT_WIDTH'(takes_own && owner == number) - CREDIT_WIDTH'(returns_own && give_back_owner == number);
    most = SETTABLE && set_limits && set_limits_owner == number ? set_own_credits : CREDIT_WIDTH'(limits(number) >> CREDIT_WIDTH);
    has_own_after = held < most;
  endfunction
  function automatic logic below_cap_after(input logic [OWNER_WIDTH-1:0] number);
    logic [CREDIT_WIDTH-1:0] held, most;
    held = used[number] ? CREDIT_WIDTH'(taken_of[number]) - CREDIT_WIDTH'(returned_of[number]) : '0;
    held = held + CREDIT_WIDTH'(takes_shared && owner == number) - CREDIT_WIDTH'(returns_shared && give_back_owner == number);
    most = SETTABLE && set_limits && set_limits_owner == number ? set_shared_cap_credits : CREDIT_WIDTH'(limits(number));
    below_cap_after = held < most;
  endfunction

  // Each event writes what its owner has after all events of the clock, so events of one owner agree. The first that an owner takes
  // after a reset begins at what came back.
  always_ff @(posedge clock) begin
    if (reset) begin
      used <= '0;
      divided <= '0;
      has_own <= {OWNERS{OWN != 0}};
      below_cap <= {OWNERS{SHARED_CAP != 0}};
    end else begin
      if (take) begin
        used[owner] <= 1'b1;
        has_own[owner] <= has_own_after(owner);
        below_cap[owner] <= below_cap_after(owner);
      end
      if (give_back) begin
        has_own[give_back_owner] <= has_own_after(give_back_owner);
        below_cap[give_back_owner] <= below_cap_after(give_back_owner);
      end
      if (SETTABLE && set_limits) begin
        divided[set_limits_owner] <= 1'b1;
        has_own[set_limits_owner] <= has_own_after(set_limits_owner);
        below_cap[set_limits_owner] <= below_cap_after(set_limits_owner);
      end
    end
  end
  always_ff @(posedge clock) begin
    if (take) taken_of[owner] <= sum(used[owner] ? taken_of[owner] : returned_of[owner], takes_own, takes_shared);
    if (give_back) returned_of[give_back_owner] <= sum(returned_of[give_back_owner], returns_own, returns_shared);
    if (SETTABLE && set_limits) limits_of[set_limits_owner] <= {set_own_credits, set_shared_cap_credits};
  end

  always_ff @(posedge clock) begin
    if (reset) all_shared_held <= '0;
    else all_shared_held <= all_shared_held + CREDIT_WIDTH'(takes_shared) - CREDIT_WIDTH'(returns_shared);
    if (reset) shared <= CREDIT_WIDTH'(SHARED);
    else if (SETTABLE && set_shared) shared <= set_shared_credits;
  end

`ifdef FORMAL_CREDIT_POOL
`include "credit_pool.svh"
`endif
endmodule
