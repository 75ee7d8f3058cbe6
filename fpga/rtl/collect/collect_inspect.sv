// The control function's view of pages and of their PCBs: state, refusal, scoreboard and mask (US8589610, scoreboard update), one clock
// after the request, from its own copies of the pages' state.
//
// The scoreboard has a bit for each complete segment and, in the masked variant, for each segment that the length leaves unused; the mask
// is then that of the last write. In the direct variant the mask holds the unused segments.
module collect_inspect #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned PAGE_WIDTH = 9,
    parameter int unsigned PCB_WIDTH = 7,
    localparam int unsigned BEAT_DWORDS = BEAT_BYTES / 4,
    localparam int unsigned WINDOWS = hca_spec_pkg::COMMAND_BYTES / BEAT_BYTES,
    localparam int unsigned WINDOW_WIDTH = $clog2(WINDOWS),
    localparam int unsigned SEGMENTS = hca_spec_pkg::SEGMENTS
) (
    input logic clock,
    input hca_spec_pkg::scoreboard_variant_t scoreboard_variant,

    // The new state of a page.
    input logic write,
    input logic [PAGE_WIDTH-1:0] page,
    input logic [2:0] state,
    input logic [PCB_WIDTH-1:0] buffer,
    input logic has_length,
    input logic [6:0] needed,  // Segments of the command.
    input logic [WINDOWS-1:0] touched,  // Windows of which a DWORD has arrived.
    input logic refuses,
    input logic [7:0] reason,
    // A write of a command: the DWORDs of the window received up to now, the segments of the window that it completes, and whether it
    // brings the length. A lock begins an empty command.
    input logic begins,
    input logic collects,
    input logic [WINDOW_WIDTH-1:0] window,
    input logic [BEAT_DWORDS-1:0] received,
    input logic [BEAT_DWORDS/2-1:0] whole,
    input logic gets_length,

    input logic [PAGE_WIDTH-1:0] inspect_page,
    output logic [2:0] inspect_state,
    output logic [7:0] inspect_refusal,
    output logic [PCB_WIDTH-1:0] inspect_physical_collect_buffer,
    output logic [SEGMENTS-1:0] inspect_scoreboard,
    output logic [SEGMENTS-1:0] inspect_scoreboard_mask
);
  localparam int unsigned WINDOW_SEGMENTS = BEAT_DWORDS / 2;
  localparam int unsigned LAST_WIDTH = WINDOW_WIDTH + WINDOW_SEGMENTS + 1;

  logic has_length_then, gets_length_then;
  logic [6:0] needed_then;
  logic [WINDOWS-1:0] touched_then;
  logic [WINDOW_WIDTH-1:0] window_then;
  logic [WINDOW_SEGMENTS-1:0] whole_then, received_segments;  // Per segment of a window.
  logic [SEGMENTS-1:0] unused_segments, whole_segments, last_segments;
  logic is_direct;

  list_memory #(
      .WIDTH(3 + PCB_WIDTH + 1 + 7 + WINDOWS),
      .SIZE(1 << PAGE_WIDTH),
      .BLOCK(1'b1)
  ) i_page (
      .clock(clock),
      .write(write),
      .write_address(page),
      .write_data({state, buffer, has_length, needed, touched}),
      .read_address(inspect_page),
      .read_data({inspect_state, inspect_physical_collect_buffer, has_length_then, needed_then, touched_then})
  );

  list_memory #(
      .WIDTH(8),
      .SIZE(1 << PAGE_WIDTH),
      .BLOCK(1'b1)
  ) i_refusal (
      .clock(clock),
      .write(refuses),
      .write_address(page),
      .write_data(reason),
      .read_address(inspect_page),
      .read_data(inspect_refusal)
  );

  list_memory #(
      .WIDTH(LAST_WIDTH),
      .SIZE(1 << PAGE_WIDTH),
      .BLOCK(1'b1)
  ) i_last (
      .clock(clock),
      .write(begins || collects),
      .write_address(page),
      .write_data(begins ? '0 : {window, whole, gets_length}),
      .read_address(inspect_page),
      .read_data({window_then, whole_then, gets_length_then})
  );

  for (genvar number = 0; number < WINDOWS; number++) begin : gen_window
    logic [WINDOW_SEGMENTS-1:0] received_then;
    list_memory #(
        .WIDTH(WINDOW_SEGMENTS),
        .SIZE(1 << PAGE_WIDTH),
        .BLOCK(BEAT_DWORDS >= 8)
    ) i_received (
        .clock(clock),
        .write(collects && window == WINDOW_WIDTH'(number)),
        .write_address(page),
        .write_data(received_segments),
        .read_address(inspect_page),
        .read_data(received_then)
    );
    assign whole_segments[number*WINDOW_SEGMENTS+:WINDOW_SEGMENTS] = touched_then[number] ? received_then : '0;
  end
  for (genvar segment = 0; segment < WINDOW_SEGMENTS; segment++) begin : gen_segment
    assign received_segments[segment] = received[2*segment+:2] == 2'b11;
  end

  assign last_segments = SEGMENTS'(whole_then) << 32'(window_then) * WINDOW_SEGMENTS;
  assign unused_segments = has_length_then ? {SEGMENTS{1'b1}} << needed_then : '0;
  assign is_direct = scoreboard_variant == hca_spec_pkg::SCOREBOARD_VARIANT_DIRECT;
  assign inspect_scoreboard = whole_segments | (is_direct ? '0 : unused_segments);
  assign inspect_scoreboard_mask = is_direct ? unused_segments : last_segments | (gets_length_then ? unused_segments : '0);
endmodule
