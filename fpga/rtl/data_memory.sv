// The data memory of a linked list queue: one data unit per entry, in words of 64 data bits and 8 check bits. Two read ports
// answer one clock later, corrected, with a secded_status_t; a third belongs to the scrubber, which writes a corrected entry back.
//
// One write port serves `write` first, then the scrubber's correction or an injected error; the caller sees to it that
// `inject` does not come with `write`, and that the scrubber's entry is not read in the same clock.
module data_memory #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned UNIT_WIDTH = 128,
    parameter int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    parameter int unsigned WORDS = (UNIT_WIDTH + 63) / 64,
    parameter int unsigned BIT_WIDTH = $clog2(WORDS * 72)
) (
    input logic clock,
    input logic reset,

    input logic write,
    input logic [ENTRY_WIDTH-1:0] write_entry,
    input logic [UNIT_WIDTH-1:0] write_unit,

    input logic read_a,
    input logic [ENTRY_WIDTH-1:0] entry_a,
    output logic [UNIT_WIDTH-1:0] unit_a,
    output logic [1:0] status_a,
    input logic read_b,
    input logic [ENTRY_WIDTH-1:0] entry_b,
    output logic [UNIT_WIDTH-1:0] unit_b,
    output logic [1:0] status_b,

    // Checks an entry, and corrects it unless the write port is taken: then `scrubbed` stays clear, to try again.
    input logic scrub,
    input logic [ENTRY_WIDTH-1:0] scrub_entry,
    output logic scrubbed,
    output logic [1:0] scrub_status,  // One clock later.

    // Flips a stored bit: bits 0 to 63 are data and 64 to 71 check bits of word 0, and so on.
    input logic inject,
    input logic [ENTRY_WIDTH-1:0] inject_entry,
    input logic [BIT_WIDTH-1:0] inject_bit,

    // What was found in this clock: by up to three reads.
    output logic [1:0] corrected_bit_errors,
    output logic [1:0] detected_bit_errors
);
  localparam int unsigned STORED_WIDTH = WORDS * secded_pkg::BITS;
  localparam logic [1:0] CORRECTED = linked_list_queue_pkg::SECDED_STATUS_CORRECTED;
  localparam logic [1:0] UNCORRECTABLE = linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE;

  logic [STORED_WIDTH-1:0] memory[ENTRIES];
  logic [ENTRIES-1:0] reported;  // Its uncorrectable error was counted.

  logic [STORED_WIDTH-1:0] encoded;
  logic [STORED_WIDTH-1:0] stored_a;
  logic [STORED_WIDTH-1:0] stored_b;
  logic [STORED_WIDTH-1:0] stored_scrub;
  logic [STORED_WIDTH-1:0] corrected;  // By the scrubber.
  logic [STORED_WIDTH-1:0] flip;
  logic [ENTRY_WIDTH-1:0] maintained_entry;
  logic [1:0] status_scrub;
  logic corrects;
  logic memory_write;
  logic [ENTRY_WIDTH-1:0] memory_entry;
  logic [STORED_WIDTH-1:0] memory_value;

  assign maintained_entry = inject ? inject_entry : scrub_entry;
  assign stored_scrub = memory[maintained_entry];
  assign flip = STORED_WIDTH'(1) << inject_bit;

  logic [WORDS*64-1:0] words_written;
  logic [WORDS*64-1:0] words_a;
  logic [WORDS*64-1:0] words_b;
  logic [WORDS*2-1:0] statuses_a;
  logic [WORDS*2-1:0] statuses_b;
  logic [WORDS*2-1:0] statuses_scrub;

  assign words_written = (WORDS * 64)'(write_unit);
  assign unit_a = words_a[UNIT_WIDTH-1:0];
  assign unit_b = words_b[UNIT_WIDTH-1:0];
  if (WORDS * 64 > UNIT_WIDTH) begin : gen_rest
    logic unused_bits;
    assign unused_bits = &{1'b0, words_a[WORDS*64-1:UNIT_WIDTH], words_b[WORDS*64-1:UNIT_WIDTH]};
  end

  for (genvar word = 0; word < WORDS; word++) begin : gen_word
    localparam int unsigned AT = word * secded_pkg::BITS;
    logic [63:0] scrubbed_word;
    assign encoded[AT+:72] = {secded_pkg::encode(words_written[word*64+:64]), words_written[word*64+:64]};
    assign corrected[AT+:72] = {secded_pkg::encode(scrubbed_word), scrubbed_word};

    secded_decoder i_decoder_a (
        .data(stored_a[AT+:64]),
        .check(stored_a[AT+64+:8]),
        .corrected(words_a[word*64+:64]),
        .status(statuses_a[word*2+:2])
    );
    secded_decoder i_decoder_b (
        .data(stored_b[AT+:64]),
        .check(stored_b[AT+64+:8]),
        .corrected(words_b[word*64+:64]),
        .status(statuses_b[word*2+:2])
    );
    secded_decoder i_decoder_scrub (
        .data(stored_scrub[AT+:64]),
        .check(stored_scrub[AT+64+:8]),
        .corrected(scrubbed_word),
        .status(statuses_scrub[word*2+:2])
    );
  end

  // The worst of the words.
  logic [1:0] worst_a;
  logic [1:0] worst_b;
  always_comb begin
    worst_a = statuses_a[1:0];
    worst_b = statuses_b[1:0];
    status_scrub = statuses_scrub[1:0];
    for (int unsigned word = 1; word < WORDS; word++) begin
      if (statuses_a[word*2+:2] > worst_a) worst_a = statuses_a[word*2+:2];
      if (statuses_b[word*2+:2] > worst_b) worst_b = statuses_b[word*2+:2];
      if (statuses_scrub[word*2+:2] > status_scrub) status_scrub = statuses_scrub[word*2+:2];
    end
  end

  assign corrects = scrub && !inject && status_scrub == CORRECTED;
  assign scrubbed = scrub && !inject && !(corrects && write);
  assign memory_write = write || corrects || inject;
  assign memory_entry = write ? write_entry : maintained_entry;
  assign memory_value = write ? encoded : inject ? stored_scrub ^ flip : corrected;

  always_ff @(posedge clock) begin
    if (memory_write) memory[memory_entry] <= memory_value;
    stored_a <= memory[entry_a];
    stored_b <= memory[entry_b];
  end

  // Reads of the clock before, found out about in this one.
  logic found_a;
  logic found_b;
  logic found_scrub;
  logic [ENTRY_WIDTH-1:0] found_entry_a;
  logic [ENTRY_WIDTH-1:0] found_entry_b;
  logic [ENTRY_WIDTH-1:0] found_entry_scrub;
  logic [1:0] found_status_scrub;
  logic detected_a;
  logic detected_b;
  logic detected_scrub;

  always_ff @(posedge clock) begin
    found_a <= !reset && read_a;
    found_b <= !reset && read_b;
    found_scrub <= !reset && scrubbed;
    found_entry_a <= entry_a;
    found_entry_b <= entry_b;
    found_entry_scrub <= scrub_entry;
    found_status_scrub <= status_scrub;
  end

  assign status_a = worst_a;
  assign status_b = worst_b;
  assign scrub_status = found_status_scrub;
  assign detected_a = found_a && worst_a == UNCORRECTABLE && !reported[found_entry_a];
  assign detected_b = found_b && worst_b == UNCORRECTABLE && !reported[found_entry_b]
      && !(detected_a && found_entry_a == found_entry_b);
  assign detected_scrub = found_scrub && found_status_scrub == UNCORRECTABLE && !reported[found_entry_scrub];
  assign detected_bit_errors = 2'(detected_a) + 2'(detected_b) + 2'(detected_scrub);
  assign corrected_bit_errors = 2'(found_a && worst_a == CORRECTED) + 2'(found_b && worst_b == CORRECTED)
      + 2'(found_scrub && found_status_scrub == CORRECTED);

  for (genvar entry = 0; entry < ENTRIES; entry++) begin : gen_reported
    localparam logic [ENTRY_WIDTH-1:0] NUMBER = ENTRY_WIDTH'(entry);
    always_ff @(posedge clock) begin
      if (reset || memory_write && !inject && memory_entry == NUMBER) reported[entry] <= 1'b0;
      else if (detected_a && found_entry_a == NUMBER || detected_b && found_entry_b == NUMBER
               || detected_scrub && found_entry_scrub == NUMBER)
        reported[entry] <= 1'b1;
    end
  end
endmodule
