// Merges two write paths to the pages of collect_buffer: bursts of the host to VCBs, and DWORDs to management pages, which arrive as
// register writes. A DWORD enters between two bursts, even if responses are outstanding: this block answers the host's bursts itself,
// always with OKAY. A burst that starts while the device is disabled ends here.
module page_writes #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned VCB_WIDTH = 8,
    parameter int unsigned FUNCTION_WIDTH = 3
) (
    input logic clock,
    input logic reset,
    output logic under_way,  // Set while a burst is not answered, a beat has not taken effect, or a DWORD is written.
    output logic host_writes,  // The part of under_way that the host's bursts cause, until their last beat has taken effect.

    // A DWORD for the management page of a function, held until it is done, which is when it has taken effect.
    input logic page_write,
    output logic page_write_done,
    input logic [FUNCTION_WIDTH-1:0] page_write_underlying_function,
    input logic [11:0] page_write_offset,
    input logic [31:0] page_write_data,
    input logic [3:0] page_write_strobes,

    // The host's bursts.
    input logic collect_hold,  // Keeps new bursts from beginning.
    input logic collect_enabled,
    output logic beat_unclaimed,  // Of a burst that starts while the device is disabled.
    input logic [VCB_WIDTH+11:0] collect_awaddr,
    input logic [7:0] collect_awlen,
    input logic [2:0] collect_awsize,
    input logic [FUNCTION_WIDTH:0] collect_awuser,
    input logic collect_awvalid,
    output logic collect_awready,
    input logic [BEAT_BYTES*8-1:0] collect_wdata,
    input logic [BEAT_BYTES-1:0] collect_wstrb,
    input logic collect_wlast,
    input logic collect_wvalid,
    output logic collect_wready,
    output logic [1:0] collect_bresp,
    output logic collect_bvalid,
    input logic collect_bready,

    // Bursts to collect_buffer.
    output logic [VCB_WIDTH+12:0] pages_awaddr,
    output logic [7:0] pages_awlen,
    output logic [2:0] pages_awsize,
    output logic [FUNCTION_WIDTH:0] pages_awuser,
    output logic pages_awvalid,
    input logic pages_awready,
    output logic [BEAT_BYTES*8-1:0] pages_wdata,
    output logic [BEAT_BYTES-1:0] pages_wstrb,
    output logic pages_wlast,
    output logic pages_wvalid,
    input logic pages_wready,
    input logic pages_beat_done  // The outcome of the oldest beat is known in this clock.
);
  localparam logic [3:0] RESPONSES = 4'd14;
  localparam logic [1:0] IDLE = 2'd0;
  localparam logic [1:0] ADDRESS = 2'd1;
  localparam logic [1:0] DATA = 2'd2;
  localparam logic [1:0] AWAIT = 2'd3;

  logic [1:0] state;
  // Beats in collect_buffer, which has room for fewer than 16; those ahead of the DWORD. No beat enters in the clock before the DWORD.
  logic [3:0] beats, ahead;
  logic takes_beat;
  logic in_burst, ends_here, is_open, begins, ends;
  logic [3:0] owed;  // Responses that the host has not received yet.

  assign host_writes = in_burst || beats != '0;
  assign under_way = host_writes || owed != '0 || state != IDLE;
  assign is_open = (state == IDLE && !page_write || state == AWAIT) && !collect_hold && owed < RESPONSES && (!in_burst || ends);
  assign collect_awready = (pages_awready || !collect_enabled) && is_open;
  assign begins = collect_awvalid && collect_awready;
  assign collect_wready = (pages_wready || ends_here) && in_burst;
  assign beat_unclaimed = collect_wvalid && collect_wready && ends_here;
  assign ends = collect_wvalid && collect_wready && collect_wlast;
  assign collect_bresp = 2'b00;
  assign collect_bvalid = owed != '0;

  assign pages_awaddr = state == ADDRESS ? {1'b1, VCB_WIDTH'(page_write_underlying_function), page_write_offset} : {1'b0, collect_awaddr};
  assign pages_awlen = state == ADDRESS ? 8'd0 : collect_awlen;
  assign pages_awsize = state == ADDRESS ? 3'd2 : collect_awsize;
  assign pages_awuser = state == ADDRESS ? '0 : collect_awuser;
  assign pages_awvalid = state == ADDRESS || collect_awvalid && collect_enabled && is_open;
  assign pages_wdata = state == DATA ? {BEAT_BYTES / 4{page_write_data}} : collect_wdata;
  assign pages_wstrb = state == DATA ? BEAT_BYTES'(page_write_strobes) << (page_write_offset & 12'(BEAT_BYTES - 1)) : collect_wstrb;
  assign pages_wlast = state == DATA || collect_wlast;
  assign pages_wvalid = state == DATA || collect_wvalid && in_burst && !ends_here;
  assign takes_beat = pages_wvalid && pages_wready;
  assign page_write_done = state == AWAIT && pages_beat_done && ahead == '0;

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= IDLE;
      in_burst <= 1'b0;
      owed <= '0;
    end else begin
      case (state)
        IDLE: if (page_write && !in_burst) state <= ADDRESS;
        ADDRESS: if (pages_awready) state <= DATA;
        DATA: if (pages_wready) state <= AWAIT;
        default: if (page_write_done) state <= IDLE;
      endcase
      in_burst <= begins || in_burst && !ends;
      owed <= owed + 4'(ends) - 4'(collect_bvalid && collect_bready);
    end
    if (begins) ends_here <= !collect_enabled;
    beats <= reset ? '0 : beats + 4'(takes_beat) - 4'(pages_beat_done);
    if (state == DATA) ahead <= beats - 4'(pages_beat_done);
    else if (pages_beat_done) ahead <= ahead - 4'd1;
  end
endmodule
