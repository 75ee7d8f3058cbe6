// Types of the blocks that transmit.
package transmit_pkg;
  // The part of a command that dma needs beside its kick_unit: fields of the device model's Execution and of the command's header. queue_pair_fetch
  // knows them when it starts the command. The number of packets follows from the length and the path MTU.
  typedef struct packed {
    logic [31:0] message_length;  // Bytes of the inline data or of the list, 0 to 2^31.
    logic [6:0] retry_epoch;  // Of its queue pair when it was started.
    logic [7:0] opcode;  // opcode_t
    logic is_inline;
    logic [4:0] gather_count;  // Entries of the list, 16 at most.
  } plan_t;

  // How dma treats a packet.
  typedef enum logic [2:0] {
    WORK_END = 3'd0,  // The command goes no further.
    WORK_LOCAL = 3'd1,  // A bind or local invalidate.
    WORK_CHECK = 3'd2,  // A request whose response must find its memory.
    WORK_INLINE = 3'd3,
    WORK_GATHER = 3'd4
  } work_t;

  // A packet that dma has gathered, or the end of a command without one, as packet_builder holds it. It belongs to the queue pair of its list.
  typedef struct packed {
    logic has_packet;
    logic last;  // Of its command.
    logic [3:0] underlying_function;
    logic [7:0] physical_collect_buffer;
    logic [7:0] packet;  // Its buffer in packet memory.
    logic [12:0] bytes;  // Of the payload.
    logic [23:0] number;  // In its message.
    logic [4:0] status;  // completion_status_t of the command, with the last packet.
  } gathered_packet_t;
endpackage
