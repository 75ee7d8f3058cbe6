// The state of each entry: used, ready, and its list. An entry is used if the bits written by pushes and by removals differ, and ready if
// the bits written by marks and by pushes differ, so that each memory has one writer.
//
// A push and a mark take effect at once, a removal in the clock before it is reported. The answer to a mark follows one clock later.
module entry_states #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned LISTS = 64,
    parameter bit READY_ON_PUSH = 1'b0,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1
) (
    input logic clock,
    input logic sweeps,
    input logic [ENTRY_WIDTH-1:0] sweep_entry,

    // A push to this entry; its list follows in the next clock.
    input logic push,
    input logic [ENTRY_WIDTH-1:0] push_entry,
    input logic pushed,
    input logic [ENTRY_WIDTH-1:0] pushed_entry,
    input logic [LIST_WIDTH-1:0] pushed_list,

    input logic removed,
    input logic [ENTRY_WIDTH-1:0] removed_entry,

    input logic mark,
    input logic mark_value,
    input logic [ENTRY_WIDTH-1:0] mark_entry,
    output logic marked,
    output logic marked_used,
    output logic marked_ready,  // The mark found a used entry and made it ready.
    output logic [LIST_WIDTH-1:0] marked_list,

    input logic [ENTRY_WIDTH-1:0] head,
    output logic head_ready,
    input logic [ENTRY_WIDTH-1:0] scrub_entry,
    output logic scrub_used
);
  localparam int unsigned SIZE = 1 << ENTRY_WIDTH;

  logic [3:0] pushed_bits;  // For scrub_entry, mark_entry, removed_entry, push_entry.
  logic [1:0] removed_bits;  // For scrub_entry, mark_entry.
  logic [1:0] marked_bits;  // For push_entry, head.
  logic [1:0] base_bits;  // For mark_entry, head.
  logic mark_used, is_outside;
  logic [ENTRY_WIDTH-1:0] marked_entry;

  lut_memory #(
      .SIZE(SIZE),
      .READERS(4)
  ) i_pushed (
      .clock(clock),
      .write(push || sweeps),
      .write_address(sweeps ? sweep_entry : push_entry),
      .write_data(!sweeps && !pushed_bits[0]),
      .read_addresses({scrub_entry, mark_entry, removed_entry, push_entry}),
      .read_data(pushed_bits)
  );
  lut_memory #(
      .SIZE(SIZE),
      .READERS(2)
  ) i_removed (
      .clock(clock),
      .write(removed || sweeps),
      .write_address(sweeps ? sweep_entry : removed_entry),
      .write_data(!sweeps && pushed_bits[1]),
      .read_addresses({scrub_entry, mark_entry}),
      .read_data(removed_bits)
  );
  lut_memory #(
      .SIZE(SIZE),
      .READERS(2)
  ) i_marked (
      .clock(clock),
      .write(mark && mark_used),
      .write_address(mark_entry),
      .write_data(mark_value != base_bits[1]),
      .read_addresses({push_entry, head}),
      .read_data(marked_bits)
  );
  lut_memory #(
      .SIZE(SIZE),
      .READERS(2)
  ) i_base (
      .clock(clock),
      .write(push),
      .write_address(push_entry),
      .write_data(marked_bits[1] != READY_ON_PUSH),
      .read_addresses({mark_entry, head}),
      .read_data(base_bits)
  );
  lut_memory #(
      .WIDTH(LIST_WIDTH),
      .SIZE(SIZE)
  ) i_lists (
      .clock(clock),
      .write(pushed),
      .write_address(pushed_entry),
      .write_data(pushed_list),
      .read_addresses(marked_entry),
      .read_data(marked_list)
  );

  assign is_outside = ENTRIES != SIZE && 32'(mark_entry) >= ENTRIES;
  assign mark_used = pushed_bits[2] != removed_bits[0] && !(removed && removed_entry == mark_entry) && !is_outside;
  assign scrub_used = pushed_bits[3] != removed_bits[1] && !(removed && removed_entry == scrub_entry);
  assign head_ready = marked_bits[0] != base_bits[0];

  always_ff @(posedge clock) begin
    marked <= mark;
    marked_used <= mark_used;
    marked_ready <= mark && mark_used && mark_value;
    marked_entry <= mark_entry;
  end
endmodule
