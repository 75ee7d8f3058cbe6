// The plan by which a command executes: the device model's Execution. queue_pair_fetch makes it when the command starts; dma and packet_builder read
// the plan of a PCB. dma keeps its own progress within the message.
package execution_plan_pkg;

  typedef struct packed {
    logic [383:0] destination;  // hca_spec_pkg::address_vector_t, of a datagram.
    logic [63:0] begun;  // Clock ticks, for the kick record; 0: the function's records are off.
    logic [6:0] retry_epoch;  // Of the queue pair when the command started.
    logic [23:0] next_packet;  // Of the message, the first to be sent.
    logic [23:0] first_psn;  // Of the message.
    logic [23:0] packets;  // PSNs that it takes: of a READ those of its responses. 0: it is not sent.
    logic [31:0] message_length;  // Bytes, 0 to 2^31.
  } execution_plan_t;
  localparam int unsigned EXECUTION_PLAN_WIDTH = 559;

endpackage
