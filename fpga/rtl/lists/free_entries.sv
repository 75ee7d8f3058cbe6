// The free list: free entries, in the order in which they became free. A returned entry can be taken some clocks later. A sweep fills it
// with all entries.
module free_entries #(
    parameter int unsigned ENTRIES = 64,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,
    input logic sweep,  // Makes `sweep_entry` free.
    input logic [ENTRY_WIDTH-1:0] sweep_entry,
    output logic available,
    output logic [ENTRY_WIDTH-1:0] entry,
    input logic take,
    input logic give_back,
    input logic [ENTRY_WIDTH-1:0] give_back_entry,
    output logic [COUNT_WIDTH-1:0] entries_free
);
  logic [ENTRY_WIDTH:0] written, read;  // Positions; the high bit counts rounds.
  logic [ENTRY_WIDTH-1:0] next_entry;
  logic moves, has_next, was_taken, was_given_back;

  lut_memory #(
      .WIDTH(ENTRY_WIDTH),
      .SIZE(1 << ENTRY_WIDTH)
  ) i_entries (
      .clock(clock),
      .write(sweep || give_back),
      .write_address(written[ENTRY_WIDTH-1:0]),
      .write_data(sweep ? sweep_entry : give_back_entry),
      .read_addresses(read[ENTRY_WIDTH-1:0]),
      .read_data(next_entry)
  );

  assign has_next = read != written;
  assign moves = !available || take;

  always_ff @(posedge clock) begin
    was_taken <= take && !reset;
    was_given_back <= (sweep || give_back) && !reset;
    if (reset) begin
      written <= '0;
      read <= '0;
      available <= 1'b0;
      entries_free <= '0;
    end else begin
      written <= written + (ENTRY_WIDTH + 1)'(sweep || give_back);
      if (moves) begin
        available <= has_next;
        read <= read + (ENTRY_WIDTH + 1)'(has_next);
      end
      entries_free <= entries_free + COUNT_WIDTH'(was_given_back) - COUNT_WIDTH'(was_taken);
    end
    if (moves) entry <= next_entry;
  end
endmodule
