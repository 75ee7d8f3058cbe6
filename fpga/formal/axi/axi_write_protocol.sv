// Rules for writes of AXI4 and AXI4-Lite (AMBA AXI protocol specification, IHI 0022, A3): a monitor that gets the signals and reports a
// violation. In simulation it is bound to blocks (fpga/formal/ports) and asserts all rules; a proof can assume those of the other side.
// Bursts are incrementing and have one identifier.
//
// Addresses, data and responses. AXI4-Lite: length 0, and every data beat is the last.
module axi_write_protocol #(
    parameter int unsigned ADDRESS_WIDTH = 64,
    parameter int unsigned BEAT_BYTES = 64,
    parameter int unsigned USER_WIDTH = 1,
    parameter int unsigned BURSTS = 16,  // A power of two; at most one fewer may be in flight.
    parameter bit MASTER_ASSUMED = 1'b0,
    parameter bit SLAVE_ASSUMED = 1'b0
) (
    input logic clock,
    input logic reset,
    input logic [ADDRESS_WIDTH-1:0] awaddr,
    input logic [7:0] awlen,
    input logic [2:0] awsize,
    input logic [USER_WIDTH-1:0] awuser,
    input logic awvalid,
    input logic awready,
    input logic [BEAT_BYTES*8-1:0] wdata,
    input logic [BEAT_BYTES-1:0] wstrb,
    input logic wlast,
    input logic wvalid,
    input logic wready,
    input logic [1:0] bresp,
    input logic bvalid,
    input logic bready
);
  localparam int unsigned BURST_WIDTH = $clog2(BURSTS);
  // One fewer, so that addresses ahead of data and data ahead of addresses stay distinguishable.
  localparam int unsigned MOST = BURSTS - 1;

  axi_address_protocol #(
      .ADDRESS_WIDTH(ADDRESS_WIDTH), .BEAT_BYTES(BEAT_BYTES), .USER_WIDTH(USER_WIDTH), .ASSUMED(MASTER_ASSUMED)
  ) i_address (
      .valid(awvalid), .ready(awready), .address(awaddr), .length(awlen), .size(awsize), .user(awuser), .*
  );
  axi_channel_protocol #(.WIDTH(BEAT_BYTES * 9 + 1), .ASSUMED(MASTER_ASSUMED)) i_data (
      .clock(clock), .reset(reset), .valid(wvalid), .ready(wready), .payload({wdata, wstrb, wlast})
  );
  axi_channel_protocol #(.WIDTH(2), .ASSUMED(SLAVE_ASSUMED)) i_response (
      .clock(clock), .reset(reset), .valid(bvalid), .ready(bready), .payload(bresp)
  );

  // Bursts are numbered: addresses accepted, data bursts ended, responses accepted. Data may precede their address.
  logic [BURST_WIDTH:0] addressed, ended, answered, ahead, behind;
  logic [7:0] lengths[BURSTS];
  logic [7:0] beats[BURSTS];
  logic [7:0] beat;  // Of the burst in progress.
  logic address, data, last, is_known, meets;
  logic [7:0] length, other;
  assign address = awvalid && awready;
  assign data = wvalid && wready;
  assign last = data && wlast;
  assign ahead = addressed - ended;  // Addresses whose data are incomplete; if the highest bit is set, data are ahead.
  assign is_known = !ahead[BURST_WIDTH] && ahead != '0;
  assign behind = ended - addressed;
  assign length = lengths[ended[BURST_WIDTH-1:0]];
  assign other = beats[addressed[BURST_WIDTH-1:0]];
  assign meets = behind != '0 && !behind[BURST_WIDTH];  // The data burst of this address has ended.

  initial addressed = '0;
  initial ended = '0;
  initial answered = '0;
  initial beat = '0;
  always_ff @(posedge clock) begin
    if (reset) begin
      addressed <= '0;
      ended <= '0;
      answered <= '0;
      beat <= '0;
    end else begin
      addressed <= addressed + (BURST_WIDTH + 1)'(address);
      ended <= ended + (BURST_WIDTH + 1)'(last);
      answered <= answered + (BURST_WIDTH + 1)'(bvalid && bready);
      if (data) beat <= wlast ? '0 : beat + 8'd1;
    end
    if (address) lengths[addressed[BURST_WIDTH-1:0]] <= awlen;
    if (last) beats[ended[BURST_WIDTH-1:0]] <= beat;
  end

  logic is_last_right, is_length_right;
  // The address may arrive with the last beat.
  assign is_last_right = is_known ? wlast == (beat == length) : !(address && ahead == '0) || wlast == (beat == awlen);
  assign is_length_right = !meets || awlen == other;
  if (MASTER_ASSUMED) begin : gen_master_assumed
    always_ff @(posedge clock)
      if (!reset) begin
        if (data) last_agrees : assume (is_last_right);
        if (address) length_agrees : assume (is_length_right);
      end
  end else begin : gen_master_asserted
    always_ff @(posedge clock)
      if (!reset) begin
        if (data) last_agrees : assert (is_last_right);
        if (address) length_agrees : assert (is_length_right);
      end
  end
  // A response follows a burst whose address and last beat were accepted earlier.
  if (SLAVE_ASSUMED) begin : gen_slave_assumed
    always_ff @(posedge clock)
      if (!reset && bvalid) response_is_owed : assume (answered != addressed && answered != ended);
  end else begin : gen_slave_asserted
    always_ff @(posedge clock)
      if (!reset && bvalid) response_is_owed : assert (answered != addressed && answered != ended);
  end
  // Covers: the last of several beats, and of one; a response while another burst is in flight.
  always_ff @(posedge clock)
    if (!reset) begin
      ends_several : cover (last && beat != '0);
      ends_one : cover (last && beat == '0);
      answers : cover (bvalid && bready && ended != answered + (BURST_WIDTH + 1)'(1));
    end
  // Limit of this monitor.
  always_ff @(posedge clock)
    if (!reset && address) bursts_are_few : assert ((BURST_WIDTH + 1)'(addressed - answered) < (BURST_WIDTH + 1)'(MOST));
endmodule
