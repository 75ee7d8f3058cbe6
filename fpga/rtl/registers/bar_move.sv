// Decides whether a write of a BAR is permitted: each VCB that the function gains or loses must be closed. The block checks all VCBs of the
// board, one a clock.
module bar_move #(
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS)
) (
    input logic clock,
    input logic reset,
    input logic moving,  // Held, with the BARs, until one clock after done.
    input logic [VCB_WIDTH:0] old_base,
    input logic [VCB_WIDTH:0] old_count,
    input logic [VCB_WIDTH:0] new_base,
    input logic [VCB_WIDTH:0] new_count,
    output logic done,
    output logic allowed,  // Valid with done.

    // The state of a VCB, from collect_buffer, one clock after the request.
    output logic looks,
    output logic [VCB_WIDTH-1:0] look_virtual_collect_buffer,
    input logic [2:0] look_state  // virtual_collect_buffer_state_t
);
  localparam logic [VCB_WIDTH:0] LAST = (VCB_WIDTH + 1)'(VIRTUAL_COLLECT_BUFFERS);

  logic [VCB_WIDTH:0] looked;  // The number of VCBs checked.
  logic [VCB_WIDTH:0] old_place, new_place;
  logic changes_owner, changed_owner;

  assign looks = moving && looked != LAST;
  assign look_virtual_collect_buffer = looked[VCB_WIDTH-1:0];
  // Below the base the difference wraps beyond every count, because BARs end within the VCBs.
  assign old_place = looked - old_base;
  assign new_place = looked - new_base;
  assign changes_owner = (old_place < old_count) != (new_place < new_count);

  always_ff @(posedge clock) begin
    changed_owner <= looks && changes_owner;
    done <= !reset && moving && looked == LAST && !done;
    if (reset || !moving || done) begin
      looked <= '0;
      allowed <= 1'b1;
    end else begin
      if (looks) looked <= looked + (VCB_WIDTH + 1)'(1);
      if (changed_owner && look_state != hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED) allowed <= 1'b0;
    end
  end
endmodule
