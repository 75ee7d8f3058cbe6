// Builds request packets, as PacketBuilder of the device model: adds headers, PSN and ICRC to the payloads that dma has gathered, and ends commands. With
// its last packet a command becomes a message that completion tracks, and releases PCB and execution credit. The packets of a queue pair leave in order;
// queue pairs take turns.
//
// A packet's turn: the block reads context, plan and command header at the same time, makes template and fields, writes built_psn, ends the command if the
// packet is its last one, and hands the packet to packet_headers. The bytes of earlier packets leave meanwhile.
module packet_builder #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    // Maximum packets that wait: those in packet memory, and a failed command for each execution credit.
    parameter int unsigned ENTRIES = hca_spec_pkg::REQUEST_PACKET_BUFFERS
        + hca_spec_pkg::TRANSMIT_VIRTUAL_LANES * hca_spec_pkg::EXECUTION_CREDITS_PER_LANE + hca_spec_pkg::SHARED_EXECUTION_CREDITS,
    parameter int unsigned LISTS = 256,  // A power of two.
    // Number of PCBs.
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    // Buffers in packet memory.
    parameter int unsigned PACKETS = hca_spec_pkg::REQUEST_PACKET_BUFFERS + hca_spec_pkg::RESPONSE_PACKET_BUFFERS,
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    localparam int unsigned ENTRY_WIDTH = $clog2(ENTRIES),
    localparam int unsigned BUFFER_WIDTH = $clog2(BUFFERS),
    localparam int unsigned PACKET_WIDTH = $clog2(PACKETS),
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES),
    localparam int unsigned PLACE_WIDTH = $clog2(hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES),
    localparam int unsigned PORT_WIDTH = $clog2(hca_spec_pkg::PORTS),
    localparam int unsigned INDEX_WIDTH = $clog2(hca_spec_pkg::GID_TABLE_ENTRIES)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset; the block accepts nothing.
    input logic is_infiniband,  // The link layer of the ports; otherwise Ethernet. Does not change after the reset.
    input logic [15:0] udp_source_port,  // From which the link sends; 0: any. Does not change after the reset.

    // A command that dma has taken from queue_pair_fetch, in the clock in which it took it.
    input logic execution,
    input hca_spec_pkg::kick_unit_t execution_unit,

    // A packet of dma, or the end of a command without one.
    input logic gathered,
    output logic gathered_ready,
    input hca_spec_pkg::packet_unit_t gathered_unit,
    input logic [12:0] gathered_bytes,
    input logic [23:0] gathered_number,
    input hca_spec_pkg::completion_status_t gathered_status,

    // The plan of a PCB's command, in the next clock.
    output logic [BUFFER_WIDTH-1:0] plan_physical_collect_buffer,
    input logic [execution_plan_pkg::EXECUTION_PLAN_WIDTH-1:0] plan_of_command,  // execution_plan_t

    // A beat of a PCB, in the clock after an accepted read.
    output logic pcb_read,
    input logic pcb_read_ready,
    output logic [BUFFER_WIDTH-1:0] pcb_read_buffer,
    output logic [BEATS_WIDTH-1:0] pcb_read_beat,
    input logic [BEAT_BYTES*8-1:0] pcb_read_data,

    // A reader and a writer of queue_pair_contexts. The block reads one context at a time.
    output logic context_read,
    input logic context_read_ready,
    output logic [23:0] context_read_number,
    input logic context_answer,
    input logic context_found,
    input hca_spec_pkg::queue_pair_control_t context_control,
    input hca_spec_pkg::queue_pair_requester_t context_requester,
    output logic builder_write,
    output logic [23:0] builder_number,
    output hca_spec_pkg::queue_pair_requester_t builder_requester,

    // A queue pair retries: built_psn goes back to this PSN (queue_pair_fetch).
    input logic rewind,
    output logic rewind_ready,
    input logic [23:0] rewind_number,
    input logic [23:0] rewind_psn,

    // Packet memory: a beat, three clocks after an accepted read; and buffers that come back.
    output logic packet_read,
    input logic packet_read_ready,
    output logic [PACKET_WIDTH-1:0] packet_read_packet,
    output logic [PLACE_WIDTH-1:0] packet_read_place,
    input logic [BEAT_BYTES*8-1:0] packet_read_data,
    output logic give_back,
    input logic give_back_ready,
    output logic [PACKET_WIDTH-1:0] give_back_packet,

    // The end of a command: PCB, execution credit, kick record, and the message that completion tracks.
    output logic release_buffer,
    output logic [BUFFER_WIDTH-1:0] release_physical_collect_buffer,
    output logic finish_sent,
    input logic finish_sent_ready,
    output hca_spec_pkg::finish_unit_t finish_sent_unit,
    output logic record,
    input logic record_ready,
    output hca_spec_pkg::kick_unit_t record_unit,
    output hca_spec_pkg::opcode_t record_opcode,
    output logic [63:0] record_begin,
    output logic message,
    input logic message_ready,
    output hca_spec_pkg::message_unit_t message_unit,
    output logic counted_sent,  // A command of a function, without a failure.
    output logic counted_failed,
    output logic [3:0] counted_underlying_function,

    // Packets, from the first link byte to the ICRC, AXI4-Stream, with the port from which each leaves, from 1.
    output logic whole_tvalid,
    input logic whole_tready,
    output logic [BEAT_BYTES*8-1:0] whole_tdata,
    output logic [BEAT_BYTES-1:0] whole_tkeep,
    output logic whole_tlast,
    output logic [7:0] whole_tuser,

    // The control port writes source addresses, as in port_attributes.
    input logic gid_write,
    input logic mac_write,
    input logic identifier_write,
    input logic key_write,
    input logic [PORT_WIDTH-1:0] write_port,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [INDEX_WIDTH-1:0] write_index,
    input logic [127:0] write_data,

    // The scrubber of the lists, and a bit that is flipped for a test of them; held until done.
    input logic scrub,
    input logic inject_error,
    input logic [ENTRY_WIDTH-1:0] inject_error_entry,
    input logic [6:0] inject_error_bit,
    output logic error_injected,
    output logic packet_corrupted  // A packet was lost to an uncorrectable bit error. Its command is flushed.
);
  localparam logic [15:0] NO_PACKET = 16'hffff;
  localparam int unsigned KICK_BITS = hca_spec_pkg::KICK_UNIT_BYTES * 8;
  localparam int unsigned PORTS_WAITING = 64;  // Packets behind this point that have not left.
  typedef enum logic [2:0] {
    STATE_REST = 3'd0,
    STATE_READS = 3'd1,
    STATE_FOUND = 3'd2,
    STATE_MAKES = 3'd3,
    STATE_BUILT = 3'd4,
    STATE_ENDS = 3'd5,
    STATE_SENDS = 3'd6
  } state_t;
  if (BUFFERS > 256 || PACKETS > 256) begin : gen_check
    $error("a PCB and a packet buffer have numbers of 8 bits");
  end

  // Packets that wait.
  logic turn, take, turn_is_corrupted, lists_clearing, attributes_clearing;
  logic [23:0] turn_queue_pair;
  transmit_pkg::gathered_packet_t turn_unit, gathered_packet;
  assign clearing = lists_clearing || attributes_clearing;
  assign gathered_packet = {
    gathered_unit.packet != NO_PACKET,
    gathered_unit.last,
    gathered_unit.underlying_function,
    gathered_unit.physical_collect_buffer,
    gathered_unit.packet[7:0],
    gathered_bytes,
    gathered_number,
    gathered_status[4:0]
  };
  waiting_packets #(
      .ENTRIES(ENTRIES),
      .LISTS  (LISTS)
  ) i_waiting (
      .clearing(lists_clearing),
      .packet(gathered),
      .packet_ready(gathered_ready),
      .packet_queue_pair(gathered_unit.queue_pair_number),
      .packet_unit(gathered_packet),
      .*
  );

  // The packet whose turn it is.
  state_t state;
  logic [23:0] queue_pair;
  transmit_pkg::gathered_packet_t unit;
  logic is_corrupted, has_context, is_found, is_sent, starts, made, ended, payloads_ready, headers_ready, may_send, ports_ready, sends, has_header;
  logic is_current, is_datagram;
  logic [7:0] status;  // completion_status_t
  hca_spec_pkg::command_header_t header;
  execution_plan_pkg::execution_plan_t plan;
  hca_spec_pkg::kick_unit_t kick;
  hca_spec_pkg::service_type_t service;
  hca_spec_pkg::path_mtu_t path_mtu;
  hca_spec_pkg::address_vector_t destination;
  logic [31:0] own_queue_key;
  logic [15:0] partition_key_index;
  logic [7:0] port;
  logic [6:0] retry_epoch;
  logic [23:0] source_queue_pair, destination_queue_pair;
  assign plan = plan_of_command;
  assign rewind_ready = state == STATE_REST;
  assign take = turn && state == STATE_REST && !rewind;
  always_ff @(posedge clock) packet_corrupted <= !reset && take && turn_is_corrupted;
  assign is_sent = unit.has_packet && is_found && !is_corrupted;
  assign status = is_corrupted ? 8'(hca_spec_pkg::COMPLETION_STATUS_WORK_REQUEST_FLUSHED_ERROR) : {3'd0, unit.status};
  assign is_current = is_sent && retry_epoch == plan.retry_epoch;
  assign starts = state == STATE_FOUND && is_sent;
  // A packet without a buffer has nothing to send.
  assign may_send = payloads_ready && (headers_ready && ports_ready || !is_sent);
  assign sends = state == STATE_SENDS && may_send;

  always_ff @(posedge clock) begin
    if (reset) state <= STATE_REST;
    else
      case (state)
        STATE_REST: if (take) state <= STATE_READS;
        STATE_READS: if (has_context && has_header) state <= STATE_FOUND;
        STATE_FOUND: state <= is_sent ? STATE_MAKES : STATE_BUILT;
        STATE_MAKES: if (made) state <= STATE_BUILT;
        STATE_BUILT: state <= unit.last ? STATE_ENDS : STATE_SENDS;
        STATE_ENDS: if (ended) state <= unit.has_packet ? STATE_SENDS : STATE_REST;
        default: if (sends) state <= STATE_REST;
      endcase
    if (take) begin
      queue_pair <= turn_queue_pair;
      unit <= turn_unit;
      is_corrupted <= turn_is_corrupted;
    end
    context_read <= !reset && (take || context_read && !context_read_ready);
    has_context <= !reset && !take && (context_answer || has_context);
    if (context_answer) begin
      is_found <= context_found && context_control.underlying_function == 8'(unit.underlying_function);
      service <= context_control.service_type;
      path_mtu <= context_control.path_mtu;
      own_queue_key <= context_control.queue_key;
      partition_key_index <= context_control.partition_key_index;
      port <= context_control.port;
      retry_epoch <= context_requester.retry_epoch;
      is_datagram <= context_control.service_type == hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_DATAGRAM;
      source_queue_pair <= context_control.virtual_queue_pair;
      destination_queue_pair <= context_control.destination_queue_pair;
      destination <= context_control.address_vector;
    end else if (state == STATE_READS && has_context && is_datagram) begin
      source_queue_pair <= queue_pair;
      destination_queue_pair <= header.destination_queue_pair;
      destination <= plan.destination;
    end
  end
  assign context_read_number = queue_pair;
  assign plan_physical_collect_buffer = unit.physical_collect_buffer[BUFFER_WIDTH-1:0];
  assign pcb_read_buffer = unit.physical_collect_buffer[BUFFER_WIDTH-1:0];
  list_memory #(
      .WIDTH(KICK_BITS),
      .SIZE (BUFFERS)
  ) i_kicks (
      .write(execution),
      .write_address(execution_unit.physical_collect_buffer[BUFFER_WIDTH-1:0]),
      .write_data(execution_unit),
      .read_address(unit.physical_collect_buffer[BUFFER_WIDTH-1:0]),
      .read_data(kick),
      .*
  );
  command_header #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_header (
      .start(take),
      .done(has_header),
      .read(pcb_read),
      .read_ready(pcb_read_ready),
      .read_beat(pcb_read_beat),
      .read_data(pcb_read_data),
      .*
  );

  // Template and fields.
  logic [127:0] gid;
  logic [47:0] mac;
  logic [15:0] local_identifier, partition_key;
  logic starts_template;
  logic [1:0] framing;
  logic is_tagged;
  logic [639:0] template_headers;
  logic [15:0] ipv4_sum;
  always_ff @(posedge clock) starts_template <= !reset && starts;  // The source is there in the next clock.
  port_attributes #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS)
  ) i_attributes (
      .clearing(attributes_clearing),
      .port(PORT_WIDTH'(destination.port - 8'd1)),
      .underlying_function(unit.underlying_function[FUNCTION_WIDTH-1:0]),
      .gid_index(destination.gid_index[INDEX_WIDTH-1:0]),
      .key_index(partition_key_index[$clog2(hca_spec_pkg::PARTITION_KEY_TABLE_ENTRIES)-1:0]),
      .*
  );
  packet_template i_template (
      .start(starts_template),
      .source_mac(mac),
      .source_local_identifier(local_identifier),
      .source_gid(gid),
      .done(made),
      .headers(template_headers),
      .*
  );
  logic [7:0] opcode;
  logic solicited_event, acknowledge_request;
  logic [23:0] packet_sequence_number, built_psn;
  logic [63:0] virtual_address, swap_add, compare;
  logic [31:0] remote_key, dma_length, immediate_data, queue_key;
  request_fields i_fields (
      .changes(state == STATE_MAKES),
      .number(unit.number),
      .last(unit.last),
      .*
  );

  // built_psn, before the packet leaves: from then on the packet may be answered. A packet of before a retry is not asked for any more. Rewinds enter
  // between turns, so that the turn of an older packet does not overwrite them.
  always_ff @(posedge clock) begin
    builder_write <= !reset && (rewind && rewind_ready || state == STATE_BUILT && is_current);
    builder_number <= state == STATE_REST ? rewind_number : queue_pair;
    builder_requester <= '0;
    builder_requester.built_psn <= state == STATE_REST ? rewind_psn : built_psn;
  end

  message_ends #(
      .BUFFER_WIDTH(BUFFER_WIDTH)
  ) i_ends (
      .ends(state == STATE_ENDS),
      .done(ended),
      .underlying_function(unit.underlying_function),
      .opcode(header.opcode),
      .signaled(header.signaled),
      .finish(finish_sent),
      .finish_ready(finish_sent_ready),
      .finish_unit(finish_sent_unit),
      .*
  );

  // The packet.
  logic payload, payload_ready;
  logic [BEAT_BYTES*8-1:0] payload_data;
  packet_payloads #(
      .BEAT_BYTES(BEAT_BYTES),
      .PACKET_WIDTH(PACKET_WIDTH)
  ) i_payloads (
      .start(sends),
      .start_ready(payloads_ready),
      .start_packet(unit.packet[PACKET_WIDTH-1:0]),
      .start_bytes(is_sent ? unit.bytes : '0),
      .read(packet_read),
      .read_ready(packet_read_ready),
      .read_packet(packet_read_packet),
      .read_place(packet_read_place),
      .read_data(packet_read_data),
      .*
  );
  packet_headers #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_headers (
      .packet(sends && is_sent),
      .packet_ready(headers_ready),
      .packet_framing(framing),
      .packet_is_tagged(is_tagged),
      .packet_template(template_headers),
      .packet_ipv4_sum(ipv4_sum),
      .packet_opcode(opcode),
      .packet_solicited_event(solicited_event),
      .packet_acknowledge_request(acknowledge_request),
      .packet_packet_sequence_number(packet_sequence_number),
      .packet_virtual_address(virtual_address),
      .packet_remote_key(remote_key),
      .packet_dma_length(dma_length),
      .packet_swap_add(swap_add),
      .packet_compare(compare),
      .packet_original_data('0),
      .packet_message_sequence_number('0),
      .packet_syndrome('0),
      .packet_immediate_data(immediate_data),
      .packet_queue_key(queue_key),
      .packet_source_queue_pair(queue_pair),
      .packet_payload_bytes(unit.bytes),
      .*
  );
  logic has_port;
  logic [$clog2(PORTS_WAITING):0] ports;
  always_ff @(posedge clock) ports_ready <= !reset && 32'(ports) < PORTS_WAITING - 2;
  unit_queue #(
      .UNIT_WIDTH(8),
      .ENTRIES(PORTS_WAITING)
  ) i_ports (
      .push(sends && is_sent),
      .push_unit(port),
      .valid(has_port),
      .unit(whole_tuser),
      .pop(whole_tvalid && whole_tready && whole_tlast && has_port),
      .filling(ports),
      .*
  );
  logic unused_bits;
  assign unused_bits = &{1'b0, gathered_unit, gathered_status, turn_unit, unit, partition_key_index, context_control, context_requester};
endmodule
