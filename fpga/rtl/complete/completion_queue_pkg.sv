// Units within completion_queue.
package completion_queue_pkg;
  // The kinds of accesses to a queue.
  typedef enum logic [2:0] {
    ACCESS_SWEEP,  // Checks whether the moderation period has ended.
    ACCESS_WRITE,
    ACCESS_ARM,
    ACCESS_CONTROL,
    ACCESS_FAIL  // An entry could not be written.
  } access_kind_t;
  // The kinds of answers; a sweep is answered only if it raised an event.
  typedef enum logic [1:0] {
    ANSWER_SWEEP,
    ANSWER_WRITE,
    ANSWER_ARM,
    ANSWER_CONTROL
  } answer_kind_t;
  typedef enum logic [1:0] {
    ARMED_NO,
    ARMED_SOLICITED,
    ARMED_ANY
  } armed_t;

  // An access to a queue.
  typedef struct packed {
    logic [2:0] kind;  // An access_kind_t.
    logic is_again;  // Repeated after the head was read.
    logic is_unreadable;
    logic is_solicited;  // A solicited entry, or an arming for solicited entries.
    logic [6:0] arm_sequence;
    logic [31:0] head;  // The head that was read or reported; after a failure, the new tail.
    logic [23:0] number;
    logic [7:0] underlying_function;
  } access_t;

  // A command of the control port.
  typedef struct packed {
    logic creates;
    logic resizes;
    logic moderates;
    logic destroys;
    logic [23:0] number;
    logic [7:0] underlying_function;
    logic [7:0] event_queue;
    logic [3:0] entries_log2;
    logic [16:0] entries;
    logic [31:0] page_table;
    logic [63:0] head_address;
    logic [47:0] user_handle;
    logic [15:0] moderation_count;
    logic [31:0] moderation_ticks;
  } command_t;

  // A queue. The numbers of entries are free-running.
  typedef struct packed {
    logic is_live;
    logic in_error;
    logic [1:0] armed;  // An armed_t.
    logic [6:0] arm_sequence;
    logic [7:0] event_sequence;  // Arm sequence of the last event; all ones if there was none.
    logic [7:0] underlying_function;
    logic [7:0] event_queue;
    logic [3:0] entries_log2;
    logic [5:0] waiting;  // Entries that wait for the host's head.
    logic [31:0] head;  // The host's head when it was last reported or read.
    logic [31:0] tail;
    logic [31:0] solicited;  // Tail after the newest solicited entry.
    logic [15:0] awaited;  // Matching entries since the queue was armed.
    logic [15:0] moderation_count;  // 0: events are not moderated.
    logic [31:0] moderation_ticks;
    logic [31:0] deadline;  // Valid while awaited is not 0.
    logic [31:0] page_table;
    logic [63:0] head_address;
    logic [47:0] user_handle;
  } row_t;

  // The place to which an entry is written.
  typedef struct packed {
    logic [31:0] page_table;
    logic [8:0] page;
    logic [5:0] place;  // In the page, in units of 64 B.
    logic [7:0] underlying_function;
    logic [30:0] sequence_;
    logic phase;
    logic [63:0] timestamp;
  } place_t;

  // The outcome of an access, which waits until the entries before it have been written.
  typedef struct packed {
    logic [1:0] kind;  // An answer_kind_t.
    logic done;
    logic waited;
    logic is_written;  // The access writes an entry.
    logic signals;  // It raises the queue's event.
    logic fails;  // The queue fails.
    logic faults;  // The head could not be read.
    logic creates;
    logic in_error;
    logic [7:0] status;  // A management_status_t.
    logic [23:0] number;
    logic [7:0] underlying_function;
    logic [31:0] tail;  // Before the access.
    logic [7:0] event_queue;
    logic [6:0] arm_sequence;
    logic [47:0] user_handle;
    logic [47:0] head_address;
  } outcome_t;
endpackage
