// What the parts of a hardware linked list queue tell each other, and how its commands end; as in native/hca.
package linked_list_queue_pkg;

  // How a command ended.
  typedef enum logic [3:0] {
    LINKED_LIST_RESULT_OK = 4'd0,
    LINKED_LIST_RESULT_FULL = 4'd1,  // No entry is free: the producer pushed without an inbound credit.
    LINKED_LIST_RESULT_NO_ENTRY_CREDIT = 4'd2,  // The function has none of its own and may take no shared one.
    LINKED_LIST_RESULT_NO_LIST_IDENTIFIER = 4'd3,  // The index has no list, and none is free for it.
    LINKED_LIST_RESULT_LIST_FULL = 4'd4,  // The list is at its maximum.
    LINKED_LIST_RESULT_CLOSED = 4'd5,  // The list is being reclaimed.
    LINKED_LIST_RESULT_UNKNOWN_LIST = 4'd6,  // No index has this list identifier.
    LINKED_LIST_RESULT_EMPTY = 4'd7,  // There is no (further) data unit.
    LINKED_LIST_RESULT_NOT_READY = 4'd8,  // The data unit at the head is not ready.
    LINKED_LIST_RESULT_CORRUPTED = 4'd9  // The data unit has an uncorrectable bit error.
  } linked_list_result_t;

  // Commands of the access port.
  typedef enum logic [1:0] {
    LINKED_LIST_ACCESS_PEEK = 2'd0,  // Read the next data unit that was not peeked at yet.
    LINKED_LIST_ACCESS_RESET_PEEK_POINTER = 2'd1,  // Peeking begins at the head again.
    LINKED_LIST_ACCESS_RECLAIM = 2'd2  // Close the list; it is then emptied, and opens again.
  } linked_list_access_t;

  // Where an entry credit came from, and returns to.
  typedef enum logic [1:0] {
    CREDIT_SOURCE_NONE = 2'd0,
    CREDIT_SOURCE_OWN = 2'd1,
    CREDIT_SOURCE_SHARED = 2'd2
  } credit_source_t;

  // What a read from memory found, from good to bad.
  typedef enum logic [1:0] {
    SECDED_STATUS_CLEAN = 2'd0,
    SECDED_STATUS_CORRECTED = 2'd1,
    SECDED_STATUS_UNCORRECTABLE = 2'd2
  } secded_status_t;

  typedef struct packed {
    logic [31:0] detected_bit_errors;  // Entries found uncorrectable.
    logic [31:0] corrected_bit_errors;  // By a read or the scrubber.
    logic [31:0] dropped_corrupted;  // Popped or reclaimed, but not readable.
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
