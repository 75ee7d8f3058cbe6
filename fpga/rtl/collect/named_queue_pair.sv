// The queue pair that a beat of collect_buffer's first stage is for: named by the first DWORD of its command or doorbell slot, which
// is in this beat, in the one before, which is in the second stage, or kept.
module named_queue_pair (
    input logic first_is_slots,
    input logic [1:0] first_slot,
    input logic [15:0] first_dwords,
    input logic [511:0] first_line_data,
    input logic is_same_page,  // The beat before is there, for the same page, and of the function that owns it.
    input logic is_slots,
    input logic [1:0] slot,
    input logic [11:0] offset,
    input logic [15:0] dwords,
    input logic [511:0] line_data,
    input logic [31:0] kept_command,
    input logic [31:0] kept_slot,
    output logic [23:0] queue_pair_number
);
  logic [31:0] in_this, in_last, named;
  logic is_here, is_before;
  logic unused_bits;

  assign is_here = first_is_slots ? first_dwords[{1'b0, first_slot, 1'b0}] : first_dwords[0];
  assign is_before = is_same_page && is_slots == first_is_slots
      && (is_slots ? slot == first_slot && dwords[{1'b0, slot, 1'b0}] : offset[11:6] == '0 && dwords[0]);
  assign in_this = first_is_slots && first_slot == 2'd1 ? first_line_data[64+:32] : first_line_data[31:0];
  assign in_last = is_slots && slot == 2'd1 ? line_data[64+:32] : line_data[31:0];
  assign named = is_here ? in_this : is_before ? in_last : first_is_slots ? kept_slot : kept_command;
  assign queue_pair_number = first_is_slots ? named[hca_spec_pkg::DOORBELL_SLOT_WRITE_QUEUE_PAIR_NUMBER_LSB+:24] :
      named[hca_spec_pkg::COMMAND_HEADER_QUEUE_PAIR_NUMBER_LSB+:24];
  assign unused_bits = &{1'b0, first_line_data, line_data, first_dwords, dwords, offset, named};
endmodule
