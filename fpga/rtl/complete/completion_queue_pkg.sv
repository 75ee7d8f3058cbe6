// Units within completion_queue.
package completion_queue_pkg;
  // The kinds of accesses to a queue.
  typedef enum logic [2:0] {
    ACCESS_SWEEP,  // Is the period of its moderation over?
    ACCESS_WRITE,
    ACCESS_ARM,
    ACCESS_CONTROL,
    ACCESS_FAIL  // An entry could not be written.
  } access_kind_t;
  // The kinds of answers: to a sweep only where it raised an event.
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
    logic is_again;  // The head is read.
    logic is_unreadable;
    logic is_solicited;  // An entry, or an arming for such.
    logic [6:0] arm_sequence;
    logic [31:0] head;  // That was read or told; of what failed, the tail from now on.
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

  // A queue. Numbers of entries are free-running.
  typedef struct packed {
    logic is_live;
    logic in_error;
    logic [1:0] armed;  // An armed_t.
    logic [6:0] arm_sequence;
    logic [7:0] event_sequence;  // Arm sequence of the last event; all ones: of none.
    logic [7:0] underlying_function;
    logic [7:0] event_queue;
    logic [3:0] entries_log2;
    logic [5:0] waiting;  // Entries that wait for the host's head.
    logic [31:0] head;  // The host's, as of the last time that it was told or read.
    logic [31:0] tail;
    logic [31:0] solicited;  // Tail behind the newest entry that a solicited arming waits for.
    logic [15:0] awaited;  // Entries since it was armed that the arming waits for.
    logic [15:0] moderation_count;  // 0: events are not moderated.
    logic [31:0] moderation_ticks;
    logic [31:0] deadline;  // While entries are awaited.
    logic [31:0] page_table;
    logic [63:0] head_address;
    logic [47:0] user_handle;
  } row_t;

  // The place of an entry that is written.
  typedef struct packed {
    logic [31:0] page_table;
    logic [8:0] page;
    logic [5:0] place;  // In the page, of 64 B.
    logic [7:0] underlying_function;
    logic [30:0] sequence_;
    logic phase;
    logic [63:0] timestamp;
  } place_t;

  // The outcome of an access, which waits until the entries before it are written.
  typedef struct packed {
    logic [1:0] kind;  // An answer_kind_t.
    logic done;
    logic waited;
    logic is_written;  // An entry.
    logic signals;  // The queue's event.
    logic fails;  // The queue.
    logic faults;  // Its head could not be read.
    logic creates;
    logic in_error;
    logic [7:0] status;  // A management_status_t.
    logic [23:0] number;
    logic [7:0] underlying_function;
    logic [31:0] tail;  // Before it.
    logic [7:0] event_queue;
    logic [6:0] arm_sequence;
    logic [47:0] user_handle;
    logic [47:0] head_address;
  } outcome_t;
endpackage
