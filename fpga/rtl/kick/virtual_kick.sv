// Puts kicked commands on the list of a transmit virtual lane, and starts them when the lane has an execution and a completion credit
// (US8484392, virtual kick lists, TVL mapping table, virtual kick arbitrator). A command pins its queue pair from the time it is listed
// until it is finished. The queue pair keeps its lane while it has such a command, so its commands cannot overtake each other.
//
// A kick passes eight stages. It waits in the first one if its entry of the mapping table must be read again; no other stage waits. The
// next three stages choose a lane in case the queue pair has none, and the fourth asks queue_pair_state_cache to pin the queue pair, which
// answers one clock later. The fifth selects the lane. The eighth lists the command, refuses it, or releases its PCB. A refused command
// waits in a queue that reserves room for the kicks in the stages.
//
// Every clock the block accepts one kick, starts one command, and accepts finish units that together return one credit of each kind and end
// one command. A lane that has started a command can start the next one four clocks later. A started command takes its credits at once,
// leaves its list eight clocks later, and leaves the block at least one clock after that.
//
// When a queue pair must become quiet, the block drops its commands: they finish at once, and leave their list in turn, without a credit.
// The scan takes one clock per entry after seventeen clocks of waiting; meanwhile no other command is finished, and after the first clocks
// none is listed or started.
//
// A command with an uncorrectable bit error on its list is not started: kick_corrupted names its lane and its credits return, but its queue
// pair stays pinned until a reset, because the command's identity is lost.
module virtual_kick #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,  // At most 64.
    parameter int unsigned ENTRIES = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS
        + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,  // Every command on a list has a PCB.
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,  // A power of two.
    parameter int unsigned EXECUTION_CREDITS_PER_LANE = hca_spec_pkg::EXECUTION_CREDITS_PER_LANE,
    parameter int unsigned COMPLETION_CREDITS_PER_LANE = hca_spec_pkg::COMPLETION_CREDITS_PER_LANE,
    parameter int unsigned SHARED_EXECUTION_CREDITS = hca_spec_pkg::SHARED_EXECUTION_CREDITS,
    parameter int unsigned SHARED_COMPLETION_CREDITS = hca_spec_pkg::SHARED_COMPLETION_CREDITS,
    parameter int unsigned SHARED_EXECUTION_CREDITS_CAP = hca_spec_pkg::SHARED_EXECUTION_CREDITS_CAP,
    parameter int unsigned SHARED_COMPLETION_CREDITS_CAP = hca_spec_pkg::SHARED_COMPLETION_CREDITS_CAP,
    parameter int unsigned FINISHES = 3,  // Number of blocks that end commands.
    parameter bit DIVISIBLE = 1'b1,  // The control function can divide the credits.
    parameter int unsigned LANE_WIDTH = TRANSMIT_VIRTUAL_LANES > 1 ? $clog2(TRANSMIT_VIRTUAL_LANES) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned ENTRY_COUNT_WIDTH = $clog2(ENTRIES + 1),
    parameter int unsigned QUEUE_PAIR_WIDTH = $clog2(QUEUE_PAIRS),
    parameter int unsigned COMPLETION_CREDITS = TRANSMIT_VIRTUAL_LANES * COMPLETION_CREDITS_PER_LANE
        + SHARED_COMPLETION_CREDITS,
    // Kicked, unfinished commands: on a list, or with a completion credit.
    parameter int unsigned COMMANDS_WIDTH = $clog2(ENTRIES + COMPLETION_CREDITS + 3),
    parameter int unsigned CREDIT_WIDTH = $clog2(COMPLETION_CREDITS + TRANSMIT_VIRTUAL_LANES * EXECUTION_CREDITS_PER_LANE
        + SHARED_EXECUTION_CREDITS + 1)
) (
    input logic clock,
    input logic reset,  // The block accepts nothing for QUEUE_PAIRS clocks after a reset.

    // Kicks of send_queue_scheduler and of collect_buffer, in turn.
    input logic kick_scheduled,
    output logic kick_scheduled_ready,
    input hca_spec_pkg::kick_unit_t kick_scheduled_unit,
    input logic kick_collected,
    output logic kick_collected_ready,
    input hca_spec_pkg::kick_unit_t kick_collected_unit,

    // Started commands; and commands that found no entry credit, with origin send queue mode, whose PCB is released. kick_started_credit:
    // the receiver has room for one.
    input logic kick_started_credit,
    output logic kick_started,
    output hca_spec_pkg::kick_unit_t kick_started_unit,
    output logic kick_corrupted,
    output logic [LANE_WIDTH-1:0] kick_corrupted_lane,

    // listed: the kick in the last stage joins a lane. starting: a lane starts its first command with these credits. left: a started
    // command has left its list.
    output logic listed,
    output logic [LANE_WIDTH-1:0] listed_lane,
    output logic starting,
    output logic [LANE_WIDTH-1:0] starting_lane,
    output logic starting_execution_shared,
    output logic starting_completion_shared,
    output logic left,
    output logic [LANE_WIDTH-1:0] left_lane,

    // From each block that ends commands.
    input logic [FINISHES-1:0] finish,
    output logic [FINISHES-1:0] finish_ready,
    input logic [FINISHES*hca_spec_pkg::FINISH_UNIT_BYTES*8-1:0] finish_unit,

    // Pins a queue pair for a command; the next clock answers whether it is pinned. unpin ends one pin.
    output logic pin,
    output logic [23:0] pin_queue_pair_number,
    input logic pinned,
    output logic unpin,
    output logic [23:0] unpin_queue_pair_number,

    // The PCB of a command that was not listed is released. command_stale: its queue pair no longer exists, which counts for its function.
    output logic release_buffer,
    output logic [7:0] release_physical_collect_buffer,
    output logic command_stale,
    output logic [FUNCTION_WIDTH-1:0] counted_underlying_function,

    // Drops the commands of a queue pair: those on a list, and those of kicks accepted before. Wait until `dropping` is clear.
    // command_stale is set for each of them in its clock, unpin one clock later.
    input logic drop,
    input logic [23:0] drop_queue_pair_number,
    output logic dropping,
    output logic dropped,
    // A dropped command has left its list: its PCB is released.
    output logic discarded,
    output logic [LANE_WIDTH-1:0] discarded_lane,
    output logic [7:0] discarded_physical_collect_buffer,

    // Mapping table: the lanes of a function's level, and the lanes shared by all. Refused if a level would have no lane.
    input logic set_lanes,
    input logic [FUNCTION_WIDTH-1:0] set_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t set_lanes_quality_of_service_level,
    input logic set_shared_lanes,
    input logic [TRANSMIT_VIRTUAL_LANES-1:0] set_lanes_lanes,
    output logic set_lanes_allowed,
    output logic set_shared_lanes_allowed,
    input logic [FUNCTION_WIDTH-1:0] query_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t query_lanes_quality_of_service_level,
    output logic [TRANSMIT_VIRTUAL_LANES-1:0] query_lanes,  // Combinational.
    output logic [TRANSMIT_VIRTUAL_LANES-1:0] shared_lanes,
    input logic set_entry_credits,
    input logic [FUNCTION_WIDTH-1:0] set_entry_credits_underlying_function,
    input logic [ENTRY_COUNT_WIDTH-1:0] set_entry_credits_credits,
    input logic set_list_size,  // Sets the maximum number of commands on a lane's list. A command that finds the list full is refused.
    input logic [LANE_WIDTH-1:0] set_list_size_lane,
    input logic [ENTRY_COUNT_WIDTH-1:0] set_list_size_commands,

    // Marks entries of the mapping table, by function and level, to be read again before the next kick that uses them. Kicks wait until
    // fetched_lanes; set_lanes in the same clock carries the new lanes, without it the entry keeps its old ones.
    input logic invalidate_lanes,
    input logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries,
    output logic fetch_lanes,
    output logic [FUNCTION_WIDTH-1:0] fetch_lanes_underlying_function,
    output hca_spec_pkg::quality_of_service_level_t fetch_lanes_quality_of_service_level,
    input logic fetched_lanes,

    // Sets the credits of one lane, the maximum number of shared ones that it may hold, and the number of shared credits. If fewer than are
    // held, the change takes effect as credits return.
    input logic set_execution_credits,
    input logic set_completion_credits,
    input logic [LANE_WIDTH-1:0] set_credits_lane,
    input logic [CREDIT_WIDTH-1:0] set_credits_own,
    input logic [CREDIT_WIDTH-1:0] set_credits_shared_cap,
    input logic set_shared_execution_credits,
    input logic set_shared_completion_credits,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,

    // For send_queue_scheduler, about a command that it fetches: whether its entry of the mapping table must be read first; after five
    // clocks, the lane that its queue pair gets if it has none. For query_lane: after two clocks, the room on its list; after five clocks,
    // how many commands would start at once; and whether it already has a fetched command.
    input logic [FUNCTION_WIDTH-1:0] outlook_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t outlook_quality_of_service_level,
    output logic [LANE_WIDTH-1:0] outlook_lane,
    output logic outlook_lane_invalid,
    output logic [ENTRY_COUNT_WIDTH-1:0] outlook_room,
    output logic [CREDIT_WIDTH-1:0] outlook_credits,
    output logic outlook_has_fetched,

    // The lane of a queue pair and its commands there, one clock later.
    input logic [QUEUE_PAIR_WIDTH-1:0] inspect_queue_pair,
    output logic [COMMANDS_WIDTH-1:0] inspect_commands,
    output logic [LANE_WIDTH-1:0] inspect_lane,

    // State, combinational.
    input logic [LANE_WIDTH-1:0] query_lane,
    output logic [ENTRY_COUNT_WIDTH-1:0] query_commands,  // Commands on the lane's list.
    output logic [CREDIT_WIDTH-1:0] query_execution_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_execution_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_completion_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_completion_credits_held,
    output logic [CREDIT_WIDTH-1:0] shared_execution_credits_held,  // Held by all lanes.
    output logic [CREDIT_WIDTH-1:0] shared_completion_credits_held,
    input logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    output logic [COMMANDS_WIDTH-1:0] query_function_commands,  // Kicked and not finished.
    output linked_list_queue_pkg::linked_list_queue_counters_t counters
);
  if (TRANSMIT_VIRTUAL_LANES < 1 || TRANSMIT_VIRTUAL_LANES > 64 || QUEUE_PAIRS < 2 || QUEUE_PAIRS != 1 << $clog2(QUEUE_PAIRS)
      || EXECUTION_CREDITS_PER_LANE + SHARED_EXECUTION_CREDITS < 1
      || COMPLETION_CREDITS_PER_LANE + SHARED_COMPLETION_CREDITS < 1 || FINISHES < 1) begin : gen_check
    $error("TRANSMIT_VIRTUAL_LANES can be 1 to 64; QUEUE_PAIRS has to be a power of two; a credit of each kind has to be there");
  end

  localparam int unsigned LANES = TRANSMIT_VIRTUAL_LANES;

  // Kicks enter in turn while the queue of refused commands has room for all kicks in the stages.
  localparam int unsigned STAGES = 8;
  localparam int unsigned REFUSED_ENTRIES = 16;
  localparam int unsigned REFUSED_WIDTH = $clog2(REFUSED_ENTRIES) + 1;

  logic clearing, lists_clearing;
  logic open;
  logic takes, takes_scheduled;
  logic scheduled_before;  // The last kick was scheduled: a collected one goes first now.
  logic stays;  // The kick stays in the first stage while commands are dropped, so that the scan covers all kicks ahead of it.
  logic valid_1, valid_2, valid_3, valid_4, valid_5, valid_6, valid_7, valid_8;
  hca_spec_pkg::kick_unit_t kick_1, kick_2, kick_3, kick_4, kick_5, kick_6, kick_7, kick_8;
  logic leaves_first;
  logic [REFUSED_WIDTH-1:0] refused_filling;

  assign takes_scheduled = kick_scheduled && !(kick_collected && scheduled_before);
  assign takes = open && (!valid_1 || leaves_first);
  assign kick_scheduled_ready = takes && takes_scheduled;
  assign kick_collected_ready = takes && !takes_scheduled;

  always_ff @(posedge clock) begin
    open <= !reset && !clearing && !lists_clearing && !drop && !dropping
        && refused_filling < REFUSED_WIDTH'(REFUSED_ENTRIES - STAGES - 2);
    stays <= drop || dropping;
    if (reset) begin
      valid_1 <= 1'b0;
      scheduled_before <= 1'b0;
      {valid_2, valid_3, valid_4, valid_5, valid_6, valid_7, valid_8} <= '0;
    end else begin
      valid_1 <= takes && (kick_scheduled || kick_collected) || valid_1 && !leaves_first;
      if (takes && (kick_scheduled || kick_collected)) scheduled_before <= takes_scheduled;
      {valid_2, valid_3, valid_4, valid_5, valid_6, valid_7, valid_8} <=
          {leaves_first, valid_2, valid_3, valid_4, valid_5, valid_6, valid_7};
    end
    if (takes) kick_1 <= takes_scheduled ? kick_scheduled_unit : kick_collected_unit;
    {kick_2, kick_3, kick_4, kick_5, kick_6, kick_7, kick_8} <= {kick_1, kick_2, kick_3, kick_4, kick_5, kick_6, kick_7};
  end

  // 1: read the lanes of the kick's level from the mapping table.
  logic [FUNCTION_WIDTH:0] function_level;
  logic [LANES-1:0] level_lanes, level_lanes_2;
  logic level_invalid;
  logic [FUNCTION_WIDTH:0] outlook_level;
  logic [LANES-1:0] outlook_lanes, asked_outlook_lanes;

  assign function_level = {FUNCTION_WIDTH'(kick_1.underlying_function),
      kick_1.quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH};
  assign outlook_level = {outlook_underlying_function,
      outlook_quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH};
  assign fetch_lanes = valid_1 && level_invalid;
  assign fetch_lanes_underlying_function = FUNCTION_WIDTH'(kick_1.underlying_function);
  assign fetch_lanes_quality_of_service_level = kick_1.quality_of_service_level;
  assign leaves_first = valid_1 && !level_invalid && !stays;

  lane_map #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .LANES(LANES)
  ) i_lane_map (
      .query_level(function_level),
      .query_lanes(level_lanes),
      .query_invalid(level_invalid),
      .outlook_lanes(asked_outlook_lanes),
      .outlook_invalid(outlook_lane_invalid),
      .inspect_level({
      query_lanes_underlying_function, query_lanes_quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH}),
      .inspect_lanes(query_lanes),
      .*
  );
  always_ff @(posedge clock) begin
    level_lanes_2 <= level_lanes;
    outlook_lanes <= asked_outlook_lanes;
  end

  // 2 to 5: the lane. The fourth stage pins the queue pair.
  logic [LANES-1:0] chosen;
  logic [LANE_WIDTH-1:0] chosen_lane, chosen_6, chosen_7, chosen_8;
  logic [LANE_WIDTH-1:0] lane_5, lane_6, lane_7, lane_8;
  logic pinned_6, pinned_7, pinned_8;
  logic lists, refuses, is_stale;
  logic has_entry_credit, has_room;

  logic ends;
  logic [QUEUE_PAIR_WIDTH-1:0] ended_queue_pair;
  assign pin = valid_4;
  assign pin_queue_pair_number = kick_4.queue_pair_number;

  find_first #(.SIZE(LANES), .ISOLATED(1'b1)) i_chosen_lane (.bits(chosen), .first(chosen_lane));

  lane_holds #(
      .QUEUE_PAIRS(QUEUE_PAIRS),
      .LANES(LANES),
      .COUNT_WIDTH(COMMANDS_WIDTH)
  ) i_lane_holds (
      .clock(clock),
      .reset(reset),
      .clearing(clearing),
      .look(valid_4),
      .look_queue_pair(kick_4.queue_pair_number[QUEUE_PAIR_WIDTH-1:0]),
      .chosen_lane(chosen_lane),
      .lane(lane_5),
      .join_lane(lists),
      .finish(ends),
      .finish_queue_pair(ended_queue_pair),
      .inspect_queue_pair(inspect_queue_pair),
      .inspect_commands(inspect_commands),
      .inspect_lane(inspect_lane)
  );

  always_ff @(posedge clock) begin
    {lane_6, lane_7, lane_8} <= {lane_5, lane_6, lane_7};
    {chosen_6, chosen_7, chosen_8} <= {chosen_lane, chosen_6, chosen_7};
    {pinned_6, pinned_7, pinned_8} <= {pinned, pinned_6, pinned_7};
  end

  // 8: decide.
  logic [FUNCTION_WIDTH-1:0] underlying_function;

  // The command that is dropped in this clock.
  logic [LANE_WIDTH-1:0] dropped_lane;
  logic [FUNCTION_WIDTH-1:0] dropped_underlying_function;
  logic [23:0] dropped_queue_pair_number;

  assign underlying_function = FUNCTION_WIDTH'(kick_8.underlying_function);
  assign refuses = valid_8 && (!has_entry_credit || pinned_8 && !has_room);
  assign is_stale = valid_8 && has_entry_credit && !pinned_8;
  assign lists = valid_8 && has_entry_credit && pinned_8 && has_room;

  assign listed = lists;
  assign listed_lane = lane_8;
  assign release_buffer = refuses || is_stale;
  assign release_physical_collect_buffer = kick_8.physical_collect_buffer;
  assign command_stale = is_stale || dropped;
  assign counted_underlying_function = dropped ? dropped_underlying_function : underlying_function;

  hca_spec_pkg::kick_unit_t refused_kick, refused_unit;
  logic refused_valid, refused_pop;
  always_comb begin
    refused_kick = kick_8;
    refused_kick.origin = hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE;
  end
  unit_queue #(
      .UNIT_WIDTH(hca_spec_pkg::KICK_UNIT_BYTES * 8),
      .ENTRIES(REFUSED_ENTRIES)
  ) i_refused (
      .clock(clock),
      .reset(reset),
      .push(refuses),
      .push_unit(refused_kick),
      .valid(refused_valid),
      .unit(refused_unit),
      .pop(refused_pop),
      .filling(refused_filling)
  );

  // Start. The arbiter picks a lane by hints, which are kept in the next clock. One clock later the lane takes its credits, if shared ones
  // are still available, or is given up. The command follows when it has left its list. Started commands wait for the receiver in a queue
  // that reserves room for the commands that have not arrived yet.
  localparam int unsigned START_CLOCKS = 8;
  localparam int unsigned OUT_ENTRIES = 32;
  localparam int unsigned PICKED_CLOCKS = 4;  // Picks that can still start after may_pick is clear.
  localparam int unsigned OUT_WIDTH = $clog2(OUT_ENTRIES) + 1;

  logic [LANES-1:0] waiting, to_look_into, able, picked;
  logic [LANES-1:0] execution_own, execution_below_cap, completion_own, completion_below_cap;
  logic execution_shared_free, completion_shared_free;
  logic may_pick, is_picked, is_tried, looks_into, has_execution, may_share_execution, has_completion, may_share_completion;
  logic [LANE_WIDTH-1:0] picked_lane, tried_lane;
  logic starts, looks, gave_up, out_valid, out_pop;
  logic [LANE_WIDTH-1:0] gave_up_lane;
  logic [START_CLOCKS*2-1:0] taken;  // Which credits are shared, for each command between start and list exit.
  logic execution_taken, completion_taken;
  logic popped, popped_corrupted, popped_dropped;
  logic [LANE_WIDTH-1:0] popped_lane;
  hca_spec_pkg::kick_unit_t popped_unit, popped_started, out_unit;
  logic [OUT_WIDTH-1:0] out_filling, owed;  // owed: commands started that have not left the block.
  logic unused_out_filling;

