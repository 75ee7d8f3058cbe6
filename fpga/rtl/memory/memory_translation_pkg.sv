// Types of memory_translation.
package memory_translation_pkg;
  // Reasons to refuse an access, in the order of the device model's AccessFault.
  typedef enum logic [2:0] {
    FAULT_NONE = 3'd0,
    FAULT_UNKNOWN_KEY = 3'd1,
    FAULT_OTHER_DOMAIN = 3'd2,
    FAULT_MISSING_RIGHT = 3'd3,
    FAULT_OUT_OF_BOUNDS = 3'd4,
    FAULT_UNREACHABLE = 3'd5
  } fault_t;

  // Commands of the control port.
  typedef enum logic [1:0] {
    CONTROL_KEY = 2'd0,  // Write the directory's row of a key.
    CONTROL_PAGES = 2'd1,  // Invalidate lines of page tables.
    CONTROL_FUNCTION = 2'd2,  // Invalidate everything of a function.
    CONTROL_ALL = 2'd3
  } control_t;

  // The fields of a memory_key_entry that an access needs.
  typedef struct packed {
    logic is_window;
    logic is_bound;
    logic is_of_queue_pair;  // A window of type 2.
    logic [7:0] access_flags;
    logic [23:0] protection_domain;
    logic [23:0] bound_queue_pair;
    logic [63:0] base;
    logic [63:0] length;
    logic [63:0] origin;  // Added to an address, it gives the byte in the memory of the page table.
    logic [5:0] page_log2;
    logic [31:0] page_table;
  } key_t;

  // An access, or its remaining part.
  typedef struct packed {
    logic [23:0] protection_domain;
    logic [31:0] key;  // For a page table: its index.
    logic [63:0] address;
    logic [31:0] length;
    logic [7:0] rights;
    logic [23:0] queue_pair;
    logic begun;
    logic is_check;
    logic is_table;
  } access_t;

  localparam int unsigned LINE_ENTRIES = 8;  // Page table entries in a line of 64 B, the unit of a read.
  localparam logic [1:0] WINDOW_TYPE_2 = 2'd2;
  localparam logic [5:0] PAGE_LOG2_LEAST = 6'd12;
endpackage
