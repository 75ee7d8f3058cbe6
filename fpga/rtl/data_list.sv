// Which entries of a data memory are on which list, and in which order (US8804752, data list memory and controller): the free
// list, a bit string that marks used entries; the data unit list, each entry's successor; head, tail and peek pointers, data
// unit counter and maximum of each list. Knows entries, not what they hold.
//
// Everything in one clock acts as if in this order: peek pointer, append, removals. Two heads may be removed in a clock, of
// two different lists: port a pops, port b reclaims. Port b also reads the successor of a peek pointer, in other clocks.
module data_list #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned LISTS = 64,
    parameter int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    parameter int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    parameter int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,

    // Puts the lowest free entry at the tail of a list; some entry must be free.
    input logic append,
    input logic [LIST_WIDTH-1:0] append_list,
    output logic [ENTRY_WIDTH-1:0] append_entry,

    // Frees the entry at the head of a list, which must have one.
    input logic remove_a,
    input logic [LIST_WIDTH-1:0] list_a,
    output logic [ENTRY_WIDTH-1:0] head_a,
    output logic [ENTRY_WIDTH-1:0] successor_a,
    input logic remove_b,
    input logic [LIST_WIDTH-1:0] list_b,
    output logic [ENTRY_WIDTH-1:0] head_b,
    output logic [ENTRY_WIDTH-1:0] peek_pointer_b,

    // Peek pointer of list b: on to the next data unit, or back to the head.
    input logic advance_peek_pointer,
    input logic reset_peek_pointer,

    input logic set_maximum,
    input logic [LIST_WIDTH-1:0] set_maximum_list,
    input logic [COUNT_WIDTH-1:0] set_maximum_data_units,

    // The list of an entry and its head; head, data unit counter and its maximum of a list.
    input logic [ENTRY_WIDTH-1:0] query_entry,
    output logic [LIST_WIDTH-1:0] query_entry_list,
    output logic [ENTRY_WIDTH-1:0] query_entry_head,
    input logic [LIST_WIDTH-1:0] query_list,
    output logic [ENTRY_WIDTH-1:0] query_head,
    output logic [COUNT_WIDTH-1:0] query_count,
    output logic [COUNT_WIDTH-1:0] query_maximum,

    output logic [ENTRIES-1:0] used,
    output logic [COUNT_WIDTH-1:0] free_entries,
    output logic [LISTS-1:0] occupied,
    output logic [LISTS-1:0] one_left,
    output logic [LISTS-1:0] at_maximum,
    output logic [LISTS-1:0] peek_pending  // Clear: all data units have been peeked at.
);
  logic [ENTRY_WIDTH-1:0] head[LISTS];
  logic [ENTRY_WIDTH-1:0] tail[LISTS];  // Holds only while the list has data units.
  logic [ENTRY_WIDTH-1:0] peek_pointer[LISTS];
  logic [COUNT_WIDTH-1:0] count[LISTS];
  logic [COUNT_WIDTH-1:0] maximum[LISTS];

  // The data unit list. The tail's successor means nothing.
  logic [ENTRY_WIDTH-1:0] successor[ENTRIES];
  logic [LIST_WIDTH-1:0] owner[ENTRIES];  // The list of a used entry.
  logic [ENTRY_WIDTH-1:0] entry_b;
  logic [ENTRY_WIDTH-1:0] successor_b;

  find_first #(.SIZE(ENTRIES)) i_free (.bits(~used), .first(append_entry));

  assign head_a = head[list_a];
  assign head_b = head[list_b];
  assign query_entry_list = owner[query_entry];
  assign query_entry_head = head[query_entry_list];
  assign peek_pointer_b = peek_pointer[list_b];
  assign query_head = head[query_list];
  assign query_count = count[query_list];
  assign query_maximum = maximum[query_list];
  assign entry_b = advance_peek_pointer ? peek_pointer_b : head_b;
  assign successor_a = successor[head_a];
  assign successor_b = successor[entry_b];

  always_ff @(posedge clock) begin
