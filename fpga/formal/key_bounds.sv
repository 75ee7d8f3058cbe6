// An access that key_check permits lies in the memory of the key, and a burst from page_place lies in its page and in the access. Both
// blocks get arbitrary inputs in each clock.
module key_bounds #(
    // 1: claims that nothing is permitted, which must fail; 2: that no burst ends with its page, which must fail.
    parameter int unsigned REACHES = 0
) (
    input logic clock,
    input memory_translation_pkg::access_t access,
    input memory_translation_pkg::key_t key
);
  memory_translation_pkg::access_t access_1, access_2, access_3, access_4;
  memory_translation_pkg::key_t key_1, key_2, key_3, key_4;
  memory_translation_pkg::fault_t fault;
  logic is_there, is_last_4;
  logic [11:0] entry;
  logic [30:0] in_page, in_page_4;
  logic [31:0] bytes_4;
  logic [2:0] begun;
  logic [63:0] place;

  key_check i_check (.*);
  page_place #(
      .PAGE_TABLE_ENTRIES(4096)
  ) i_place (
      .address(access.address),
      .length(access.length),
      .origin(key.origin),
      .page_log2(key.page_log2),
      .page_table(key.page_table),
      .*
  );

  initial begun = 3'd0;
  always_ff @(posedge clock) begin
    access_1 <= access;
    access_2 <= access_1;
    access_3 <= access_2;
    access_4 <= access_3;
    key_1 <= key;
    key_2 <= key_1;
    key_3 <= key_2;
    key_4 <= key_3;
    in_page_4 <= in_page;
    if (begun != 3'd4) begun <= begun + 3'd1;
  end

  assign place = access_3.address + key_3.origin;
  always_comb begin
    if (begun >= 3'd3 && fault == memory_translation_pkg::FAULT_NONE && !access_3.is_table) begin
      assert (REACHES != 1);
      assert (access_3.address >= key_3.base);
      assert ({1'b0, access_3.address} - {1'b0, key_3.base} + 65'(access_3.length) <= {1'b0, key_3.length});
      assert (access_3.protection_domain == key_3.protection_domain);
      assert ((access_3.rights & ~key_3.access_flags) == '0);
      assert (!key_3.is_window || key_3.is_bound && (!key_3.is_of_queue_pair || key_3.bound_queue_pair == access_3.queue_pair));
    end
    // The entry and the offset in its page give the place of the byte.
    if (begun >= 3'd3 && is_there && key_3.page_log2 == 6'd12) begin
      assert (place[63:12] == 52'(entry) - 52'(key_3.page_table));
      assert (in_page == 31'(place[11:0]));
    end
    if (begun >= 3'd4 && key_4.page_log2 == 6'd12 && access_4.length != '0) begin
      assert (REACHES != 2 || is_last_4);
      assert (bytes_4 != '0 && bytes_4 <= access_4.length);
      assert (is_last_4 == (bytes_4 == access_4.length));
      assert (32'(in_page_4) + bytes_4 <= 32'd4096);
      assert (is_last_4 || 32'(in_page_4) + bytes_4 == 32'd4096);
    end
  end
endmodule
