// hca_front with a substitute for the blocks behind it that have no RTL yet, so that a card can be brought up: registers, VCB pages, and
// commands that are collected, kicked, started and counted, with a kick record in host memory of each kick and each end. The board executes
// no command: a command ends as soon as it has been read, its PCB and its credits return, and nothing else of it reaches host memory or the
// network. Every queue pair number up to the maximum counts as existing, with the low QoS level and the checksum secret 0, except while its
// function is being reset. A queue pair whose command found no PCB, or whose doorbell was rung, passes through the queuing structure of its
// function, if the host has set one up, and is dropped when it comes out. Events and management commands are dropped.
module hca_board #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,
    parameter int unsigned PORTS = 1,
    parameter logic [63:0] CLOCK_FREQUENCY = 64'd250_000_000,  // Unit: hertz.
    parameter logic [8*32-1:0] BOARD_NAME = '0,  // First character in the lowest byte.
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned REGISTER_ADDRESS_WIDTH = 16 + $clog2(UNDERLYING_FUNCTIONS + 2)
) (
    input logic clock,
    input logic reset,

    // Registers, AXI4-Lite.
    input logic [REGISTER_ADDRESS_WIDTH-1:0] register_awaddr,
    input logic register_awvalid,
    output logic register_awready,
    input logic [31:0] register_wdata,
    input logic [3:0] register_wstrb,
    input logic register_wvalid,
    output logic register_wready,
    output logic [1:0] register_bresp,
    output logic register_bvalid,
    input logic register_bready,
    input logic [REGISTER_ADDRESS_WIDTH-1:0] register_araddr,
    input logic register_arvalid,
    output logic register_arready,
    output logic [31:0] register_rdata,
    output logic [1:0] register_rresp,
    output logic register_rvalid,
    input logic register_rready,

    // VCB pages, AXI4.
    input logic [VCB_WIDTH+11:0] collect_awaddr,
    input logic [7:0] collect_awlen,
    input logic [2:0] collect_awsize,
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
    input logic [7:0] collect_arlen,
    input logic collect_arvalid,
    output logic collect_arready,
    output logic [BEAT_BYTES*8-1:0] collect_rdata,
    output logic [1:0] collect_rresp,
    output logic collect_rlast,
    output logic collect_rvalid,
    input logic collect_rready,

    // Host memory, AXI4. awuser and aruser: the function that owns the memory.
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
    output logic memory_rready,

    output logic command_ended,  // Set for one clock: a command has been read.
    output logic queue_pair_taken  // Set for one clock: a queue pair has come out of a queuing structure.
);
  localparam int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + DEDICATED_PHYSICAL_COLLECT_BUFFERS;
  localparam int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1;

  logic command_tvalid, command_tready, command_tlast;
  logic [BEAT_BYTES*8-1:0] command_tdata;
  logic [BEAT_BYTES-1:0] command_tkeep;
  hca_spec_pkg::kick_unit_t command_tuser, ended;
  logic release_command, release_command_ready, finish, finish_ready;
  hca_spec_pkg::finish_unit_t finish_unit;

  // The end of a command as a kick record, whose first beat holds its beginning.
  logic record, record_ready, is_begun, device_reset;
  logic [63:0] now, record_begin;
  hca_spec_pkg::opcode_t record_opcode;

  always_ff @(posedge clock) begin
    is_begun <= !reset && !device_reset && (is_begun || command_tvalid && command_tready) && !command_ended;
    if (!is_begun && command_tvalid && command_tready) begin
      record_begin <= now;
      record_opcode <= hca_spec_pkg::opcode_t'(
          command_tdata[hca_spec_pkg::COMMAND_HEADER_OPCODE_LSB+:hca_spec_pkg::COMMAND_HEADER_OPCODE_WIDTH]);
    end
  end

  // The next command is read when the PCB and the credits of the previous one have returned and its record is written.
  assign command_tready = !release_command && !finish && !record;
  assign command_ended = command_tvalid && command_tready && command_tlast;
  always_ff @(posedge clock) begin
    if (reset || device_reset) begin
      release_command <= 1'b0;
      finish <= 1'b0;
      record <= 1'b0;
    end else if (command_ended) begin
      release_command <= 1'b1;
      finish <= 1'b1;
      record <= 1'b1;
    end else begin
      if (record_ready) record <= 1'b0;
      if (release_command_ready) release_command <= 1'b0;
      if (finish_ready) finish <= 1'b0;
    end
    if (command_ended) ended <= command_tuser;
  end

  always_comb begin
    finish_unit = '0;
    finish_unit.finished = 1'b1;
    finish_unit.execution_credit_returned = 1'b1;
    finish_unit.completion_credit_returned = 1'b1;
    finish_unit.execution_credit_shared = ended.execution_credit_shared;
    finish_unit.completion_credit_shared = ended.completion_credit_shared;
    finish_unit.quality_of_service_level = ended.quality_of_service_level;
    finish_unit.underlying_function = ended.underlying_function;
    finish_unit.transmit_virtual_lane = ended.transmit_virtual_lane;
    finish_unit.physical_collect_buffer = ended.physical_collect_buffer;
    finish_unit.queue_pair_number = ended.queue_pair_number;
    finish_unit.send_queue_sequence_number = ended.send_queue_sequence_number;
  end

  // Queue pairs enter and leave the queuing structures. None enters during a reset, or without a structure.
  logic post_notice, notice_credit, has_notice, is_start, is_in_order, resetting;
  logic queuing_append, queuing_append_ready, queuing_any, queuing_any_condemned;
  logic [4:0] notices_waiting;
  logic [2*UNDERLYING_FUNCTIONS-1:0] queuing_given;
  logic [UNDERLYING_FUNCTIONS-1:0] function_resetting;
  logic [FUNCTION_WIDTH-1:0] notice_function;
  hca_spec_pkg::post_notice_t post_notice_unit, notice;
  hca_spec_pkg::schedule_request_t queuing_append_unit;

  unit_queue #(
      .UNIT_WIDTH(hca_spec_pkg::POST_NOTICE_BYTES * 8),
      .ENTRIES(16)
  ) i_notices (
      .reset(reset || device_reset),
      .push(post_notice),
      .push_unit(post_notice_unit),
      .valid(has_notice),
      .unit(notice),
      .pop(has_notice && (!queuing_append || queuing_append_ready)),
      .filling(notices_waiting),
      .*
  );
  assign notice_credit = notices_waiting <= 5'd8;
  assign notice_function = FUNCTION_WIDTH'(notice.underlying_function);
  assign is_start = 8'(notice.slot) == hca_spec_pkg::DOORBELL_SLOT_START;
  assign is_in_order = !resetting && !function_resetting[notice_function]
      && queuing_given[{notice_function, notice.quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH}];
  assign queuing_append = has_notice && is_start && is_in_order;
  always_comb begin
    queuing_append_unit = '0;
    queuing_append_unit.queue_pair_number = notice.queue_pair_number;
    queuing_append_unit.underlying_function = notice.underlying_function;
    queuing_append_unit.quality_of_service_level = notice.quality_of_service_level;
  end

  // Outputs of hca_front that this board does not use.
  logic queue_pair_found;
  logic management_tvalid, management_tlast;
  logic [BEAT_BYTES*8-1:0] management_tdata;
  logic [BEAT_BYTES-1:0] management_tkeep;
  hca_spec_pkg::management_unit_t management_tuser;
  logic unused, fault, queuing_take_ready, queuing_condemned, queuing_turn_out_ready, queuing_turned_out;
  hca_spec_pkg::schedule_request_t queuing_taken_unit, queuing_turned_out_unit;
  logic [7:0] queuing_turned_out_refusal;
  logic kick_scheduled_ready, refused, half_written, find, pin, unpin;
  logic [FUNCTION_WIDTH-1:0] find_underlying_function;
  logic [23:0] find_queue_pair_number, pin_queue_pair_number, unpin_queue_pair_number;
  hca_spec_pkg::event_unit_t refused_event, half_written_event, fault_event;
  always_ff @(posedge clock)
    queue_pair_found <= !function_resetting[find_underlying_function]
        && 32'(find_queue_pair_number[hca_spec_pkg::QUEUE_PAIR_INDEX_BITS-1:0]) < QUEUE_PAIRS;
  assign unused = &{1'b0, notice, management_tvalid, management_tdata, management_tkeep, management_tlast, management_tuser,
      command_tdata, command_tkeep, ended, kick_scheduled_ready, refused,
      refused_event, half_written, half_written_event, find, find_underlying_function, find_queue_pair_number, pin,
      pin_queue_pair_number, unpin, unpin_queue_pair_number, fault, fault_event, queuing_take_ready,
      queuing_taken_unit, queuing_condemned, queuing_turn_out_ready, queuing_turned_out,
      queuing_turned_out_unit, queuing_turned_out_refusal};

  hca_front #(
      .BEAT_BYTES(BEAT_BYTES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(DEDICATED_PHYSICAL_COLLECT_BUFFERS),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS),
      .TRANSMIT_VIRTUAL_LANES(TRANSMIT_VIRTUAL_LANES),
      .QUEUE_PAIRS(QUEUE_PAIRS),
      .FINISHES(1),
      .PORTS(PORTS),
      .CLOCK_FREQUENCY(CLOCK_FREQUENCY),
      .BOARD_NAME(BOARD_NAME)
  ) i_hca_front (
      .collect_awuser('0),  // There is one PCI function: the address of a VCB tells its owner.
      .kick_scheduled(1'b0),
      .kick_scheduled_unit('0),
      .release_command_physical_collect_buffer(PCB_WIDTH'(ended.physical_collect_buffer)),
      .drained(1'b1),
      .function_drained('1),
      .management_tready(1'b1),
      .record_type(hca_spec_pkg::KICK_RECORD_TYPE_SENT),
      .record_unit(ended),
      .queuing_take(queuing_any && !resetting),
      .queuing_taken(queue_pair_taken),
      .queuing_turn_out(queuing_any_condemned),
      .queue_pair_quality_of_service_level(hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW),
      .queue_pair_checksum_secret('0),
      .pinned(1'b1),
      .*
  );
endmodule
