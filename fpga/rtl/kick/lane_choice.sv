// The lane for a queue pair that is on none (US8484392, TVL mapping table): the lowest idle lane of the level's own, otherwise the lowest
// idle shared one, otherwise the least loaded of all, the lowest among equals. Loads are compared by their highest bit, up to 2^CLASSES, so
// that this is a choice among a few sets of lanes. At least one lane must exist.
//
// Three clocks: the sets that have a lane; the first of them; its lowest lane, as one bit.
module lane_choice #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned CLASSES = 5
) (
    input logic clock,
    input logic reset,
    input logic choose,
    input logic [LANES-1:0] own_lanes,
    input logic [LANES-1:0] shared_lanes,
    // Lanes that have at least one command, two, four, and so on; now, and a clock later the same.
    input logic [CLASSES*LANES-1:0] loaded,
    input logic [CLASSES*LANES-1:0] loaded_before,
    input logic [LANES-1:0] avoided,  // Idle lanes that were chosen just now; only if there are others.
    input logic [LANES-1:0] avoided_last,  // As of the third clock.
    output logic [LANES-1:0] chosen  // The clock after; none if there was nothing to choose.
);
  localparam int unsigned SETS = CLASSES + 3;

  // First: sets that have a lane. The first set that has one is taken.
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

  // Second: the lanes of that set.
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

  // Third: the lowest, but for the one that was chosen last.
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
