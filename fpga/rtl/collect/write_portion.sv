// What a beat brings of one line of 64 B: its whole DWORDs, whether it holds part of one, and the doorbell slots that it touches,
// which are gone through one a clock.
module write_portion #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES
) (
    input logic [11:0] address,  // In its page, where it begins.
    input logic [BEAT_BYTES*8-1:0] data,
    input logic [BEAT_BYTES-1:0] strobes,
    input logic is_management,
    input logic [2:0] slots_done,

    output logic [11:0] offset,  // Of its first byte lane.
    output logic [511:0] line_data,
    output logic [15:0] dwords,
    output logic is_partial,
    output logic is_slots,
    output logic [1:0] slot,  // To be gone through next.
    output logic is_last  // No slot is left behind that one.
);
  localparam int unsigned BEAT_DWORDS = BEAT_BYTES / 4;
  localparam logic [5:0] SLOTS_LINE = 6'(hca_spec_pkg::DOORBELL_SLOTS_OFFSET / 64);
  localparam logic [15:0] SLOT_DWORDS = 16'h003f;

  logic [BEAT_DWORDS-1:0] whole, touched;
  logic [2:0] slots;

  assign offset = address & ~12'(BEAT_BYTES - 1);
  assign line_data = {(64 / BEAT_BYTES) {data}};
  for (genvar dword = 0; dword < BEAT_DWORDS; dword++) begin : gen_dword
    assign whole[dword] = strobes[dword*4+:4] == 4'hf;
    assign touched[dword] = strobes[dword*4+:4] != 4'h0;
  end
  assign dwords = 16'(whole) << offset[5:2];
  assign is_partial = whole != touched;
  assign is_slots = offset[11:6] == SLOTS_LINE && !is_management && !is_partial && (dwords & ~SLOT_DWORDS) == '0;
  assign slots = {dwords[5:4] != 2'd0, dwords[3:2] != 2'd0, dwords[1:0] != 2'd0} & ~slots_done;
  assign slot = slots[0] ? 2'd0 : slots[1] ? 2'd1 : 2'd2;
  assign is_last = !is_slots || (slots & (slots - 3'd1)) == '0;
endmodule
