// The OpCode of a request packet, from the command's operation and the packet's position in its message. The service must have the operation
// (InfiniBand volume 1, 9.2.1). The high bits of an OpCode are those of its service, and the low bits are the same for each service.
module request_opcode (
    input hca_spec_pkg::service_type_t service,
    input logic [7:0] opcode,  // opcode_t
    input logic first,
    input logic last,
    output logic [7:0] packet_opcode  // packet_opcode_t
);
  localparam int unsigned OPERATION_BITS = 5;
  logic [7:0] of_service, operation;
  logic [2:0] unused_low;
  assign unused_low = operation[7:OPERATION_BITS];
  logic [OPERATION_BITS-1:0] unused_operation;
  assign unused_operation = of_service[OPERATION_BITS-1:0];
  always_comb begin
    case (service)
      hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_CONNECTION: of_service = hca_spec_pkg::PACKET_OPCODE_UNRELIABLE_CONNECTION_SEND_FIRST;
      hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_DATAGRAM: of_service = hca_spec_pkg::PACKET_OPCODE_UNRELIABLE_DATAGRAM_SEND_ONLY;
      default: of_service = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_FIRST;
    endcase
    case (opcode)
      hca_spec_pkg::OPCODE_RDMA_READ: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_READ_REQUEST;
      hca_spec_pkg::OPCODE_ATOMIC_COMPARE_AND_SWAP: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_COMPARE_AND_SWAP;
      hca_spec_pkg::OPCODE_ATOMIC_FETCH_AND_ADD: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_FETCH_AND_ADD;
      hca_spec_pkg::OPCODE_RDMA_WRITE, hca_spec_pkg::OPCODE_RDMA_WRITE_WITH_IMMEDIATE:
      case ({
        first, last, opcode == hca_spec_pkg::OPCODE_RDMA_WRITE_WITH_IMMEDIATE
      })
        3'b100, 3'b101: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_FIRST;
        3'b010: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_LAST;
        3'b011: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_LAST_WITH_IMMEDIATE;
        3'b110: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_ONLY;
        3'b111: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_ONLY_WITH_IMMEDIATE;
        default: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_MIDDLE;
      endcase
      default:
      case ({
        first, last, opcode == hca_spec_pkg::OPCODE_SEND_WITH_IMMEDIATE, opcode == hca_spec_pkg::OPCODE_SEND_WITH_INVALIDATE
      })
        4'b1000, 4'b1010, 4'b1001: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_FIRST;
        4'b0100: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_LAST;
        4'b0110: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_LAST_WITH_IMMEDIATE;
        4'b0101: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_LAST_WITH_INVALIDATE;
        4'b1100: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_ONLY;
        4'b1110: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_ONLY_WITH_IMMEDIATE;
        4'b1101: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_ONLY_WITH_INVALIDATE;
        default: operation = hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_MIDDLE;
      endcase
    endcase
    packet_opcode = {of_service[7:OPERATION_BITS], operation[OPERATION_BITS-1:0]};
  end
endmodule
