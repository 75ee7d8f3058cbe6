// Connects the control port to the blocks that it controls: the resource manager creates queue pairs by registers, and the packets of a link are
// parsed and checked against these queue pairs. After a reset, commands of the control port wait until all blocks are clear. The block frees the
// buffer of a dropped packet in a clock in which no later block frees one. It has one link, the first port.
module queue_pairs #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,  // Number of queue pairs, a power of two.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned READERS = 7,  // Later blocks that read contexts.
    parameter int unsigned BUFFERS = hca_spec_pkg::RECEIVE_PACKET_BUFFERS,  // A power of two, at least 4.
    parameter bit ULTRA = 1'b1,  // Packet buffers in ultra memories, which some FPGAs do not have.
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    localparam int unsigned REGISTER_ADDRESS_WIDTH = $clog2(hca_spec_pkg::MANAGER_PORT_BYTES),
    localparam int unsigned PACKET_WIDTH = $clog2(BUFFERS),
    localparam int unsigned COUNT_WIDTH = $clog2(BUFFERS + 1),
    localparam int unsigned PLACE_WIDTH = $clog2(hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset. Register accesses and packets wait until it ends.

    // Registers of the control port, AXI4-Lite.
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
    output logic quiet_waits,  // A queue pair became quiet: for an interrupt.

    // Packets of a link, AXI4-Stream, as packet_receiver takes them.
    input logic is_infiniband,
    input logic link_tvalid,
    output logic link_tready,
    input logic [BEAT_BYTES*8-1:0] link_tdata,
    input logic [BEAT_BYTES-1:0] link_tkeep,
    input logic link_tlast,

    // A packet for a queue pair, which holds a pin for it; `unpin` releases the pin.
    output logic checked_valid,
    input logic checked_ready,
    output logic [PACKET_WIDTH-1:0] checked_packet,
    output packet_fields_pkg::packet_fields_t checked_fields,
    output logic [12:0] checked_payload_bytes,
    output logic [FUNCTION_WIDTH-1:0] checked_underlying_function,
    input logic unpin,
    input logic [NUMBER_WIDTH-1:0] unpin_number,

    // Reads a beat of a buffer, with three clocks of latency; and frees the buffer of a packet.
    input logic [PACKET_WIDTH-1:0] read_packet,
    input logic [PLACE_WIDTH-1:0] read_place,
    output logic [BEAT_BYTES*8-1:0] read_data,
    input logic give_back,
    input logic [PACKET_WIDTH-1:0] give_back_packet,
    output logic [COUNT_WIDTH-1:0] free,

    // Dropped packets by reason (packet_drop_t), a clock later; wrong keys by port; congestion notifications.
    input logic [4:0] count_reason,
    output logic [63:0] count,
    output logic [hca_spec_pkg::PORTS*64-1:0] bad_partition_keys,
    output logic [hca_spec_pkg::PORTS*64-1:0] bad_queue_keys,
    output logic [63:0] congestion_notifications,

    // Readers, writers and failures of queue_pair_contexts.
    input logic [READERS-1:0] read,
    output logic [READERS-1:0] read_ready,
    input logic [READERS*NUMBER_WIDTH-1:0] read_number,
    output logic [READERS-1:0] answer,
    output logic answer_found,
    output hca_spec_pkg::queue_pair_control_t answer_control,
    output hca_spec_pkg::queue_pair_requester_t answer_requester,
    output hca_spec_pkg::queue_pair_completion_t answer_completion,
    output hca_spec_pkg::queue_pair_responder_t answer_responder,
    input logic fetch_write,
    input logic [NUMBER_WIDTH-1:0] fetch_number,
    input hca_spec_pkg::queue_pair_requester_t fetch_requester,
    input logic builder_write,
    input logic [NUMBER_WIDTH-1:0] builder_number,
    input hca_spec_pkg::queue_pair_requester_t builder_requester,
    input logic completion_write,
    input logic [NUMBER_WIDTH-1:0] completion_number,
    input hca_spec_pkg::queue_pair_completion_t completion_completion,
    input logic receive_write,
    input logic [NUMBER_WIDTH-1:0] receive_number,
    input hca_spec_pkg::queue_pair_responder_t receive_responder,
    input logic response_write,
    input logic [NUMBER_WIDTH-1:0] response_number,
    input hca_spec_pkg::queue_pair_responder_t response_responder,
    input logic validation_write,
    input logic [NUMBER_WIDTH-1:0] validation_number,
    input hca_spec_pkg::queue_pair_responder_t validation_responder,
    input logic descriptor_write,
    input logic [NUMBER_WIDTH-1:0] descriptor_number,
    input hca_spec_pkg::queue_pair_responder_t descriptor_responder,
    input logic fail,
    output logic fail_ready,
    input logic [NUMBER_WIDTH-1:0] fail_number,
    input logic [7:0] fail_underlying_function,
    input logic fail_enters_error,
    input logic fail_enters_send_queue_error,
    input logic fail_flushes,
    output logic failed,
    output logic failed_done
);
  localparam int unsigned PORT_WIDTH = $clog2(hca_spec_pkg::PORTS);
  localparam int unsigned INDEX_WIDTH = $clog2(hca_spec_pkg::GID_TABLE_ENTRIES);
  localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS);
  localparam int unsigned PINS_WIDTH = 16;

  // The control port. Its writes of tables never wait, so its accesses wait until all tables are clear.
  logic port_clearing, directory_clearing, contexts_clearing, tables_clearing, is_clear, port_awready, port_wready, port_arready;
  logic control, control_ready, control_create, control_quiesce, control_resume, control_destroy;
  logic [NUMBER_WIDTH-1:0] control_number, quiet_number, bind_number, bind_queue_pair, wait_number;
  logic [FUNCTION_WIDTH-1:0] control_underlying_function, controlled_underlying_function, write_underlying_function;
  logic controlled, controlled_done, controlled_quiescing, quiet;
  logic [PINS_WIDTH-1:0] controlled_pins;
  logic row_write, row_write_ready, row_written, row_read, row_read_ready, row_answer;
  logic [CONTEXT_WIDTH-1:0] row_write_context, row_read_context;
  logic [2:0] row_write_row, row_read_row;
  logic [511:0] row_write_data, row_answer_data;
  logic bind_write, bind_bound, wait_write, wait_waits, gid_write, identifier_write, key_write;
  logic [PORT_WIDTH-1:0] write_port;
  logic [INDEX_WIDTH-1:0] write_index;
  logic [127:0] write_data;
  assign clearing = !is_clear;
  assign register_awready = port_awready && is_clear;
  assign register_wready = port_wready && is_clear;
  assign register_arready = port_arready && is_clear;
  always_ff @(posedge clock) is_clear <= !reset && !port_clearing && !directory_clearing && !contexts_clearing && !tables_clearing;
  manager_port #(
      .CONTEXTS(CONTEXTS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .PINS_WIDTH(PINS_WIDTH)
  ) i_port (
      .clearing(port_clearing),
      .register_awvalid(register_awvalid && is_clear),
      .register_awready(port_awready),
      .register_wvalid(register_wvalid && is_clear),
      .register_wready(port_wready),
      .register_arvalid(register_arvalid && is_clear),
      .register_arready(port_arready),
      .*
  );

  // The directory and the contexts of queue pairs.
  logic pin, pin_ready, pinned, pinned_done, check_read, check_read_ready, check_answer;
  logic [NUMBER_WIDTH-1:0] pin_number, check_read_number;
  logic [FUNCTION_WIDTH-1:0] unused_function;
  queue_pair_directory #(
      .QUEUE_PAIRS(CONTEXTS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .PINS_WIDTH(PINS_WIDTH)
  ) i_directory (
      .clearing(directory_clearing),
      .pinned_underlying_function(unused_function),
      .*
  );
  queue_pair_contexts #(
      .CONTEXTS(CONTEXTS),
      .READERS(READERS + 1)
  ) i_contexts (
      .clearing(contexts_clearing),
      .read({read, check_read}),
      .read_ready({read_ready, check_read_ready}),
      .read_number({read_number, check_read_number}),
      .answer({answer, check_answer}),
      .*
  );

  // Packets. A buffer that a later block frees goes first, a clock later.
  logic packet_valid, packet_ready, behind_gives_back, dropped_valid;
  logic [PACKET_WIDTH-1:0] packet, behind_packet, dropped_packet;
  logic [12:0] packet_payload_bytes;
  logic [63:0] receiver_count, check_count;
  packet_fields_pkg::packet_fields_t packet_fields;
  always_ff @(posedge clock) begin
    behind_gives_back <= !reset && give_back;
    behind_packet <= give_back_packet;
  end
  packet_receiver #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(BUFFERS),
      .ULTRA(ULTRA)
  ) i_receiver (
      .give_back(behind_gives_back || dropped_valid),
      .give_back_packet(behind_gives_back ? behind_packet : dropped_packet),
      .count(receiver_count),
      .*
  );
  destination_check #(
      .CONTEXTS(CONTEXTS),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .PACKET_WIDTH(PACKET_WIDTH)
  ) i_check (
      .clearing(tables_clearing),
      .packet_port(PORT_WIDTH'(0)),
      .read(check_read),
      .read_ready(check_read_ready),
      .read_number(check_read_number),
      .answer(check_answer),
      .dropped_ready(!behind_gives_back),
      .count(check_count),
      .*
  );
  assign count = receiver_count | check_count;  // Each reason belongs to one block.
endmodule
