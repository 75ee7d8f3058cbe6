// Credits of one kind, divided among owners. Each owner has its own credits, and all draw on shared ones up to a cap. A credit returns to
// where it came from. A division below current use takes effect as credits return.
module credit_pool #(
    parameter int unsigned OWNERS = 8,
    parameter int unsigned OWN = 64,  // At first, as the next two.
    parameter int unsigned SHARED = 0,
    parameter int unsigned SHARED_CAP = 0,
    parameter bit SETTABLE = 1'b1,  // Else what was at first stays.
    parameter int unsigned RETURNS = 2,  // Credits that can come back in a clock.
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

    input logic [RETURNS-1:0] give_back,
    input logic [RETURNS*OWNER_WIDTH-1:0] give_back_owner,
    input logic [RETURNS*2-1:0] give_back_source,

    input logic set_own,
    input logic [OWNER_WIDTH-1:0] set_own_owner,
    input logic [CREDIT_WIDTH-1:0] set_own_credits,
    input logic set_shared,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,
    input logic [OWNERS-1:0] set_shared_cap,  // Of these owners.
    input logic [CREDIT_WIDTH-1:0] set_shared_cap_credits,

    input logic [OWNER_WIDTH-1:0] query_owner,
    output logic [CREDIT_WIDTH-1:0] query_own_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_held,
    output logic [CREDIT_WIDTH-1:0] query_available,  // That the owner could take one after the other.
    output logic [CREDIT_WIDTH-1:0] all_shared_held
);
  logic [OWNERS*CREDIT_WIDTH-1:0] own_held;
  logic [OWNERS*CREDIT_WIDTH-1:0] shared_held;
  logic [CREDIT_WIDTH-1:0] shared;
  logic [OWNERS-1:0] has_own;
  logic [OWNERS-1:0] below_cap;
  logic has_shared;
  logic takes_own;
  logic takes_shared;
  logic [RETURNS-1:0] returns_own;
  logic [RETURNS-1:0] returns_shared;
  logic [CREDIT_WIDTH-1:0] all_shared_returned;

  assign query_own_held = own_held[query_owner*CREDIT_WIDTH+:CREDIT_WIDTH];
  assign query_shared_held = shared_held[query_owner*CREDIT_WIDTH+:CREDIT_WIDTH];
  assign has_shared = all_shared_held < shared;

  // Credits that an owner could take.
  logic [OWNERS*CREDIT_WIDTH-1:0] own_of;
  logic [OWNERS*CREDIT_WIDTH-1:0] shared_cap_of;
  logic [CREDIT_WIDTH-1:0] own_free;
  logic [CREDIT_WIDTH-1:0] shared_free;
  logic [CREDIT_WIDTH-1:0] left_below_cap;
  assign own_free = has_own[query_owner] ? own_of[query_owner*CREDIT_WIDTH+:CREDIT_WIDTH] - query_own_held : '0;
  assign shared_free = has_shared ? shared - all_shared_held : '0;
  assign left_below_cap =
      below_cap[query_owner] ? shared_cap_of[query_owner*CREDIT_WIDTH+:CREDIT_WIDTH] - query_shared_held : '0;
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
  assign takes_own = take && source == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  assign takes_shared = take && source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;

  for (genvar port = 0; port < RETURNS; port++) begin : gen_return
`ifdef FPGA_VERBS_MUTANT_ENTRY_CREDIT_LEAKED
    assign returns_own[port] = port == 0 && give_back[port]
        && give_back_source[port*2+:2] == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
`else
    assign returns_own[port] = give_back[port] && give_back_source[port*2+:2] == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
