// A counter for each lane, stored as bit strings: one string holds bit 0 of all counters, one holds bit 1, and so on. An event of any lane
// is then a few operations on words, which is fast in simulation too, and no counter needs a multiplexer.
module lane_counters #(
    parameter int unsigned LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned COUNT_WIDTH = 7
) (
    input logic clock,
    input logic reset,
    // The lanes of this clock's events, one bit each: a counter rises by at most two or falls by one.
    input logic [LANES-1:0] more,
    input logic [LANES-1:0] more_too,
    input logic [LANES-1:0] less,
    // The lanes whose counter is at least one, two, four, and so on.
    output logic [COUNT_WIDTH*LANES-1:0] at_least
);
  logic [COUNT_WIDTH*LANES-1:0] counts;

  function automatic logic [COUNT_WIDTH*LANES-1:0] counted(input logic [COUNT_WIDTH*LANES-1:0] from, input logic [LANES-1:0] up,
                                                           input logic [LANES-1:0] up_too, input logic [LANES-1:0] down);
    logic [LANES-1:0] word, one_up, one_down;
    word = from[LANES-1:0];
    counted[LANES-1:0] = word ^ up ^ up_too ^ down;
    one_up = ((up ^ up_too) & ~down | up & up_too & down) & word | up & up_too & ~down;
    one_down = down & ~up & ~up_too & ~word;
    for (int unsigned number_bit = 1; number_bit < COUNT_WIDTH; number_bit++) begin
      word = from[number_bit*LANES+:LANES];
      counted[number_bit*LANES+:LANES] = word ^ one_up ^ one_down;
      one_up = one_up & word;
      one_down = one_down & ~word;
    end
  endfunction

  always_ff @(posedge clock) begin
    if (reset) counts <= '0;
    else if ((more | more_too | less) != '0) counts <= counted(counts, more, more_too, less);
  end

  always_comb begin
    logic [LANES-1:0] word;
    word = '0;
    for (int unsigned step = 1; step <= COUNT_WIDTH; step++) begin
      word = word | counts[(COUNT_WIDTH-step)*LANES+:LANES];
      at_least[(COUNT_WIDTH-step)*LANES+:LANES] = word;
    end
  end
endmodule
