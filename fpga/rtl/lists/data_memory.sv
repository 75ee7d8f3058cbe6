// The data memory of a linked list queue: one data unit per entry, in words of 64 data bits and 8 check bits, in block memory. One write
// port, one read port. A data unit arrives three clocks after its read, corrected: one clock each for the memory, the syndrome and the
// correction.
//
// Maintenance uses the read port in clocks without a read, and the write port in clocks without a write: first an injected error, then the
// scrubber. The scrubber reads an entry and writes it back two clocks later. If the entry was written since, or the write port is busy, it
// starts over.
module data_memory #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned UNIT_WIDTH = 128,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned WORDS = (UNIT_WIDTH + 63) / 64,
    localparam int unsigned BIT_WIDTH = $clog2(WORDS * 72)
) (
    input logic clock,
    input logic reset,

    // The data unit to write was `write_unit` in the preceding clock.
    input logic [UNIT_WIDTH-1:0] write_unit,
    input logic write,
    input logic [ENTRY_WIDTH-1:0] write_entry,

    input logic read,
    input logic [ENTRY_WIDTH-1:0] read_entry,
    output logic [UNIT_WIDTH-1:0] unit,
    output logic [1:0] status,

    // Flips a stored bit: bits 0 to 63 are the data and 64 to 71 the check bits of word 0, and so on. One request at a time, held until done.
    input logic inject,
    input logic [ENTRY_WIDTH-1:0] inject_entry,
    input logic [BIT_WIDTH-1:0] inject_bit,
    output logic injected,

    // Checks entry after entry and corrects the used ones. `scrub_used`: whether `scrub_entry` is used in this clock.
    input logic scrub,
    output logic [ENTRY_WIDTH-1:0] scrub_entry,
    input logic scrub_used,
    output logic scrubbed,
    output logic [ENTRY_WIDTH-1:0] scrubbed_entry,
    output logic [1:0] scrubbed_status
);
  localparam int unsigned STORED_WIDTH = WORDS * secded_pkg::BITS;
  localparam logic [1:0] CLEAN = linked_list_queue_pkg::SECDED_STATUS_CLEAN;
  localparam logic [1:0] CORRECTED = linked_list_queue_pkg::SECDED_STATUS_CORRECTED;

  logic memory_write;
  logic [ENTRY_WIDTH-1:0] memory_write_entry, memory_read_entry;
  logic [STORED_WIDTH-1:0] encoded, memory_value, stored, stored_held, corrected, maintained;
  logic [WORDS*secded_pkg::CHECK_BITS-1:0] syndrome, syndrome_held;
  logic [WORDS*2-1:0] statuses;
  logic [WORDS*64-1:0] words_written, words;
  logic [1:0] worst;

  list_memory #(
      .WIDTH(STORED_WIDTH),
      .SIZE(ENTRIES),
      .BLOCK(1'b1)
  ) i_memory (
      .clock(clock),
      .write(memory_write),
      .write_address(memory_write_entry),
      .write_data(memory_value),
      .read_address(memory_read_entry),
      .read_data(stored)
  );

  assign words_written = (WORDS * 64)'(write_unit);
  for (genvar word = 0; word < WORDS; word++) begin : gen_word
    localparam int unsigned AT = word * secded_pkg::BITS;
    assign syndrome[word*8+:8] = secded_pkg::encode(stored[AT+:64]) ^ stored[AT+64+:8];
    assign words[word*64+:64] = corrected[AT+:64];
    secded_decoder i_decoder (
        .stored(stored_held[AT+:72]),
        .syndrome(syndrome_held[word*8+:8]),
        .corrected(corrected[AT+:72]),
        .status(statuses[word*2+:2])
    );
    always_ff @(posedge clock)
      encoded[AT+:72] <= {secded_pkg::encode(words_written[word*64+:64]), words_written[word*64+:64]};
  end

  // The worst status of the words.
  always_comb begin
    worst = statuses[1:0];
    for (int unsigned word = 1; word < WORDS; word++)
      if (statuses[word*2+:2] > worst) worst = statuses[word*2+:2];
  end

  always_ff @(posedge clock) begin
    stored_held <= stored;
    syndrome_held <= syndrome;
    unit <= words[UNIT_WIDTH-1:0];
    status <= worst;
  end
  if (WORDS * 64 > UNIT_WIDTH) begin : gen_rest
    logic unused_bits;
    assign unused_bits = &{1'b0, words[WORDS*64-1:UNIT_WIDTH]};
  end

  // Maintenance: the read, and the two clocks after it.
  logic [2:0] at_work;  // At most one bit is set.
  logic injects, begins, is_stale, writes_back, ends;
  logic [ENTRY_WIDTH-1:0] maintained_entry;

  assign begins = (inject || scrub) && !read && at_work == '0;
  assign maintained_entry = injects ? inject_entry : scrub_entry;
  always_comb begin
    maintained = corrected;
    if (injects) maintained = stored_held ^ (STORED_WIDTH'(1) << inject_bit);
  end
  assign ends = at_work[2] && !write && !is_stale;
  assign writes_back = ends && (injects || scrub_used && worst == CORRECTED);
  assign memory_read_entry = read ? read_entry : maintained_entry;
  assign memory_write = write || writes_back;
  assign memory_write_entry = write ? write_entry : maintained_entry;
  assign memory_value = write ? encoded : maintained;

  always_ff @(posedge clock) begin
    if (reset) begin
      at_work <= '0;
      scrub_entry <= '0;
    end else begin
      at_work <= begins ? 3'b001 : at_work[0] && read ? 3'b001 : at_work << 1;
      if (ends && !injects) scrub_entry <= scrub_entry == ENTRY_WIDTH'(ENTRIES - 1) ? '0 : scrub_entry + ENTRY_WIDTH'(1);
    end
    if (begins) injects <= inject;
    is_stale <= !begins && (is_stale && !(at_work[0] && read) || write && write_entry == maintained_entry);
    injected <= ends && injects && !reset;
    scrubbed <= ends && !injects && !reset;
    scrubbed_entry <= scrub_entry;
    scrubbed_status <= scrub_used ? worst : CLEAN;
  end
endmodule
