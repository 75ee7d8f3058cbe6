// The facts of a packet that waits for its queue pair. The lowest five bits of an opcode mean the same in each service.
module request_facts (
    input packet_fields_pkg::packet_fields_t fields,
    input logic [12:0] payload_bytes,
    output receive_pkg::facts_t facts
);
  logic is_first, is_middle, is_last, is_write_last_with_immediate, unused_fields;
  receive_pkg::traits_t traits;
  assign unused_fields = &{1'b0, fields};
  always_comb begin
    traits = '0;
    {is_first, is_middle, is_last} = '0;
    is_write_last_with_immediate = 1'b0;
    case (fields.opcode[4:0])
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_FIRST): begin
        traits.is_send = 1'b1;
        is_first = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_MIDDLE): begin
        traits.is_send = 1'b1;
        is_middle = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_LAST),
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_LAST_WITH_IMMEDIATE),
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_LAST_WITH_INVALIDATE): begin
        traits.is_send = 1'b1;
        is_last = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_ONLY),
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_ONLY_WITH_IMMEDIATE),
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_SEND_ONLY_WITH_INVALIDATE): traits.is_send = 1'b1;
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_FIRST): begin
        traits.is_write = 1'b1;
        is_first = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_MIDDLE): begin
        traits.is_write = 1'b1;
        is_middle = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_LAST): begin
        traits.is_write = 1'b1;
        is_last = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_LAST_WITH_IMMEDIATE): begin
        traits.is_write = 1'b1;
        is_last = 1'b1;
        is_write_last_with_immediate = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_ONLY): traits.is_write = 1'b1;
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_WRITE_ONLY_WITH_IMMEDIATE): begin
        traits.is_write = 1'b1;
        is_write_last_with_immediate = 1'b1;
      end
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_RDMA_READ_REQUEST): traits.is_read = 1'b1;
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_COMPARE_AND_SWAP),
      5'(hca_spec_pkg::PACKET_OPCODE_RELIABLE_CONNECTION_FETCH_AND_ADD): traits.is_atomic = 1'b1;
      default: ;
    endcase
    traits.begins = !is_middle && !is_last;
    traits.ends = !is_first && !is_middle;
    traits.completes_receive = traits.is_send && traits.ends || is_write_last_with_immediate;
    traits.is_datagram = hca_spec_pkg::PACKET_OPCODES_WITH_DATAGRAM[fields.opcode];

    facts.traits = traits;
    facts.is_local = fields.framing == packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL;
    facts.packet_sequence_number = fields.packet_sequence_number;
    facts.virtual_address = fields.virtual_address;
    facts.remote_key = fields.remote_key;
    facts.dma_length = fields.dma_length;
    facts.payload_bytes = payload_bytes;
  end
endmodule
