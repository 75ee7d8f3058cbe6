// Credits of one kind, divided among owners. Each owner has its own credits, and all draw on shared ones up to a cap. A credit returns to
// where it came from. A division below current use takes effect as credits return.
//
// The bits by owner follow an event by three clocks: the numbers are written, read again, and compared, and each of these takes a clock.
// An owner that takes a credit therefore waits until its bits are right again.
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

    // The owners that have credits of their own, and those that may hold another shared one; whether a shared one is free, in this clock.
    output logic [OWNERS-1:0] has_own,
    output logic [OWNERS-1:0] below_cap,
    output logic has_shared,

    // An owner takes a credit of its own, if its bit of has_own was set in the clock before; or a shared one, if that of below_cap was,
    // and has_shared is. Not in the three clocks after it took one.
    input logic take,
    input logic [OWNER_WIDTH-1:0] take_owner,
    input logic take_shared,

    input logic give_back,
    input logic [OWNER_WIDTH-1:0] give_back_owner,
    input logic give_back_shared,

    input logic set_limits,  // Of one owner.
    input logic [OWNER_WIDTH-1:0] set_limits_owner,
    input logic [CREDIT_WIDTH-1:0] set_own_credits,
    input logic [CREDIT_WIDTH-1:0] set_shared_cap_credits,
    input logic set_shared,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,

    input logic [OWNER_WIDTH-1:0] query_owner,
    output logic [CREDIT_WIDTH-1:0] query_own_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_held,
    output logic [CREDIT_WIDTH-1:0] query_available,  // That the owner could take one after the other: three clocks later.
    output logic [CREDIT_WIDTH-1:0] all_shared_held
);
  // By owner: its own credits and shared ones, as many as were taken and as came back, each modulo 2^CREDIT_WIDTH; what is held is the
  // difference, none before an owner is used. Its limits hold once they are divided, else they are those at first. Each memory has one
  // writer.
  logic [2*CREDIT_WIDTH-1:0] taken_of[OWNERS];
  logic [2*CREDIT_WIDTH-1:0] returned_of[OWNERS];
  logic [2*CREDIT_WIDTH-1:0] limits_of[OWNERS];
  logic [OWNERS-1:0] used, divided, below_limit;
  logic [CREDIT_WIDTH:0] shared_left;  // Below zero where less is shared than is held.

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
  function automatic logic [2*CREDIT_WIDTH-1:0] held(input logic [OWNER_WIDTH-1:0] number);
    held = used[number] ? difference(taken_of[number], returned_of[number]) : '0;
  endfunction

  assign has_shared = !shared_left[CREDIT_WIDTH] && shared_left[CREDIT_WIDTH-1:0] != '0;
`ifdef FPGA_VERBS_MUTANT_SHARED_CREDIT_CAP_IGNORED
  assign below_cap = '1;
`else
  assign below_cap = below_limit;
`endif

  logic takes_own, takes_shared, returns_own, returns_shared;
  assign takes_own = take && !take_shared;
  assign takes_shared = take && take_shared;
`ifdef FPGA_VERBS_MUTANT_ENTRY_CREDIT_LEAKED
  assign returns_own = 1'b0;
