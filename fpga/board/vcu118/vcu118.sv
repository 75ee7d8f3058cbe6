// The HCA on a VCU118: the PCIe shell (pcie_shell.tcl), and behind it hca_board. The QSFP cages are held in reset, because there is no port
// in RTL yet. LED 0: the PCIe link is up; LED 1 blinks with the clock; LED 2 changes with every command that ends, LED 3 with every queue
// pair that comes out of a queuing structure.
module vcu118 (
    input logic pcie_refclk_p,
    input logic pcie_refclk_n,
    input logic pcie_reset_n,
    input logic [7:0] pcie_rx_p,
    input logic [7:0] pcie_rx_n,
    output logic [7:0] pcie_tx_p,
    output logic [7:0] pcie_tx_n,
    output logic [1:0] qsfp_modsell,
    output logic [1:0] qsfp_resetl,
    output logic [1:0] qsfp_lpmode,
    output logic [3:0] led
);
  localparam int unsigned BEAT_BYTES = 32;  // 256 bits, the width of the shell.
  localparam int unsigned REGISTER_ADDRESS_WIDTH = 16 + $clog2(hca_spec_pkg::UNDERLYING_FUNCTIONS + 2);
  localparam int unsigned COLLECT_ADDRESS_WIDTH = $clog2(hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS
      * hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STRIDE);
  // The frequency for which pcie_shell.tcl configures the clocking wizard. Unit: hertz.
  localparam logic [63:0] CLOCK_FREQUENCY = 64'd100_000_000;

  logic clock, reset, link_up, command_ended, command_parity, queue_pair_taken, queue_pair_parity;
  logic [26:0] blink;

  logic [31:0] registers_awaddr, registers_araddr, collect_awaddr, collect_araddr;
  logic register_awvalid, register_awready, register_wvalid, register_wready, register_bvalid, register_bready,
      register_arvalid, register_arready, register_rvalid, register_rready;
  logic [31:0] register_wdata, register_rdata;
  logic [3:0] register_wstrb;
  logic [1:0] register_bresp, register_rresp;

  logic collect_awvalid, collect_awready, collect_wlast, collect_wvalid, collect_wready, collect_bvalid, collect_bready,
      collect_arvalid, collect_arready, collect_rlast, collect_rvalid, collect_rready;
  logic [7:0] collect_awlen, collect_arlen;
  logic [2:0] collect_awsize;
  logic [BEAT_BYTES*8-1:0] collect_wdata, collect_rdata;
  logic [BEAT_BYTES-1:0] collect_wstrb;
  logic [1:0] collect_bresp, collect_rresp;

  logic [63:0] memory_awaddr, memory_araddr;
  logic [7:0] memory_awlen, memory_arlen;
  logic [2:0] memory_awsize, memory_arsize;
  logic memory_awvalid, memory_awready, memory_wlast, memory_wvalid, memory_wready, memory_bvalid, memory_bready, memory_arvalid,
      memory_arready, memory_rlast, memory_rvalid, memory_rready;
  logic [BEAT_BYTES*8-1:0] memory_wdata, memory_rdata;
  logic [BEAT_BYTES-1:0] memory_wstrb;
  logic [1:0] memory_bresp, memory_rresp;
  localparam logic [1:0] INCREMENTING = 2'b01;

  // Outputs of the shell that this board does not use: address bits above a region, and attributes of bursts, all of which are
  // incrementing.
  logic unused;
  logic [7:0] interrupt_acknowledge;
  logic [2:0] registers_awprot, registers_arprot, collect_awprot, collect_arprot, collect_arsize;
  logic [1:0] collect_awburst, collect_arburst;
  logic collect_awlock, collect_arlock;
  logic [3:0] collect_awcache, collect_arcache, collect_awqos, collect_arqos;
  logic [$clog2(hca_spec_pkg::UNDERLYING_FUNCTIONS)-1:0] memory_awuser, memory_aruser;  // There is one PCI function.
  assign unused = &{1'b0, interrupt_acknowledge, registers_awaddr, registers_araddr, collect_awaddr, collect_araddr, registers_awprot,
      registers_arprot, collect_awprot, collect_arprot, collect_arsize, collect_awburst, collect_arburst, collect_awlock,
      collect_arlock, collect_awcache, collect_arcache, collect_awqos, collect_arqos, memory_awuser, memory_aruser};

  pcie_shell_wrapper i_pcie_shell (
      .pcie_refclk_clk_p(pcie_refclk_p),
      .pcie_refclk_clk_n(pcie_refclk_n),
      .pcie_rxp(pcie_rx_p),
      .pcie_rxn(pcie_rx_n),
      .pcie_txp(pcie_tx_p),
      .pcie_txn(pcie_tx_n),
      .hca_clock(clock),
      .hca_reset(reset),
      .interrupt_request('0),  // One vector for each event queue, of which the RTL has none yet.
      .registers_awvalid(register_awvalid),
      .registers_awready(register_awready),
      .registers_wdata(register_wdata),
      .registers_wstrb(register_wstrb),
      .registers_wvalid(register_wvalid),
      .registers_wready(register_wready),
      .registers_bresp(register_bresp),
      .registers_bvalid(register_bvalid),
      .registers_bready(register_bready),
      .registers_arvalid(register_arvalid),
      .registers_arready(register_arready),
      .registers_rdata(register_rdata),
      .registers_rresp(register_rresp),
      .registers_rvalid(register_rvalid),
      .registers_rready(register_rready),
      .memory_awburst(INCREMENTING),
      .memory_awlock(1'b0),
      .memory_awcache('0),
      .memory_awprot('0),
      .memory_awqos('0),
      .memory_arburst(INCREMENTING),
      .memory_arlock(1'b0),
      .memory_arcache('0),
      .memory_arprot('0),
      .memory_arqos('0),
      .*
  );

  hca_board #(
      .BEAT_BYTES(BEAT_BYTES),
      .PORTS(0),  // No port in RTL yet.
      .CLOCK_FREQUENCY(CLOCK_FREQUENCY),
      .BOARD_NAME(256'("811ucv"))  // The first character is the lowest byte.
  ) i_hca_board (
      .register_awaddr(registers_awaddr[REGISTER_ADDRESS_WIDTH-1:0]),
      .register_araddr(registers_araddr[REGISTER_ADDRESS_WIDTH-1:0]),
      .collect_awaddr(collect_awaddr[COLLECT_ADDRESS_WIDTH-1:0]),
      .*
  );

  always_ff @(posedge clock) begin
    if (reset) begin
      blink <= '0;
      command_parity <= 1'b0;
      queue_pair_parity <= 1'b0;
    end else begin
      blink <= blink + 27'd1;
      command_parity <= command_parity ^ command_ended;
      queue_pair_parity <= queue_pair_parity ^ queue_pair_taken;
    end
  end
  assign led = {queue_pair_parity, command_parity, blink[26], link_up};

  assign qsfp_modsell = '1;  // Not selected.
  assign qsfp_resetl = '0;  // In reset.
  assign qsfp_lpmode = '1;  // Low power.
endmodule
