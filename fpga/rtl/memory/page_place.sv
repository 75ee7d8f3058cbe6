// Computes the place of a byte: the page table entry of its page, its offset in the page, and the bytes from there to the end of the page. Latency
// three clocks; four for the number of bytes.
module page_place #(
    parameter int unsigned PAGE_TABLE_ENTRIES = 1 << 21,  // A power of two.
    localparam int unsigned PLACE_WIDTH = $clog2(PAGE_TABLE_ENTRIES)
) (
    input logic clock,

    input logic [63:0] address,
    input logic [31:0] length,
    input logic [63:0] origin,
    input logic [5:0] page_log2,
    input logic [31:0] page_table,

    output logic is_there,  // The entry lies in the page tables.
    output logic [PLACE_WIDTH-1:0] entry,
    output logic [30:0] in_page,
    output logic [31:0] bytes_4,
    output logic is_last_4
);
  // 1: the byte in the memory of the table. 2: page, and offset in it. 3: entry, and bytes left in the page. 4: the access's part of these bytes.
  logic [63:0] place_1;
  logic [5:0] log2_1;
  logic [30:0] mask_1, mask_2, in_page_2;
  logic [63:0] page_2;
  logic is_good_1, is_good_2;
  logic [PLACE_WIDTH-1:0] table_1, table_2;
  logic [PLACE_WIDTH:0] sum;
  logic [31:0] length_1, length_2, length_3, left_3;
  assign sum = {1'b0, table_2} + {1'b0, page_2[PLACE_WIDTH-1:0]};
  always_ff @(posedge clock) begin
    place_1 <= address + origin;
    log2_1 <= page_log2;
    mask_1 <= (31'd1 << page_log2[4:0]) - 31'd1;
    is_good_1 <= !page_log2[5] && page_log2 >= memory_translation_pkg::PAGE_LOG2_LEAST && page_table[2:0] == '0 &&
        page_table[31:PLACE_WIDTH] == '0;
    table_1 <= page_table[PLACE_WIDTH-1:0];
    length_1 <= length;

    page_2 <= place_1 >> log2_1;
    in_page_2 <= place_1[30:0] & mask_1;
    mask_2 <= mask_1;
    is_good_2 <= is_good_1;
    table_2 <= table_1;
    length_2 <= length_1;

    is_there <= is_good_2 && page_2[63:PLACE_WIDTH] == '0 && !sum[PLACE_WIDTH];
    entry <= sum[PLACE_WIDTH-1:0];
    in_page <= in_page_2;
    left_3 <= {1'b0, mask_2 & ~in_page_2} + 32'd1;
    length_3 <= length_2;

    is_last_4 <= length_3 <= left_3;
    bytes_4 <= length_3 <= left_3 ? length_3 : left_3;
  end
endmodule
