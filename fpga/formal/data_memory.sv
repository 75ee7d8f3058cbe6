// The ports of data_memory with a memory that never fails; another proof shows that bit errors are corrected or detected. It ignores
// scrubbing and injected errors.
module data_memory #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned UNIT_WIDTH = 128,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned WORDS = (UNIT_WIDTH + 63) / 64,
    localparam int unsigned BIT_WIDTH = $clog2(WORDS * 72)
) (
    input logic clock,
    input logic reset,
    input logic [UNIT_WIDTH-1:0] write_unit,
    input logic write,
    input logic [ENTRY_WIDTH-1:0] write_entry,
    input logic read,
    input logic [ENTRY_WIDTH-1:0] read_entry,
    output logic [UNIT_WIDTH-1:0] unit,
    output logic [1:0] status,
    input logic inject,
    input logic [ENTRY_WIDTH-1:0] inject_entry,
    input logic [BIT_WIDTH-1:0] inject_bit,
    output logic injected,
    input logic scrub,
    output logic [ENTRY_WIDTH-1:0] scrub_entry,
    input logic scrub_used,
    output logic scrubbed,
    output logic [ENTRY_WIDTH-1:0] scrubbed_entry,
    output logic [1:0] scrubbed_status
);
  logic [UNIT_WIDTH-1:0] memory[1<<ENTRY_WIDTH];
  logic [UNIT_WIDTH-1:0] written, read_2, read_3;

  assign status = linked_list_queue_pkg::SECDED_STATUS_CLEAN;
  assign injected = 1'b0;
  assign scrub_entry = '0;
  assign scrubbed = 1'b0;
  assign scrubbed_entry = '0;
  assign scrubbed_status = linked_list_queue_pkg::SECDED_STATUS_CLEAN;

  always_ff @(posedge clock) begin
    written <= write_unit;
    if (write) memory[write_entry] <= written;
    read_2 <= memory[read_entry];
    read_3 <= read_2;
    unit <= read_3;
  end
endmodule