`ifdef FPGA_VERBS_MUTANT_TAIL_NOT_LINKED
    if (append && occupied[append_list] && !one_left[append_list]) successor[tail[append_list]] <= append_entry;
`else
    if (append && occupied[append_list]) successor[tail[append_list]] <= append_entry;
`endif
    if (append) owner[append_entry] <= append_list;
  end

  for (genvar entry = 0; entry < ENTRIES; entry++) begin : gen_entry
    logic takes;
    logic leaves;
    assign takes = append && append_entry == ENTRY_WIDTH'(entry);
    assign leaves = remove_a && head_a == ENTRY_WIDTH'(entry) || remove_b && entry_b == ENTRY_WIDTH'(entry);
    always_ff @(posedge clock) begin
      if (reset) used[entry] <= 1'b0;
`ifdef FPGA_VERBS_MUTANT_ENTRY_GIVEN_TWICE
      else used[entry] <= (used[entry] || takes && !remove_a) && !leaves;
`else
      else used[entry] <= (used[entry] || takes) && !leaves;
`endif
    end
  end

  always_ff @(posedge clock) begin
    if (reset) free_entries <= COUNT_WIDTH'(ENTRIES);
    else free_entries <= free_entries - COUNT_WIDTH'(append) + COUNT_WIDTH'(remove_a) + COUNT_WIDTH'(remove_b);
  end

  for (genvar list = 0; list < LISTS; list++) begin : gen_list
    localparam logic [LIST_WIDTH-1:0] NUMBER = LIST_WIDTH'(list);
    logic appended;
    logic removed_b;
    logic removed;
    logic begins;  // The appended entry becomes the head.
    logic [ENTRY_WIDTH-1:0] head_next;
    logic [ENTRY_WIDTH-1:0] peek_moved;
    logic pending_moved;
    logic [ENTRY_WIDTH-1:0] peek_appended;
    logic pending_appended;
    logic peek_leaves;

    assign appended = append && append_list == NUMBER;
    assign removed_b = remove_b && list_b == NUMBER;
    assign removed = remove_a && list_a == NUMBER || removed_b;
    assign occupied[list] = count[list] != '0;
    assign one_left[list] = count[list] == COUNT_WIDTH'(1);
`ifdef FPGA_VERBS_MUTANT_JOINS_AT_HEAD
    assign begins = appended;
`else
    assign begins = appended && (!occupied[list] || removed && one_left[list]);
`endif

    always_comb begin
      head_next = head[list];
      if (begins) head_next = append_entry;
      else if (removed) head_next = removed_b ? successor_b : successor_a;
    end

    always_comb begin
      peek_moved = peek_pointer[list];
      pending_moved = peek_pending[list];
      if (list_b == NUMBER && advance_peek_pointer) begin
        pending_moved = peek_pointer[list] != tail[list];
        peek_moved = successor_b;
      end else if (list_b == NUMBER && reset_peek_pointer) begin
        pending_moved = 1'b1;
        peek_moved = head[list];
      end
    end

    assign pending_appended = pending_moved || appended;
    assign peek_appended = pending_moved ? peek_moved : append_entry;
    assign peek_leaves = removed && pending_appended && peek_appended == head[list];

    assign at_maximum[list] = count[list] >= maximum[list];

    always_ff @(posedge clock) begin
      if (reset) begin
        head[list] <= '0;
        tail[list] <= '0;
        count[list] <= '0;
        peek_pointer[list] <= '0;
        peek_pending[list] <= 1'b0;
        maximum[list] <= COUNT_WIDTH'(ENTRIES);
      end else begin
        head[list] <= head_next;
        if (appended) tail[list] <= append_entry;
        count[list] <= count[list] + COUNT_WIDTH'(appended) - COUNT_WIDTH'(removed);
        peek_pointer[list] <= peek_leaves ? head_next : peek_appended;
        peek_pending[list] <= pending_appended && !(peek_leaves && one_left[list] && !appended);
        if (set_maximum && set_maximum_list == NUMBER) maximum[list] <= set_maximum_data_units;
      end
    end
  end

`ifdef FORMAL
`include "data_list.svh"
`endif
endmodule
