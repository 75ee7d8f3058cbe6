// Types that the parts of a hardware linked list queue share, and the results of its commands, as in native/hca.
package linked_list_queue_pkg;

  // Results of commands.
  typedef enum logic [3:0] {
    LINKED_LIST_RESULT_OK = 4'd0,
    LINKED_LIST_RESULT_FULL = 4'd1,  // No entry is free: the producer pushed without an inbound credit.
    LINKED_LIST_RESULT_NO_ENTRY_CREDIT = 4'd2,  // The function has no credit of its own and may take no shared one.
    LINKED_LIST_RESULT_NO_LIST_IDENTIFIER = 4'd3,  // The index has no list, and none is free for it.
    LINKED_LIST_RESULT_LIST_FULL = 4'd4,  // The list is at its maximum.
    LINKED_LIST_RESULT_CLOSED = 4'd5,  // The list is being reclaimed.
    LINKED_LIST_RESULT_UNKNOWN_LIST = 4'd6,  // No index has this list identifier.
    LINKED_LIST_RESULT_EMPTY = 4'd7,  // The list has no (further) data unit.
    LINKED_LIST_RESULT_NOT_READY = 4'd8,  // The data unit at the head is not ready.
    LINKED_LIST_RESULT_CORRUPTED = 4'd9,  // The data unit has an uncorrectable bit error.
    LINKED_LIST_RESULT_READY = 4'd10  // The data unit at the head is ready, so that discard_not_ready leaves it.
  } linked_list_result_t;

  // Commands to a list.
  typedef enum logic [2:0] {
    LINKED_LIST_COMMAND_POP = 3'd0,  // Remove the data unit at the head, which must be ready.
    LINKED_LIST_COMMAND_DISCARD = 3'd1,  // Remove it, ready or not.
    LINKED_LIST_COMMAND_DISCARD_NOT_READY = 3'd2,  // Remove it if it is not ready.
    LINKED_LIST_COMMAND_PEEK = 3'd3,  // Read the next data unit that was not peeked at yet.
    LINKED_LIST_COMMAND_RESET_PEEK_POINTER = 3'd4,  // Peeking begins at the head again.
    LINKED_LIST_COMMAND_RECLAIM = 3'd5,  // Close the list; it is then emptied, and opens again.
    LINKED_LIST_COMMAND_RECLAIM_STEP = 3'd6  // Within the queue: remove the data unit at the head of a closed list.
  } linked_list_command_t;

  // The source of an entry credit, to which it returns.
  typedef enum logic [1:0] {
    CREDIT_SOURCE_NONE = 2'd0,
    CREDIT_SOURCE_OWN = 2'd1,
    CREDIT_SOURCE_SHARED = 2'd2
  } credit_source_t;

  // The status of a word that was read from memory, from good to bad.
  typedef enum logic [1:0] {
    SECDED_STATUS_CLEAN = 2'd0,
    SECDED_STATUS_CORRECTED = 2'd1,
    SECDED_STATUS_UNCORRECTABLE = 2'd2
  } secded_status_t;

  typedef struct packed {
    logic [31:0] detected_bit_errors;  // Entries found uncorrectable.
    logic [31:0] corrected_bit_errors;  // By a read or the scrubber.
    logic [31:0] dropped_corrupted;  // Data units popped or reclaimed that could not be read.
    logic [31:0] dropped_closed;
    logic [31:0] dropped_list_full;
    logic [31:0] dropped_no_list_identifier;
    logic [31:0] dropped_no_entry_credit;
    logic [31:0] dropped_full;
    logic [31:0] reclaimed;
    logic [31:0] popped;
    logic [31:0] pushed;
  } linked_list_queue_counters_t;

endpackage
