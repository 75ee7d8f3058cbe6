// Chooses the next access of descriptor_fetch, and asks for the context of its queue pair. One access is ready ahead of the one that is decided; it
// asks when no access to the same queue pair is being decided.
module descriptor_accesses #(
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,
    parameter int unsigned QUEUES = 512,
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned QUEUE_WIDTH = $clog2(QUEUES)
) (
    input logic clock,
    input logic reset,
    input logic enabled,

    // A read of host memory has been answered; what waits for it is there a clock after its queue is shown.
    input logic returned,
    input logic [QUEUE_WIDTH-1:0] returned_queue,
    input logic returned_failed,
    input logic returned_unmapped,
    output logic returned_taken,
    output logic [QUEUE_WIDTH-1:0] work_queue,
    input descriptor_fetch_pkg::work_t work,

    // A command.
    input logic command,
    input logic [NUMBER_WIDTH-1:0] command_number,
    input logic [3:0] command_underlying_function,
    input logic command_tried,  // It has been decided, and may have to try again.

    // Accesses that were put off: a question that has its turn at a shared queue, or a doorbell.
    input logic again,
    input logic again_is_doorbell,
    input logic [CONTEXT_WIDTH-1:0] again_context,
    output logic again_taken,
    output logic [CONTEXT_WIDTH-1:0] look_context,
    input logic [35:0] waiting,  // A clock later: shared queue, function and number of its question,
    input logic [43:0] rung,  // or tail, function and number of its doorbell.

    input logic doorbell,
    input logic [3:0] doorbell_underlying_function,
    input hca_spec_pkg::underlying_function_receive_doorbell_t doorbell_value,
    output logic doorbell_taken,
    input logic wanted,
    input logic [NUMBER_WIDTH+3:0] wanted_unit,
    output logic wanted_taken,

    output logic read,
    input logic read_ready,
    output logic [NUMBER_WIDTH-1:0] read_number,
    input logic answer,
    input logic answer_found,
    input hca_spec_pkg::queue_pair_control_t answer_control,
    input hca_spec_pkg::queue_pair_responder_t answer_responder,

    // The access that is being decided, and the next one.
    input logic is_deciding,
    input logic [CONTEXT_WIDTH-1:0] deciding_context,
    output logic ready,
    output descriptor_fetch_pkg::access_t access,
    output logic found,
    output hca_spec_pkg::queue_pair_control_t control,
    output hca_spec_pkg::queue_pair_responder_t responder,
    input logic taken
);
  typedef enum logic [2:0] {
    FRONT_IDLE,
    FRONT_LOOK,
    FRONT_FILL,
    FRONT_ASK,
    FRONT_WAIT,
    FRONT_READY
  } state_t;
  state_t state;
  logic was_command, is_trying, was_doorbell, is_returned, is_doorbell_again, is_apart, has_context, unused_bits;
  assign unused_bits = &{1'b0, doorbell_value};
  logic offers_command, chooses;
  assign chooses = state == FRONT_IDLE && enabled;
  assign offers_command = command && !was_command && !is_trying;
  assign returned_taken = chooses && returned;
  assign again_taken = chooses && !returned && !offers_command && again;
  assign doorbell_taken = chooses && !returned && !offers_command && !again && doorbell && !(wanted && was_doorbell);
  assign wanted_taken = chooses && !returned && !offers_command && !again && wanted && !(doorbell && !was_doorbell);
  assign read_number = access.number;
  assign ready = state == FRONT_READY;
  assign read = state == FRONT_ASK && is_apart;
  assign has_context = !(access.kind == descriptor_fetch_pkg::ACCESS_CONTROL || access.kind == descriptor_fetch_pkg::ACCESS_LIMIT
      || access.kind == descriptor_fetch_pkg::ACCESS_DOORBELL && access.is_shared);

  always_ff @(posedge clock) begin
    // An access that is being decided is known here a clock later; until then this one has not asked.
    is_apart <= state == FRONT_ASK && !(is_deciding && deciding_context == access.number[CONTEXT_WIDTH-1:0]) && !(read && read_ready);
    if (reset) begin
      state <= FRONT_IDLE;
      was_command <= 1'b0;
      is_trying <= 1'b0;
      was_doorbell <= 1'b0;
    end else begin
      if (chooses && !returned && offers_command) is_trying <= 1'b1;
      else if (command_tried) is_trying <= 1'b0;
      case (state)
        FRONT_IDLE:
        if (chooses) begin
          if (returned || !offers_command && again) state <= FRONT_LOOK;
          else if (offers_command || doorbell_taken || wanted_taken) state <= FRONT_ASK;
          // A command that has to wait tries again after each other access, or when there is none.
          if (returned || again_taken || doorbell_taken || wanted_taken || !command) was_command <= 1'b0;
          else was_command <= !was_command;
          if (doorbell_taken || wanted_taken) was_doorbell <= doorbell_taken;
        end
        FRONT_LOOK: state <= FRONT_FILL;
        FRONT_FILL: state <= FRONT_ASK;
        FRONT_ASK: begin
          if (!has_context) state <= FRONT_READY;
          else if (read && read_ready) state <= FRONT_WAIT;
        end
        FRONT_WAIT: if (answer) state <= FRONT_READY;
        default: if (taken) state <= FRONT_IDLE;
      endcase
    end
    if (chooses) begin
      is_returned <= returned;
      is_doorbell_again <= again_is_doorbell;
      work_queue <= returned_queue;
      look_context <= again_context;
      access <= '0;
      access.failed <= returned && returned_failed;
      access.unmapped <= returned && returned_unmapped;
      if (!returned && offers_command) begin
        access.kind <= descriptor_fetch_pkg::ACCESS_CONTROL;
        access.is_shared <= 1'b1;
        access.number <= command_number;
        access.underlying_function <= command_underlying_function;
      end else if (doorbell_taken) begin
        access.kind <= descriptor_fetch_pkg::ACCESS_DOORBELL;
        access.is_shared <= doorbell_value.shared;
        access.number <= doorbell_value.queue_;
        access.underlying_function <= doorbell_underlying_function;
        access.tail <= doorbell_value.tail;
      end else if (wanted_taken) begin
        access.kind <= descriptor_fetch_pkg::ACCESS_QUESTION;
        {access.underlying_function, access.number} <= wanted_unit;
      end
    end
    if (state == FRONT_FILL) begin
      if (is_returned) begin
        access.kind <= work.kind;
        access.is_shared <= work_queue[QUEUE_WIDTH-1];
        access.index <= 8'(work_queue[QUEUE_WIDTH-2:0]);
        access.underlying_function <= work.underlying_function;
        access.number <= work.number;
        access.tail <= work.tail;
        access.count <= work.count;
      end else if (is_doorbell_again) begin
        access.kind <= descriptor_fetch_pkg::ACCESS_DOORBELL;
        {access.tail, access.underlying_function, access.number} <= rung;
      end else begin
        access.kind <= descriptor_fetch_pkg::ACCESS_QUESTION;
        access.is_shared <= 1'b1;
        access.is_resumed <= 1'b1;
        {access.index, access.underlying_function, access.number} <= waiting;
      end
    end
    if (state == FRONT_ASK) found <= 1'b0;
    if (state == FRONT_WAIT && answer) begin
      found <= answer_found && answer_control.underlying_function == 8'(access.underlying_function);
      control <= answer_control;
      responder <= answer_responder;
    end
  end
endmodule
