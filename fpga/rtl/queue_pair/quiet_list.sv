// A list of the queue pairs that became quiet. It holds each index once, at its first position, with the number that became quiet last. It therefore
// never overflows.
module quiet_list #(
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset, until the list is empty; no queue pair may enter.

    input logic quiet,
    input logic [NUMBER_WIDTH-1:0] quiet_number,

    // The first queue pair; it may be taken while the list is not busy.
    output logic busy,
    output logic valid,
    output logic [NUMBER_WIDTH-1:0] number,
    input logic take
);
  // An index is in the list while its two bits differ: an entry toggles one, a take the other.
  logic [CONTEXT_WIDTH-1:0] swept, index_1, first, first_in_queue;
  logic [NUMBER_WIDTH-1:0] number_1;
  logic [CONTEXT_WIDTH:0] filling;
  logic quiet_1, entered_1, taken_1, entered_first, enters, is_queued, moves, unused_bits;
  assign unused_bits = &{1'b0, filling};
  assign index_1 = number_1[CONTEXT_WIDTH-1:0];
  assign enters = quiet_1 && entered_1 == taken_1;
  assign busy = quiet_1;
  lut_memory #(
      .WIDTH(1),
      .SIZE(CONTEXTS),
      .READERS(2)
  ) i_entered (
      .write(clearing || enters),
      .write_address(clearing ? swept : index_1),
      .write_data(!clearing && !entered_1),
      .read_addresses({first, index_1}),
      .read_data({entered_first, entered_1}),
      .*
  );
  lut_memory #(
      .WIDTH(1),
      .SIZE(CONTEXTS)
  ) i_taken (
      .write(clearing || take),
      .write_address(clearing ? swept : first),
      .write_data(!clearing && entered_first),
      .read_addresses(index_1),
      .read_data(taken_1),
      .*
  );
  lut_memory #(
      .WIDTH(NUMBER_WIDTH),
      .SIZE(CONTEXTS)
  ) i_numbers (
      .write(quiet_1),
      .write_address(index_1),
      .write_data(number_1),
      .read_addresses(first),
      .read_data(number),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(CONTEXT_WIDTH),
      .ENTRIES(CONTEXTS)
  ) i_indices (
      .push(enters),
      .push_unit(index_1),
      .valid(is_queued),
      .unit(first_in_queue),
      .pop(moves),
      .*
  );
  assign moves = is_queued && (!valid || take);
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      swept <= '0;
    end else if (clearing) begin
      clearing <= swept != CONTEXT_WIDTH'(CONTEXTS - 1);
      swept <= swept + CONTEXT_WIDTH'(1);
    end
    quiet_1 <= !reset && !clearing && quiet;
    number_1 <= quiet_number;
    valid <= !reset && (moves || valid && !take);
    if (moves) first <= first_in_queue;
  end
endmodule
