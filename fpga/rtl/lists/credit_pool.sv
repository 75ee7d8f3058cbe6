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
  logic [CREDIT_WIDTH-1:0] own_held[OWNERS];
  logic [CREDIT_WIDTH-1:0] shared_held[OWNERS];
  logic [CREDIT_WIDTH-1:0] shared;
  logic [OWNERS-1:0] has_own;
  logic [OWNERS-1:0] below_cap;
  logic has_shared;
  logic takes_own;
  logic takes_shared;
  logic [RETURNS-1:0] returns_own;
  logic [RETURNS-1:0] returns_shared;
  logic [CREDIT_WIDTH-1:0] all_shared_returned;

  assign query_own_held = own_held[query_owner];
  assign query_shared_held = shared_held[query_owner];
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

  for (genvar number = 0; number < OWNERS; number++) begin : gen_owner
    localparam logic [OWNER_WIDTH-1:0] NUMBER = OWNER_WIDTH'(number);
    logic [CREDIT_WIDTH-1:0] own;
    logic [CREDIT_WIDTH-1:0] shared_cap;
    logic [CREDIT_WIDTH-1:0] own_returned;
    logic [CREDIT_WIDTH-1:0] shared_returned;
    assign own_of[number*CREDIT_WIDTH+:CREDIT_WIDTH] = own;
    assign shared_cap_of[number*CREDIT_WIDTH+:CREDIT_WIDTH] = shared_cap;
    assign has_own[number] = own_held[number] < own;
    assign below_cap[number] = shared_held[number] < shared_cap;
    always_comb begin
      own_returned = '0;
      shared_returned = '0;
      for (int unsigned port = 0; port < RETURNS; port++) begin
        if (give_back_owner[port*OWNER_WIDTH+:OWNER_WIDTH] == NUMBER) begin
          own_returned = own_returned + CREDIT_WIDTH'(returns_own[port]);
          shared_returned = shared_returned + CREDIT_WIDTH'(returns_shared[port]);
        end
      end
    end
    if (SETTABLE) begin : gen_settable
      always_ff @(posedge clock) begin
        if (reset) begin
          own <= CREDIT_WIDTH'(OWN);
          shared_cap <= CREDIT_WIDTH'(SHARED_CAP);
        end else begin
          if (set_own && set_own_owner == NUMBER) own <= set_own_credits;
          if (set_shared_cap[number]) shared_cap <= set_shared_cap_credits;
        end
      end
    end else begin : gen_fixed
      assign own = CREDIT_WIDTH'(OWN);
      assign shared_cap = CREDIT_WIDTH'(SHARED_CAP);
    end
    always_ff @(posedge clock) begin
      if (reset) begin
        own_held[number] <= '0;
        shared_held[number] <= '0;
      end else begin
        own_held[number] <= own_held[number] + CREDIT_WIDTH'(takes_own && owner == NUMBER) - own_returned;
        shared_held[number] <= shared_held[number] + CREDIT_WIDTH'(takes_shared && owner == NUMBER) - shared_returned;
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
