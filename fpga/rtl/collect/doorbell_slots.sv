// The doorbell slots of the VCBs: a start and a stop slot that are kept by DWORD until both are in, and the cancel slot, of which
// only that is known.
module doorbell_slots #(
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS)
) (
    input logic clock,
    input logic reset,

    // A write of a slot: the DWORDs that it brings of the line of the slots. `slot_rings`: with it both are in.
    input logic [VCB_WIDTH-1:0] virtual_collect_buffer,
    input logic write,
    input logic [1:0] slot,
    input logic [5:0] line_dwords,
    input logic [191:0] line_data,
    output logic slot_rings,
    output hca_spec_pkg::doorbell_slot_write_t slot_value,
    input logic clear,  // Of the same VCB: its slots are empty.

    // The first DWORD of a slot as it is kept.
    input logic [VCB_WIDTH-1:0] query_virtual_collect_buffer,
    input logic query_stop,  // Of the stop slot, not of the start slot.
    output logic [31:0] query_dword
);
  logic [5:0] received[VIRTUAL_COLLECT_BUFFERS];  // By DWORD.
  logic [63:0] start[VIRTUAL_COLLECT_BUFFERS];
  logic [63:0] stop[VIRTUAL_COLLECT_BUFFERS];
  logic [63:0] kept;
  logic [1:0] slot_dwords, slot_received;

  assign kept = slot == 2'd1 ? stop[virtual_collect_buffer] : start[virtual_collect_buffer];
  assign slot_dwords = line_dwords[{slot, 1'b0}+:2];
  assign slot_received = received[virtual_collect_buffer][{slot, 1'b0}+:2] | slot_dwords;
  assign slot_value[31:0] = slot_dwords[0] ? line_data[{slot, 6'd0}+:32] : kept[31:0];
  assign slot_value[63:32] = slot_dwords[1] ? line_data[{slot, 6'd32}+:32] : kept[63:32];
  assign slot_rings = write && slot_received == 2'b11;
  assign query_dword = query_stop ? stop[query_virtual_collect_buffer][31:0] : start[query_virtual_collect_buffer][31:0];

  for (genvar number = 0; number < VIRTUAL_COLLECT_BUFFERS; number++) begin : gen_vcb
    always_ff @(posedge clock) begin
      if (reset) received[number] <= '0;
      else if (virtual_collect_buffer == VCB_WIDTH'(number)) begin
        if (clear) received[number] <= '0;
        else if (write) received[number][{slot, 1'b0}+:2] <= slot_rings ? 2'b00 : slot_received;
      end
    end
  end

  always_ff @(posedge clock) begin
    if (write && slot == 2'd0) start[virtual_collect_buffer] <= slot_value;
    if (write && slot == 2'd1) stop[virtual_collect_buffer] <= slot_value;
  end
endmodule