`ifdef FPGA_VERBS_MUTANT_DROPPED_WAITS_FOR_CREDIT
  assign able = (waiting | to_look_into)
      & (execution_own | execution_below_cap & {LANES{execution_shared_free}})
      & (completion_own | completion_below_cap & {LANES{completion_shared_free}});
`else
  assign able = waiting & (execution_own | execution_below_cap & {LANES{execution_shared_free}})
      & (completion_own | completion_below_cap & {LANES{completion_shared_free}}) | to_look_into;
`endif

  lane_arbiter #(
      .LANES(LANES)
  ) i_lane_arbiter (
      .open(may_pick),
      .*
  );
  find_first #(.SIZE(LANES), .ISOLATED(1'b1)) i_picked_lane (.bits(picked), .first(picked_lane));

  assign looks = is_tried && looks_into;
`ifdef FPGA_VERBS_MUTANT_STARTED_WITHOUT_COMPLETION_CREDIT
  assign starts = is_tried && !looks_into && (has_execution || may_share_execution && execution_shared_free);
`else
  assign starts = is_tried && !looks_into && (has_execution || may_share_execution && execution_shared_free)
      && (has_completion || may_share_completion && completion_shared_free);
`endif
  assign starting = starts;
  assign starting_lane = tried_lane;
  assign starting_execution_shared = !has_execution;
  assign starting_completion_shared = !has_completion;
  assign left = popped && !popped_dropped;
  assign left_lane = popped_lane;

  assign {execution_taken, completion_taken} = taken[(START_CLOCKS-1)*2+:2];
  always_comb begin
    popped_started = popped_unit;
    popped_started.transmit_virtual_lane = 8'(popped_lane);
    popped_started.execution_credit_shared = execution_taken;
    popped_started.completion_credit_shared = completion_taken;
  end

  unit_queue #(
      .UNIT_WIDTH(hca_spec_pkg::KICK_UNIT_BYTES * 8),
      .ENTRIES(OUT_ENTRIES)
  ) i_out (
      .clock(clock),
      .reset(reset),
      .push(left && !popped_corrupted),
      .push_unit(popped_started),
      .valid(out_valid),
      .unit(out_unit),
      .pop(out_pop),
      .filling(out_filling)
  );
  assign unused_out_filling = &{1'b0, out_filling};
  assign refused_pop = refused_valid && kick_started_credit;
  assign out_pop = out_valid && kick_started_credit && !refused_valid;

  logic start_lost;
  always_ff @(posedge clock) begin
    may_pick <= !reset && !drop && !dropping && owed < OUT_WIDTH'(OUT_ENTRIES - PICKED_CLOCKS);
    is_tried <= is_picked && !reset;
    tried_lane <= picked_lane;
    gave_up <= is_tried && !looks_into && !starts && !reset;
    gave_up_lane <= tried_lane;
    looks_into <= (picked & to_look_into) != '0;
    has_execution <= (picked & execution_own) != '0;
    may_share_execution <= (picked & execution_below_cap) != '0;
    has_completion <= (picked & completion_own) != '0;
    may_share_completion <= (picked & completion_below_cap) != '0;
    taken <= {taken[(START_CLOCKS-1)*2-1:0], starting_execution_shared, starting_completion_shared};
    if (reset) owed <= '0;
    else owed <= owed + OUT_WIDTH'(starts) - OUT_WIDTH'(out_pop) - OUT_WIDTH'(start_lost);
  end

  assign kick_corrupted = popped && popped_corrupted;
  assign kick_corrupted_lane = popped_lane;
  assign kick_started = refused_pop || out_pop;
  assign kick_started_unit = refused_valid ? refused_unit : out_unit;
  assign discarded = popped && !kick_corrupted && popped_dropped;
  assign discarded_lane = popped_lane;
  assign discarded_physical_collect_buffer = popped_unit.physical_collect_buffer;

  // Finish. One clock after a unit is accepted, its credits return, its command ends, and its pin ends. The pin of a refused command ends
  // first.
  logic takes_end, has_ended, unpins_refused;
  logic [23:0] refused_queue_pair_number, taken_queue_pair_number;
  logic [QUEUE_PAIR_WIDTH-1:0] last_queue_pair;
  logic [7:0] taken_lane, execution_lane, completion_lane;
  logic [3:0] taken_underlying_function;
  logic [LANE_WIDTH-1:0] last_lane, ended_lane;
  logic [FUNCTION_WIDTH-1:0] last_underlying_function, ended_underlying_function;
  logic execution_shared, completion_shared;
  logic execution_finished, completion_finished, execution_returned, completion_returned;
  logic [LANE_WIDTH-1:0] execution_return_lane, completion_return_lane;
  logic execution_return_shared, completion_return_shared;
  logic unused_numbers;

  finish_ports #(
      .FINISHES(FINISHES)
  ) i_finish_ports (
      .may_take(!start_lost),
      .may_end(!unpins_refused && !clearing && !dropping),
      .ends(takes_end),
      .ended_queue_pair_number(taken_queue_pair_number),
      .ended_lane(taken_lane),
      .ended_underlying_function(taken_underlying_function),
      .execution_returned(execution_finished),
      .completion_returned(completion_finished),
      .*
  );
  assign unused_numbers = &{1'b0, taken_lane, taken_underlying_function, execution_lane, completion_lane};

  // The credits of a corrupted command return in place of those of a finish port.
  assign start_lost = kick_corrupted && !popped_dropped;
  always_ff @(posedge clock) begin
    execution_returned <= !reset && (start_lost || execution_finished);
    completion_returned <= !reset && (start_lost || completion_finished);
    execution_return_lane <= start_lost ? popped_lane : LANE_WIDTH'(execution_lane);
    completion_return_lane <= start_lost ? popped_lane : LANE_WIDTH'(completion_lane);
    execution_return_shared <= start_lost ? execution_taken : execution_shared;
    completion_return_shared <= start_lost ? completion_taken : completion_shared;
    has_ended <= !reset && takes_end;
    last_queue_pair <= taken_queue_pair_number[QUEUE_PAIR_WIDTH-1:0];
    last_lane <= LANE_WIDTH'(taken_lane);
    last_underlying_function <= FUNCTION_WIDTH'(taken_underlying_function);
    unpins_refused <= !reset && refuses && pinned_8;
    refused_queue_pair_number <= kick_8.queue_pair_number;
    unpin <= !reset && (takes_end || dropped || unpins_refused);
    unpin_queue_pair_number <= dropped ? dropped_queue_pair_number : unpins_refused ? refused_queue_pair_number :
        taken_queue_pair_number;
  end

  assign ends = has_ended || dropped;
  assign ended_queue_pair = dropped ? dropped_queue_pair_number[QUEUE_PAIR_WIDTH-1:0] : last_queue_pair;
  assign ended_lane = dropped ? dropped_lane : last_lane;
  assign ended_underlying_function = dropped ? dropped_underlying_function : last_underlying_function;

  kick_counts #(
      .LANES(LANES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .COUNT_WIDTH(COMMANDS_WIDTH)
  ) i_kick_counts (
      .joins(lists),
      .joined_lane(lane_8),
      .joined_underlying_function(underlying_function),
      .ends_lane(ended_lane),
      .ends_underlying_function(ended_underlying_function),
      .choose(valid_2),
      .level_lanes(level_lanes_2),
      .decided(valid_8),
      .decided_lane(chosen_8),
      .*
  );

  lane_credits #(
      .LANES(LANES),
      .EXECUTION_CREDITS_PER_LANE(EXECUTION_CREDITS_PER_LANE),
      .COMPLETION_CREDITS_PER_LANE(COMPLETION_CREDITS_PER_LANE),
      .SHARED_EXECUTION_CREDITS(SHARED_EXECUTION_CREDITS),
      .SHARED_COMPLETION_CREDITS(SHARED_COMPLETION_CREDITS),
      .SHARED_EXECUTION_CREDITS_CAP(SHARED_EXECUTION_CREDITS_CAP),
      .SHARED_COMPLETION_CREDITS_CAP(SHARED_COMPLETION_CREDITS_CAP),
      .DIVISIBLE(DIVISIBLE),
      .COUNT_WIDTH(ENTRY_COUNT_WIDTH),
      .CREDIT_WIDTH(CREDIT_WIDTH)
  ) i_lane_credits (
      .*
  );

  kick_lists #(
      .ENTRIES(ENTRIES),
      .LANES(LANES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS)
  ) i_kick_lists (
      .clock(clock),
      .reset(reset),
      .clearing(lists_clearing),
      .look_lane(lane_6),
      .look_underlying_function(FUNCTION_WIDTH'(kick_6.underlying_function)),
      .has_entry_credit(has_entry_credit),
      .has_room(has_room),
      .push(lists),
      .push_lane(lane_8),
      .push_unit(kick_8),
      .waiting(waiting),
      .to_look_into(to_look_into),
      .picked(picked),
      .start(starts),
      .look(looks),
      .start_lane(tried_lane),
      .give_up(gave_up),
      .give_up_lane(gave_up_lane),
      .left(popped),
      .left_dropped(popped_dropped),
      .left_corrupted(popped_corrupted),
      .left_lane(popped_lane),
      .left_unit(popped_unit),
      .drop(drop),
      .drop_queue_pair_number(drop_queue_pair_number),
      .dropping(dropping),
      .dropped(dropped),
      .dropped_lane(dropped_lane),
      .dropped_underlying_function(dropped_underlying_function),
      .dropped_queue_pair_number(dropped_queue_pair_number),
      .set_entry_credits(set_entry_credits),
      .set_entry_credits_underlying_function(set_entry_credits_underlying_function),
      .set_entry_credits_credits(set_entry_credits_credits),
      .set_size(set_list_size),
      .set_size_lane(set_list_size_lane),
      .set_size_commands(set_list_size_commands),
      .query_lane(query_lane),
      .query_commands(query_commands),
      .query_room(outlook_room),
      .query_has_fetched(outlook_has_fetched),
      .counters(counters)
  );

`ifdef FORMAL
`include "virtual_kick.svh"
`endif
endmodule
