// Credits of one kind, divided among owners. Each owner has its own credits and may take shared ones up to a cap. A credit returns to the
// part that it was taken from. A limit lowered below the credits in use takes effect as credits return.
//
// has_own and below_cap show an event after three clocks: one each to write the counters, to read them again, and to compare them. An owner
// that takes a credit must therefore wait until its bits are right again.
module credit_pool #(
    parameter int unsigned OWNERS = 8,
    parameter int unsigned OWN = 64,  // Initial number; SHARED and SHARED_CAP as well.
    parameter int unsigned SHARED = 0,
    parameter int unsigned SHARED_CAP = 0,
    parameter bit SETTABLE = 1'b1,  // If clear, the initial numbers stay.
    parameter int unsigned CREDIT_WIDTH = 7,
    parameter int unsigned OWNER_WIDTH = OWNERS > 1 ? $clog2(OWNERS) : 1
) (
    input logic clock,
    input logic reset,

    // Owners that have a credit of their own; owners that may take another shared credit; whether a shared credit is free in this clock.
    output logic [OWNERS-1:0] has_own,
    output logic [OWNERS-1:0] below_cap,
    output logic has_shared,

    // An owner takes a credit of its own if its bit of has_own was set in the preceding clock, or a shared one if its bit of below_cap was
    // set and has_shared is set; never within three clocks after it took one.
    input logic take,
    input logic [OWNER_WIDTH-1:0] take_owner,
    input logic take_shared,

    input logic give_back,
    input logic [OWNER_WIDTH-1:0] give_back_owner,
    input logic give_back_shared,

    input logic set_limits,  // Sets the limits of one owner.
    input logic [OWNER_WIDTH-1:0] set_limits_owner,
    input logic [CREDIT_WIDTH-1:0] set_own_credits,
    input logic [CREDIT_WIDTH-1:0] set_shared_cap_credits,
    input logic set_shared,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,

    input logic [OWNER_WIDTH-1:0] query_owner,
    output logic [CREDIT_WIDTH-1:0] query_own_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_held,
    output logic [CREDIT_WIDTH-1:0] query_available,  // Number of credits that the owner could take in succession; three clocks later.
    output logic [CREDIT_WIDTH-1:0] all_shared_held
);
  // By owner, for its own and for shared credits: credits taken and credits returned, modulo 2^CREDIT_WIDTH. Their difference is the number
  // held; it is 0 until the owner's bit in `used` is set. limits_of is valid once the owner's bit in `divided` is set. Each memory has one
  // writer.
  logic [2*CREDIT_WIDTH-1:0] taken_of[OWNERS];
  logic [2*CREDIT_WIDTH-1:0] returned_of[OWNERS];
  logic [2*CREDIT_WIDTH-1:0] limits_of[OWNERS];
  logic [OWNERS-1:0] used, divided, below_limit;
  logic [CREDIT_WIDTH:0] shared_left;  // Negative if the limit was lowered below the shared credits held.

  function automatic logic [2*CREDIT_WIDTH-1:0] limits(input logic [OWNER_WIDTH-1:0] number);
    limits = SETTABLE && divided[number] ? limits_of[number] : {CREDIT_WIDTH'(OWN), CREDIT_WIDTH'(SHARED_CAP)};
  endfunction

  // Adds and subtracts the halves separately: own and shared.
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

  // After a reset, the first credit that an owner takes starts from its number of returned credits.
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

  // For each event the block reads the owner's counters once the event is in them, and compares them in the next clock. If two events of
  // one owner meet, both read the same counters or the later one reads newer ones, so the events need not know of each other.
  logic take_read, give_back_read, set_read;
  logic [OWNER_WIDTH-1:0] take_read_owner, give_back_read_owner, set_read_owner;
  logic [OWNERS-1:0] take_compared, give_back_compared, set_compared;  // One-hot.
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

  // For each half: whether fewer credits are held than allowed.
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

  // The number of credits that an owner could take.
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
