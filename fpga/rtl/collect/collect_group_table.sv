// The number of pool PCBs that each collect group may still take (US8589610, collect group table; US8484392, allotment of PCBs). PCBs count
// by the part of the BAR whose VCBs hold them. A level uses its own allotment first, then the PCBs that the function's levels share, then
// those that all functions share. The counts alone determine the payer, so a release first returns what the function borrowed.
//
// The block computes the remaining numbers in steps from registered counts, so they are some clocks old when used. It charges each PCB
// taken since then to its payer, so that none is granted twice. A returned PCB is available some clocks later.
module collect_group_table #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned COUNT_WIDTH = $clog2(PHYSICAL_COLLECT_BUFFERS + 1) + 2,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // Whether one PCB, and whether two, are left for a VCB of that part: in its level's allotment, among those that the function's levels
    // share, among those that all functions share. A PCB that the preceding request may take is not subtracted.
    input logic [FUNCTION_WIDTH-1:0] asked_underlying_function,
    input logic [1:0] asked_part,  // collect_group_t: low, high or function_shared.
    output logic [1:0] left_level,  // Bit 0: one is left; bit 1: two are left.
    output logic [1:0] left_function,
    output logic [1:0] left_all,

    // The PCB that was taken in the preceding clock, and its payer.
    input logic take,
    input logic [FUNCTION_WIDTH-1:0] take_underlying_function,
    input logic [1:0] take_part,
    input logic paid_by_level,
    input logic paid_by_function,
    input logic paid_by_all,

    // Whether functions hold more shared PCBs than exist, after a division. Whether the release of a PCB that this function took for this
    // part reduces the PCBs that it borrows. Both are some clocks old.
    output logic overdrawn,
    input logic [FUNCTION_WIDTH-1:0] looked_at_underlying_function,
    input logic [1:0] looked_at_part,
    output logic part_repays,

    // PCBs that are released: without a kick, and after it.
    input logic give_back,
    input logic [FUNCTION_WIDTH-1:0] give_back_underlying_function,
    input logic [1:0] give_back_part,
    input logic release_buffer,
    input logic [FUNCTION_WIDTH-1:0] release_underlying_function,
    input logic [1:0] release_part,

    // Changes all three numbers of a function, or none of them if the sum over all functions would exceed the pool. The function and its
    // numbers are given from two clocks before set_allotment on: allotment_allowed is the answer about those of two clocks before.
    input logic set_allotment,
    input logic [FUNCTION_WIDTH-1:0] set_allotment_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_allotment_low,
    input logic [COUNT_WIDTH-1:0] set_allotment_high,
    input logic [COUNT_WIDTH-1:0] set_allotment_shared,
    output logic allotment_allowed
);
  localparam int unsigned SHARE = PHYSICAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;
  localparam int unsigned EACH = SHARE < 4 ? SHARE : 4;

  // Numbers saturate at seven: more PCBs cannot be taken while the numbers age.
  function automatic logic [2:0] few(input logic [COUNT_WIDTH-1:0] total, input logic [COUNT_WIDTH-1:0] taken);
    logic [COUNT_WIDTH-1:0] rest;
    rest = total - taken;
    few = rest[COUNT_WIDTH-1] ? 3'd0 : (rest >> 3) != '0 ? 3'd7 : rest[2:0];
  endfunction

  // How many of those taken a total does not cover.
  function automatic logic [COUNT_WIDTH-1:0] beyond(input logic [COUNT_WIDTH-1:0] total, input logic [COUNT_WIDTH-1:0] taken);
    logic [COUNT_WIDTH-1:0] over;
    over = taken - total;
    beyond = over[COUNT_WIDTH-1] ? '0 : over;
  endfunction

  logic [3*UNDERLYING_FUNCTIONS-1:0] rests_low, rests_high, rests_function;
  logic [UNDERLYING_FUNCTIONS-1:0] borrows, is_over_low, is_over_high;
  logic [UNDERLYING_FUNCTIONS*COUNT_WIDTH-1:0] borrowed, owns;
  logic [COUNT_WIDTH-1:0] all_borrowed, all_borrowed_now, shared_total;
  logic [2:0] rest_all;
  logic [COUNT_WIDTH+1:0] asked;  // Wide enough for any three numbers.
  logic [UNDERLYING_FUNCTIONS*COUNT_WIDTH-1:0] limits;  // The most that a function may be given: its own PCBs and the shared ones.
  logic [COUNT_WIDTH-1:0] limit, owned_before, becomes_shared;  // The PCBs that the function owned; those that become shared.

  // Functions whose counts or shares change now or changed in the preceding clocks. Only these are computed, which saves simulation time.
  logic [UNDERLYING_FUNCTIONS-1:0] takes, gives_back, releases, changes, changed, changed_before;
  logic any_change, any_changed;
  assign takes = UNDERLYING_FUNCTIONS'(take) << take_underlying_function;
  assign gives_back = UNDERLYING_FUNCTIONS'(give_back) << give_back_underlying_function;
  assign releases = UNDERLYING_FUNCTIONS'(release_buffer) << release_underlying_function;
  assign changes = takes | gives_back | releases;
  assign any_change = reset || set_allotment || take || give_back || release_buffer;
  assign any_changed = changed != '0 || changed_before != '0;
  always_ff @(posedge clock) begin
    changed <= reset || set_allotment ? '1 : changes;
    changed_before <= changed;
  end

  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    localparam logic [FUNCTION_WIDTH-1:0] NUMBER = FUNCTION_WIDTH'(number);
    logic [COUNT_WIDTH-1:0] total_low, total_high, total_shared, taken_low, taken_high, taken_shared, beyond_levels;

    always_ff @(posedge clock) begin
      if (any_change) begin
        if (reset) begin
          total_low <= '0;
          total_high <= '0;
          total_shared <= COUNT_WIDTH'(EACH);
          limits[number*COUNT_WIDTH+:COUNT_WIDTH] <= COUNT_WIDTH'(PHYSICAL_COLLECT_BUFFERS - EACH * (UNDERLYING_FUNCTIONS - 1));
          owns[number*COUNT_WIDTH+:COUNT_WIDTH] <= COUNT_WIDTH'(EACH);
          taken_low <= '0;
          taken_high <= '0;
          taken_shared <= '0;
        end else begin
          if (set_allotment && allotment_allowed) begin
            if (set_allotment_underlying_function == NUMBER) begin
              total_low <= set_allotment_low;
              total_high <= set_allotment_high;
              total_shared <= set_allotment_shared;
              owns[number*COUNT_WIDTH+:COUNT_WIDTH] <= COUNT_WIDTH'(asked);
            end else limits[number*COUNT_WIDTH+:COUNT_WIDTH] <= limits[number*COUNT_WIDTH+:COUNT_WIDTH] + becomes_shared;
          end
          if (changes[number]) begin
            taken_low <= taken_low + COUNT_WIDTH'(takes[number] && take_part == hca_spec_pkg::COLLECT_GROUP_LOW)
                - COUNT_WIDTH'(gives_back[number] && give_back_part == hca_spec_pkg::COLLECT_GROUP_LOW)
                - COUNT_WIDTH'(releases[number] && release_part == hca_spec_pkg::COLLECT_GROUP_LOW);
            taken_high <= taken_high + COUNT_WIDTH'(takes[number] && take_part == hca_spec_pkg::COLLECT_GROUP_HIGH)
                - COUNT_WIDTH'(gives_back[number] && give_back_part == hca_spec_pkg::COLLECT_GROUP_HIGH)
                - COUNT_WIDTH'(releases[number] && release_part == hca_spec_pkg::COLLECT_GROUP_HIGH);
            taken_shared <= taken_shared + COUNT_WIDTH'(takes[number] && take_part == hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED)
                - COUNT_WIDTH'(gives_back[number] && give_back_part == hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED)
                - COUNT_WIDTH'(releases[number] && release_part == hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED);
          end
        end
      end

      if (any_changed) begin
        // One clock later: the levels.
        if (changed[number]) begin
          rests_low[3*number+:3] <= few(total_low, taken_low);
          rests_high[3*number+:3] <= few(total_high, taken_high);
          is_over_low[number] <= beyond(total_low, taken_low) != '0;
          is_over_high[number] <= beyond(total_high, taken_high) != '0;
          // PCBs taken beyond the allotments of the levels.
          beyond_levels <= beyond(total_low, taken_low) + beyond(total_high, taken_high) + taken_shared;
        end
        // Two clocks later: the function.
        if (changed[number] || changed_before[number]) begin
          rests_function[3*number+:3] <= few(total_shared, beyond_levels);
          borrowed[number*COUNT_WIDTH+:COUNT_WIDTH] <= beyond(total_shared, beyond_levels);
          borrows[number] <= beyond(total_shared, beyond_levels) != '0;
        end
      end
    end
  end

  // Three and four clocks later: all functions.
  logic has_changed;
  always_comb begin
    all_borrowed_now = '0;
    if (has_changed) begin
      for (int unsigned number = 0; number < UNDERLYING_FUNCTIONS; number++)
        all_borrowed_now = all_borrowed_now + borrowed[number*COUNT_WIDTH+:COUNT_WIDTH];
    end
  end
  always_ff @(posedge clock) begin
    has_changed <= any_changed;
    if (has_changed) all_borrowed <= all_borrowed_now;
    rest_all <= few(shared_total, all_borrowed);
    overdrawn <= all_borrowed > shared_total;
    part_repays <= borrows[looked_at_underlying_function]
        && (looked_at_part == hca_spec_pkg::COLLECT_GROUP_LOW ? is_over_low[looked_at_underlying_function] :
        looked_at_part == hca_spec_pkg::COLLECT_GROUP_HIGH ? is_over_high[looked_at_underlying_function] : 1'b1);
  end

  // The PCBs taken since, the one reported now first.
  localparam int unsigned LEVEL_AGE = 2, FUNCTION_AGE = 3, ALL_AGE = 5;
  logic [ALL_AGE-1:1] old_level, old_function, old_all;
  logic [ALL_AGE-1:0] by_level, by_function, by_all;
  logic [ALL_AGE*FUNCTION_WIDTH-1:0] functions;
  logic [(ALL_AGE-1)*FUNCTION_WIDTH-1:0] old_functions;
  logic [ALL_AGE*2-1:0] parts;
  logic [(ALL_AGE-1)*2-1:0] old_parts;
  assign by_level = {old_level, take && paid_by_level};
  assign by_function = {old_function, take && paid_by_function};
  assign by_all = {old_all, take && paid_by_all};
  assign functions = {old_functions, take_underlying_function};
  assign parts = {old_parts, take_part};
  always_ff @(posedge clock) begin
    old_level <= reset ? '0 : by_level[ALL_AGE-2:0];
    old_function <= reset ? '0 : by_function[ALL_AGE-2:0];
    old_all <= reset ? '0 : by_all[ALL_AGE-2:0];
    old_functions <= functions[(ALL_AGE-1)*FUNCTION_WIDTH-1:0];
    old_parts <= parts[(ALL_AGE-1)*2-1:0];
  end

  logic [2:0] since_level, since_function, since_all;
  logic [2:0] rest_level, rest_function;
  logic [ALL_AGE-1:0] is_same_function, is_same_part;
  for (genvar age = 0; age < ALL_AGE; age++) begin : gen_age
    assign is_same_function[age] = functions[age*FUNCTION_WIDTH+:FUNCTION_WIDTH] == asked_underlying_function;
    assign is_same_part[age] = is_same_function[age] && parts[age*2+:2] == asked_part;
  end
  always_comb begin
    since_level = '0;
    since_function = '0;
    since_all = '0;
    for (int unsigned age = 0; age < LEVEL_AGE; age++) since_level = since_level + 3'(by_level[age] && is_same_part[age]);
    for (int unsigned age = 0; age < FUNCTION_AGE; age++) since_function = since_function + 3'(by_function[age] && is_same_function[age]);
    for (int unsigned age = 0; age < ALL_AGE; age++) since_all = since_all + 3'(by_all[age]);
  end
  assign rest_level = asked_part == hca_spec_pkg::COLLECT_GROUP_LOW ? rests_low[asked_underlying_function*3+:3] :
      asked_part == hca_spec_pkg::COLLECT_GROUP_HIGH ? rests_high[asked_underlying_function*3+:3] : 3'd0;
  assign rest_function = rests_function[asked_underlying_function*3+:3];
  assign left_level = {4'(rest_level) > 4'(since_level) + 4'd1, rest_level > since_level};
  assign left_function = {4'(rest_function) > 4'(since_function) + 4'd1, rest_function > since_function};
  assign left_all = {4'(rest_all) > 4'(since_all) + 4'd1, rest_all > since_all};

  // The check of an allotment: the sum in one clock, the comparison in the next, so that neither is on a path with what is changed.
  always_ff @(posedge clock) begin
    asked <= (COUNT_WIDTH + 2)'(set_allotment_low) + (COUNT_WIDTH + 2)'(set_allotment_high) + (COUNT_WIDTH + 2)'(set_allotment_shared);
    limit <= limits[set_allotment_underlying_function*COUNT_WIDTH+:COUNT_WIDTH];
    owned_before <= owns[set_allotment_underlying_function*COUNT_WIDTH+:COUNT_WIDTH];
    allotment_allowed <= asked <= {2'b00, limit};
    becomes_shared <= owned_before - COUNT_WIDTH'(asked);
  end

  always_ff @(posedge clock) begin
    if (reset) shared_total <= COUNT_WIDTH'(PHYSICAL_COLLECT_BUFFERS - EACH * UNDERLYING_FUNCTIONS);
    else if (set_allotment && allotment_allowed)
      shared_total <= shared_total + becomes_shared;
  end
endmodule
