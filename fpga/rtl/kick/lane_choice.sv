// Chooses the lane of a queue pair that has no kicked commands (US8484392, TVL mapping table): the lowest idle lane of its level, else the
// lowest idle shared lane, else the lowest of the least loaded lanes of both. Loads are compared by their highest bit, up to 2^CLASSES, so
// the choice is among a few sets of lanes. At least one lane must exist.
//
// It takes three clocks: find the sets that have a lane; select the first of them; select its lowest lane, one-hot.
module lane_choice #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned CLASSES = 5
) (
    input logic clock,
    input logic reset,
    input logic choose,
    input logic [LANES-1:0] own_lanes,
    input logic [LANES-1:0] shared_lanes,
    // Lanes that have at least one command, two, four, and so on: now, and one clock ago.
    input logic [CLASSES*LANES-1:0] loaded,
    input logic [CLASSES*LANES-1:0] loaded_before,
    input logic [LANES-1:0] avoided,  // Idle lanes that a recent kick chose. The block takes one of them only if no other lane is idle.
    input logic [LANES-1:0] avoided_last,  // The same, in the third clock.
    output logic [LANES-1:0] chosen  // One clock later; 0 if `choose` was clear.
);
  localparam int unsigned SETS = CLASSES + 3;

  // 1: which sets have a lane.
  logic [LANES-1:0] usable, own_free, shared_free;
  logic [SETS-1:0] has_lane, takes;
  assign usable = own_lanes | shared_lanes;
  assign own_free = own_lanes & ~loaded[LANES-1:0] & ~avoided;
  assign shared_free = shared_lanes & ~loaded[LANES-1:0] & ~avoided;

  function automatic logic [SETS-1:0] sets_with_lane(input logic [LANES-1:0] own, input logic [LANES-1:0] of_shared,
                                                     input logic [LANES-1:0] all, input logic [CLASSES*LANES-1:0] loads);
    sets_with_lane[0] = own != '0;
    sets_with_lane[1] = of_shared != '0;
    for (int unsigned number = 0; number < CLASSES; number++)
      sets_with_lane[2+number] = (all & ~loads[number*LANES+:LANES]) != '0;
    sets_with_lane[SETS-1] = 1'b1;
  endfunction

  // 2: the lanes of the first set that has one.
  logic choose_2, choose_3;
  logic [LANES-1:0] own_2, shared_2, avoided_2, set_2, set_3;
  always_comb begin
    takes = has_lane & (~has_lane + SETS'(1));
    set_2 = (takes[0] ? own_2 : '0) | (takes[1] ? shared_2 : '0);
    set_2 = set_2 & ~loaded_before[LANES-1:0] & ~avoided_2;
`ifndef FPGA_VERBS_MUTANT_LOAD_IGNORED
    for (int unsigned number = 0; number < CLASSES; number++)
      set_2 = set_2 | (takes[2+number] ? (own_2 | shared_2) & ~loaded_before[number*LANES+:LANES] : '0);
`endif
    set_2 = set_2 | (takes[SETS-1] ? own_2 | shared_2 : '0);
  end

  // 3: the lowest lane of the set, except the lane chosen last if there is another one.
  logic [LANES-1:0] others, lowest, lowest_other;
  assign others = set_3 & ~avoided_last;
  assign lowest = set_3 & (~set_3 + LANES'(1));
  assign lowest_other = others & (~others + LANES'(1));

  always_ff @(posedge clock) begin
    choose_2 <= choose && !reset;
    choose_3 <= choose_2 && !reset;
    if (choose) begin
      has_lane <= sets_with_lane(own_free, shared_free, usable, loaded);
      own_2 <= own_lanes;
      shared_2 <= shared_lanes;
      avoided_2 <= avoided;
    end
    if (choose_2) set_3 <= set_2;
    chosen <= reset || !choose_3 ? '0 : others != '0 ? lowest_other : lowest;
  end
endmodule
