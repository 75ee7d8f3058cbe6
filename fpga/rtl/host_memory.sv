// What the front of the HCA keeps in host memory: rings of kick records and queuing structures. They have one host_port: records go
// first, but not twice while the others wait. An access that fails is an event, but for those of a ring that is turned off already.
module host_memory #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,
    parameter int unsigned OUTSTANDING = 64,  // Accesses under way, at most. A power of two.
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,  // While it is idle, but for the first.
    output logic idle,  // No DMA is under way.
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

    // What belongs to a function is forgotten, its ring and its queuing structures: each is held until it is done.
    input logic forget_records,
    output logic forget_records_done,
    input logic forget_structures,
    output logic forget_structures_done,
    input logic [FUNCTION_WIDTH-1:0] forget_underlying_function,

    // Registers of the functions, by offset in their page: a write is taken when write_ready is set, and changes nothing where it is not
    // allowed. A register of 64 bits is written in halves, and read whole at its lower offset.
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

    // To host memory, AXI4. awuser and aruser: whose memory it is.
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
  logic records_write_ready, records_write_known, records_write_allowed, structures_write_ready, structures_write_known,
      structures_write_allowed;
  logic [63:0] records_read_value, structures_read_value, faults_read_value;
  logic records_request, records_request_ready, records_request_is_write, structures_request, structures_request_ready,
      structures_request_is_write;
  logic [FUNCTION_WIDTH-1:0] records_request_underlying_function, structures_request_underlying_function;
  logic [63:0] records_request_address, structures_request_address;
  hca_spec_pkg::kick_record_t request_record;
  hca_spec_pkg::queuing_structure_entry_t request_entry;
  logic request, request_ready, chooses_structures, records_were_last;
  logic answer, answer_is_of_structures, answer_is_write, answer_ok, answer_counts, port_idle;
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
      .request(records_request),
      .request_ready(records_request_ready),
      .request_is_write(records_request_is_write),
      .request_underlying_function(records_request_underlying_function),
      .request_address(records_request_address),
      .answer(answer && !answer_is_of_structures),
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
      .request(structures_request),
      .request_ready(structures_request_ready),
      .request_is_write(structures_request_is_write),
      .request_underlying_function(structures_request_underlying_function),
      .request_address(structures_request_address),
      .answer(answer && answer_is_of_structures),
      .*
  );

  assign request = records_request || structures_request;
  assign chooses_structures = structures_request && (records_were_last || !records_request);
  assign records_request_ready = request_ready && !chooses_structures;
  assign structures_request_ready = request_ready && chooses_structures;
  assign idle = port_idle && !answer && !request;
  always_ff @(posedge clock) begin
    if (reset) records_were_last <= 1'b0;
    else if (request && request_ready) records_were_last <= !chooses_structures;
  end

  host_port #(
      .BEAT_BYTES(BEAT_BYTES),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .OUTSTANDING(OUTSTANDING)
  ) i_host_port (
      .request_client(chooses_structures),
      .request_is_write(chooses_structures ? structures_request_is_write : records_request_is_write),
      .request_is_line(!chooses_structures && records_request_is_write),
      .request_underlying_function(
      chooses_structures ? structures_request_underlying_function : records_request_underlying_function),
      .request_address(chooses_structures ? structures_request_address : records_request_address),
      .request_data(chooses_structures ? {448'd0, request_entry} : request_record),
      .answer_client(answer_is_of_structures),
      .idle(port_idle),
      .*
  );

  // Faults, by function.
  logic [63:0] faults[UNDERLYING_FUNCTIONS];
  logic [FUNCTION_WIDTH-1:0] fault_function;
  always_ff @(posedge clock) begin
    fault <= !reset && answer && !answer_ok && (answer_is_of_structures || answer_counts);
    fault_event <= '0;
    fault_event.type_ <= hca_spec_pkg::EVENT_TYPE_DMA_FAULT;
    fault_event.underlying_function <= 8'(answer_underlying_function);
    fault_event.detail <= answer_address;
  end
  assign fault_function = FUNCTION_WIDTH'(fault_event.underlying_function);
  assign faults_read_value = 32'(read_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_DMA_FAULTS_OFFSET ?
      faults[read_underlying_function] : '0;
  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    always_ff @(posedge clock) begin
      if (reset) faults[number] <= '0;
      else faults[number] <= faults[number] + 64'(fault && fault_function == FUNCTION_WIDTH'(number));
    end
  end
endmodule
