// Answers of host memory, 64 B each, in any order: the required fields of a key's entry, or a line of page table entries, for the cache and the slot
// that requested it. The block checks what it reads: an entry of another key counts as invalid.
module translation_fill #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned SLOTS = 16,
    parameter int unsigned FUNCTION_WIDTH = 3,
    localparam int unsigned SLOT_WIDTH = $clog2(SLOTS),
    localparam int unsigned VARIANT_WIDTH = 32 - hca_spec_pkg::MEMORY_KEY_INDEX_BITS,
    localparam int unsigned ENTRY_WIDTH = 1 + hca_spec_pkg::PAGE_TABLE_ENTRY_PAGE_WIDTH,
    localparam int unsigned LINE_WIDTH = memory_translation_pkg::LINE_ENTRIES * ENTRY_WIDTH
) (
    input logic clock,
    input logic reset,

    input logic data_valid,
    output logic data_ready,
    input logic [BEAT_BYTES*8-1:0] data,
    input logic data_last,
    input logic data_failed,
    input logic [SLOT_WIDTH-1:0] data_user,

    // By the slot of an answer.
    output logic [SLOT_WIDTH-1:0] slot,
    input logic slot_is_line,
    input logic [VARIANT_WIDTH-1:0] slot_variant,
    input logic [FUNCTION_WIDTH-1:0] slot_underlying_function,

    output logic fill_key,
    output logic fill_line,
    input logic filled,
    output memory_translation_pkg::key_t key,
    output logic [LINE_WIDTH-1:0] line,

    output logic answered,
    output logic answered_is_line,
    output logic answered_failed
);
  // States: an answer has arrived; its slot is looked up; two clocks for sums; filled, or failed.
  logic [3:0] step;  // One-hot.
  logic [511:0] came;
  logic has_failed, is_line, is_right, fills;
  logic [63:0] origin;
  hca_spec_pkg::memory_key_entry_t entry;
  assign entry = came;
  assign data_ready = step == '0 && !fills;
  assign fill_key = fills && !is_line;
  assign fill_line = fills && is_line;
  assign is_right = entry.valid && entry.variant == slot_variant && entry.underlying_function == 8'(slot_underlying_function);
  for (genvar each = 0; each < memory_translation_pkg::LINE_ENTRIES; each++) begin : gen_entry
    assign line[each*ENTRY_WIDTH+:ENTRY_WIDTH] = {
      came[each*64+hca_spec_pkg::PAGE_TABLE_ENTRY_VALID_LSB],
      came[each*64+hca_spec_pkg::PAGE_TABLE_ENTRY_PAGE_LSB+:hca_spec_pkg::PAGE_TABLE_ENTRY_PAGE_WIDTH]
    };
  end
  always_comb begin
    key.is_window = entry.is_window;
    key.is_bound = entry.parent != '0;
    key.is_of_queue_pair = entry.window_type == memory_translation_pkg::WINDOW_TYPE_2;
    key.access_flags = entry.access_flags;
    key.protection_domain = entry.protection_domain;
    key.bound_queue_pair = entry.bound_queue_pair;
    key.base = entry.base;
    key.length = entry.length;
    key.origin = origin;
    key.page_log2 = entry.page_log2;
    key.page_table = entry.page_table;
  end
  always_ff @(posedge clock) begin
    if (data_valid && data_ready) begin
      came <= 512'({data, came} >> BEAT_BYTES * 8);
      slot <= data_user;
      has_failed <= data_failed;
    end
    step <= reset ? '0 : {step[2:0], data_valid && data_ready && data_last};
    if (step[0]) is_line <= slot_is_line;
    if (step[1]) begin
      origin <= entry.region_offset + 64'(entry.first_page_offset);
      answered_failed <= has_failed || !is_line && !is_right;
    end
    if (step[2]) origin <= origin - entry.base;
    fills <= !reset && (step[3] && !answered_failed || fills && !filled);
    answered <= !reset && (step[3] && answered_failed || fills && filled);
    answered_is_line <= is_line;
  end
  logic unused;
  assign unused = &{1'b0, entry, came};
endmodule
