// The turns of the lists of receive: each list whose first unit is not at work waits for its turn once, so that lists come one after the
// other. While a unit is at work, the one behind it leaves the queue and waits here.
//
// Events of the lists, one in a clock: a unit was pushed, a unit has arrived from the queue, the unit at work is done.
module receive_turns #(
    parameter int unsigned LISTS = 256,  // A power of two.
    parameter int unsigned ENTRIES = 256,  // Of the queue.
    parameter int unsigned EVENTS = 32,  // Pushed and done units that wait, each.
    localparam int unsigned LIST_WIDTH = $clog2(LISTS),
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset; there are no events.

    input logic pushed,
    input logic [LIST_WIDTH-1:0] pushed_list,
    output logic [$clog2(EVENTS):0] pushes_waiting,

    input logic arrived,
    input logic [LIST_WIDTH-1:0] arrived_list,
    input receive_pkg::unit_t arrived_unit,
    input logic arrived_corrupted,  // The unit cannot be read: there is none.

    // The unit at work is done; or it will be done by the clock in which the next one of its list can read its context.
    input logic done,
    input logic [LIST_WIDTH-1:0] done_list,
    output logic [$clog2(EVENTS):0] dones_waiting,
    input logic done_soon,
    input logic [LIST_WIDTH-1:0] done_soon_list,
    output logic [$clog2(EVENTS):0] done_soon_waiting,

    // The next unit of a list is to leave the queue.
    output logic pop,
    output logic [LIST_WIDTH-1:0] pop_list,

    // A unit whose turn it is.
    output logic turn,
    output receive_pkg::unit_t turn_unit,
    input logic turn_taken
);
  typedef enum logic [1:0] {
    EVENT_PUSHED = 2'd0,
    EVENT_ARRIVED = 2'd1,
    EVENT_DONE = 2'd2
  } event_t;
  typedef struct packed {
    logic [COUNT_WIDTH-1:0] waiting;  // In the queue, but for the one that is coming.
    logic is_coming;
    logic has_next;  // It has arrived and waits for the end of the one at work.
    logic is_at_work;
  } row_t;

  logic has_push, has_done, has_done_soon, takes_push, takes_done, takes_done_soon;
  logic [LIST_WIDTH-1:0] push_list, end_list, end_soon_list;
  unit_queue #(
      .UNIT_WIDTH(LIST_WIDTH),
      .ENTRIES(EVENTS)
  ) i_pushes (
      .push(pushed),
      .push_unit(pushed_list),
      .valid(has_push),
      .unit(push_list),
      .pop(takes_push),
      .filling(pushes_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(LIST_WIDTH),
      .ENTRIES(EVENTS)
  ) i_dones (
      .push(done),
      .push_unit(done_list),
      .valid(has_done),
      .unit(end_list),
      .pop(takes_done),
      .filling(dones_waiting),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(LIST_WIDTH),
      .ENTRIES(EVENTS)
  ) i_done_soon (
      .push(done_soon),
      .push_unit(done_soon_list),
      .valid(has_done_soon),
      .unit(end_soon_list),
      .pop(takes_done_soon),
      .filling(done_soon_waiting),
      .*
  );
  assign takes_done_soon = has_done_soon && !arrived;
  assign takes_done = has_done && !arrived && !has_done_soon;
  assign takes_push = has_push && !arrived && !has_done_soon && !has_done;

  // 1: the event. 2: the row of its list, and the unit that waits.
  logic valid_1, valid_2, corrupted_1, corrupted_2, is_same;
  event_t event_1, event_2;
  logic [LIST_WIDTH-1:0] list_1, list_2, cleared;
  receive_pkg::unit_t unit_1, unit_2, waiting_unit, waiting_unit_2;
  row_t row, row_2, next;
  logic pops, gives, keeps;
  lut_memory #(
      .WIDTH($bits(row)),
      .SIZE(LISTS)
  ) i_rows (
      .write(clearing || valid_2),
      .write_address(clearing ? cleared : list_2),
      .write_data(clearing ? '0 : next),
      .read_addresses(list_1),
      .read_data(row),
      .*
  );
  lut_memory #(
      .WIDTH($bits(waiting_unit)),
      .SIZE(LISTS)
  ) i_waiting (
      .write(keeps),
      .write_address(list_2),
      .write_data(unit_2),
      .read_addresses(list_1),
      .read_data(waiting_unit),
      .*
  );
  assign is_same = valid_2 && list_2 == list_1;
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      cleared <= '0;
    end else if (clearing) begin
      clearing <= cleared != LIST_WIDTH'(LISTS - 1);
      cleared <= cleared + LIST_WIDTH'(1);
    end
    valid_1 <= !reset && (arrived || has_done_soon || has_done || has_push);
    event_1 <= arrived ? EVENT_ARRIVED : has_done_soon || has_done ? EVENT_DONE : EVENT_PUSHED;
    list_1 <= arrived ? arrived_list : has_done_soon ? end_soon_list : has_done ? end_list : push_list;
    unit_1 <= arrived_unit;
    corrupted_1 <= arrived_corrupted;
    valid_2 <= !reset && valid_1;
    event_2 <= event_1;
    list_2 <= list_1;
    unit_2 <= unit_1;
    corrupted_2 <= corrupted_1;
    row_2 <= is_same ? next : row;
    waiting_unit_2 <= keeps && is_same ? unit_2 : waiting_unit;
  end
  always_comb begin
    next = row_2;
    {pops, gives, keeps} = '0;
    case (event_2)
      EVENT_PUSHED: begin
        pops = !row_2.is_coming && !row_2.has_next;
        if (!pops) next.waiting = row_2.waiting + COUNT_WIDTH'(1);
      end
      EVENT_ARRIVED: begin
        gives = !corrupted_2 && !row_2.is_at_work;
        keeps = valid_2 && !corrupted_2 && row_2.is_at_work;
        next.is_coming = 1'b0;
        next.has_next = !corrupted_2 && row_2.is_at_work;
        next.is_at_work = row_2.is_at_work || gives;
        pops = !next.has_next && row_2.waiting != '0;
        if (pops) next.waiting = row_2.waiting - COUNT_WIDTH'(1);
      end
      default: begin
        gives = row_2.has_next;
        next.has_next = 1'b0;
        next.is_at_work = row_2.has_next;
        pops = row_2.has_next && row_2.waiting != '0;
        if (pops) next.waiting = row_2.waiting - COUNT_WIDTH'(1);
      end
    endcase
    if (pops) next.is_coming = 1'b1;
  end
  logic [LIST_WIDTH:0] unused_turns;
  unit_queue #(
      .UNIT_WIDTH($bits(turn_unit)),
      .ENTRIES(LISTS)
  ) i_turns (
      .push(valid_2 && gives),
      .push_unit(event_2 == EVENT_ARRIVED ? unit_2 : waiting_unit_2),
      .valid(turn),
      .unit(turn_unit),
      .pop(turn_taken),
      .filling(unused_turns),
      .*
  );
  always_ff @(posedge clock) begin
    pop <= !reset && valid_2 && pops;
    pop_list <= list_2;
  end
endmodule
