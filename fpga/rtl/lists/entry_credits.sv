// Entry credits, divided among functions: each has its own, and all draw on shared ones, each up to a cap. In three stages: `look` names
// the function of a push, in the next clock the push is decided on, by `source`; then its credit is counted as taken. A push
// sees all that was taken before it.
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
    input logic take,  // By the push that is decided on.

    input logic give_back,
    input logic [FUNCTION_WIDTH-1:0] give_back_underlying_function,
    input logic [1:0] give_back_source,

    input logic set_own,
    input logic [FUNCTION_WIDTH-1:0] set_own_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_own_credits,
    input logic set_shared,
    input logic [COUNT_WIDTH-1:0] set_shared_credits,
    input logic [COUNT_WIDTH-1:0] set_shared_cap,

    // In the next clock.
    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COUNT_WIDTH-1:0] query_own_held,
    output logic [COUNT_WIDTH-1:0] query_shared_held,
    output logic [COUNT_WIDTH-1:0] shared_held
);
  localparam int unsigned WIDTH = COUNT_WIDTH + 1;

  logic [FUNCTIONS*COUNT_WIDTH-1:0] owns, owns_held, shares_held;
  logic [COUNT_WIDTH-1:0] shared, cap;

  // The push that is decided on, and the one before it, whose credit is counted now.
  logic [FUNCTION_WIDTH-1:0] decided, counted;
  logic is_counted, is_same;
  linked_list_queue_pkg::credit_source_t counted_source;
  logic counts_own, counts_shared;
  logic has_own, has_two_own, is_below_cap, is_two_below_cap, has_shared, has_two_shared;
  logic own_free, shared_free;

  assign counts_own = is_counted && counted_source == linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  assign counts_shared = is_counted && counted_source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
  assign own_free = counts_own && is_same ? has_two_own : has_own;
  assign shared_free = (counts_shared ? has_two_shared : has_shared)
      && (counts_shared && is_same ? is_two_below_cap : is_below_cap);
  assign source = own_free ? linked_list_queue_pkg::CREDIT_SOURCE_OWN :
      shared_free ? linked_list_queue_pkg::CREDIT_SOURCE_SHARED : linked_list_queue_pkg::CREDIT_SOURCE_NONE;

  logic [WIDTH-1:0] own_looked, own_held_looked, shared_held_looked;
  assign own_looked = WIDTH'(owns[look_underlying_function*COUNT_WIDTH+:COUNT_WIDTH]);
  assign own_held_looked = WIDTH'(owns_held[look_underlying_function*COUNT_WIDTH+:COUNT_WIDTH])
      + WIDTH'(counts_own && counted == look_underlying_function);
  assign shared_held_looked = WIDTH'(shares_held[look_underlying_function*COUNT_WIDTH+:COUNT_WIDTH])
      + WIDTH'(counts_shared && counted == look_underlying_function);

  always_ff @(posedge clock) begin
    decided <= look_underlying_function;
    counted <= decided;
    is_same <= decided == look_underlying_function;
    is_counted <= take && !reset;
    counted_source <= source;
    has_own <= own_held_looked < own_looked;
    has_two_own <= own_held_looked + WIDTH'(1) < own_looked;
    is_below_cap <= shared_held_looked < WIDTH'(cap);
    is_two_below_cap <= shared_held_looked + WIDTH'(1) < WIDTH'(cap);
    has_shared <= WIDTH'(shared_held) + WIDTH'(counts_shared) < WIDTH'(shared);
    has_two_shared <= WIDTH'(shared_held) + WIDTH'(counts_shared) + WIDTH'(1) < WIDTH'(shared);
    query_own_held <= owns_held[query_underlying_function*COUNT_WIDTH+:COUNT_WIDTH];
    query_shared_held <= shares_held[query_underlying_function*COUNT_WIDTH+:COUNT_WIDTH];
    if (reset) begin
      shared <= '0;
      cap <= '0;
      shared_held <= '0;
    end else begin
      if (set_shared) begin
        shared <= set_shared_credits;
        cap <= set_shared_cap;
      end
      shared_held <= shared_held + COUNT_WIDTH'(counts_shared)
          - COUNT_WIDTH'(give_back && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED);
    end
  end

  for (genvar number = 0; number < FUNCTIONS; number++) begin : gen_function
    localparam logic [FUNCTION_WIDTH-1:0] NUMBER = FUNCTION_WIDTH'(number);
    logic is_taker, is_giver;
    assign is_taker = counted == NUMBER;
    assign is_giver = give_back && give_back_underlying_function == NUMBER;
    always_ff @(posedge clock) begin
      if (reset) begin
        owns[number*COUNT_WIDTH+:COUNT_WIDTH] <= COUNT_WIDTH'(ENTRIES);
        owns_held[number*COUNT_WIDTH+:COUNT_WIDTH] <= '0;
        shares_held[number*COUNT_WIDTH+:COUNT_WIDTH] <= '0;
      end else begin
        if (set_own && set_own_underlying_function == NUMBER) owns[number*COUNT_WIDTH+:COUNT_WIDTH] <= set_own_credits;
        owns_held[number*COUNT_WIDTH+:COUNT_WIDTH] <= owns_held[number*COUNT_WIDTH+:COUNT_WIDTH]
            + COUNT_WIDTH'(is_taker && counts_own)
            - COUNT_WIDTH'(is_giver && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_OWN);
        shares_held[number*COUNT_WIDTH+:COUNT_WIDTH] <= shares_held[number*COUNT_WIDTH+:COUNT_WIDTH]
            + COUNT_WIDTH'(is_taker && counts_shared)
            - COUNT_WIDTH'(is_giver && give_back_source == linked_list_queue_pkg::CREDIT_SOURCE_SHARED);
      end
    end
  end
endmodule
