// Gathers the payload of packets from host memory, or from the PCB if it is inline (US8804752, DMA module). A command stays at the head of its
// queue pair's list until its last packet; queue pairs with work take turns packet by packet. Several packets of a command may be in flight, so
// that the latency of host memory delays none of them. The packets of a queue pair leave in order; packets of other queue pairs pass them.
module dma #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned ENTRIES = 192,  // Maximum commands: one for each execution credit.
    parameter int unsigned LISTS = 256,  // A power of two.
    // Number of PCBs.
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    // Buffers in packet memory.
    parameter int unsigned PACKETS = hca_spec_pkg::REQUEST_PACKET_BUFFERS + hca_spec_pkg::RESPONSE_PACKET_BUFFERS,
    parameter int unsigned PACKETS_ON_THE_WAY = 16,  // Maximum request packets between this block and the port.
    parameter int unsigned PACKETS_OF_COMMAND = 8,  // Maximum of these per command.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned TAGS = 32,  // Maximum reads of host memory in flight.
    parameter int unsigned MOST_BYTES = 512,  // Largest read, in bytes.
    localparam int unsigned BUFFER_WIDTH = $clog2(BUFFERS),
    localparam int unsigned PACKET_WIDTH = $clog2(PACKETS),
    localparam int unsigned USED_WIDTH = $clog2(hca_spec_pkg::REQUEST_PACKET_BUFFERS + 1),
    localparam int unsigned TAG_WIDTH = $clog2(TAGS),
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES),
    localparam int unsigned PLACE_WIDTH = $clog2(hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES),
    localparam int unsigned USER_WIDTH = PACKET_WIDTH + 2
) (
    input logic clock,
    input logic reset,  // Only while idle, except for the first.
    output logic clearing,  // After a reset; the block accepts nothing.
    output logic idle,  // No read of host memory is in flight.
    input logic [2:0] maximum_read_request,  // 128 B << this value, as in PCIe. Changes only while idle.

    // A command that queue_pair_fetch has started, with the fields of its kick_unit that dma needs. Each holds an execution credit.
    input logic execution,
    output logic execution_ready,
    input logic [BUFFER_WIDTH-1:0] execution_physical_collect_buffer,
    input logic [FUNCTION_WIDTH-1:0] execution_underlying_function,
    input logic [23:0] execution_queue_pair,
    input hca_spec_pkg::completion_status_t execution_status,
    input transmit_pkg::plan_t execution_plan,

    // Reads the context of a queue pair, one at a time, through a reader port of queue_pair_contexts.
    output logic context_read,
    input logic context_read_ready,
    output logic [23:0] context_read_number,
    input logic context_answer,
    input logic context_found,
    input logic [7:0] context_underlying_function,
    input hca_spec_pkg::queue_pair_state_t context_state,
    input logic context_send_error,
    input logic context_destroying,
    input logic [6:0] context_retry_epoch,
    input logic [23:0] context_protection_domain,
    input hca_spec_pkg::path_mtu_t context_path_mtu,

    // A work request has failed: queue_pair_contexts flushes the later ones of its send queue. Contexts read after `failed` show it.
    output logic fail,
    input logic fail_ready,
    output logic [FUNCTION_WIDTH-1:0] fail_underlying_function,
    output logic [23:0] fail_number,
    input logic failed,

    // A bind or local invalidate. The block that holds the keys executes or refuses it when no access with its key is in flight.
    output logic local_operation,
    input logic local_operation_ready,
    output logic [BUFFER_WIDTH-1:0] local_operation_physical_collect_buffer,
    output logic [FUNCTION_WIDTH-1:0] local_operation_underlying_function,
    output logic [23:0] local_operation_queue_pair,
    output logic [23:0] local_operation_protection_domain,
    input logic local_done,
    output logic local_done_ready,
    input logic [BUFFER_WIDTH-1:0] local_done_physical_collect_buffer,
    input logic local_done_refused,

    // A beat of a PCB, in the clock after an accepted read.
    output logic pcb_read,
    input logic pcb_read_ready,
    output logic [BUFFER_WIDTH-1:0] pcb_read_buffer,
    output logic [BEATS_WIDTH-1:0] pcb_read_beat,
    input logic [BEAT_BYTES*8-1:0] pcb_read_data,

    // Packet memory: allocates buffers of requests and writes bytes.
    input logic has_free,
    input logic [PACKET_WIDTH-1:0] free_packet,
    input logic [USED_WIDTH-1:0] packets_free,
    output logic allocate,
    output logic give_back,
    output logic [PACKET_WIDTH-1:0] give_back_packet,
    output logic packet_write,
    output logic [PACKET_WIDTH-1:0] packet_write_packet,
    output logic [PLACE_WIDTH-1:0] packet_write_place,
    output logic [BEAT_BYTES*8-1:0] packet_write_data,
    output logic [BEAT_BYTES-1:0] packet_write_strobe,

    // Accesses: a client of memory_translation.
    output logic request,
    input logic request_ready,
    output logic [FUNCTION_WIDTH-1:0] request_underlying_function,
    output logic [23:0] request_queue_pair,
    output logic [23:0] request_protection_domain,
    output logic [31:0] request_key,
    output logic [63:0] request_address,
    output logic [31:0] request_length,
    output logic [7:0] request_rights,
    output logic request_is_check,
    output logic [USER_WIDTH-1:0] request_user,
    input logic burst,
    output logic burst_ready,
    input logic [FUNCTION_WIDTH-1:0] burst_underlying_function,
    input logic [USER_WIDTH-1:0] burst_user,
    input logic [63:0] burst_address,
    input logic [31:0] burst_bytes,
    input logic burst_last,
    input logic burst_refused,  // Its fault is any but FAULT_NONE; all of them end the work request with the same status.
    input logic burst_epoch,
    output logic finish,
    output logic finish_epoch,

    // A read of memory that a key permits has failed, which raises an event.
    output logic dma_fault,
    input logic dma_fault_ready,
    output logic [FUNCTION_WIDTH-1:0] dma_fault_underlying_function,
    output logic [47:0] dma_fault_address,

    // A packet whose payload is in its buffer, behind the headroom; or the end of a command without a packet. It carries its length, its
    // number in the message, and with the last packet the status of the command.
    output logic gathered,
    input logic gathered_ready,
    output hca_spec_pkg::packet_unit_t gathered_unit,
    output logic [12:0] gathered_bytes,
    output logic [23:0] gathered_number,
    output hca_spec_pkg::completion_status_t gathered_status,

    // AXI4, incrementing bursts.
    output logic [TAG_WIDTH-1:0] memory_arid,
    output logic [63:0] memory_araddr,
    output logic [7:0] memory_arlen,
    output logic [2:0] memory_arsize,
    output logic [FUNCTION_WIDTH-1:0] memory_aruser,
    output logic memory_arvalid,
    input logic memory_arready,
    input logic [TAG_WIDTH-1:0] memory_rid,
    input logic [BEAT_BYTES*8-1:0] memory_rdata,
    input logic [1:0] memory_rresp,
    input logic memory_rlast,
    input logic memory_rvalid,
    output logic memory_rready
);
  localparam logic [7:0] LOCAL_WRITE = 8'd1 << hca_spec_pkg::ACCESS_FLAG_LOCAL_WRITE;
  if (PACKETS_ON_THE_WAY > hca_spec_pkg::REQUEST_PACKET_BUFFERS) begin : gen_check
    $error("there are no more packets on the way than buffers");
  end

  logic turns_clearing, reads_clearing, counts_clearing;
  assign clearing = turns_clearing || reads_clearing || counts_clearing;

  // Commands, and whose turn it is.
  logic turn, turn_is_first, turn_is_done, turn_is_refused, take, again, leave, leave_ready, has_failed, takes;
  logic [BUFFER_WIDTH-1:0] turn_buffer, buffer, leave_buffer;
  logic [FUNCTION_WIDTH-1:0] turn_underlying_function;
  logic [23:0] turn_queue_pair;
  hca_spec_pkg::completion_status_t turn_status;
  transmit_pkg::plan_t turn_plan;
  assign takes = execution && execution_ready;
  command_turns #(
      .ENTRIES(ENTRIES),
      .LISTS(LISTS),
      .BUFFERS(BUFFERS)
  ) i_turns (
      .clearing(turns_clearing),
      .execution_buffer(execution_physical_collect_buffer),
      .again_buffer(buffer),
      .local_done_buffer(local_done_physical_collect_buffer),
      .*
  );
  list_memory #(
      .WIDTH(FUNCTION_WIDTH + 24 + 8 + $bits(turn_plan)),
      .SIZE (BUFFERS)
  ) i_plans (
      .write(takes),
      .write_address(execution_physical_collect_buffer),
      .write_data({execution_underlying_function, execution_queue_pair, execution_status, execution_plan}),
      .read_address(turn_buffer),
      .read_data({turn_underlying_function, turn_queue_pair, turn_status, turn_plan}),
      .*
  );

  // The next packet.
  logic is_full, ends, has_room, describe, is_last, is_end, is_abandoned, inline_write, request_is_direct, request_last;
  logic [PACKET_WIDTH-1:0] packet;
  logic [BUFFER_WIDTH-1:0] ends_buffer;
  logic [FUNCTION_WIDTH-1:0] underlying_function;
  logic [23:0] queue_pair, number;
  logic [12:0] bytes;
  logic [PLACE_WIDTH-1:0] inline_place;
  logic [BEAT_BYTES*8-1:0] inline_data;
  hca_spec_pkg::completion_status_t status;
  always_ff @(posedge clock) has_room <= 32'(packets_free) > hca_spec_pkg::REQUEST_PACKET_BUFFERS - PACKETS_ON_THE_WAY;
  packet_turn #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(BUFFERS),
      .PACKETS(PACKETS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH)
  ) i_packet (
      .may_allocate(has_free && has_room),
      .*
  );
  assign pcb_read_buffer = buffer;
  assign local_operation_physical_collect_buffer = buffer;
  assign local_operation_underlying_function = underlying_function;
  assign local_operation_queue_pair = queue_pair;
  assign local_operation_protection_domain = request_protection_domain;
  assign request_underlying_function = underlying_function;
  assign request_queue_pair = queue_pair;
  assign request_rights = request_is_check ? LOCAL_WRITE : '0;
  assign request_user = {packet, request_is_direct, request_last};

  packets_of_commands #(
      .BUFFERS(BUFFERS),
      .MOST(PACKETS_OF_COMMAND)
  ) i_counts (
      .clearing(counts_clearing),
      .begins(describe),
      .*
  );

  // Reads of the accesses.
  logic burst_is_direct, burst_is_end, over, over_ready, over_is_access, over_is_packet, over_epoch, over_refused, over_unread;
  logic [PACKET_WIDTH-1:0] burst_packet, over_packet;
  logic [47:0] over_address;
  assign {burst_packet, burst_is_direct, burst_is_end} = burst_user;
  payload_reads #(
      .BEAT_BYTES(BEAT_BYTES),
      .PACKETS(PACKETS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .TAGS(TAGS),
      .MOST_BYTES(MOST_BYTES)
  ) i_reads (
      .clearing(reads_clearing),
      .inline_packet(packet),
      .*
  );
  gathered_packets #(
      .BUFFERS(BUFFERS),
      .PACKETS(PACKETS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH)
  ) i_gathered (
      .*
  );
endmodule
