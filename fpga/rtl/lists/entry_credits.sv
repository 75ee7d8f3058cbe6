// Entry credits, divided among functions. Each function has its own, and all draw on shared ones up to a cap. Three stages: `look` names
// the function of a push; one clock later `source` decides on the push; then its credit is counted as taken. A push sees all credits taken
// before it.
module entry_credits #(
    parameter int unsigned FUNCTIONS = 8,
    parameter int unsigned ENTRIES = 64,
    localparam int unsigned FUNCTION_WIDTH = FUNCTIONS > 1 ? $clog2(FUNCTIONS) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,

    input logic [FUNCTION_WIDTH-1:0] look_underlying_function,
    output linked_list_queue_pkg::credit_source_t source,
    input logic take,  // The push at `source` takes a credit.

    input logic give_back,
    input logic [FUNCTION_WIDTH-1:0] give_back_underlying_function,
    input logic [1:0] give_back_source,

    input logic set_own,
    input logic [FUNCTION_WIDTH-1:0] set_own_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_own_credits,
    input logic set_shared,
    input logic [COUNT_WIDTH-1:0] set_shared_credits,
    input logic [COUNT_WIDTH-1:0] set_shared_cap,

    // Valid in the next clock.
    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COUNT_WIDTH-1:0] query_own_held,
    output logic [COUNT_WIDTH-1:0] query_shared_held,
    output logic [COUNT_WIDTH-1:0] shared_held
);
  localparam int unsigned WIDTH = COUNT_WIDTH + 1;
  localparam int unsigned STRIDE = 1 << $clog2(WIDTH);  // A power of two, so that an index needs no adder.

  // Credits held, and credits left; negative if the limit was lowered below the credits held.
  logic [FUNCTIONS*COUNT_WIDTH-1:0] owns_held, shares_held;
  logic [FUNCTIONS*STRIDE-1:0] owns_left, caps_left;
  logic [WIDTH-1:0] shared_left;

  // Whether at least three, two and one are left.
  function automatic logic [2:0] at_least(input logic [WIDTH-1:0] credits);
    logic [WIDTH:0] wide;
    wide = {1'b0, credits};
    at_least = credits[WIDTH-1] ? 3'b000 : {wide[WIDTH:2] != '0 || wide[1:0] == 2'b11, wide[WIDTH:1] != '0, credits != '0};
  endfunction

  // The push at `source`, and the one before it, whose credit is counted now.
  logic [FUNCTION_WIDTH-1:0] decided, counted;
  logic is_counted, is_same, gives_own, gives_shared;
  linked_list_queue_pkg::credit_source_t counted_source;
  logic counts_own, counts_shared;
  logic has_own, has_two_own, is_below_cap, is_two_below_cap, has_shared, has_two_shared;
  logic own_free, shared_free;

  assign counts_own = is_counted && counted_source == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  assign gives_own = give_back && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  assign gives_shared = give_back && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
  assign counts_shared = is_counted && counted_source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
  assign own_free = counts_own && is_same ? has_two_own : has_own;
  assign shared_free = (counts_shared ? has_two_shared : has_shared)
      && (counts_shared && is_same ? is_two_below_cap : is_below_cap);
  assign source = own_free ? linked_list_queue_pkg::CREDIT_SOURCE_OWN :
      shared_free ? linked_list_queue_pkg::CREDIT_SOURCE_SHARED : linked_list_queue_pkg::CREDIT_SOURCE_NONE;

  logic [2:0] own_looked, cap_looked, shared_looked;
  logic is_counted_function;
  assign own_looked = at_least(owns_left[look_underlying_function*STRIDE+:WIDTH]);
  assign cap_looked = at_least(caps_left[look_underlying_function*STRIDE+:WIDTH]);
  assign shared_looked = at_least(shared_left);
  assign is_counted_function = counted == look_underlying_function;

  always_ff @(posedge clock) begin
    decided <= look_underlying_function;
    counted <= decided;
    is_same <= decided == look_underlying_function;
    is_counted <= take && !reset;
    counted_source <= source;
    {has_two_own, has_own} <= counts_own && is_counted_function ? own_looked[2:1] : own_looked[1:0];
    {is_two_below_cap, is_below_cap} <= counts_shared && is_counted_function ? cap_looked[2:1] : cap_looked[1:0];
    {has_two_shared, has_shared} <= counts_shared ? shared_looked[2:1] : shared_looked[1:0];
    query_own_held <= owns_held[query_underlying_function*COUNT_WIDTH+:COUNT_WIDTH];
    query_shared_held <= shares_held[query_underlying_function*COUNT_WIDTH+:COUNT_WIDTH];
    if (reset) begin
      shared_left <= '0;
      shared_held <= '0;
    end else begin
      shared_left <= (set_shared ? WIDTH'(set_shared_credits) - WIDTH'(shared_held) : shared_left) - WIDTH'(counts_shared)
          + WIDTH'(gives_shared);
      shared_held <= shared_held + COUNT_WIDTH'(counts_shared) - COUNT_WIDTH'(gives_shared);
    end
  end

  for (genvar number = 0; number < FUNCTIONS; number++) begin : gen_function
    localparam logic [FUNCTION_WIDTH-1:0] NUMBER = FUNCTION_WIDTH'(number);
    logic takes_own, takes_shared, returns_own, returns_shared;
    logic [COUNT_WIDTH-1:0] own_held, share_held;
    logic [WIDTH-1:0] own_left, cap_left;
    assign takes_own = counts_own && counted == NUMBER;
    assign takes_shared = counts_shared && counted == NUMBER;
    assign returns_own = gives_own && give_back_underlying_function == NUMBER;
    assign returns_shared = gives_shared && give_back_underlying_function == NUMBER;
    assign owns_held[number*COUNT_WIDTH+:COUNT_WIDTH] = own_held;
    assign shares_held[number*COUNT_WIDTH+:COUNT_WIDTH] = share_held;
    assign owns_left[number*STRIDE+:STRIDE] = STRIDE'(own_left);
    assign caps_left[number*STRIDE+:STRIDE] = STRIDE'(cap_left);
    always_ff @(posedge clock) begin
      if (reset) begin
        own_held <= '0;
        share_held <= '0;
        own_left <= WIDTH'(ENTRIES);
        cap_left <= '0;
      end else begin
        own_held <= own_held + COUNT_WIDTH'(takes_own) - COUNT_WIDTH'(returns_own);
        share_held <= share_held + COUNT_WIDTH'(takes_shared) - COUNT_WIDTH'(returns_shared);
        own_left <= (set_own && set_own_underlying_function == NUMBER ? WIDTH'(set_own_credits) - WIDTH'(own_held) : own_left)
            - WIDTH'(takes_own) + WIDTH'(returns_own);
        cap_left <= (set_shared ? WIDTH'(set_shared_cap) - WIDTH'(share_held) : cap_left) - WIDTH'(takes_shared)
            + WIDTH'(returns_shared);
      end
    end
  end
endmodule
