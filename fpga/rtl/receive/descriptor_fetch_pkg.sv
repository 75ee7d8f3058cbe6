// Units within descriptor_fetch. Enums and structures of other packages are plain bits here, because Yosys 0.23 does not find their members' types.
package descriptor_fetch_pkg;
  typedef enum logic [2:0] {
    ACCESS_QUESTION = 3'd0,  // A queue pair needs its next receive work request.
    ACCESS_TAIL = 3'd1,  // The host's tail was read for a question.
    ACCESS_REFERENCES = 3'd2,  // References were read for a question.
    ACCESS_LIMIT = 3'd3,  // The host's tail was read for the limit of a shared queue.
    ACCESS_DOORBELL = 3'd4,
    ACCESS_CONTROL = 3'd5
  } access_kind_t;

  // An access to a queue: of a queue pair, or a shared one.
  typedef struct packed {
    logic [2:0] kind;  // An access_kind_t.
    logic is_shared;  // Of a doorbell or command: it names a shared queue. Of all others behind the first: the queue is a shared one.
    logic is_resumed;  // A question that has waited for its turn at a shared queue.
    logic failed;  // The host's memory could not be read,
    logic unmapped;  // because its page has no address.
    logic [7:0] index;  // Of a question's shared queue, when it is known.
    logic [3:0] underlying_function;
    logic [23:0] number;  // Of the queue pair; of a doorbell, command or limit: of the queue.
    logic [15:0] tail;  // Of a doorbell; otherwise the tail by which the references were read.
    logic [3:0] count;  // References that were read.
  } access_t;

  // A shared receive queue.
  typedef struct packed {
    logic valid;
    logic [7:0] generation;
    logic [3:0] underlying_function;
    logic [4:0] queue_log2;
    logic [31:0] queue_pages;
    logic [31:0] entry_bytes;
    logic [63:0] tail_address;
    logic [15:0] head;
    logic [15:0] tail;
    logic [3:0] prefetched;
    logic [15:0] limit;  // 0: none.
    logic [7:0] failure;  // A refusal_t.
    logic at_work;  // A question or a limit waits for host memory, or a question has the next turn.
    logic is_between;  // Nothing is read: a question has the next turn.
    logic looks;  // The limit was set while the queue was at work: it is to be checked.
    logic has_waiting;  // Questions wait for their turn, in a list of queue pairs.
    logic [7:0] first;
    logic [7:0] last;
  } row_t;

  // A command of the control port.
  typedef struct packed {
    logic creates;
    logic resizes;
    logic arms;
    logic destroys;
    logic [4:0] queue_log2;
    logic [31:0] queue_pages;
    logic [31:0] entry_bytes;
    logic [63:0] tail_address;
    logic [15:0] limit;
  } command_t;

  // A read of host memory: of a tail, or of references by the page table of their queue.
  typedef struct packed {
    logic is_table;
    logic [3:0] underlying_function;
    logic [63:0] address;  // Of a tail; otherwise page table (32 bits) and page.
    logic [8:0] place;  // First reference, in its page.
    logic [3:0] count;
  } read_t;

  // The access that waits until a read is answered.
  typedef struct packed {
    logic [2:0] kind;  // Of the access that follows.
    logic [3:0] underlying_function;
    logic [23:0] number;
    logic [15:0] tail;
    logic [3:0] count;
  } work_t;

  // The numbers of a queue, from its row or its queue pair's context.
  typedef struct packed {
    logic [4:0] queue_log2;
    logic [31:0] queue_pages;
    logic [31:0] entry_bytes;
    logic [63:0] tail_address;
    logic [15:0] head;
    logic [15:0] tail;
    logic [3:0] prefetched;
    logic [15:0] limit;
  } numbers_t;

  // The decision on an access.
  typedef struct packed {
    logic answers;  // The question; taken or not.
    logic taken;
    logic appends;  // The question waits for its turn at the shared queue.
    logic is_deferred;  // The doorbell waits until the queue pair's question is answered.
    logic rings;  // receive is told of the doorbell.
    logic is_unknown;  // There is no such queue.
    logic retries;  // The command waits until nothing is read for the queue.
    logic commanded;  // The command is done,
    logic [1:0] command_result;  // or not: 0: done, 1: no such queue, 2: it has failed.
    logic reads_tail;
    logic reads_references;
    logic reads_limit;
    logic ends_work;
    logic resumes;
    logic faults;
    logic fails_queue;  // The shared queue.
    logic fails_pair;
    logic reaches_limit;
    logic [7:0] refusal;
    logic writes_context;
    logic writes_row;
    logic [15:0] head;
    logic [15:0] tail;
    logic [3:0] prefetched;
    logic [3:0] count;
    logic [15:0] left;  // Work requests left, of a limit that is reached.
  } decision_t;
endpackage
