// Decides whether a key permits an access, like MemoryTranslation::check of the device model, with a latency of three clocks. An access to a page
// table needs no key.
module key_check (
    input logic clock,

    input memory_translation_pkg::access_t access,
    input memory_translation_pkg::key_t key,
    output memory_translation_pkg::fault_t fault
);
  // Rights that a peer may have.
  localparam logic [7:0] REMOTE_RIGHTS = 8'd1 << hca_spec_pkg::ACCESS_FLAG_REMOTE_WRITE | 8'd1 << hca_spec_pkg::ACCESS_FLAG_REMOTE_READ |
      8'd1 << hca_spec_pkg::ACCESS_FLAG_REMOTE_ATOMIC;

  // 1: differences. 2: remaining length of the key's memory. 3: first reason.
  logic below_1, other_domain_1, is_bound_1, is_window_1, other_queue_pair_1, is_remote_1, has_rights_1, is_free_1;
  logic beyond_2, is_free_2, below_2, too_long;
  logic [31:0] wanted_1, wanted_2;
  logic [63:0] offset_1, length_1, room_2;
  memory_translation_pkg::fault_t fault_2;
  assign too_long = 64'(wanted_2) > room_2;
  always_ff @(posedge clock) begin
    {below_1, offset_1} <= {1'b0, access.address} - {1'b0, key.base};
    length_1 <= key.length;
    wanted_1 <= access.length;
    other_domain_1 <= access.protection_domain != key.protection_domain;
    is_window_1 <= key.is_window;
    is_bound_1 <= key.is_bound;
    other_queue_pair_1 <= key.is_of_queue_pair && key.bound_queue_pair != access.queue_pair;
    is_remote_1 <= (access.rights & REMOTE_RIGHTS) != '0;
    has_rights_1 <= (access.rights & ~key.access_flags) == '0;
    is_free_1 <= access.is_table;

    {beyond_2, room_2} <= {1'b0, length_1} - {1'b0, offset_1};
    below_2 <= below_1;
    wanted_2 <= wanted_1;
    is_free_2 <= is_free_1;
    if (other_domain_1) fault_2 <= memory_translation_pkg::FAULT_OTHER_DOMAIN;
    else if (is_window_1 && !is_bound_1) fault_2 <= memory_translation_pkg::FAULT_UNKNOWN_KEY;
    else if (is_window_1 && other_queue_pair_1) fault_2 <= memory_translation_pkg::FAULT_OTHER_DOMAIN;
    else if (is_window_1 && !is_remote_1 || !has_rights_1) fault_2 <= memory_translation_pkg::FAULT_MISSING_RIGHT;
    else fault_2 <= memory_translation_pkg::FAULT_NONE;

    if (is_free_2) fault <= memory_translation_pkg::FAULT_NONE;
    else if (fault_2 != memory_translation_pkg::FAULT_NONE) fault <= fault_2;
    else if (below_2 || beyond_2 || too_long) fault <= memory_translation_pkg::FAULT_OUT_OF_BOUNDS;
    else fault <= memory_translation_pkg::FAULT_NONE;
  end
  logic unused;
  assign unused = &{1'b0, access, key};
endmodule