`endif
    assign returns_shared[port] = give_back[port]
        && give_back_source[port*2+:2] == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
  end

  always_comb begin
    all_shared_returned = '0;
    for (int unsigned port = 0; port < RETURNS; port++)
      all_shared_returned = all_shared_returned + CREDIT_WIDTH'(returns_shared[port]);
  end

  // Owners whose numbers change, or whose limits are set.
  logic [OWNERS-1:0] takes_own_of, takes_shared_of, sets_own, sets_shared_cap, changes;
  assign takes_own_of = OWNERS'(takes_own) << owner;
  assign takes_shared_of = OWNERS'(takes_shared) << owner;
  if (SETTABLE) begin : gen_sets
    assign sets_own = OWNERS'(set_own) << set_own_owner;
    assign sets_shared_cap = set_shared_cap;
  end else begin : gen_sets
    assign sets_own = '0;
    assign sets_shared_cap = '0;
    assign own_of = {OWNERS{CREDIT_WIDTH'(OWN)}};
    assign shared_cap_of = {OWNERS{CREDIT_WIDTH'(SHARED_CAP)}};
  end
  always_comb begin
    changes = reset ? '1 : OWNERS'(take) << owner | sets_own | sets_shared_cap;
    for (int unsigned port = 0; port < RETURNS; port++)
      changes = changes | OWNERS'(give_back[port]) << give_back_owner[port*OWNER_WIDTH+:OWNER_WIDTH];
  end

  // A number that is held, when one is taken and others come back to an owner.
  function automatic logic [CREDIT_WIDTH-1:0] after(input logic [CREDIT_WIDTH-1:0] held, input logic takes_one,
                                                    input logic [RETURNS-1:0] returns, input logic [RETURNS*OWNER_WIDTH-1:0] owners,
                                                    input logic [OWNER_WIDTH-1:0] number);
    after = held + CREDIT_WIDTH'(takes_one);
    for (int unsigned port = 0; port < RETURNS; port++)
      after = after - CREDIT_WIDTH'(returns[port] && owners[port*OWNER_WIDTH+:OWNER_WIDTH] == number);
  endfunction

  // The owners of a group are gone through where something changes for one of them: the others cost simulation nothing.
  localparam int unsigned GROUP = 8;
  for (genvar first = 0; first < OWNERS; first += GROUP) begin : gen_group
    localparam int unsigned SIZE = OWNERS - first < GROUP ? OWNERS - first : GROUP;
    always_ff @(posedge clock) begin
      if (changes[first+:SIZE] != '0) begin
        for (int unsigned number = first; number < first + SIZE; number++) begin
          if (changes[number]) begin
            if (reset) begin
              own_held[number*CREDIT_WIDTH+:CREDIT_WIDTH] <= '0;
              shared_held[number*CREDIT_WIDTH+:CREDIT_WIDTH] <= '0;
              has_own[number] <= OWN != 0;
              below_cap[number] <= SHARED_CAP != 0;
            end else begin
              own_held[number*CREDIT_WIDTH+:CREDIT_WIDTH] <= after(own_held[number*CREDIT_WIDTH+:CREDIT_WIDTH],
                  takes_own_of[number], returns_own, give_back_owner, OWNER_WIDTH'(number));
              shared_held[number*CREDIT_WIDTH+:CREDIT_WIDTH] <= after(shared_held[number*CREDIT_WIDTH+:CREDIT_WIDTH],
                  takes_shared_of[number], returns_shared, give_back_owner, OWNER_WIDTH'(number));
              has_own[number] <= after(own_held[number*CREDIT_WIDTH+:CREDIT_WIDTH],
                  takes_own_of[number], returns_own, give_back_owner, OWNER_WIDTH'(number))
                  < (sets_own[number] ? set_own_credits : own_of[number*CREDIT_WIDTH+:CREDIT_WIDTH]);
              below_cap[number] <= after(shared_held[number*CREDIT_WIDTH+:CREDIT_WIDTH],
                  takes_shared_of[number], returns_shared, give_back_owner, OWNER_WIDTH'(number))
                  < (sets_shared_cap[number] ? set_shared_cap_credits : shared_cap_of[number*CREDIT_WIDTH+:CREDIT_WIDTH]);
            end
          end
        end
      end
    end
    if (SETTABLE) begin : gen_settable
      always_ff @(posedge clock) begin
        if (reset || sets_own[first+:SIZE] != '0 || sets_shared_cap[first+:SIZE] != '0) begin
          for (int unsigned number = first; number < first + SIZE; number++) begin
            if (reset || sets_own[number])
              own_of[number*CREDIT_WIDTH+:CREDIT_WIDTH] <= reset ? CREDIT_WIDTH'(OWN) : set_own_credits;
            if (reset || sets_shared_cap[number])
              shared_cap_of[number*CREDIT_WIDTH+:CREDIT_WIDTH] <= reset ? CREDIT_WIDTH'(SHARED_CAP) : set_shared_cap_credits;
          end
        end
      end
    end
  end

  if (SETTABLE) begin : gen_settable
    always_ff @(posedge clock) begin
      if (reset) shared <= CREDIT_WIDTH'(SHARED);
      else if (set_shared) shared <= set_shared_credits;
    end
  end else begin : gen_fixed
    logic unused_inputs;
    assign unused_inputs = &{1'b0, set_own, set_own_owner, set_own_credits, set_shared, set_shared_credits, set_shared_cap,
        set_shared_cap_credits};
    assign shared = CREDIT_WIDTH'(SHARED);
  end

  always_ff @(posedge clock) begin
    if (reset) all_shared_held <= '0;
    else all_shared_held <= all_shared_held + CREDIT_WIDTH'(takes_shared) - all_shared_returned;
  end

`ifdef FORMAL_CREDIT_POOL
`include "credit_pool.svh"
`endif
endmodule
