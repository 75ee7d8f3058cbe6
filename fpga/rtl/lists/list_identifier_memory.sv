// List identifiers (US8804752, index to list identifier memory and list identifier to index memory). Direct: the index is the list
// identifier, for few indexes that can all occur (a TVL). Content addressed: an index has a place in each of up to four ways, by a hash for
// each way. The identifier is place and way; it belongs to the index while its list has a data unit. If other lists occupy all places of an
// index, it gets none.
//
// Three stages: `find_index` enters the first. In the third, two clocks later, `match` shows for each way whether the list at the index's
// place was last given to this index, and `places` the place. `give` assigns the list of a way to the index in the third stage.
module list_identifier_memory #(
    parameter int unsigned LISTS = 64,
    parameter int unsigned INDEX_WIDTH = 32,
    parameter bit CONTENT_ADDRESSED = 1'b1,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    localparam int unsigned WAYS = !CONTENT_ADDRESSED ? 1 : LISTS < 4 ? LISTS : 4,
    localparam int unsigned WAY_WIDTH = $clog2(WAYS),
    localparam int unsigned PLACE_WIDTH = LIST_WIDTH > WAY_WIDTH ? LIST_WIDTH - WAY_WIDTH : 1
) (
    input logic clock,

    // Stage 0: the place of an index in each way. The caller registers it.
    input logic [INDEX_WIDTH-1:0] hash_index,
    output logic [WAYS*PLACE_WIDTH-1:0] hash_places,

    input logic [INDEX_WIDTH-1:0] find_index,
    input logic [WAYS*PLACE_WIDTH-1:0] find_places,
    output logic [WAYS-1:0] match,
    output logic [WAYS*PLACE_WIDTH-1:0] places,
    input logic [WAYS-1:0] give,

    // The index of a list, valid in the next clock.
    input logic [LIST_WIDTH-1:0] of_list,
    output logic [INDEX_WIDTH-1:0] index
);
  if (!CONTENT_ADDRESSED) begin : gen_direct
    logic [INDEX_WIDTH-1:0] index_2;
    logic unused_inputs;
    assign unused_inputs = &{1'b0, give, find_places, hash_index};
    assign hash_places = PLACE_WIDTH'(hash_index);
    always_ff @(posedge clock) begin
      index_2 <= find_index;
      match <= index_2 < INDEX_WIDTH'(LISTS);
      places <= PLACE_WIDTH'(index_2);
      index <= INDEX_WIDTH'(of_list);
    end
  end else begin : gen_content_addressed
    localparam int unsigned PARTS = (INDEX_WIDTH + PLACE_WIDTH - 1) / PLACE_WIDTH;

    logic [INDEX_WIDTH-1:0] index_2, index_3, index_4;
    logic [WAYS*PLACE_WIDTH-1:0] places_2;
    logic [WAYS-1:0] given;
    logic is_same_2, is_same_3, is_before_last_2;  // Same place as the push one stage ahead; two stages ahead.
    logic [WAYS*INDEX_WIDTH-1:0] index_of;
    logic [WAY_WIDTH:0] list_way;

    // Each way takes the low bits and adds the others, part by part, rotated by the number of the way times the number of the part.
    // Consecutive indexes thus have different places in every way, and indexes that collide in one way differ in the next.
    logic [PARTS*PLACE_WIDTH-1:0] hash_parts;
    assign hash_parts = (PARTS * PLACE_WIDTH)'(hash_index);
    for (genvar way = 0; way < WAYS; way++) begin : gen_hash
      always_comb begin
        hash_places[way*PLACE_WIDTH+:PLACE_WIDTH] = '0;
        for (int unsigned part = 0; part < PARTS; part++)
          if (LISTS > WAYS)
            hash_places[way*PLACE_WIDTH+:PLACE_WIDTH] = hash_places[way*PLACE_WIDTH+:PLACE_WIDTH]
                ^ (hash_parts[part*PLACE_WIDTH+:PLACE_WIDTH] >> way * part % PLACE_WIDTH
                | hash_parts[part*PLACE_WIDTH+:PLACE_WIDTH] << (PLACE_WIDTH - way * part % PLACE_WIDTH));
      end
    end

    assign list_way = (WAY_WIDTH + 1)'(of_list & LIST_WIDTH'(WAYS - 1));

    always_ff @(posedge clock) begin
      index_2 <= find_index;
      index_3 <= index_2;
      index_4 <= index_3;
      places_2 <= find_places;
      places <= places_2;
      given <= give;
      is_same_2 <= find_index == index_2;
      is_same_3 <= is_same_2;
      is_before_last_2 <= find_index == index_3;
    end

    logic unused_index_4;
    assign unused_index_4 = &{1'b0, index_4};

    for (genvar way = 0; way < WAYS; way++) begin : gen_way
      localparam int unsigned AT = way * PLACE_WIDTH;
      logic [INDEX_WIDTH-1:0] found;
      logic is_place_2, is_place_3, is_place_before_last_2, matches_3, was_given_4;
      logic [PLACE_WIDTH-1:0] read_place;

      list_memory #(
          .WIDTH(INDEX_WIDTH),
          .SIZE(1 << PLACE_WIDTH)
      ) i_index (
          .clock(clock),
          .write(give[way]),
          .write_address(places[AT+:PLACE_WIDTH]),
          .write_data(index_3),
          .read_address(find_places[AT+:PLACE_WIDTH]),
          .read_data(found)
      );

      // The last two pushes may have assigned this list after its index was read.
      assign was_given_4 = given[way];
      always_ff @(posedge clock) begin
        is_place_2 <= find_places[AT+:PLACE_WIDTH] == places_2[AT+:PLACE_WIDTH];
        is_place_3 <= is_place_2;
        is_place_before_last_2 <= find_places[AT+:PLACE_WIDTH] == places[AT+:PLACE_WIDTH];
        matches_3 <= was_given_4 && is_place_before_last_2 ? is_before_last_2 : found == index_2;
      end
      assign match[way] = was_given_4 && is_place_3 ? is_same_3 : matches_3;

      assign read_place = PLACE_WIDTH'(of_list >> WAY_WIDTH);
      list_memory #(
          .WIDTH(INDEX_WIDTH),
          .SIZE(1 << PLACE_WIDTH)
      ) i_index_of_list (
          .clock(clock),
          .write(give[way]),
          .write_address(places[AT+:PLACE_WIDTH]),
          .write_data(index_3),
          .read_address(read_place),
          .read_data(index_of[way*INDEX_WIDTH+:INDEX_WIDTH])
      );
    end

    logic [WAY_WIDTH:0] way_read;
    always_ff @(posedge clock) way_read <= list_way;
    // Not index_of[way_read*INDEX_WIDTH+:INDEX_WIDTH]: if the width is not a power of two, a tool may infer a multiplier.
    always_comb begin
      index = '0;
      for (int unsigned way = 0; way < WAYS; way++)
        if (32'(way_read) == way) index = index | index_of[way*INDEX_WIDTH+:INDEX_WIDTH];
    end
  end
endmodule
