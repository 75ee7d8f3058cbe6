// Rules for reads of AXI4 and AXI4-Lite (AMBA AXI protocol specification, IHI 0022, A3): a monitor that gets the signals and reports a
// violation. In simulation it is bound to blocks (fpga/formal/ports) and asserts all rules; a proof can assume those of the other side.
// Bursts are incrementing and have one identifier.
//
// Addresses and data. AXI4-Lite: length 0, and every data beat is the last.
module axi_read_protocol #(
    parameter int unsigned ADDRESS_WIDTH = 64,
    parameter int unsigned BEAT_BYTES = 64,
    parameter int unsigned USER_WIDTH = 1,
    parameter int unsigned BURSTS = 16,  // Maximum in flight. A power of two.
    parameter bit MASTER_ASSUMED = 1'b0,
    parameter bit SLAVE_ASSUMED = 1'b0
) (
    input logic clock,
    input logic reset,
    input logic [ADDRESS_WIDTH-1:0] araddr,
    input logic [7:0] arlen,
    input logic [2:0] arsize,
    input logic [USER_WIDTH-1:0] aruser,
    input logic arvalid,
    input logic arready,
    input logic [BEAT_BYTES*8-1:0] rdata,
    input logic [1:0] rresp,
    input logic rlast,
    input logic rvalid,
    input logic rready
);
  localparam int unsigned BURST_WIDTH = $clog2(BURSTS);

  axi_address_protocol #(
      .ADDRESS_WIDTH(ADDRESS_WIDTH), .BEAT_BYTES(BEAT_BYTES), .USER_WIDTH(USER_WIDTH), .ASSUMED(MASTER_ASSUMED)
  ) i_address (
      .valid(arvalid), .ready(arready), .address(araddr), .length(arlen), .size(arsize), .user(aruser), .*
  );
  axi_channel_protocol #(.WIDTH(BEAT_BYTES * 8 + 3), .ASSUMED(SLAVE_ASSUMED)) i_data (
      .clock(clock), .reset(reset), .valid(rvalid), .ready(rready), .payload({rdata, rresp, rlast})
  );

  logic [BURST_WIDTH:0] addressed, ended;
  logic [7:0] lengths[BURSTS];
  logic [7:0] beat, length;
  assign length = lengths[ended[BURST_WIDTH-1:0]];
  initial addressed = '0;
  initial ended = '0;
  initial beat = '0;
  always_ff @(posedge clock) begin
    if (reset) begin
      addressed <= '0;
      ended <= '0;
      beat <= '0;
    end else begin
      addressed <= addressed + (BURST_WIDTH + 1)'(arvalid && arready);
      ended <= ended + (BURST_WIDTH + 1)'(rvalid && rready && rlast);
      if (rvalid && rready) beat <= rlast ? '0 : beat + 8'd1;
    end
    if (arvalid && arready) lengths[addressed[BURST_WIDTH-1:0]] <= arlen;
  end
  if (SLAVE_ASSUMED) begin : gen_slave_assumed
    always_ff @(posedge clock)
      if (!reset && rvalid) begin
        data_are_asked_for : assume (ended != addressed);
        last_agrees : assume (rlast == (beat == length));
      end
  end else begin : gen_slave_asserted
    always_ff @(posedge clock)
      if (!reset && rvalid) begin
        data_are_asked_for : assert (ended != addressed);
        last_agrees : assert (rlast == (beat == length));
      end
  end
  // Covers: the last of several beats, and of one.
  always_ff @(posedge clock)
    if (!reset) begin
      ends_several : cover (rvalid && rready && rlast && beat != '0);
      ends_one : cover (rvalid && rready && rlast && beat == '0);
    end
  always_ff @(posedge clock)
    if (!reset && arvalid && arready) bursts_are_few : assert ((BURST_WIDTH + 1)'(addressed - ended) < (BURST_WIDTH + 1)'(BURSTS));
endmodule
