// The entry of collect_buffer: stages a and b, and the choice of the next input of stage c. In falling priority: a control command, a step of
// a division, a command whose sum is complete, a check for a half-written command, a beat. A beat that touches several doorbell slots enters
// once for each. After a reset nothing enters until the memories are swept.
module collect_entry #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned OFFSET_WIDTH = 12,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned PAGE_WIDTH = VCB_WIDTH + 1,
    parameter int unsigned ADDRESS_WIDTH = PAGE_WIDTH + OFFSET_WIDTH,
    localparam int unsigned LINE_DWORDS = 16,
    localparam int unsigned LINE_WIDTH = OFFSET_WIDTH - 6,
    localparam int unsigned SWEEP_WIDTH = PAGE_WIDTH < 3 ? 3 : PAGE_WIDTH
) (
    input logic clock,
    input logic reset,

    // The pages, AXI4.
    input logic [ADDRESS_WIDTH-1:0] awaddr,
    input logic [7:0] awlen,
    input logic [2:0] awsize,
    input logic [FUNCTION_WIDTH:0] awuser,
    input logic awvalid,
    output logic awready,
    input logic [BEAT_BYTES*8-1:0] wdata,
    input logic [BEAT_BYTES-1:0] wstrb,
    input logic wlast,
    input logic wvalid,
    output logic wready,
    output logic [1:0] bresp,
    output logic bvalid,
    input logic bready,
    input logic [7:0] arlen,
    input logic arvalid,
    output logic arready,
    output logic [BEAT_BYTES*8-1:0] rdata,
    output logic [1:0] rresp,
    output logic rlast,
    output logic rvalid,
    input logic rready,

    input logic unit_credit,
    input logic [63:0] half_written_limit,
    input logic control,
    output logic control_ready,
    input logic [2:0] control_command,
    input logic [PAGE_WIDTH-1:0] control_page,
    input logic control_done,

    // Steps of a division (see division_settling), and the command that is set aside.
    output logic settle_starts,
    input logic settling,
    input logic newest_goes,
    input logic [VCB_WIDTH-1:0] newest,
    input logic settled,
    output logic issues_settling,
    input logic w_valid,
    input logic w_is_due,
    input logic [PAGE_WIDTH-1:0] w_page,
    output logic w_issues,

    // The page at which a reset sweeps the memories.
    output logic sweeping,
    output logic [SWEEP_WIDTH-1:0] swept,

    // Outputs to stage c, valid unless it stalls.
    input logic stall,
    output logic issues,
    output logic takes_control,
    output logic scans_now,
    output logic [PAGE_WIDTH-1:0] issued_page,

    // The beat at stage b.
    output logic [OFFSET_WIDTH-1:0] b_offset,  // The offset of its first byte lane.
    output logic [OFFSET_WIDTH-3:0] b_first_dword,  // The DWORD of the page at which the write starts.
    output logic [FUNCTION_WIDTH:0] b_user,
    output logic [BEAT_BYTES*8-1:0] b_data,
    output logic [511:0] b_line_data,
    output logic [LINE_DWORDS-1:0] b_dwords,
    output logic b_is_partial,
    output logic b_is_empty,
    output logic b_is_slots,
    output logic b_is_continued,
    output logic b_is_last,
    output logic [1:0] b_slot,
    output logic [1:0] b_here
);
  localparam logic [2:0] SETTLE_DIVISION = hca_spec_pkg::COLLECT_BUFFER_CONTROL_SETTLE_DIVISION;
  localparam logic [LINE_WIDTH-1:0] SLOTS_LINE = LINE_WIDTH'(hca_spec_pkg::DOORBELL_SLOTS_OFFSET / 64);

  logic host_beat, host_beat_ready;
  logic [ADDRESS_WIDTH-1:0] host_beat_address;
  logic [FUNCTION_WIDTH:0] host_beat_user;
  logic [BEAT_BYTES*8-1:0] host_beat_data;
  logic [BEAT_BYTES-1:0] host_beat_strobes;

  collect_buffer_host #(
      .BEAT_BYTES(BEAT_BYTES),
      .ADDRESS_WIDTH(ADDRESS_WIDTH),
      .USER_WIDTH(FUNCTION_WIDTH + 1)
  ) i_host (.*);

  logic a_valid, b_takes, b_leaves;
  logic [ADDRESS_WIDTH-1:0] a_address;
  logic [FUNCTION_WIDTH:0] a_user;
  logic [BEAT_BYTES*8-1:0] a_data;
  logic [BEAT_BYTES-1:0] a_strobes;

  assign host_beat_ready = !a_valid || b_takes;
  always_ff @(posedge clock) begin
    if (reset) a_valid <= 1'b0;
    else if (host_beat_ready) a_valid <= host_beat;
    if (host_beat_ready) begin
      a_address <= host_beat_address;
      a_user <= host_beat_user;
      a_data <= host_beat_data;
      a_strobes <= host_beat_strobes;
    end
  end

  // Stage b.
  logic [OFFSET_WIDTH-1:0] a_offset;
  logic [LINE_DWORDS-1:0] a_dwords;
  logic a_is_partial, a_is_slots, b_valid;
  logic [2:0] a_slots, b_slots;  // Slots that have not entered yet.
  logic [PAGE_WIDTH-1:0] b_page;

  write_portion #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_write_portion (
      .address(a_address[OFFSET_WIDTH-1:0]),
      .strobes(a_strobes),
      .is_management(a_address[ADDRESS_WIDTH-1]),
      .offset(a_offset),
      .dwords(a_dwords),
      .is_partial(a_is_partial),
      .is_slots(a_is_slots),
      .slots(a_slots)
  );

  assign b_takes = !b_valid || b_leaves;
  assign b_line_data = {(64 / BEAT_BYTES) {b_data}};
  // A beat that does not write whole slots may still write the cancel slot, which a VCB in error accepts.
  assign b_slot = b_slots[0] ? 2'd0 : b_slots[1] ? 2'd1 : b_is_slots || b_offset[OFFSET_WIDTH-1:6] == SLOTS_LINE ? 2'd2 : 2'd0;
  assign b_here = b_offset[OFFSET_WIDTH-1:6] != '0 && b_offset[OFFSET_WIDTH-1:6] != SLOTS_LINE ? 2'd0 : b_slot == 2'd0 ? b_dwords[1:0] : b_slot == 2'd1 ? b_dwords[3:2] : b_dwords[5:4];
  assign b_is_last = (b_slots & (b_slots - 3'd1)) == '0;

  logic issues_beat, b_is_held;
  assign b_leaves = issues_beat && b_is_last;
  always_ff @(posedge clock) begin
    if (reset) b_valid <= 1'b0;
    else if (b_takes) b_valid <= a_valid;
    if (b_takes) begin
      b_page <= a_address[ADDRESS_WIDTH-1:OFFSET_WIDTH];
      b_first_dword <= a_address[OFFSET_WIDTH-1:2];
      b_offset <= a_offset;
      b_user <= a_user;
      b_data <= a_data;
      b_dwords <= a_dwords;
      b_is_partial <= a_is_partial;
      b_is_empty <= a_strobes == '0;
      b_is_slots <= a_is_slots;
    end
    b_is_held <= (b_takes ? a_address[ADDRESS_WIDTH-1:OFFSET_WIDTH] : b_page) == w_page;
    if (reset || b_takes) b_is_continued <= 1'b0;
    else if (issues_beat) b_is_continued <= 1'b1;
    if (b_takes) b_slots <= a_slots;
    else if (issues_beat) b_slots <= b_slots & (b_slots - 3'd1);
  end

  // The next input of stage c.
  logic goes, has_credit, control_busy, settles, issues_scan;
  logic [VCB_WIDTH-1:0] scanned;
  logic [7:0] scan_waits;
  logic scan_is_due;
  logic [PAGE_WIDTH-1:0] issued_look_page;

  assign goes = !stall && !sweeping;
  assign control_ready = goes && !control_busy && !b_is_continued && !w_valid;
  assign takes_control = control && control_ready;
  assign settle_starts = takes_control && control_command == SETTLE_DIVISION;
  assign settles = newest_goes || settled;
  assign issues_settling = goes && settles;
  assign w_issues = goes && w_is_due && !settles;  // One of the eight units that unit_credit promises room for.
  assign scans_now = scan_is_due && has_credit && goes && !settling && !b_is_continued && !w_is_due && (!b_valid || scan_waits == '1);
  assign issues_scan = scans_now && !takes_control;
  assign issues_beat = b_valid && has_credit && goes && !takes_control && !settling && !scans_now && !w_is_due && !(w_valid && b_is_held);
  assign issues = takes_control && !settle_starts || issues_settling || w_issues || issues_scan || issues_beat;
  assign issued_look_page = newest_goes ? {1'b0, newest} : {1'b0, scanned};
  assign issued_page = takes_control ? control_page : settles || scans_now ? issued_look_page : w_is_due ? w_page : b_page;

  always_ff @(posedge clock) begin
    has_credit <= unit_credit;
    if (reset) sweeping <= 1'b1;
    else if (swept == '1) sweeping <= 1'b0;
    swept <= reset ? '0 : swept + SWEEP_WIDTH'(1);
    if (reset || control_done) control_busy <= 1'b0;
    else if (takes_control) control_busy <= 1'b1;
    scan_is_due <= half_written_limit != '0 && !reset;
    if (issues_scan) scanned <= scanned + VCB_WIDTH'(1);
    if (reset) scanned <= '0;
    if (reset || issues_scan || !scan_is_due) scan_waits <= '0;
    else if (scan_waits != '1) scan_waits <= scan_waits + 8'd1;
  end
endmodule
