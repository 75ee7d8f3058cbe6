// List ready bits and arbitration. A ready bit is a hint that the data unit at the head of a list may be ready; it is checked again at the
// point of use. Lists take turns in rounds, group by group: a round is the set of ready lists of a group when its turn comes. While a list
// is ready, no other gets more than four turns before it: two rounds are prepared, and the list may be too late for both.
//
// Within one clock, setting a bit takes precedence over clearing it. A bit that is set is offered some clocks later.
module list_arbiter #(
    parameter int unsigned LISTS = 64,
    parameter int unsigned SETTERS = 1,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    localparam int unsigned SIZE_WIDTH = LIST_WIDTH > 1 ? LIST_WIDTH / 2 : 1,  // Lists of a group.
    localparam int unsigned GROUP_WIDTH = LIST_WIDTH > SIZE_WIDTH ? LIST_WIDTH - SIZE_WIDTH : 1
) (
    input logic clock,
    input logic reset,

    input logic [SETTERS-1:0] made_ready,
    input logic [SETTERS*LIST_WIDTH-1:0] made_ready_list,
    input logic find,  // Requests a ready list.
    input logic [LIST_WIDTH-1:0] find_list,
    input logic find_ready,

    output logic offered,
    output logic [LIST_WIDTH-1:0] offered_list,
    input logic take
);
  localparam int unsigned SIZE = 1 << SIZE_WIDTH;
  localparam int unsigned GROUPS = 1 << GROUP_WIDTH;

  logic [GROUPS*SIZE-1:0] ready;
  logic [GROUPS-1:0] any;  // Valid one clock later.

  // The numbers come decoded in halves, from registers.
  logic [SETTERS*GROUPS-1:0] made_ready_group;
  logic [SETTERS*SIZE-1:0] made_ready_place;
  logic [GROUPS-1:0] find_group;
  logic [SIZE-1:0] find_place;
  logic found_ready;

  for (genvar setter = 0; setter < SETTERS; setter++) begin : gen_setter
    logic [GROUP_WIDTH+SIZE_WIDTH-1:0] number;
    assign number = (GROUP_WIDTH + SIZE_WIDTH)'(made_ready_list[setter*LIST_WIDTH+:LIST_WIDTH]);
    always_ff @(posedge clock) begin
      made_ready_group[setter*GROUPS+:GROUPS] <= made_ready[setter] && !reset ? GROUPS'(1) << number[SIZE_WIDTH+:GROUP_WIDTH] : '0;
      made_ready_place[setter*SIZE+:SIZE] <= SIZE'(1) << number[SIZE_WIDTH-1:0];
    end
  end
  logic [GROUP_WIDTH+SIZE_WIDTH-1:0] find_number;
  assign find_number = (GROUP_WIDTH + SIZE_WIDTH)'(find_list);
  always_ff @(posedge clock) begin
    find_group <= reset ? '1 : find ? GROUPS'(1) << find_number[SIZE_WIDTH+:GROUP_WIDTH] : '0;
    find_place <= reset ? '1 : SIZE'(1) << find_number[SIZE_WIDTH-1:0];
    found_ready <= find_ready && !reset;
  end

  for (genvar group = 0; group < GROUPS; group++) begin : gen_group
    logic [SIZE-1:0] members, is_set, is_found;
    always_comb begin
      is_set = '0;
      for (int unsigned setter = 0; setter < SETTERS; setter++)
        if (made_ready_group[setter*GROUPS+group]) is_set = is_set | made_ready_place[setter*SIZE+:SIZE];
    end
    assign is_found = find_group[group] ? find_place : '0;
    assign ready[group*SIZE+:SIZE] = members;
    always_ff @(posedge clock) begin
      members <= is_set | (found_ready ? members | is_found : members & ~is_found);
      any[group] <= members != '0;
    end
  end

  // The next group after the last one, and the one after it. A bit string marks the groups behind the last one.
  logic moves;
  logic [GROUPS-1:0] behind_last, behind, ahead;
  logic [GROUP_WIDTH-1:0] first_group, first_behind;
  logic [GROUP_WIDTH-1:0] last_group, next_group;
  logic [SIZE-1:0] next_round;
  logic [GROUP_WIDTH-1:0] next_round_group;
  logic [SIZE-1:0] round;
  logic [GROUP_WIDTH-1:0] round_group;
  logic [SIZE_WIDTH-1:0] first;
  logic last_of_round, round_moves;

  assign behind = any & behind_last;
  assign ahead = behind != '0 ? behind : any;
  find_first #(.SIZE(GROUPS)) i_first_group (.bits(any), .first(first_group));
  find_first #(.SIZE(GROUPS)) i_first_behind (.bits(behind), .first(first_behind));
  assign next_group = behind != '0 ? first_behind : first_group;
  find_first #(.SIZE(SIZE)) i_first (.bits(round), .first(first));

  assign last_of_round = (round & (round - SIZE'(1))) == '0;
  assign round_moves = !offered || take;
  assign moves = next_round == '0 || round_moves && last_of_round;

  always_ff @(posedge clock) begin
    if (reset) begin
      last_group <= '0;
      behind_last <= '0;
      next_round <= '0;
      round <= '0;
      offered <= 1'b0;
    end else begin
      if (moves) begin
        last_group <= next_group;
        behind_last <= ~(ahead ^ (ahead - GROUPS'(1)));
        next_round <= ready[last_group*SIZE+:SIZE];  // The group was chosen in the preceding clock.
        next_round_group <= last_group;
      end
      if (round_moves) begin
        offered <= round != '0;
        offered_list <= LIST_WIDTH'({round_group, first});
        round <= last_of_round ? next_round : round & (round - SIZE'(1));
        if (last_of_round) round_group <= next_round_group;
      end
    end
  end
endmodule
