// Puts kicked commands on the list of a transmit virtual lane, and starts them when the lane has an execution and a completion credit
// (US8484392, virtual kick lists, TVL mapping table, virtual kick arbitrator). A command is pinned to its queue pair from the list until it
// is finished. The queue pair stays on its lane while it has such a command, so its commands cannot overtake each other.
//
// A kick passes two stages: the first asks queue_pair_state_cache to pin its queue pair, which answers one clock later; the second selects
// the lane and lists the command. Every clock the block accepts one kick, starts one command, and accepts finish units that together return
// one credit of each kind and end one command. All see the state before the clock. A started command takes its credits at once, leaves its
// list seven clocks later, and leaves the block at least one clock after that.
//
// The commands of a queue pair that must become quiet are dropped: they finish at once, and leave their list in turn, without a credit. The
// scan takes one clock for each entry, and eight before; no other command is listed, started or finished meanwhile.
//
// A command with an uncorrectable bit error on its list is not started: kick_corrupted names its lane, its credits return, and its queue
// pair stays pinned until a reset, because its identity is lost.
module virtual_kick #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,  // At most 64.
    parameter int unsigned ENTRIES = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS
        + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,  // A command on a list has a PCB.
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,  // A power of two.
    parameter int unsigned EXECUTION_CREDITS_PER_LANE = hca_spec_pkg::EXECUTION_CREDITS_PER_LANE,
    parameter int unsigned COMPLETION_CREDITS_PER_LANE = hca_spec_pkg::COMPLETION_CREDITS_PER_LANE,
    parameter int unsigned SHARED_EXECUTION_CREDITS = hca_spec_pkg::SHARED_EXECUTION_CREDITS,
    parameter int unsigned SHARED_COMPLETION_CREDITS = hca_spec_pkg::SHARED_COMPLETION_CREDITS,
    parameter int unsigned SHARED_EXECUTION_CREDITS_CAP = hca_spec_pkg::SHARED_EXECUTION_CREDITS_CAP,
    parameter int unsigned SHARED_COMPLETION_CREDITS_CAP = hca_spec_pkg::SHARED_COMPLETION_CREDITS_CAP,
    parameter int unsigned FINISHES = 3,  // Blocks that end commands.
    parameter bit DIVISIBLE = 1'b1,  // Credits can be divided anew.
    parameter int unsigned LANE_WIDTH = TRANSMIT_VIRTUAL_LANES > 1 ? $clog2(TRANSMIT_VIRTUAL_LANES) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned ENTRY_COUNT_WIDTH = $clog2(ENTRIES + 1),
    parameter int unsigned QUEUE_PAIR_WIDTH = $clog2(QUEUE_PAIRS),
    parameter int unsigned COMPLETION_CREDITS = TRANSMIT_VIRTUAL_LANES * COMPLETION_CREDITS_PER_LANE
        + SHARED_COMPLETION_CREDITS,
    // Commands kicked and not finished: on the lists, or with a completion credit.
    parameter int unsigned COMMANDS_WIDTH = $clog2(ENTRIES + COMPLETION_CREDITS + 1),
    parameter int unsigned CREDIT_WIDTH = $clog2(COMPLETION_CREDITS + TRANSMIT_VIRTUAL_LANES * EXECUTION_CREDITS_PER_LANE
        + SHARED_EXECUTION_CREDITS + 1)
) (
    input logic clock,
    input logic reset,  // Nothing is taken for QUEUE_PAIRS clocks after it.

    // Kicks of send_queue_scheduler and of collect_buffer, in turn.
    input logic kick_scheduled,
    output logic kick_scheduled_ready,
    input hca_spec_pkg::kick_unit_t kick_scheduled_unit,
    input logic kick_collected,
    output logic kick_collected_ready,
    input hca_spec_pkg::kick_unit_t kick_collected_unit,

    // Commands that are started, and those that found no entry credit: origin send queue mode, their PCB is given back.
    // kick_started_credit: there is room for two more.
    input logic kick_started_credit,
    output logic kick_started,
    output hca_spec_pkg::kick_unit_t kick_started_unit,
    output logic kick_corrupted,
    output logic [LANE_WIDTH-1:0] kick_corrupted_lane,

    // The kick of the second stage joins a lane; a lane starts its first command, which leaves its list some clocks later.
    output logic listed,
    output logic [LANE_WIDTH-1:0] listed_lane,
    output logic starting,
    output logic [LANE_WIDTH-1:0] starting_lane,
    output logic left,
    output logic [LANE_WIDTH-1:0] left_lane,

    // From each block that ends commands.
    input logic [FINISHES-1:0] finish,
    output logic [FINISHES-1:0] finish_ready,
    input logic [FINISHES*hca_spec_pkg::FINISH_UNIT_BYTES*8-1:0] finish_unit,

    // A command refers to the queue pair from now on, if the answer in the next clock is yes; one reference less.
    output logic pin,
    output logic [23:0] pin_queue_pair_number,
    input logic pinned,
    output logic unpin,
    output logic [23:0] unpin_queue_pair_number,

    // A PCB comes back whose command was not listed; because the queue pair is gone: counted for its function.
    output logic release_buffer,
    output logic [7:0] release_physical_collect_buffer,
    output logic command_stale,
    output logic [FUNCTION_WIDTH-1:0] counted_underlying_function,

    // The commands of a queue pair that are on a list are dropped, those that are listed in this clock too. Not while others are
    // dropped. Each in its clock: unpin, and command_stale.
    input logic drop,
    input logic [23:0] drop_queue_pair_number,
    output logic dropping,
    output logic dropped,
    // A dropped command has left its list: its PCB comes back.
    output logic discarded,
    output logic [LANE_WIDTH-1:0] discarded_lane,
    output logic [7:0] discarded_physical_collect_buffer,

    // Mapping table: the lanes of a function's level, and those that all share. Refused where some level would have none.
    input logic set_lanes,
    input logic [FUNCTION_WIDTH-1:0] set_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t set_lanes_quality_of_service_level,
    input logic set_shared_lanes,
    input logic [TRANSMIT_VIRTUAL_LANES-1:0] set_lanes_lanes,
    output logic set_lanes_allowed,
    output logic set_shared_lanes_allowed,
    input logic [FUNCTION_WIDTH-1:0] query_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t query_lanes_quality_of_service_level,
    output logic [TRANSMIT_VIRTUAL_LANES-1:0] query_lanes,  // Without a clock.
    output logic [TRANSMIT_VIRTUAL_LANES-1:0] shared_lanes,
    input logic set_entry_credits,
    input logic [FUNCTION_WIDTH-1:0] set_entry_credits_underlying_function,
    input logic [ENTRY_COUNT_WIDTH-1:0] set_entry_credits_credits,
    input logic set_list_size,  // The most commands on the list of a lane; a command that finds it full is refused.
    input logic [LANE_WIDTH-1:0] set_list_size_lane,
    input logic [ENTRY_COUNT_WIDTH-1:0] set_list_size_commands,

    // Entries of the mapping table, by function and level, that have to be read again before they are used. Until fetched_lanes
    // the kicks wait; set_lanes in its clock says what was read, without it the entry stays as it was.
    input logic invalidate_lanes,
    input logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries,
    output logic fetch_lanes,
    output logic [FUNCTION_WIDTH-1:0] fetch_lanes_underlying_function,
    output hca_spec_pkg::quality_of_service_level_t fetch_lanes_quality_of_service_level,
    input logic fetched_lanes,

    // Credits of a lane alone, the most shared ones that it may hold, and how many are shared. Below what is held it takes effect
    // as they return.
    input logic set_execution_credits,
    input logic set_completion_credits,
    input logic [LANE_WIDTH-1:0] set_credits_lane,
    input logic [CREDIT_WIDTH-1:0] set_credits_own,
    input logic [CREDIT_WIDTH-1:0] set_credits_shared_cap,
    input logic set_shared_execution_credits,
    input logic set_shared_completion_credits,
    input logic [CREDIT_WIDTH-1:0] set_shared_credits,

    // For send_queue_scheduler, of a command that is fetched: the lane that it goes to if its queue pair is on none, and
    // whether the entry of the mapping table has to be read again before; of query_lane how many commands its list takes, how
    // many of them would start at once, and whether one that was fetched is there already.
    input logic [FUNCTION_WIDTH-1:0] outlook_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t outlook_quality_of_service_level,
    output logic [LANE_WIDTH-1:0] outlook_lane,
    output logic outlook_lane_invalid,
    output logic [ENTRY_COUNT_WIDTH-1:0] outlook_room,
    output logic [CREDIT_WIDTH-1:0] outlook_credits,
    output logic outlook_has_fetched,

    // The lane of a queue pair and its commands there, in the next clock.
    input logic [QUEUE_PAIR_WIDTH-1:0] inspect_queue_pair,
    output logic [COMMANDS_WIDTH-1:0] inspect_commands,
    output logic [LANE_WIDTH-1:0] inspect_lane,

    // State, without a clock.
    input logic [LANE_WIDTH-1:0] query_lane,
    output logic [ENTRY_COUNT_WIDTH-1:0] query_commands,  // On its list.
    output logic [CREDIT_WIDTH-1:0] query_execution_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_execution_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_completion_credits_held,
    output logic [CREDIT_WIDTH-1:0] query_shared_completion_credits_held,
    output logic [CREDIT_WIDTH-1:0] shared_execution_credits_held,  // By all lanes.
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

  // First stage.
  logic clearing, lists_clearing;
  logic first_valid;
  hca_spec_pkg::kick_unit_t first;
  logic first_leaves;
  logic takes;
  logic takes_scheduled;
  logic scheduled_before;  // Then the others go first.

  // Second stage.
  logic valid;
  hca_spec_pkg::kick_unit_t kick;
  logic is_fresh;
  logic was_pinned;
  logic is_pinned;
  logic [FUNCTION_WIDTH-1:0] underlying_function;
  logic [UNDERLYING_FUNCTIONS-1:0] entry_credits_available;
  logic has_entry_credit;
  logic held;  // Its queue pair is on a lane.
  logic [LANE_WIDTH-1:0] lane;
  logic has_place;  // On the list of its lane.
  logic decides;
  logic lists;
  logic refuses;
  logic is_stale;
  logic leaves;

  // A command that is dropped in this clock.
  logic [LANE_WIDTH-1:0] dropped_lane;
  logic [FUNCTION_WIDTH-1:0] dropped_underlying_function;
  logic [23:0] dropped_queue_pair_number;

  assign takes_scheduled = kick_scheduled && !(kick_collected && scheduled_before);
  assign takes = !reset && !clearing && !lists_clearing && (!first_valid || first_leaves);
  assign kick_scheduled_ready = takes && takes_scheduled;
  assign kick_collected_ready = takes && !takes_scheduled;
  assign first_leaves = first_valid && (!valid || leaves);
  assign pin = first_leaves;
  assign pin_queue_pair_number = first.queue_pair_number;

  always_ff @(posedge clock) begin
    if (reset) begin
      first_valid <= 1'b0;
      valid <= 1'b0;
      scheduled_before <= 1'b0;
    end else begin
      first_valid <= takes && (kick_scheduled || kick_collected) || first_valid && !first_leaves;
      valid <= first_leaves || valid && !leaves;
      if (takes && (kick_scheduled || kick_collected)) scheduled_before <= takes_scheduled;
    end
    if (takes) first <= takes_scheduled ? kick_scheduled_unit : kick_collected_unit;
    if (first_leaves) kick <= first;
    is_fresh <= first_leaves;
    was_pinned <= is_pinned;
  end

  assign is_pinned = is_fresh ? pinned : was_pinned;
  assign underlying_function = FUNCTION_WIDTH'(kick.underlying_function);
  assign has_entry_credit = entry_credits_available[underlying_function];
  assign decides = valid && !dropping;
  assign refuses = decides && kick_started_credit && !fetch_lanes && (!has_entry_credit || is_pinned && !has_place);
  assign is_stale = decides && has_entry_credit && !is_pinned;
  assign lists = decides && has_entry_credit && is_pinned && !fetch_lanes && has_place;
  assign leaves = refuses || is_stale || lists;

  assign listed = lists;
  assign listed_lane = lane;
  assign release_buffer = refuses || is_stale;
  assign release_physical_collect_buffer = kick.physical_collect_buffer;
  assign command_stale = is_stale || dropped;
  assign counted_underlying_function = dropped ? dropped_underlying_function : underlying_function;

  // Mapping table.
  logic [FUNCTION_WIDTH:0] function_level;
  logic [LANES-1:0] level_lanes;
  logic level_invalid;
  logic [FUNCTION_WIDTH:0] outlook_level;
  logic [LANES-1:0] outlook_lanes;

  assign function_level = {underlying_function, kick.quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH};
  assign outlook_level = {outlook_underlying_function,
      outlook_quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH};
  assign fetch_lanes = decides && has_entry_credit && is_pinned && !held && level_invalid;
  assign fetch_lanes_underlying_function = underlying_function;
  assign fetch_lanes_quality_of_service_level = kick.quality_of_service_level;

  lane_map #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .LANES(LANES)
  ) i_lane_map (
      .query_level(function_level),
      .query_lanes(level_lanes),
      .query_invalid(level_invalid),
      .outlook_invalid(outlook_lane_invalid),
      .inspect_level({
      query_lanes_underlying_function, query_lanes_quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH}),
      .inspect_lanes(query_lanes),
      .*
  );

  // The lane of the kick.
  logic [LANE_WIDTH-1:0] held_lane;
  logic [LANE_WIDTH-1:0] chosen_lane;
  logic [23:0] queried;
  logic unused_queried;

  logic ends;
  hca_spec_pkg::finish_unit_t ended;
  logic unused_ended;
  assign unused_ended = &{1'b0, ended};
  assign queried = first_leaves ? first.queue_pair_number : kick.queue_pair_number;
  assign unused_queried = &{1'b0, queried};

  lane_holds #(
      .QUEUE_PAIRS(QUEUE_PAIRS),
      .LANES(LANES),
      .COUNT_WIDTH(COMMANDS_WIDTH)
  ) i_lane_holds (
      .clock(clock),
      .reset(reset),
      .clearing(clearing),
      .query_queue_pair(queried[QUEUE_PAIR_WIDTH-1:0]),
      .held(held),
      .held_lane(held_lane),
      .join_lane(lists),
      .joined_lane(lane),
      .finish(ends),
      .finish_queue_pair(ended.queue_pair_number[QUEUE_PAIR_WIDTH-1:0]),
      .inspect_queue_pair(inspect_queue_pair),
      .inspect_commands(inspect_commands),
      .inspect_lane(inspect_lane)
  );

  // Credits for a command that is fetched.
  logic [CREDIT_WIDTH-1:0] available_execution_credits;
  logic [CREDIT_WIDTH-1:0] available_completion_credits;
  logic [CREDIT_WIDTH-1:0] available_credits;
  assign available_credits = available_execution_credits < available_completion_credits ?
      available_execution_credits : available_completion_credits;
  assign outlook_credits = available_credits > CREDIT_WIDTH'(query_commands) ?
      available_credits - CREDIT_WIDTH'(query_commands) : '0;

  logic [LANES-1:0] full;
  assign lane = held ? held_lane : chosen_lane;
`ifdef FPGA_VERBS_MUTANT_LIST_SIZE_IGNORED
  assign has_place = 1'b1;
`else
  assign has_place = !full[lane];
`endif

  // Start. A lane takes its credits as it starts; the command follows when it has left its list. Units that are out wait for room
  // in a queue, in which those on their way have theirs.
  localparam int unsigned START_CLOCKS = 7;
  localparam int unsigned OUT_ENTRIES = 16;
  localparam int unsigned OUT_WIDTH = $clog2(OUT_ENTRIES) + 1;

  logic [LANES-1:0] waiting, to_look_into, execution_available, completion_available, able;
  logic pops, looks, starts, out_valid, out_pop;
  logic [LANE_WIDTH-1:0] started_lane, last_started;
  linked_list_queue_pkg::credit_source_t execution_source, completion_source;
  logic [1:0] execution_taken, completion_taken;
  logic [START_CLOCKS*4-1:0] taken;  // By the commands that are on their way.
  logic popped, popped_corrupted, popped_dropped;
  logic [LANE_WIDTH-1:0] popped_lane;
  hca_spec_pkg::kick_unit_t popped_unit, popped_started, out_unit, refused_unit;
  logic was_refused;
  logic [OUT_WIDTH-1:0] out_filling, owed;  // Owed: those that are started and not out.
  logic unused_out_filling;

`ifdef FPGA_VERBS_MUTANT_STARTED_WITHOUT_COMPLETION_CREDIT
  assign able = waiting & execution_available & {LANES{owed != OUT_WIDTH'(OUT_ENTRIES)}} | to_look_into;
`elsif FPGA_VERBS_MUTANT_DROPPED_WAITS_FOR_CREDIT
  assign able = (waiting | to_look_into) & execution_available & completion_available;
`else
  assign able = waiting & execution_available & completion_available & {LANES{owed != OUT_WIDTH'(OUT_ENTRIES)}} | to_look_into;
`endif
  assign pops = able != '0 && !dropping && !drop;
  assign looks = pops && to_look_into[started_lane];
  assign starts = pops && !to_look_into[started_lane];
  assign starting = starts;
  assign starting_lane = started_lane;
  assign left = popped && !popped_dropped;
  assign left_lane = popped_lane;

  find_next #(.SIZE(LANES)) i_arbitrator (.bits(able), .after(last_started), .next(started_lane));

  assign {execution_taken, completion_taken} = taken[(START_CLOCKS-1)*4+:4];
  always_comb begin
    popped_started = popped_unit;
    popped_started.transmit_virtual_lane = 8'(popped_lane);
    popped_started.execution_credit_shared = execution_taken == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
    popped_started.completion_credit_shared = completion_taken == linked_list_queue_pkg::CREDIT_SOURCE_SHARED;
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
  assign out_pop = out_valid && kick_started_credit && !was_refused;

  logic start_lost;
  always_ff @(posedge clock) begin
    if (reset) last_started <= '0;
    else if (pops) last_started <= started_lane;
    taken <= {taken[(START_CLOCKS-1)*4-1:0], execution_source, completion_source};
    was_refused <= !reset && refuses;
    refused_unit <= kick;
    refused_unit.origin <= hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE;
    if (reset) owed <= '0;
    else owed <= owed + OUT_WIDTH'(starts) - OUT_WIDTH'(out_pop) - OUT_WIDTH'(start_lost);
  end

  assign kick_corrupted = popped && popped_corrupted;
  assign kick_corrupted_lane = popped_lane;
  assign kick_started = was_refused || out_pop;
  assign kick_started_unit = was_refused ? refused_unit : out_unit;
  assign discarded = popped && !kick_corrupted && popped_dropped;
  assign discarded_lane = popped_lane;
  assign discarded_physical_collect_buffer = popped_unit.physical_collect_buffer;

  // Finish. A refused command's pin goes first.
  logic takes_end;
  hca_spec_pkg::finish_unit_t taken_end;
  hca_spec_pkg::finish_unit_t execution_unit, completion_unit;
  logic execution_finished, completion_finished, execution_returned, completion_returned;
  logic [LANE_WIDTH-1:0] execution_return_lane, completion_return_lane;
  logic [1:0] execution_return_source, completion_return_source;
  logic unused_credit_units;

  finish_ports #(
      .FINISHES(FINISHES)
  ) i_finish_ports (
      .may_take(!start_lost),
      .may_end(!(refuses && is_pinned) && !clearing && !dropping),
      .ends(takes_end),
      .ended(taken_end),
      .execution_returned(execution_finished),
      .completion_returned(completion_finished),
      .*
  );
  assign unused_credit_units = &{1'b0, execution_unit, completion_unit};

  // A start that came to nothing returns its credits in place of a finish port.
  assign start_lost = kick_corrupted && !popped_dropped;
  assign execution_returned = start_lost || execution_finished;
  assign completion_returned = start_lost || completion_finished;
  assign execution_return_lane = start_lost ? popped_lane : LANE_WIDTH'(execution_unit.transmit_virtual_lane);
  assign completion_return_lane = start_lost ? popped_lane : LANE_WIDTH'(completion_unit.transmit_virtual_lane);
  assign execution_return_source = start_lost ? execution_taken :
      execution_unit.execution_credit_shared ? linked_list_queue_pkg::CREDIT_SOURCE_SHARED : linked_list_queue_pkg::CREDIT_SOURCE_OWN;
  assign completion_return_source = start_lost ? completion_taken :
      completion_unit.completion_credit_shared ? linked_list_queue_pkg::CREDIT_SOURCE_SHARED : linked_list_queue_pkg::CREDIT_SOURCE_OWN;

  assign ends = takes_end || dropped;
  always_comb begin
    ended = taken_end;
    if (dropped) begin
      ended.queue_pair_number = dropped_queue_pair_number;
      ended.transmit_virtual_lane = 8'(dropped_lane);
      ended.underlying_function = 4'(dropped_underlying_function);
    end
  end
  assign unpin = ends || refuses && is_pinned;
  assign unpin_queue_pair_number = ends ? ended.queue_pair_number : kick.queue_pair_number;

  kick_counts #(
      .LANES(LANES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .COUNT_WIDTH(COMMANDS_WIDTH)
  ) i_kick_counts (
      .joins(lists),
      .joined_lane(lane),
      .joined_underlying_function(underlying_function),
      .ends_lane(LANE_WIDTH'(ended.transmit_virtual_lane)),
      .ends_underlying_function(FUNCTION_WIDTH'(ended.underlying_function)),
      .*
  );

  // The parts.
  credit_pool #(
      .OWNERS(LANES),
      .OWN(EXECUTION_CREDITS_PER_LANE),
      .SHARED(SHARED_EXECUTION_CREDITS),
      .SHARED_CAP(SHARED_EXECUTION_CREDITS_CAP),
      .SETTABLE(DIVISIBLE),
      .CREDIT_WIDTH(CREDIT_WIDTH)
  ) i_execution_credits (
      .clock(clock),
      .reset(reset),
      .available(execution_available),
      .owner(started_lane),
      .source(execution_source),
      .take(starts),
      .give_back(execution_returned),
      .give_back_owner(execution_return_lane),
      .give_back_source(execution_return_source),
      .set_limits(set_execution_credits),
      .set_limits_owner(set_credits_lane),
      .set_own_credits(set_credits_own),
      .set_shared_cap_credits(set_credits_shared_cap),
      .set_shared(set_shared_execution_credits),
      .set_shared_credits(set_shared_credits),
      .query_owner(query_lane),
      .query_available(available_execution_credits),
      .query_own_held(query_execution_credits_held),
      .query_shared_held(query_shared_execution_credits_held),
      .all_shared_held(shared_execution_credits_held)
  );

  credit_pool #(
      .OWNERS(LANES),
      .OWN(COMPLETION_CREDITS_PER_LANE),
      .SHARED(SHARED_COMPLETION_CREDITS),
      .SHARED_CAP(SHARED_COMPLETION_CREDITS_CAP),
      .SETTABLE(DIVISIBLE),
      .CREDIT_WIDTH(CREDIT_WIDTH)
  ) i_completion_credits (
      .clock(clock),
      .reset(reset),
      .available(completion_available),
      .owner(started_lane),
      .source(completion_source),
      .take(starts),
      .give_back(completion_returned),
      .give_back_owner(completion_return_lane),
      .give_back_source(completion_return_source),
      .set_limits(set_completion_credits),
      .set_limits_owner(set_credits_lane),
      .set_own_credits(set_credits_own),
      .set_shared_cap_credits(set_credits_shared_cap),
      .set_shared(set_shared_completion_credits),
      .set_shared_credits(set_shared_credits),
      .query_owner(query_lane),
      .query_available(available_completion_credits),
      .query_own_held(query_completion_credits_held),
      .query_shared_held(query_shared_completion_credits_held),
      .all_shared_held(shared_completion_credits_held)
  );

  kick_lists #(
      .ENTRIES(ENTRIES),
      .LANES(LANES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS)
  ) i_kick_lists (
      .clock(clock),
      .reset(reset),
      .clearing(lists_clearing),
      .push(lists),
      .push_lane(lane),
      .push_unit(kick),
      .push_underlying_function(underlying_function),
      .entry_credits_available(entry_credits_available),
      .full(full),
      .waiting(waiting),
      .to_look_into(to_look_into),
      .start(starts),
      .look(looks),
      .start_lane(started_lane),
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
