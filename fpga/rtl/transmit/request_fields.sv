// The fields of a request packet, from its command and the plan of the command's execution. The inputs are right while
// `changes`, two clocks at least; then the fields stay.
module request_fields (
    input logic clock,
    input logic changes,

    input hca_spec_pkg::service_type_t service,
    input hca_spec_pkg::path_mtu_t path_mtu,
    input logic [31:0] own_queue_key,  // Of the queue pair.
    input hca_spec_pkg::command_header_t header,
    input execution_plan_pkg::execution_plan_t plan,
    input logic [23:0] number,  // Of the packet.
    input logic last,

    output logic [7:0] opcode,
    output logic solicited_event,
    output logic acknowledge_request,
    output logic [23:0] packet_sequence_number,
    output logic [23:0] built_psn,  // Behind the packet; for a READ behind its responses.
    output logic [63:0] virtual_address,
    output logic [31:0] remote_key,
    output logic [31:0] dma_length,
    output logic [63:0] swap_add,
    output logic [63:0] compare,
    output logic [31:0] immediate_data,
    output logic [31:0] queue_key
);
  localparam int unsigned CONTROLLED = 31;  // This bit of a Q_Key asks for the queue pair's own (InfiniBand volume 1, 10.2.5).
  localparam int unsigned OFFSET_WIDTH = 36;  // Of the payload in the message, in bytes.
  logic [7:0] packet_opcode;
  logic [OFFSET_WIDTH-1:0] offset;
  logic [23:0] built;
  logic is_swap, unused_bits;
  assign unused_bits = &{1'b0, header, plan};
  request_opcode i_opcode (
      .opcode(header.opcode),
      .first(number == '0),
      .*
  );
  assign is_swap = header.opcode == hca_spec_pkg::OPCODE_ATOMIC_COMPARE_AND_SWAP;

  // 1: the offset, and the packets up to here. 2: sums.
  always_ff @(posedge clock)
    if (changes) begin
      offset <= OFFSET_WIDTH'({number, 7'd0}) << path_mtu;
      built <= hca_spec_pkg::OPCODES_RETURNED[header.opcode] ? plan.packets : number + 24'd1;
      opcode <= packet_opcode;
      solicited_event <= last && header.solicited;
      acknowledge_request <= last && service == hca_spec_pkg::SERVICE_TYPE_RELIABLE_CONNECTION;
      packet_sequence_number <= plan.first_psn + number;
      built_psn <= plan.first_psn + built;
      // A resumed READ requests the rest.
      virtual_address <= header.remote_address + 64'(offset);
      dma_length <= plan.message_length - offset[31:0];
      remote_key <= header.opcode == hca_spec_pkg::OPCODE_SEND_WITH_INVALIDATE ? header.immediate_data : header.remote_key;
      swap_add <= is_swap ? header.swap : header.compare_add;
      compare <= is_swap ? header.compare_add : '0;
      // The bytes on the wire are those of the command.
      immediate_data <= {header.immediate_data[7:0], header.immediate_data[15:8], header.immediate_data[23:16], header.immediate_data[31:24]};
      queue_key <= header.queue_key[CONTROLLED] ? own_queue_key : header.queue_key;
    end
endmodule
