// The newest RDMA READs and atomics that each queue pair has accepted, in a ring for each. A duplicate READ is allowed if it asks for a part
// of the original range, a duplicate atomic if there was an atomic (InfiniBand volume 1, 9.4.5 and 9.7.5.1): the newest one that has its PSN
// tells. Duplicates are searched one after the other, one place a clock.
module responder_resources #(
    parameter int unsigned CONTEXTS = 256,  // A power of two.
    parameter int unsigned SEARCHES = 32,  // Duplicates that wait.
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned SLOTS = hca_spec_pkg::READ_ATOMIC_MAXIMUM,
    localparam int unsigned SLOT_WIDTH = $clog2(SLOTS)
) (
    input logic clock,
    input logic reset,

    input logic add,
    input logic [CONTEXT_WIDTH-1:0] add_context,
    input logic [SLOT_WIDTH-1:0] add_slot,
    input receive_pkg::resource_t add_resource,

    input logic search,
    input receive_pkg::search_t search_for,
    output logic [$clog2(SEARCHES):0] searches_waiting,

    // The answer to a search, which stays until it is taken.
    output logic searched,
    output receive_pkg::unit_t searched_unit,
    output logic searched_allowed,
    input logic searched_taken
);
  logic has_search, begins, is_at_work, ends;
  receive_pkg::search_t waiting_search, duplicate;
  unit_queue #(
      .UNIT_WIDTH($bits(waiting_search)),
      .ENTRIES(SEARCHES)
  ) i_searches (
      .push(search),
      .push_unit(search_for),
      .valid(has_search),
      .unit(waiting_search),
      .pop(begins),
      .filling(searches_waiting),
      .*
  );
  assign begins = has_search && !is_at_work;

  // 1: the place. 2: its entry. 3: the distance from its first PSN. 4: the comparisons. 5: whether the entry has the PSN.
  logic looks, valid_2, valid_3, valid_4, valid_5, is_hit, is_left;
  logic [SLOT_WIDTH-1:0] slot;
  logic [4:0] left;
  receive_pkg::resource_t resource_2, resource_3, resource_4;
  logic [23:0] begun_3;
  logic [63:0] offset_3;
  logic is_covered_4, is_within_4, is_key_4, is_covered_5, is_key_5, is_read_5, is_short_5, has_packets_5;
  logic [31:0] bytes_4;
  logic [24:0] end_4;
  list_memory #(
      .WIDTH($bits(resource_2)),
      .SIZE(CONTEXTS * SLOTS),
      .BLOCK(1'b1)
  ) i_resources (
      .write(add),
      .write_address({add_context, add_slot}),
      .write_data(add_resource),
      .read_address({duplicate.unit.number[CONTEXT_WIDTH-1:0], slot}),
      .read_data(resource_2),
      .*
  );
  assign looks = is_at_work && left != '0;
  assign is_left = looks || valid_2 || valid_3 || valid_4 || valid_5;
  assign is_hit = valid_5 && is_covered_5;
  assign ends = is_at_work && !searched && (is_hit || !is_left);
  always_ff @(posedge clock) begin
    is_at_work <= !reset && (begins || is_at_work && !(searched && searched_taken));
    searched <= !reset && (ends || searched && !searched_taken);
    if (begins) begin
      duplicate <= waiting_search;
      slot <= waiting_search.tail - SLOT_WIDTH'(1);
      left <= waiting_search.count;
    end else if (looks) begin
      slot <= slot - SLOT_WIDTH'(1);
      left <= left - 5'd1;
    end
    // The places behind the found one do not matter.
    valid_2 <= !reset && looks && !is_hit && !searched;
    valid_3 <= !reset && valid_2 && !is_hit && !searched;
    valid_4 <= !reset && valid_3 && !is_hit && !searched;
    valid_5 <= !reset && valid_4 && !is_hit && !searched;
    resource_3 <= resource_2;
    begun_3 <= duplicate.packet_sequence_number - resource_2.packet_sequence_number;
    offset_3 <= duplicate.address - resource_2.address;
    resource_4 <= resource_3;
    is_covered_4 <= !begun_3[23] && begun_3 < resource_3.packets;
    is_within_4 <= offset_3[63:32] == '0 && offset_3[31:0] <= resource_3.length;
    is_key_4 <= duplicate.remote_key == resource_3.remote_key;
    bytes_4 <= resource_3.length - offset_3[31:0];
    end_4 <= 25'(begun_3) + 25'(duplicate.packets_less_one);
    is_covered_5 <= is_covered_4;
    is_key_5 <= is_key_4 && is_within_4;
    is_read_5 <= resource_4.is_read;
    is_short_5 <= duplicate.length <= bytes_4;
    has_packets_5 <= end_4 < 25'(resource_4.packets);
    if (ends)
      searched_allowed <= is_hit && (duplicate.is_read ? is_read_5 && is_key_5 && is_short_5 && has_packets_5 : !is_read_5);
  end
  logic unused_bits;
  assign unused_bits = &{1'b0, resource_4, duplicate};
  assign searched_unit = duplicate.unit;
endmodule
