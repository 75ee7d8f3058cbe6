// A set-associative cache in block memory. Each slot also has a row of its own: an access finds the answer that it waited for there, even if other
// answers have replaced it in the set. One look-up per clock, answered five clocks later. A fill empties a place before it writes it, so that no
// look-up finds half-written data.
module translation_cache #(
    parameter int unsigned INDEX_WIDTH = 18,
    parameter int unsigned SET_LSB = 0,  // Lowest bit of an index that selects its set.
    parameter int unsigned SETS = 64,  // A power of two.
    parameter int unsigned WAYS = 4,  // A power of two.
    parameter int unsigned SLOTS = 16,  // At most SETS * WAYS.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned WIDTH = 424,
    localparam int unsigned SLOT_WIDTH = $clog2(SLOTS),
    localparam int unsigned SET_WIDTH = $clog2(SETS),
    localparam int unsigned WAY_WIDTH = $clog2(WAYS),
    localparam int unsigned TAG_WIDTH = INDEX_WIDTH - SET_WIDTH
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset or a command; no fill begins until it ends.

    input logic [INDEX_WIDTH-1:0] look_index,
    input logic look_own,  // Look up the row of the slot, which has been filled.
    input logic [SLOT_WIDTH-1:0] look_slot,
    output logic found,
    output logic [WIDTH-1:0] found_data,

    // An answer fills the row of its slot, and a place of its set if keeps is set at the end.
    input logic fill,
    output logic filled,
    input logic fill_keeps,
    input logic [INDEX_WIDTH-1:0] fill_index,
    input logic [SLOT_WIDTH-1:0] fill_slot,
    input logic [FUNCTION_WIDTH-1:0] fill_underlying_function,
    input logic [WIDTH-1:0] fill_data,

    // Invalidates indices, those of one function, or all; no answer is kept meanwhile.
    input logic clear,
    input logic [INDEX_WIDTH-1:0] clear_first,
    input logic [INDEX_WIDTH-1:0] clear_last,
    input logic clear_any,
    input logic [FUNCTION_WIDTH-1:0] clear_underlying_function
);
  localparam int unsigned ROW_WIDTH = 1 + FUNCTION_WIDTH + TAG_WIDTH;
  localparam int unsigned ADDRESS_WIDTH = 1 + SET_WIDTH + WAY_WIDTH;
  localparam int unsigned LAST_STEP = 5;

  function automatic logic [TAG_WIDTH-1:0] tag_of(input logic [INDEX_WIDTH-1:0] index);
    tag_of = TAG_WIDTH'(index >> SET_LSB + SET_WIDTH << SET_LSB | index & ((INDEX_WIDTH'(1) << SET_LSB) - INDEX_WIDTH'(1)));
  endfunction
  function automatic logic [SET_WIDTH-1:0] set_of(input logic [INDEX_WIDTH-1:0] index);
    set_of = SET_WIDTH'(index >> SET_LSB);
  endfunction

  logic [WAYS-1:0] tag_write;
  logic [SET_WIDTH-1:0] tag_set, look_set;
  logic [ROW_WIDTH-1:0] tag_data;
  logic [WAYS*ROW_WIDTH-1:0] tags_1, tags_swept;
  logic [SET_WIDTH-1:0] swept;
  assign look_set = set_of(look_index);
  for (genvar way = 0; way < WAYS; way++) begin : gen_way
    list_memory #(
        .WIDTH(ROW_WIDTH),
        .SIZE (SETS)
    ) i_looked (
        .write(tag_write[way]),
        .write_address(tag_set),
        .write_data(tag_data),
        .read_address(look_set),
        .read_data(tags_1[way*ROW_WIDTH+:ROW_WIDTH]),
        .*
    );
    list_memory #(
        .WIDTH(ROW_WIDTH),
        .SIZE (SETS)
    ) i_swept (
        .write(tag_write[way]),
        .write_address(tag_set),
        .write_data(tag_data),
        .read_address(swept),
        .read_data(tags_swept[way*ROW_WIDTH+:ROW_WIDTH]),
        .*
    );
  end

  // 1: read tags. 2: compare ways. 3: address the row. 4: read it. 5: answer.
  logic [TAG_WIDTH-1:0] tag_1;
  logic own_1, own_2, found_3, found_4;
  logic [SLOT_WIDTH-1:0] slot_1, slot_2;
  logic [SET_WIDTH-1:0] set_1, set_2;
  logic [WAYS-1:0] has_2;
  logic [WAY_WIDTH-1:0] way_2;
  logic [ADDRESS_WIDTH-1:0] row_3, data_address;
  logic [WIDTH-1:0] data_4;
  logic data_write;
  find_first #(
      .SIZE(WAYS)
  ) i_way (
      .bits (has_2),
      .first(way_2)
  );
  always_ff @(posedge clock) begin
    tag_1 <= tag_of(look_index);
    set_1 <= look_set;
    own_1 <= look_own;
    slot_1 <= look_slot;
    for (int unsigned way = 0; way < WAYS; way++)
      has_2[way] <= tags_1[way*ROW_WIDTH+ROW_WIDTH-1] && tags_1[way*ROW_WIDTH+:TAG_WIDTH] == tag_1;
    set_2 <= set_1;
    own_2 <= own_1;
    slot_2 <= slot_1;
    row_3 <= own_2 ? {1'b1, (SET_WIDTH + WAY_WIDTH)'(slot_2)} : {1'b0, set_2, way_2};
    found_3 <= own_2 || has_2 != '0;
    found_4 <= found_3;
    found <= found_4;
    found_data <= data_4;
  end
  list_memory #(
      .WIDTH(WIDTH),
      .SIZE (1 << ADDRESS_WIDTH),
      .BLOCK(1'b1)
  ) i_data (
      .write(data_write),
      .write_address(data_address),
      .write_data(fill_data),
      .read_address(row_3),
      .read_data(data_4),
      .*
  );

  // A fill: write the row of the slot and empty the place; then write the place and its tag.
  logic [2:0] step;
  logic fills, is_first_step, is_data_step, is_tag_step;
  logic [WAY_WIDTH-1:0] victim;
  logic [WAYS-1:0] victim_bit;
  assign fills = fill && (step != '0 || !clearing);
  assign is_first_step = fills && step == '0;
  assign is_data_step = fills && step == 3'(LAST_STEP - 1);
  assign is_tag_step = fills && step == 3'(LAST_STEP);
  assign data_write = is_first_step || is_data_step;
  assign data_address = is_first_step ? {1'b1, (SET_WIDTH + WAY_WIDTH)'(fill_slot)} : {1'b0, set_of(fill_index), victim};
  assign victim_bit = WAYS'(1) << victim;
  assign filled = is_tag_step;
  always_ff @(posedge clock) begin
    if (reset || is_tag_step) step <= '0;
    else step <= step + 3'(fills);
    if (reset) victim <= '0;
    else victim <= victim + WAY_WIDTH'(is_tag_step);
  end

  // A sweep: read tags, compare them, clear those that match.
  logic sweeps, sweeps_1, sweeps_2, clears_all, any;
  logic [SET_WIDTH-1:0] swept_1, swept_2;
  logic [INDEX_WIDTH-1:0] first, last;
  logic [FUNCTION_WIDTH-1:0] underlying_function;
  logic [WAYS-1:0] goes_1, goes_2;
  always_ff @(posedge clock) begin
    if (reset || clear && !clearing) begin
      sweeps <= 1'b1;
      swept <= '0;
      clears_all <= reset;
      first <= clear_first;
      last <= clear_last;
      any <= clear_any;
      underlying_function <= clear_underlying_function;
    end else if (sweeps) begin
      sweeps <= swept != SET_WIDTH'(SETS - 1);
      swept <= swept + SET_WIDTH'(1);
    end
    clearing <= reset || clear || sweeps || sweeps_1;
    sweeps_1 <= !reset && sweeps;
    swept_1 <= swept;
    sweeps_2 <= !reset && sweeps_1;
    swept_2 <= swept_1;
    for (int unsigned way = 0; way < WAYS; way++) goes_2[way] <= clears_all || goes_1[way];
  end
  for (genvar way = 0; way < WAYS; way++) begin : gen_goes
    logic [TAG_WIDTH-1:0] tag;
    logic [INDEX_WIDTH-1:0] index;
    logic [FUNCTION_WIDTH-1:0] owner;
    assign {owner, tag} = tags_swept[way*ROW_WIDTH+:ROW_WIDTH-1];
    if (SET_LSB == 0) assign index = {tag, swept_1};
    else assign index = {tag[TAG_WIDTH-1:SET_LSB], swept_1, tag[SET_LSB-1:0]};
    assign goes_1[way] = index >= first && index <= last && (any || owner == underlying_function);
  end
  logic unused_valid;
  assign unused_valid = &{1'b0, tags_swept};
  always_comb begin
    tag_write = '0;
    tag_set = set_of(fill_index);
    tag_data = '0;
    if (sweeps_2) begin
      tag_write = goes_2;
      tag_set = swept_2;
    end else if (is_first_step) tag_write = victim_bit;
    else if (is_tag_step && fill_keeps) begin
      tag_write = victim_bit;
      tag_data = {1'b1, fill_underlying_function, tag_of(fill_index)};
    end
  end
endmodule
