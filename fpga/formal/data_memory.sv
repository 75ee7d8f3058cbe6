// The ports of data_memory and nothing behind them: a proof holds whatever it reads.
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
endmodule
