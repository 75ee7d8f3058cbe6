// The part of one 64 B line that a beat contains: its whole DWORDs, whether it contains part of one, and the doorbell slots that it
// touches.
module write_portion #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES
) (
    input logic [11:0] address,  // The first address of the beat in its page.
    input logic [BEAT_BYTES-1:0] strobes,
    input logic is_management,

    output logic [11:0] offset,  // The offset of its first byte lane.
    output logic [15:0] dwords,  // Per DWORD of the line.
    output logic is_partial,
    output logic is_slots,
    output logic [2:0] slots
);
  localparam int unsigned BEAT_DWORDS = BEAT_BYTES / 4;
  localparam logic [5:0] SLOTS_LINE = 6'(hca_spec_pkg::DOORBELL_SLOTS_OFFSET / 64);
  localparam logic [15:0] SLOT_DWORDS = 16'h003f;

  logic [BEAT_DWORDS-1:0] whole, touched;

  assign offset = address & ~(12'(BEAT_BYTES - 1));
  for (genvar dword = 0; dword < BEAT_DWORDS; dword++) begin : gen_dword
    assign whole[dword] = strobes[dword*4+:4] == 4'hf;
    assign touched[dword] = strobes[dword*4+:4] != 4'h0;
  end
  assign dwords = 16'(whole) << offset[5:2];
  assign is_partial = whole != touched;
  assign is_slots = offset[11:6] == SLOTS_LINE && !is_management && !is_partial && (dwords & ~SLOT_DWORDS) == '0;
  assign slots = is_slots ? {dwords[5:4] != 2'd0, dwords[3:2] != 2'd0, dwords[1:0] != 2'd0} : 3'd0;
endmodule
