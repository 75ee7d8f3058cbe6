// Types of the block receive and its parts; and the receive record of a request packet, which the blocks behind it read by packet.
package receive_pkg;
  // A unit that waits for its queue pair: a request packet, or a flush of the receive queue.
  typedef struct packed {
    logic is_flush;  // No packet.
    logic [3:0] underlying_function;
    logic [7:0] packet;
    logic [23:0] number;
  } unit_t;

  // A packet by its opcode. Neither send, write, read nor atomic: it is no request, or has a reserved opcode.
  typedef struct packed {
    logic is_send;
    logic is_write;
    logic is_read;
    logic is_atomic;
    logic begins;  // First or only packet of its message.
    logic ends;  // Last or only one.
    logic completes_receive;
    logic is_datagram;
  } traits_t;

  // The facts of a packet that waits.
  typedef struct packed {
    traits_t traits;
    logic is_local;  // It has no header with the addresses of a GRH.
    logic [23:0] packet_sequence_number;
    logic [63:0] virtual_address;
    logic [31:0] remote_key;
    logic [31:0] dma_length;
    logic [12:0] payload_bytes;
  } facts_t;

  // An access to the context of a queue pair.
  typedef enum logic [1:0] {
    ACCESS_BEGIN = 2'd0,  // A flush was asked for.
    ACCESS_WORK = 2'd1,  // It is a unit's turn.
    ACCESS_FETCHED = 2'd2,  // descriptor_fetch has answered. Flag: a receive work request was taken.
    ACCESS_SEARCHED = 2'd3  // The responder resources were searched. Flag: one of them allows the duplicate.
  } access_kind_t;
  typedef struct packed {
    access_kind_t kind;
    logic flag;
    unit_t unit;
  } access_t;

  typedef enum logic [3:0] {
    VERDICT_DROP = 4'd0,
    VERDICT_LOSE = 4'd1,  // Dropped, and with it the rest of its message: of an unreliable service.
    VERDICT_EXECUTE = 4'd2,
    VERDICT_REPEAT = 4'd3,  // A duplicate: it is answered again.
    VERDICT_REFUSE = 4'd4,  // A NAK.
    VERDICT_PASS = 4'd5,  // Its queue pair has failed; dma_validation flushes the entry that it took from a shared queue.
    VERDICT_WANT = 4'd6,  // It waits for a receive work request.
    VERDICT_SEARCH = 4'd7,  // It waits for a search of the responder resources.
    VERDICT_BEGIN = 4'd8,  // A flush waits for its turn.
    VERDICT_IGNORE = 4'd9,  // There is nothing to flush.
    VERDICT_END = 4'd10  // A flush has taken all posted receive work requests.
  } verdict_t;

  // An RDMA READ or atomic that was accepted.
  typedef struct packed {
    logic is_read;
    logic [23:0] packet_sequence_number;
    logic [23:0] packets;  // PSNs that it takes.
    logic [31:0] remote_key;
    logic [31:0] length;
    logic [63:0] address;
  } resource_t;

  // A duplicate READ or atomic, and how many of the newest accepted ones it may be of, behind `tail`.
  typedef struct packed {
    unit_t unit;
    logic is_read;
    logic [3:0] tail;
    logic [4:0] count;
    logic [23:0] packet_sequence_number;
    logic [23:0] packets_less_one;
    logic [31:0] remote_key;
    logic [31:0] length;
    logic [63:0] address;
  } search_t;

  localparam int unsigned RECEIVE_RECORD_WIDTH = 279;
  // The receive record, as Packet of the device model has it. Each action defines those that it needs.
  typedef struct packed {
    logic [23:0] answer_psn;  // PSN to answer with; of a READ: of its first response.
    logic [23:0] message_sequence_number;  // MSN to answer with.
    logic [7:0] syndrome;  // Refuse: of the NAK.
    logic first;  // Of its message.
    logic last;
    logic duplicate;
    logic receive_kept;  // Its receive work request was taken by an earlier message, whose end was lost.
    logic exposes_global_route;  // UD: 40 B with the addresses go before the payload.
    logic [31:0] message_offset;  // Of its payload in the message.
    logic [31:0] message_length;  // RDMA: of the whole message; SEND: 0.
    logic [63:0] remote_address;  // RDMA, atomics: where the message begins.
    logic [31:0] remote_key;  // RDMA, atomics.
    logic [15:0] receive_sequence_number;  // Receive work request that it takes, or completes.
    logic [31:0] receive_entry_offset;  // SEND: of the receive entry that it goes into, as in its descriptor.
    logic [9:0] receive_entry_length;  // SEND: of that entry.
  } receive_record_t;
endpackage
