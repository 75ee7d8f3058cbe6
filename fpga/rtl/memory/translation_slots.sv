// The accesses in flight in memory_translation, and the selection of the next one. Accesses of a queue pair follow each other: the next one begins
// when the previous one has ended. Others pass those that wait for host memory.
module translation_slots #(
    parameter int unsigned SLOTS = 16,  // A power of two, at most 16.
    localparam int unsigned SLOT_WIDTH = $clog2(SLOTS),
    localparam int unsigned NUMBER_WIDTH = 24
) (
    input logic clock,
    input logic reset,

    // An access takes a slot in the second clock of its offer, at the earliest.
    input logic offer,
    input logic [NUMBER_WIDTH-1:0] offer_queue_pair,
    output logic takes,
    output logic [SLOT_WIDTH-1:0] takes_slot,

    // A slot enters the stages; later it ends, or enters again when it is due.
    input logic may_enter,
    output logic enters,
    output logic [SLOT_WIDTH-1:0] enters_slot,
    input logic again,  // For its next page.
    input logic [SLOT_WIDTH-1:0] again_slot,
    input logic answered,  // Host memory has answered.
    input logic [SLOT_WIDTH-1:0] answered_slot,
    input logic ends,
    input logic [SLOT_WIDTH-1:0] ends_slot
);
  if (SLOTS < 4 || SLOTS > 16 || SLOTS != 1 << SLOT_WIDTH) begin : gen_check
    $error("SLOTS has to be a power of two, 4 to 16");
  end

  // 1: find slots of the same queue pair, and a free slot. 2: take it, behind the last of them.
  logic looks;
  logic [SLOTS-1:0] occupied, is_tail, has_next, same, free, ends_bit, takes_bit, behind, starts;
  logic [SLOTS-1:0] due, due_next, enters_bit;
  logic [SLOT_WIDTH-1:0] free_slot, before_slot, next_slot, next_turn, turn;
  logic has_turn;
  logic [SLOTS*NUMBER_WIDTH-1:0] numbers;
  function automatic logic [SLOTS-1:0] bit_of(input logic is_set, input logic [SLOT_WIDTH-1:0] slot);
    bit_of = SLOTS'(is_set) << slot;
  endfunction
  assign free = ~occupied;
  assign takes_slot = free_slot;
  assign takes = looks && offer;
  assign ends_bit = bit_of(ends, ends_slot);
  assign takes_bit = bit_of(takes, takes_slot);
  assign behind = same & occupied & is_tail & ~ends_bit;
  logic [SLOT_WIDTH-1:0] first_free;
  find_first #(
      .SIZE(SLOTS)
  ) i_free (
      .bits (free),
      .first(first_free)
  );
  find_first #(
      .SIZE(SLOTS),
      .ISOLATED(1'b1)
  ) i_before (
      .bits (behind),
      .first(before_slot)
  );
  lut_memory #(
      .WIDTH(SLOT_WIDTH),
      .SIZE (SLOTS)
  ) i_next (
      .write(takes && behind != '0),
      .write_address(before_slot),
      .write_data(takes_slot),
      .read_addresses(ends_slot),
      .read_data(next_slot),
      .*
  );
  always_ff @(posedge clock) begin
    looks <= !reset && offer && !looks && free != '0;
    free_slot <= first_free;
    for (int unsigned slot = 0; slot < SLOTS; slot++) begin
      same[slot] <= numbers[slot*NUMBER_WIDTH+:NUMBER_WIDTH] == offer_queue_pair;
      if (takes_bit[slot]) numbers[slot*NUMBER_WIDTH+:NUMBER_WIDTH] <= offer_queue_pair;
    end
    occupied <= reset ? '0 : occupied & ~ends_bit | takes_bit;
    is_tail <= is_tail & ~(takes ? behind : '0) | takes_bit;
    has_next <= has_next & ~takes_bit | (takes ? behind : '0);
  end

  // Due slots, in turn.
  assign starts = behind == '0 ? takes_bit : '0;
  assign enters = has_turn && may_enter;
  assign enters_slot = turn;
  assign enters_bit = bit_of(enters, turn);
  assign due_next = due & ~enters_bit;
  find_next #(
      .SIZE(SLOTS)
  ) i_turn (
      .bits (due_next),
      .after(turn),
      .next (next_turn)
  );
  always_ff @(posedge clock) begin
    due <= reset ? '0 : due_next | starts | bit_of(again, again_slot) | bit_of(answered, answered_slot) |
        bit_of((ends_bit & has_next) != '0, next_slot);
    if (reset) begin
      has_turn <= 1'b0;
      turn <= '0;
    end else if (!has_turn || enters) begin
      has_turn <= due_next != '0;
      turn <= next_turn;
    end
  end
endmodule
