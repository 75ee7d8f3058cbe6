// DMA of the device: accesses to host memory as AXI4 bursts, many in flight. Clients write lines, which are aligned blocks of 64 B, and
// write or read words, which are aligned blocks of 8 B. So no burst crosses 4 KiB.
//
// All bursts have one identifier, so the host keeps the order of writes. Clients get answers in the order of requests, reads and writes
// alike: an answer waits in its channel for its turn.
module host_port #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned CLIENT_WIDTH = 2,
    parameter int unsigned OUTSTANDING = 64,  // Maximum accesses in flight. A power of two.
    parameter int unsigned OUTSTANDING_WIDTH = $clog2(OUTSTANDING) + 1
) (
    input logic clock,
    input logic reset,  // Only while idle.

    input logic request,
    output logic request_ready,
    input logic [CLIENT_WIDTH-1:0] request_client,  // The requesting block; returned with the answer.
    input logic request_is_write,
    input logic request_is_line,
    input logic [FUNCTION_WIDTH-1:0] request_underlying_function,  // The function that owns the memory.
    input logic [63:0] request_address,
    input logic [511:0] request_data,  // A word is in the lowest bits.
    output logic answer,
    output logic [CLIENT_WIDTH-1:0] answer_client,
    output logic answer_is_write,
    output logic answer_ok,
    output logic [FUNCTION_WIDTH-1:0] answer_underlying_function,
    output logic [47:0] answer_address,  // The lowest bits of the request's address.
    output logic [63:0] answer_data,
    output logic idle,  // Nothing is in flight.

    // AXI4, incrementing bursts.
    output logic [63:0] memory_awaddr,
    output logic [7:0] memory_awlen,
    output logic [2:0] memory_awsize,
    output logic [FUNCTION_WIDTH-1:0] memory_awuser,
    output logic memory_awvalid,
    input logic memory_awready,
    output logic [BEAT_BYTES*8-1:0] memory_wdata,
    output logic [BEAT_BYTES-1:0] memory_wstrb,
    output logic memory_wlast,
    output logic memory_wvalid,
    input logic memory_wready,
    input logic [1:0] memory_bresp,
    input logic memory_bvalid,
    output logic memory_bready,
    output logic [63:0] memory_araddr,
    output logic [7:0] memory_arlen,
    output logic [2:0] memory_arsize,
    output logic [FUNCTION_WIDTH-1:0] memory_aruser,
    output logic memory_arvalid,
    input logic memory_arready,
    input logic [BEAT_BYTES*8-1:0] memory_rdata,
    input logic [1:0] memory_rresp,
    input logic memory_rlast,
    input logic memory_rvalid,
    output logic memory_rready
);
  if (OUTSTANDING < 2 || OUTSTANDING != 1 << $clog2(OUTSTANDING)) begin : gen_check
    $error("OUTSTANDING has to be a power of two, 2 at least");
  end

  localparam int unsigned BEATS = 64 / BEAT_BYTES;
  localparam int unsigned BIT_WIDTH = $clog2(BEAT_BYTES * 8);
  localparam int unsigned BEAT_WIDTH = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam logic [1:0] OKAY = 2'b00;

  // The request that the block is passing to the host.
  logic is_line, begins, unused_last;
  logic [BEAT_WIDTH-1:0] beats_left;
  logic [FUNCTION_WIDTH-1:0] underlying_function;
  logic [63:0] address;
  logic [511:0] data;  // The rest of a line that is still to be written.
  logic [5:0] lane;  // The place of a word in its beat.

  // Requests without an answer, the oldest first.
  logic [OUTSTANDING_WIDTH-1:0] outstanding;
  logic is_outstanding, is_write, ends, is_okay;
  logic [CLIENT_WIDTH-1:0] client;
  logic [FUNCTION_WIDTH-1:0] asked_underlying_function;
  logic [47:0] asked_address;

  assign unused_last = memory_rlast;  // A read is one beat, so every beat is the last.
  assign request_ready = outstanding != OUTSTANDING_WIDTH'(OUTSTANDING) && (!memory_awvalid || memory_awready)
      && (!memory_wvalid || memory_wready && memory_wlast) && (!memory_arvalid || memory_arready);
  assign begins = request && request_ready;
  assign lane = address[5:0] & 6'(BEAT_BYTES - 1);
  assign idle = !is_outstanding;

  assign memory_awaddr = address;
  assign memory_awlen = is_line ? 8'(BEATS - 1) : 8'd0;
  assign memory_awsize = is_line ? 3'($clog2(BEAT_BYTES)) : 3'd3;
  assign memory_awuser = underlying_function;
  assign memory_wdata = is_line ? data[BEAT_BYTES*8-1:0] : {BEAT_BYTES / 8{data[63:0]}};
  assign memory_wstrb = is_line ? '1 : BEAT_BYTES'(64'hff << lane);
  assign memory_wlast = beats_left == '0;
  assign memory_araddr = address;
  assign memory_arlen = '0;
  assign memory_arsize = 3'd3;
  assign memory_aruser = underlying_function;

  unit_queue #(
      .UNIT_WIDTH(CLIENT_WIDTH + 1 + FUNCTION_WIDTH + 48),
      .ENTRIES(OUTSTANDING)
  ) i_outstanding (
      .push(begins),
      .push_unit({request_client, request_is_write, request_underlying_function, request_address[47:0]}),
      .valid(is_outstanding),
      .unit({client, is_write, asked_underlying_function, asked_address}),
      .pop(ends),
      .filling(outstanding),
      .*
  );
  assign memory_bready = is_outstanding && is_write;
  assign memory_rready = is_outstanding && !is_write;
  assign ends = memory_bvalid && memory_bready || memory_rvalid && memory_rready;
  assign is_okay = (is_write ? memory_bresp : memory_rresp) == OKAY;

  always_ff @(posedge clock) begin
    if (reset) begin
      memory_awvalid <= 1'b0;
      memory_wvalid <= 1'b0;
      memory_arvalid <= 1'b0;
      answer <= 1'b0;
    end else begin
      memory_awvalid <= begins && request_is_write || memory_awvalid && !memory_awready;
      memory_wvalid <= begins && request_is_write || memory_wvalid && !(memory_wready && memory_wlast);
      memory_arvalid <= begins && !request_is_write || memory_arvalid && !memory_arready;
      answer <= ends;
    end
    if (begins) begin
      is_line <= request_is_line;
      beats_left <= request_is_line ? BEAT_WIDTH'(BEATS - 1) : '0;
      underlying_function <= request_underlying_function;
      address <= request_address;
      data <= request_data;
    end else if (memory_wvalid && memory_wready) begin
      beats_left <= beats_left - BEAT_WIDTH'(1);
      data <= 512'({data, data} >> BEAT_BYTES * 8);
    end
    if (ends) begin
      answer_client <= client;
      answer_is_write <= is_write;
      answer_ok <= is_okay;
      answer_underlying_function <= asked_underlying_function;
      answer_address <= asked_address;
      answer_data <= memory_rdata[BIT_WIDTH'({asked_address[5:3], 6'd0})+:64];
    end
  end
endmodule
