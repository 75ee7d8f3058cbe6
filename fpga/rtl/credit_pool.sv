// Credits of one kind, divided among owners: each has its own, and all draw on shared ones, each up to a cap. A credit returns
// to where it came from. Shrinking below what is held takes effect as credits return.
module credit_pool #(
    parameter int unsigned OWNERS = 8,
    parameter int unsigned OWN = 64,  // At first; no credits are shared then.
    parameter int unsigned CREDIT_WIDTH = 7,
    parameter int unsigned OWNER_WIDTH = OWNERS > 1 ? $clog2(OWNERS) : 1
) (
    input logic clock,
    input logic reset,

    // Where the next credit of the owner comes from; `take` takes it.
    input logic [OWNER_WIDTH-1:0] owner,
    output linked_list_queue_pkg::credit_source_t source,
    input logic take,

    input logic give_back_a,
    input logic [OWNER_WIDTH-1:0] owner_a,
    input logic [1:0] source_a,
    input logic give_back_b,
    input logic [OWNER_WIDTH-1:0] owner_b,
    input logic [1:0] source_b,

    input logic set_own,
    input logic [OWNER_WIDTH-1:0] set_own_owner,
    input logic [CREDIT_WIDTH-1:0] set_own_credits,
    input logic set_shared,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,
    input logic [CREDIT_WIDTH-1:0] set_shared_cap,

    input logic [OWNER_WIDTH-1:0] query_owner,
    output logic [CREDIT_WIDTH-1:0] query_own_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_held
);
  logic [CREDIT_WIDTH-1:0] own_held[OWNERS];
  logic [CREDIT_WIDTH-1:0] shared_held[OWNERS];
  logic [CREDIT_WIDTH-1:0] shared;
  logic [CREDIT_WIDTH-1:0] shared_cap;
  logic [CREDIT_WIDTH-1:0] all_shared_held;
  logic [OWNERS-1:0] has_own;
  logic [OWNERS-1:0] below_cap;
  logic takes_own;
  logic takes_shared;
  logic returns_own_a;
  logic returns_own_b;
  logic returns_shared_a;
  logic returns_shared_b;

  assign query_own_held = own_held[query_owner];
  assign query_shared_held = shared_held[query_owner];
  assign source = has_own[owner] ? linked_list_queue_pkg::CREDIT_SOURCE_OWN :
      all_shared_held < shared && below_cap[owner] ? linked_list_queue_pkg::CREDIT_SOURCE_SHARED :
      linked_list_queue_pkg::CREDIT_SOURCE_NONE;
  assign takes_own = take && source == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  assign takes_shared = take && source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
  assign returns_own_a = give_back_a && source_a == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
`ifdef FPGA_VERBS_MUTANT_ENTRY_CREDIT_LEAKED
  assign returns_own_b = 1'b0;
`else
  assign returns_own_b = give_back_b && source_b == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
`endif
  assign returns_shared_a = give_back_a && source_a == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
  assign returns_shared_b = give_back_b && source_b == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;

  for (genvar number = 0; number < OWNERS; number++) begin : gen_owner
    localparam logic [OWNER_WIDTH-1:0] NUMBER = OWNER_WIDTH'(number);
    logic [CREDIT_WIDTH-1:0] own;
    assign has_own[number] = own_held[number] < own;
    assign below_cap[number] = shared_held[number] < shared_cap;
    always_ff @(posedge clock) begin
      if (reset) begin
        own <= CREDIT_WIDTH'(OWN);
        own_held[number] <= '0;
        shared_held[number] <= '0;
      end else begin
        if (set_own && set_own_owner == NUMBER) own <= set_own_credits;
        own_held[number] <= own_held[number] + CREDIT_WIDTH'(takes_own && owner == NUMBER)
            - CREDIT_WIDTH'(returns_own_a && owner_a == NUMBER) - CREDIT_WIDTH'(returns_own_b && owner_b == NUMBER);
        shared_held[number] <= shared_held[number] + CREDIT_WIDTH'(takes_shared && owner == NUMBER)
            - CREDIT_WIDTH'(returns_shared_a && owner_a == NUMBER)
            - CREDIT_WIDTH'(returns_shared_b && owner_b == NUMBER);
      end
    end
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      shared <= '0;
      shared_cap <= '0;
      all_shared_held <= '0;
    end else begin
      if (set_shared) begin
        shared <= set_shared_credits;
        shared_cap <= set_shared_cap;
      end
      all_shared_held <= all_shared_held + CREDIT_WIDTH'(takes_shared) - CREDIT_WIDTH'(returns_shared_a)
          - CREDIT_WIDTH'(returns_shared_b);
    end
  end
endmodule