`else
  assign returns_own = give_back && !give_back_shared;
`endif
  assign returns_shared = give_back && give_back_shared;

  // The first that an owner takes after a reset begins at what came back.
  always_ff @(posedge clock) begin
    if (take) taken_of[take_owner] <= sum(used[take_owner] ? taken_of[take_owner] : returned_of[take_owner], takes_own, takes_shared);
    if (give_back) returned_of[give_back_owner] <= sum(returned_of[give_back_owner], returns_own, returns_shared);
    if (SETTABLE && set_limits) limits_of[set_limits_owner] <= {set_own_credits, set_shared_cap_credits};
    if (reset) begin
      used <= '0;
      divided <= '0;
    end else begin
      if (take) used[take_owner] <= 1'b1;
      if (SETTABLE && set_limits) divided[set_limits_owner] <= 1'b1;
    end
  end

  // The owner of each event: its numbers are read when the event is in them, and compared in the next clock. Events of one owner read
  // the same, or the later one reads what is newer: none has to know of the others.
  logic take_read, give_back_read, set_read;
  logic [OWNER_WIDTH-1:0] take_read_owner, give_back_read_owner, set_read_owner;
  logic [OWNERS-1:0] take_compared, give_back_compared, set_compared;  // One bit, that of the owner.
  logic [2*CREDIT_WIDTH-1:0] take_held, give_back_held, set_held, take_limits, give_back_limits, set_then_limits;

  always_ff @(posedge clock) begin
    take_read <= take && !reset;
    give_back_read <= give_back && !reset;
    set_read <= SETTABLE && set_limits && !reset;
    take_read_owner <= take_owner;
    give_back_read_owner <= give_back_owner;
    set_read_owner <= set_limits_owner;
    take_compared <= OWNERS'(take_read && !reset) << take_read_owner;
    give_back_compared <= OWNERS'(give_back_read && !reset) << give_back_read_owner;
    set_compared <= OWNERS'(SETTABLE && set_read && !reset) << set_read_owner;
    if (take_read) begin
      take_held <= held(take_read_owner);
      take_limits <= limits(take_read_owner);
    end
    if (give_back_read) begin
      give_back_held <= held(give_back_read_owner);
      give_back_limits <= limits(give_back_read_owner);
    end
    if (SETTABLE && set_read) begin
      set_held <= held(set_read_owner);
      set_then_limits <= limits(set_read_owner);
    end
  end

  // Of each half, whether fewer are held than may be.
  function automatic logic [1:0] below(input logic [2*CREDIT_WIDTH-1:0] counts, input logic [2*CREDIT_WIDTH-1:0] most);
    below = {counts[CREDIT_WIDTH+:CREDIT_WIDTH] < most[CREDIT_WIDTH+:CREDIT_WIDTH], counts[CREDIT_WIDTH-1:0] < most[CREDIT_WIDTH-1:0]};
  endfunction
  logic take_has_own, take_below_cap, give_back_has_own, give_back_below_cap, set_has_own, set_below_cap;
  assign {take_has_own, take_below_cap} = below(take_held, take_limits);
  assign {give_back_has_own, give_back_below_cap} = below(give_back_held, give_back_limits);
  assign {set_has_own, set_below_cap} = below(set_held, set_then_limits);

  always_ff @(posedge clock) begin
    if (reset) begin
      has_own <= {OWNERS{OWN != 0}};
      below_limit <= {OWNERS{SHARED_CAP != 0}};
    end else begin
      has_own <= has_own & ~(take_compared | give_back_compared | set_compared) | (take_has_own ? take_compared : '0)
          | (give_back_has_own ? give_back_compared : '0) | (set_has_own ? set_compared : '0);
      below_limit <= below_limit & ~(take_compared | give_back_compared | set_compared) | (take_below_cap ? take_compared : '0)
          | (give_back_below_cap ? give_back_compared : '0) | (set_below_cap ? set_compared : '0);
    end
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      all_shared_held <= '0;
      shared_left <= (CREDIT_WIDTH + 1)'(SHARED);
    end else begin
      if (takes_shared != returns_shared)
        all_shared_held <= returns_shared ? all_shared_held - CREDIT_WIDTH'(1) : all_shared_held + CREDIT_WIDTH'(1);
      shared_left <= (SETTABLE && set_shared ? {1'b0, set_shared_credits} - {1'b0, all_shared_held} : shared_left)
          + (CREDIT_WIDTH + 1)'(returns_shared) - (CREDIT_WIDTH + 1)'(takes_shared);
    end
  end

  // Credits that an owner could take.
  logic [2*CREDIT_WIDTH-1:0] query_held, query_limits;
  logic [CREDIT_WIDTH-1:0] own_free, shared_free, left_below_cap;

  function automatic logic [CREDIT_WIDTH-1:0] beyond(input logic [CREDIT_WIDTH-1:0] most, input logic [CREDIT_WIDTH-1:0] less);
    beyond = less < most ? most - less : '0;
  endfunction

  assign {query_own_held, query_shared_held} = held(query_owner);
  always_ff @(posedge clock) begin
    query_held <= {query_own_held, query_shared_held};
    query_limits <= limits(query_owner);
    own_free <= beyond(query_limits[CREDIT_WIDTH+:CREDIT_WIDTH], query_held[CREDIT_WIDTH+:CREDIT_WIDTH]);
    left_below_cap <= beyond(query_limits[CREDIT_WIDTH-1:0], query_held[CREDIT_WIDTH-1:0]);
    shared_free <= shared_left[CREDIT_WIDTH] ? '0 : shared_left[CREDIT_WIDTH-1:0];
    query_available <= own_free + (shared_free < left_below_cap ? shared_free : left_below_cap);
  end

`ifdef FORMAL_CREDIT_POOL
`include "credit_pool.svh"
`endif
endmodule
