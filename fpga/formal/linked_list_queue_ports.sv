// Properties of a linked list queue at its ports, independent of its implementation. A list, which stands for all, returns what was pushed
// to it: each data unit once, in order, unchanged. No data unit leaves before it is marked ready, unless it is discarded or reclaimed. No
// entry has two data units. A push to an empty queue is accepted.
module linked_list_queue_ports #(
    parameter int unsigned ENTRIES = 2,
    parameter int unsigned LISTS = 2,
    parameter bit CONTENT_ADDRESSED = 1'b0,
    parameter int unsigned CLEAR_CLOCKS = 3,  // Maximum after a reset.
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic push,
    input logic [LIST_WIDTH:0] push_index,
    input logic push_unit,
    input logic mark_ready,
    input logic mark_not_ready,
    input logic [ENTRY_WIDTH-1:0] mark_entry,
    input logic command,
    input linked_list_queue_pkg::linked_list_command_t command_kind,
    input logic [LIST_WIDTH-1:0] command_list,
    input logic forward,
    input logic reclaim_ready
);
  localparam logic [2:0] STEP = linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP;
  localparam logic [3:0] OK = linked_list_queue_pkg::LINKED_LIST_RESULT_OK;

  logic clearing, pushed, marked, command_ready, answered, answered_forward, reclaiming, reset;
  logic [COUNT_WIDTH-1:0] inbound_credits;
  logic [3:0] pushed_result, marked_result, answered_result;
  logic [2:0] answered_kind;
  logic [LIST_WIDTH-1:0] pushed_list, answered_list;
  logic [ENTRY_WIDTH-1:0] pushed_entry, answered_entry;
  logic [LIST_WIDTH:0] answered_index;
  logic answered_unit;

  hardware_linked_list_queue #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS),
      .CONTENT_ADDRESSED(CONTENT_ADDRESSED),
      .UNDERLYING_FUNCTIONS(1),
      .INDEX_WIDTH(LIST_WIDTH + 1),
      .UNIT_WIDTH(1)
  ) i_queue (
      .clock(clock),
      .reset(reset),
      .clearing(clearing),
      .inbound_credits(inbound_credits),
      .push(push),
      .push_index(push_index),
      .push_unit(push_unit),
      .push_underlying_function(1'b0),
      .pushed(pushed),
      .pushed_result(pushed_result),
      .pushed_list(pushed_list),
      .pushed_entry(pushed_entry),
      .mark_ready(mark_ready),
      .mark_not_ready(mark_not_ready),
      .mark_entry(mark_entry),
      .marked(marked),
      .marked_result(marked_result),
      .command_ready(command_ready),
      .command(command),
      .command_kind(command_kind),
      .command_list(command_list),
      .forward(forward),
      .answered(answered),
      .answered_forward(answered_forward),
      .answered_kind(answered_kind),
      .answered_result(answered_result),
      .answered_list(answered_list),
      .answered_entry(answered_entry),
      .answered_index(answered_index),
      .answered_unit(answered_unit),
      .reclaim_ready(reclaim_ready),
      .reclaiming(reclaiming),
      .scrub(1'b0),
      .inject_error(1'b0),
      .inject_error_entry('0),
      .inject_error_bit('0),
      .set_maximum(1'b0),
      .set_maximum_list('0),
      .set_maximum_data_units('0),
      .set_entry_credits(1'b0),
      .set_entry_credits_underlying_function('0),
      .set_entry_credits_credits('0),
      .set_shared_entry_credits(1'b0),
      .set_shared_entry_credits_credits('0),
      .set_shared_entry_credits_cap('0),
      .query_list('0),
      .query_underlying_function('0)
  );

  // The first clock is a reset.
  logic [5:0] age = '0;
  assign reset = age == '0;
  always_ff @(posedge clock) if (age != '1) age <= age + 6'd1;

  // An index, the number of one of its data units, and an entry, all arbitrary.
  (* anyconst *) logic [LIST_WIDTH:0] some_index;
  (* anyconst *) logic [3:0] some_number;
  (* anyconst *) logic [ENTRY_WIDTH-1:0] some_entry;

  // Pushes in flight, in order; they are answered after four clocks.
  logic [3:0] pushes, push_units;
  logic [4*(LIST_WIDTH+1)-1:0] push_indexes;
  logic [LIST_WIDTH:0] index;
  logic unit, takes, removes, takes_some, removes_some;
  assign index = push_indexes[3*(LIST_WIDTH+1)+:LIST_WIDTH+1];
  assign unit = push_units[3];
  always_ff @(posedge clock) begin
    pushes <= reset ? '0 : {pushes[2:0], push && !clearing};
    push_units <= {push_units[2:0], push_unit};
    push_indexes <= {push_indexes[3*(LIST_WIDTH+1)-1:0], push_index};
  end

  assign takes = pushed && pushed_result == OK;
  assign removes = answered && answered_result == OK && (answered_kind == STEP
      || answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_POP
      || answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD
      || answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY);
  assign takes_some = takes && index == some_index;
  assign removes_some = removes && answered_index == some_index;

  // Order without loss: the data unit pushed as number n leaves as number n, unchanged.
  logic [3:0] taken, removed;
  logic some_unit, is_some_there;
  logic [ENTRY_WIDTH-1:0] entry_of_number;
  always_ff @(posedge clock) begin
    if (reset) begin
      taken <= '0;
      removed <= '0;
      is_some_there <= 1'b0;
    end else begin
      taken <= taken + 4'(takes_some);
      removed <= removed + 4'(removes_some);
      if (takes_some && taken == some_number) begin
        is_some_there <= 1'b1;
        some_unit <= unit;
        entry_of_number <= pushed_entry;
      end
    end
  end

  // The entry: used from its push to its removal; ready as the marks say at the time of the decision, which is one clock before its effect.
  logic is_used, is_ready, leaves_some;
  logic [3:0] was_ready;
  logic [2:0] mark_values;  // Marks in flight: answered after three clocks.
  logic [3*ENTRY_WIDTH-1:0] mark_entries;
  assign leaves_some = removes && answered_entry == some_entry;
  always_ff @(posedge clock) begin
    mark_values <= {mark_values[1:0], mark_ready};
    mark_entries <= {mark_entries[2*ENTRY_WIDTH-1:0], mark_entry};
    is_used <= !reset && (takes && pushed_entry == some_entry || is_used && !leaves_some);
    if (reset || takes && pushed_entry == some_entry) is_ready <= 1'b0;
    else if (marked && marked_result == OK && mark_entries[2*ENTRY_WIDTH+:ENTRY_WIDTH] == some_entry) is_ready <= mark_values[2];
    was_ready <= reset ? '0 : {was_ready[2:0], is_ready};
  end

  // All data units.
  logic [COUNT_WIDTH:0] held;
  logic [3:0] quiet;  // Clocks without a push or a command.
  always_ff @(posedge clock) begin
    held <= reset ? '0 : held + (COUNT_WIDTH + 1)'(takes) - (COUNT_WIDTH + 1)'(removes);
    quiet <= reset || push || command || forward || mark_ready || mark_not_ready ? '0 : quiet == '1 ? quiet : quiet + 4'd1;
  end
  logic was_empty;  // The queue was empty before the push that is answered in this clock.
  logic [3:0] empty_before;
  assign was_empty = empty_before[3];
  always_ff @(posedge clock) empty_before <= reset ? '0 : {empty_before[2:0], held == '0 && quiet > 4'd6 && !clearing};

  always_comb begin
    assume (!(mark_ready && mark_not_ready));
    assume (command_kind < STEP);
    if (!CONTENT_ADDRESSED) assume (push_index < (LIST_WIDTH + 1)'(LISTS));
    assume (age < 6'd60);
    if (age > 6'(CLEAR_CLOCKS)) assert (!clearing);
    if (age != '0) begin
      assert (pushed == pushes[3]);
      if (removes_some) assert (removed < taken);
      if (removes_some && removed == some_number)
        assert (is_some_there && answered_unit == some_unit && answered_entry == entry_of_number);
      if (takes && pushed_entry == some_entry) assert (!is_used || leaves_some);
      if (leaves_some && answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_POP) assert (was_ready[1]);
      if (leaves_some && answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_DISCARD_NOT_READY) assert (!was_ready[1]);
      if (leaves_some) assert (is_used);
      if (held == (COUNT_WIDTH + 1)'(ENTRIES)) assert (!takes || removes);
      if (pushes[3] && was_empty && !reclaiming) assert (takes);
    end
  end
endmodule
