// The structures that the front of the HCA keeps in host memory: rings of kick records, queuing structures, and the mapping table of lanes.
// They share one host_port and take turns. A failed access raises an event, unless it belongs to a ring that has been switched off since.
module host_memory #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,
    parameter int unsigned OUTSTANDING = 64,  // Maximum accesses in flight. A power of two.
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,  // Only while idle, except for the first.
    output logic idle,  // No DMA is in flight.
    input logic [63:0] now,

    // As in kick_records.
    input logic kick_record,
    input hca_spec_pkg::kick_unit_t kick_unit,
    input logic [VCB_WIDTH-1:0] kick_virtual_collect_buffer,
    input hca_spec_pkg::opcode_t kick_opcode,
    input logic [63:0] kick_first_write,
    input logic record,
    output logic record_ready,
    input hca_spec_pkg::kick_record_type_t record_type,
    input hca_spec_pkg::kick_unit_t record_unit,
    input hca_spec_pkg::opcode_t record_opcode,
    input logic [63:0] record_begin,

    // As in queuing_structures.
    input logic append,
    output logic append_ready,
    input hca_spec_pkg::schedule_request_t append_unit,
    output logic [2*UNDERLYING_FUNCTIONS-1:0] given,
    output logic any,
    input logic take,
    output logic take_ready,
    output logic taken,
    output hca_spec_pkg::schedule_request_t taken_unit,
    output logic condemned,
    output logic any_condemned,
    input logic turn_out,
    output logic turn_out_ready,
    output logic turned_out,
    output hca_spec_pkg::schedule_request_t turned_out_unit,
    output logic [7:0] turned_out_refusal,

    // As in lane_map_reader: the mapping table of lanes, in the memory of the control function.
    input logic set_lane_map_address,
    output logic set_lane_map_address_ready,
    output logic set_lane_map_address_allowed,
    input logic [63:0] set_lane_map_address_address,
    output logic [63:0] lane_map_address,
    input logic invalidate_lanes,
    input logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries,
    input logic fetch_lanes,
    input logic [FUNCTION_WIDTH-1:0] fetch_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t fetch_lanes_quality_of_service_level,
    output logic lanes_read,
    output logic lanes_read_known,
    output logic [63:0] lanes_read_lanes,
    input logic fetched_lanes,

    // Forgets the ring of a function, or its queuing structures. Each request is held until it is done.
    input logic forget_records,
    output logic forget_records_done,
    input logic forget_structures,
    output logic forget_structures_done,
    input logic [FUNCTION_WIDTH-1:0] forget_underlying_function,

    // Registers of the functions, by offset in their page. A write is accepted when write_ready is set; a forbidden one changes nothing. A
    // 64-bit register is written in halves and read whole at its lower offset.
    input logic write,
    output logic write_ready,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [15:0] write_offset,
    input logic [31:0] write_data,
    output logic write_allowed,
    input logic [FUNCTION_WIDTH-1:0] read_underlying_function,
    input logic [15:0] read_offset,
    output logic [63:0] read_value,

    output logic fault,
    output hca_spec_pkg::event_unit_t fault_event,

    // To host memory, AXI4. awuser and aruser: the function that owns the memory.
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
  localparam int unsigned CLIENTS = 3;
  localparam int unsigned CLIENT_WIDTH = $clog2(CLIENTS);
  localparam logic [CLIENT_WIDTH-1:0] RECORDS = 2'd0;
  localparam logic [CLIENT_WIDTH-1:0] STRUCTURES = 2'd1;
  localparam logic [CLIENT_WIDTH-1:0] LANES = 2'd2;
  localparam logic [FUNCTION_WIDTH-1:0] CONTROL_FUNCTION = '0;

  logic records_write_ready, records_write_known, records_write_allowed, structures_write_ready, structures_write_known,
      structures_write_allowed;
  logic [63:0] records_read_value, structures_read_value, faults_read_value;
  logic records_request_is_write, structures_request_is_write, request_is_write, request_is_line;
  logic [FUNCTION_WIDTH-1:0] records_request_underlying_function, structures_request_underlying_function, request_underlying_function;
  logic [63:0] records_request_address, structures_request_address, lanes_request_address, request_address;
  hca_spec_pkg::kick_record_t request_record;
  hca_spec_pkg::queuing_structure_entry_t request_entry;
  logic [CLIENTS-1:0] requests, requests_ready, answers;  // By requester.
  logic [CLIENT_WIDTH-1:0] request_client, last_client, answer_client;
  logic request, request_ready;
  logic answer, answer_is_write, answer_ok, answer_counts, port_idle;
  logic [FUNCTION_WIDTH-1:0] answer_underlying_function;
  logic [47:0] answer_address;
  logic [63:0] answer_data;

  assign write_ready = records_write_known ? records_write_ready : !structures_write_known || structures_write_ready;
  assign write_allowed = records_write_known && records_write_allowed || structures_write_known && structures_write_allowed;
  assign read_value = records_read_value | structures_read_value | faults_read_value;

  kick_records #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .OUTSTANDING(OUTSTANDING)
  ) i_kick_records (
      .forget(forget_records),
      .forget_done(forget_records_done),
      .write_ready(records_write_ready),
      .write_known(records_write_known),
      .write_allowed(records_write_allowed),
      .read_value(records_read_value),
      .request(requests[RECORDS]),
      .request_ready(requests_ready[RECORDS]),
      .request_is_write(records_request_is_write),
      .request_underlying_function(records_request_underlying_function),
      .request_address(records_request_address),
      .answer(answers[RECORDS]),
      .*
  );

  queuing_structures #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .QUEUE_PAIRS(QUEUE_PAIRS)
  ) i_queuing_structures (
      .forget(forget_structures),
      .forget_done(forget_structures_done),
      .write_ready(structures_write_ready),
      .write_known(structures_write_known),
      .write_allowed(structures_write_allowed),
      .read_value(structures_read_value),
      .request(requests[STRUCTURES]),
      .request_ready(requests_ready[STRUCTURES]),
      .request_is_write(structures_request_is_write),
      .request_underlying_function(structures_request_underlying_function),
      .request_address(structures_request_address),
      .answer(answers[STRUCTURES]),
      .*
  );

  lane_map_reader #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS)
  ) i_lane_map_reader (
      .set_address(set_lane_map_address),
      .set_address_ready(set_lane_map_address_ready),
      .set_address_allowed(set_lane_map_address_allowed),
      .set_address_address(set_lane_map_address_address),
      .address(lane_map_address),
      .request(requests[LANES]),
      .request_ready(requests_ready[LANES]),
      .request_address(lanes_request_address),
      .answer(answers[LANES]),
      .*
  );

  // The requester that was served last has the lowest priority.
  always_comb begin
    case (last_client)
      RECORDS: request_client = requests[STRUCTURES] ? STRUCTURES : requests[LANES] ? LANES : RECORDS;
      STRUCTURES: request_client = requests[LANES] ? LANES : requests[RECORDS] ? RECORDS : STRUCTURES;
      default: request_client = requests[RECORDS] ? RECORDS : requests[STRUCTURES] ? STRUCTURES : LANES;
    endcase
  end
  assign request = requests != '0;
  assign requests_ready = CLIENTS'(request_ready) << request_client;
  assign answers = CLIENTS'(answer) << answer_client;
  assign idle = port_idle && !answer && !request;
  always_ff @(posedge clock) begin
    if (reset) last_client <= LANES;
    else if (request && request_ready) last_client <= request_client;
  end
  always_comb begin
    request_is_line = 1'b0;
    case (request_client)
      RECORDS: begin
        request_is_write = records_request_is_write;
        request_is_line = records_request_is_write;
        request_underlying_function = records_request_underlying_function;
        request_address = records_request_address;
      end
      STRUCTURES: begin
        request_is_write = structures_request_is_write;
        request_underlying_function = structures_request_underlying_function;
        request_address = structures_request_address;
      end
      default: begin
        request_is_write = 1'b0;
        request_underlying_function = CONTROL_FUNCTION;
        request_address = lanes_request_address;
      end
    endcase
  end

  host_port #(
      .BEAT_BYTES(BEAT_BYTES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .CLIENT_WIDTH(CLIENT_WIDTH),
      .OUTSTANDING(OUTSTANDING)
  ) i_host_port (
      .request_data(request_client == RECORDS ? request_record : {448'd0, request_entry}),
      .idle(port_idle),
      .*
  );

  // Failed accesses by function: the function is looked up with the answer, the fault is stored one clock later.
  logic [UNDERLYING_FUNCTIONS-1:0] has_faults;
  logic [63:0] faults, faults_before, faults_now, faults_read;
  logic [FUNCTION_WIDTH-1:0] fault_function;
  always_ff @(posedge clock) begin
    fault <= !reset && answer && !answer_ok && (answer_client != RECORDS || answer_counts);
    fault_event <= '0;
    fault_event.type_ <= hca_spec_pkg::EVENT_TYPE_DMA_FAULT;
    fault_event.underlying_function <= 8'(answer_underlying_function);
    fault_event.detail <= answer_address;
    faults_before <= fault && fault_function == answer_underlying_function ? faults_now :
        has_faults[answer_underlying_function] ? faults : '0;
  end
  assign faults_now = faults_before + 64'd1;
  assign fault_function = FUNCTION_WIDTH'(fault_event.underlying_function);
  assign faults_read_value = 32'(read_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_DMA_FAULTS_OFFSET
      && has_faults[read_underlying_function] ? faults_read : '0;
  always_ff @(posedge clock) begin
    if (reset) has_faults <= '0;
    else if (fault) has_faults[fault_function] <= 1'b1;
  end

  lut_memory #(
      .WIDTH(64),
      .SIZE(1 << FUNCTION_WIDTH),
      .READERS(2)
  ) i_faults (
      .write(fault),
      .write_address(fault_function),
      .write_data(faults_now),
      .read_addresses({read_underlying_function, answer_underlying_function}),
      .read_data({faults_read, faults}),
      .*
  );
endmodule
