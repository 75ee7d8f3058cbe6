// AXI4 side of the VCB and management pages: accepts bursts of any length, beats of any size up to BEAT_BYTES and any byte strobes, one
// beat a clock, and passes them on in order. Reads return zero without side effect. Responses are in order, so there are no identifiers.
module collect_buffer_host #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned ADDRESS_WIDTH = 20,
    parameter int unsigned USER_WIDTH = 4
) (
    input logic clock,
    input logic reset,

    input logic [ADDRESS_WIDTH-1:0] awaddr,
    input logic [7:0] awlen,
    input logic [2:0] awsize,
    input logic [USER_WIDTH-1:0] awuser,
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

    output logic host_beat,
    input logic host_beat_ready,
    output logic [ADDRESS_WIDTH-1:0] host_beat_address,  // The first address of the beat.
    output logic [USER_WIDTH-1:0] host_beat_user,
    output logic [BEAT_BYTES*8-1:0] host_beat_data,
    output logic [BEAT_BYTES-1:0] host_beat_strobes
);
  localparam int unsigned RESPONSES_WIDTH = 4;

  logic busy;  // A burst is in progress.
  logic [ADDRESS_WIDTH-1:0] address;
  logic [2:0] size;
  logic [USER_WIDTH-1:0] user;
  logic [RESPONSES_WIDTH-1:0] responses;  // Responses that the host has not received yet.
  logic taken;
  logic ends;
  logic begins;
  logic unused_length;

  assign unused_length = &{1'b0, awlen};  // wlast ends the burst.
  assign host_beat = busy && wvalid;
  assign wready = busy && host_beat_ready;
  assign taken = host_beat && host_beat_ready;
  assign ends = taken && wlast;
  assign awready = (!busy || ends) && responses < RESPONSES_WIDTH'(14);
  assign begins = awvalid && awready;
  assign host_beat_address = address;
  assign host_beat_user = user;
  assign host_beat_data = wdata;
  assign host_beat_strobes = wstrb;
  assign bresp = 2'b00;
  assign bvalid = responses != '0;

  always_ff @(posedge clock) begin
    if (reset) begin
      busy <= 1'b0;
      responses <= '0;
    end else begin
      busy <= begins || busy && !ends;
      responses <= responses + RESPONSES_WIDTH'(ends) - RESPONSES_WIDTH'(bvalid && bready);
    end
    if (begins) begin
      address <= awaddr;
      size <= awsize;
      user <= awuser;
    end else if (taken) begin
      // The next beat starts at the next multiple of the beat size.
      address <= (address >> size << size) + (ADDRESS_WIDTH'(1) << size);
    end
  end

  logic [7:0] reads_left;
  assign arready = !rvalid || rready && rlast;
  assign rdata = '0;
  assign rresp = 2'b00;
  assign rlast = reads_left == '0;
  always_ff @(posedge clock) begin
    if (reset) rvalid <= 1'b0;
    else if (arvalid && arready) rvalid <= 1'b1;
    else if (rready && rlast) rvalid <= 1'b0;
    if (arvalid && arready) reads_left <= arlen;
    else if (rvalid && rready) reads_left <= reads_left - 8'd1;
  end
endmodule
