// Checks accesses to memory by key and translates them, page by page, to bursts of bus addresses. The key table and the page tables are in host
// memory, behind caches; a directory of valid keys is on chip. Accesses of a queue pair are answered in order; an access that waits for host memory
// does not delay other queue pairs. The block answers a command of the control port when no access that began before it is in flight.
module memory_translation #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // Width of host memory's answers.
    parameter int unsigned KEYS = 65536,  // Entries of the key table. A power of two, at most 2^24.
    parameter int unsigned PAGE_TABLE_ENTRIES = 1 << 21,  // Entries of all page tables together. A power of two.
    parameter int unsigned SETS = 64,  // Sets of each cache, a power of two. Each set has four ways.
    parameter int unsigned SLOTS = 16,  // Maximum accesses in the stages. A power of two, 4 to 16.
    parameter int unsigned UNITS = 64,  // Maximum unfinished accesses. A power of two, at least 8.
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned USER_WIDTH = 16,
    localparam int unsigned VARIANT_WIDTH = 32 - hca_spec_pkg::MEMORY_KEY_INDEX_BITS,
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned KEY_WIDTH = $clog2(KEYS),
    localparam int unsigned PLACE_WIDTH = $clog2(PAGE_TABLE_ENTRIES),
    localparam int unsigned LINE_WIDTH = PLACE_WIDTH - 3,
    localparam int unsigned SLOT_WIDTH = $clog2(SLOTS)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset, until no key is valid; no access enters.
    input logic [63:0] keys_address,  // Address of the key table in the memory of function 0, page-aligned.
    input logic [63:0] page_tables_address,

    // An access: to memory of a key, or to a page table (is_table), which needs no rights. is_check: check it without translation. An access of 0
    // bytes is always permitted. An access that has begun (request_begun) may continue with a quiesced key.
    input logic request,
    output logic request_ready,
    input logic [FUNCTION_WIDTH-1:0] request_underlying_function,
    input logic [NUMBER_WIDTH-1:0] request_queue_pair,
    input logic [23:0] request_protection_domain,
    input logic [31:0] request_key,  // For a page table: the index of its first entry.
    input logic [63:0] request_address,
    input logic [31:0] request_length,
    input logic [7:0] request_rights,  // A bit for each access_flag; all of them are required.
    input logic request_begun,
    input logic request_is_check,
    input logic request_is_table,
    input logic [USER_WIDTH-1:0] request_user,

    // The bursts of an access, in order. The last one reports a refused access or an unmapped page. A burst of 0 bytes only ends the access.
    output logic burst,
    input logic burst_ready,
    output logic [FUNCTION_WIDTH-1:0] burst_underlying_function,
    output logic [NUMBER_WIDTH-1:0] burst_queue_pair,
    output logic [USER_WIDTH-1:0] burst_user,
    output logic [63:0] burst_address,
    output logic [31:0] burst_bytes,
    output logic burst_last,
    output memory_translation_pkg::fault_t burst_fault,
    output logic burst_epoch,

    // An access whose last burst was reported has finished: its data have been transferred. The epoch is that of its bursts.
    input logic finish,
    input logic finish_epoch,

    // Commands, one at a time: write a key's row of the directory; invalidate lines of page tables, a function, or everything.
    input logic control,
    output logic control_ready,
    input memory_translation_pkg::control_t control_command,
    input logic [KEY_WIDTH-1:0] control_key,  // Index of the key.
    input logic control_live,
    input logic control_quiesced,  // The key permits no new access.
    input logic [VARIANT_WIDTH-1:0] control_variant,
    input logic [FUNCTION_WIDTH-1:0] control_underlying_function,
    input logic [LINE_WIDTH-1:0] control_first,  // Lines of eight entries.
    input logic [LINE_WIDTH-1:0] control_last,
    output logic controlled,

    // Reads of 64 B of function 0's memory. Answers come in any order, each of them whole.
    output logic read,
    input logic read_ready,
    output logic [63:0] read_address,
    output logic [SLOT_WIDTH-1:0] read_user,
    input logic data_valid,
    output logic data_ready,
    input logic [BEAT_BYTES*8-1:0] data,
    input logic data_last,
    input logic data_failed,
    input logic [SLOT_WIDTH-1:0] data_user
);
  if (KEYS != 1 << KEY_WIDTH || KEY_WIDTH > hca_spec_pkg::MEMORY_KEY_INDEX_BITS || UNITS < 8 || UNITS != 1 << $clog2(UNITS)) begin : gen_check
    $error("KEYS and UNITS have to be powers of two");
  end
  localparam int unsigned INDEX_WIDTH = KEY_WIDTH + VARIANT_WIDTH;
  localparam int unsigned ENTRY_WIDTH = 1 + hca_spec_pkg::PAGE_TABLE_ENTRY_PAGE_WIDTH;
  localparam int unsigned WAITING = 8;
  localparam int unsigned ANSWERS = 32;
  localparam int unsigned ANSWERS_WIDTH = $clog2(ANSWERS);

  typedef struct packed {
    logic live;
    logic quiesced;
    logic [VARIANT_WIDTH-1:0] variant;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
  } row_t;
  typedef struct packed {
    logic [63:0] origin;
    logic [5:0] page_log2;
    logic [31:0] page_table;
  } pages_t;
  typedef struct packed {
    logic [FUNCTION_WIDTH-1:0] underlying_function;
    logic [NUMBER_WIDTH-1:0] queue_pair;
    logic [USER_WIDTH-1:0] user;
    logic epoch;
    logic [31:0] key;
  } label_t;
  typedef struct packed {
    logic is_line;
    logic [INDEX_WIDTH-1:0] index;
    logic [FUNCTION_WIDTH-1:0] underlying_function;
    logic epoch;
  } missing_t;

  // Accesses wait for a slot.
  logic has_request, takes, may_take, offers;
  logic [FUNCTION_WIDTH-1:0] request_function;
  logic [USER_WIDTH-1:0] user;
  memory_translation_pkg::access_t asked, access;
  logic [$clog2(WAITING):0] waiting;
  assign asked = {request_protection_domain, request_key, request_address, request_length, request_rights, request_queue_pair, request_begun,
      request_is_check, request_is_table};
  unit_queue #(
      .UNIT_WIDTH(FUNCTION_WIDTH + USER_WIDTH + $bits(access)),
      .ENTRIES(WAITING)
  ) i_requests (
      .push(request && request_ready),
      .push_unit({request_underlying_function, request_user, asked}),
      .valid(has_request),
      .unit({request_function, user, access}),
      .pop(takes),
      .filling(waiting),
      .*
  );
  always_ff @(posedge clock) request_ready <= !reset && !clearing && 32'(waiting) + 2 < WAITING;

  // Slots: the request of each access, and its progress.
  logic may_enter, enters, again, answered, answered_is_line, answered_failed, ends, epoch;
  logic [SLOT_WIDTH-1:0] slot, enters_slot, slot_18, answered_slot;
  logic [SLOTS-1:0] is_on, has_key, has_key_failed, has_line, has_line_failed, slot_bit, slot_18_bit, answered_bit;
  assign offers = has_request && may_take;
  translation_slots #(
      .SLOTS(SLOTS)
  ) i_slots (
      .offer(offers),
      .offer_queue_pair(access.queue_pair),
      .takes_slot(slot),
      .again_slot(slot_18),
      .ends_slot(slot_18),
      .*
  );
  assign slot_bit = SLOTS'(takes) << slot;
  assign slot_18_bit = SLOTS'(again) << slot_18;
  assign answered_bit = SLOTS'(answered) << answered_slot;
  always_ff @(posedge clock) begin
    is_on <= is_on & ~slot_bit | slot_18_bit;
    has_key <= has_key & ~slot_bit | (answered_is_line ? '0 : answered_bit);
    has_line <= has_line & ~slot_bit & ~slot_18_bit | (answered_is_line ? answered_bit : '0);
    for (int unsigned each = 0; each < SLOTS; each++)
      if (answered_bit[each] && !answered_is_line) has_key_failed[each] <= answered_failed;
      else if (answered_bit[each]) has_line_failed[each] <= answered_failed;
  end

  // 1: select a slot. 2: read its request.
  logic [SLOT_WIDTH-1:0] slot_1;
  memory_translation_pkg::access_t whole_1, access_1, access_2;
  logic [FUNCTION_WIDTH-1:0] function_1, function_2;
  logic [63:0] on_address;
  logic [31:0] on_length;
  always_ff @(posedge clock) slot_1 <= enters_slot;
  lut_memory #(
      .WIDTH(FUNCTION_WIDTH + $bits(access)),
      .SIZE (SLOTS)
  ) i_accesses (
      .write(takes),
      .write_address(slot),
      .write_data({request_function, access}),
      .read_addresses(slot_1),
      .read_data({function_1, whole_1}),
      .*
  );
  logic [63:0] next_address_18;
  logic [31:0] next_length_18;
  lut_memory #(
      .WIDTH(96),
      .SIZE (SLOTS)
  ) i_progress (
      .write(again),
      .write_address(slot_18),
      .write_data({next_address_18, next_length_18}),
      .read_addresses(slot_1),
      .read_data({on_address, on_length}),
      .*
  );
  logic is_on_1, is_on_2, own_key_2, key_failed_2, own_line_2, line_failed_2;
  assign is_on_1 = is_on[slot_1];
  always_comb begin
    access_1 = whole_1;
    if (is_on_1) begin
      access_1.address = on_address;
      access_1.length = on_length;
    end
  end
  always_ff @(posedge clock) begin
    access_2 <= access_1;
    function_2 <= function_1;
    is_on_2 <= is_on_1;
    own_key_2 <= has_key[slot_1];
    key_failed_2 <= has_key[slot_1] && has_key_failed[slot_1];
    own_line_2 <= has_line[slot_1];
    line_failed_2 <= has_line[slot_1] && has_line_failed[slot_1];
  end

  // Delayed values. Valid bits are cleared by a reset; the others are undefined before the first access.
  logic [SLOT_WIDTH-1:0] slot_2, slot_7, slot_8, slot_11, slot_17;
  logic [17:1] valid;
  always_ff @(posedge clock) begin
    valid <= reset ? '0 : {valid[16:1], enters};
    slot_2 <= slot_1;
  end
  delay #(.WIDTH(SLOT_WIDTH), .CLOCKS(5)) i_slot_7 (.value(slot_2), .later(slot_7), .*);
  delay #(.WIDTH(SLOT_WIDTH), .CLOCKS(4)) i_slot_11 (.value(slot_7), .later(slot_11), .*);
  delay #(.WIDTH(SLOT_WIDTH), .CLOCKS(6)) i_slot_17 (.value(slot_11), .later(slot_17), .*);

  // 3: read the row of the directory. 4: check that the key exists and permits new accesses.
  row_t row_3, row_written;
  logic row_write, live, quiesced, sweeps;
  logic [KEY_WIDTH-1:0] swept, controlled_key;
  logic [VARIANT_WIDTH-1:0] variant;
  logic [FUNCTION_WIDTH-1:0] controlled_function, function_3;
  logic [31:0] key_3;
  logic begun_3, exists_4, exists_11;
  assign row_written = sweeps ? '0 : {live, quiesced, variant, controlled_function};
  list_memory #(
      .WIDTH($bits(row_3)),
      .SIZE (KEYS),
      .BLOCK(1'b1)
  ) i_directory (
      .write(sweeps || row_write),
      .write_address(sweeps ? swept : controlled_key),
      .write_data(row_written),
      .read_address(access_2.key[VARIANT_WIDTH+:KEY_WIDTH]),
      .read_data(row_3),
      .*
  );
  always_ff @(posedge clock) begin
    if (reset) begin
      sweeps <= 1'b1;
      swept <= '0;
    end else if (sweeps) begin
      sweeps <= swept != KEY_WIDTH'(KEYS - 1);
      swept <= swept + KEY_WIDTH'(1);
    end
    key_3 <= access_2.key;
    begun_3 <= access_2.begun;
    function_3 <= function_2;
    exists_4 <= row_3.live && (!row_3.quiesced || begun_3) && row_3.variant == key_3[VARIANT_WIDTH-1:0] && row_3.underlying_function == function_3 &&
        33'({1'b0, key_3} >> INDEX_WIDTH) == '0;
  end
  delay #(.WIDTH(1), .CLOCKS(7)) i_exists (.value(exists_4), .later(exists_11), .*);

  // 7: the key's entry.
  logic found_key_7, fill_key, fill_line, key_filled, line_filled, keeps, fill_keeps, clear_keys, clear_lines, clears_key, clears_function;
  logic clearing_keys, clearing_lines;
  memory_translation_pkg::key_t key_7, key_8, came_key;
  missing_t missing;
  logic [LINE_WIDTH-1:0] first, last;
  assign fill_keeps = keeps && missing.epoch == epoch;
  translation_cache #(
      .INDEX_WIDTH(INDEX_WIDTH),
      .SET_LSB(VARIANT_WIDTH),
      .SETS(SETS),
      .SLOTS(SLOTS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .WIDTH($bits(key_7))
  ) i_keys (
      .clearing(clearing_keys),
      .look_index(access_2.key[INDEX_WIDTH-1:0]),
      .look_own(own_key_2),
      .look_slot(slot_2),
      .found(found_key_7),
      .found_data(key_7),
      .fill(fill_key),
      .filled(key_filled),
      .fill_index(missing.index),
      .fill_slot(answered_slot),
      .fill_underlying_function(missing.underlying_function),
      .fill_data(came_key),
      .clear(clear_keys),
      .clear_first(clears_key ? {controlled_key, VARIANT_WIDTH'(0)} : '0),
      .clear_last(clears_key ? {controlled_key, {VARIANT_WIDTH{1'b1}}} : '1),
      .clear_any(!clears_function),
      .clear_underlying_function(controlled_function),
      .*
  );

  // 8: the key's pages; an access that continues keeps those of its first page.
  memory_translation_pkg::access_t access_7, access_8;
  logic is_on_7, is_on_8, found_key_8, is_empty_8;
  pages_t kept_7, pages_7, pages_8;
  delay #(.WIDTH($bits(access_2) + 1), .CLOCKS(5)) i_access_7 (.value({is_on_2, access_2}), .later({is_on_7, access_7}), .*);
  lut_memory #(
      .WIDTH($bits(pages_7)),
      .SIZE (SLOTS)
  ) i_pages (
      .write(valid[8] && !is_on_8),
      .write_address(slot_8),
      .write_data(pages_8),
      .read_addresses(slot_7),
      .read_data(kept_7),
      .*
  );
  always_comb begin
    pages_7 = {key_7.origin, key_7.page_log2, key_7.page_table};
    if (access_7.is_table) pages_7 = {64'd0, memory_translation_pkg::PAGE_LOG2_LEAST, access_7.key};
    else if (is_on_7) pages_7 = kept_7;
  end
  always_ff @(posedge clock) begin
    slot_8 <= slot_7;
    access_8 <= access_7;
    is_on_8 <= is_on_7;
    key_8 <= key_7;
    found_key_8 <= found_key_7;
    pages_8 <= pages_7;
    is_empty_8 <= access_7.length == '0;
  end

  // 11: check the access against the key, and compute the page table entry. 12: results without a page.
  memory_translation_pkg::fault_t fault_11, fault_12, fault_17;
  logic is_there_11, is_last_12, needs_no_key_8, needs_no_key_11, is_empty_11, is_check_11, found_key_11, key_failed_11, own_line_11, line_failed_11;
  logic lacks_key_12, lacks_key_17, is_end_12, is_end_17;
  logic [PLACE_WIDTH-1:0] entry_11;
  logic [30:0] in_page_11, in_page_17;
  logic [31:0] bytes_12;
  assign needs_no_key_8 = is_on_8 || access_8.is_table;
  key_check i_check (
      .access(access_8),
      .key(key_8),
      .fault(fault_11),
      .*
  );
  page_place #(
      .PAGE_TABLE_ENTRIES(PAGE_TABLE_ENTRIES)
  ) i_place (
      .address(access_8.address),
      .length(access_8.length),
      .origin(pages_8.origin),
      .page_log2(pages_8.page_log2),
      .page_table(pages_8.page_table),
      .is_there(is_there_11),
      .entry(entry_11),
      .in_page(in_page_11),
      .bytes_4(bytes_12),
      .is_last_4(is_last_12),
      .*
  );
  delay #(.WIDTH(4), .CLOCKS(3)) i_kind_11 (
      .value({needs_no_key_8, is_empty_8, access_8.is_check, found_key_8}),
      .later({needs_no_key_11, is_empty_11, is_check_11, found_key_11}),
      .*
  );
  delay #(.WIDTH(3), .CLOCKS(9)) i_own_11 (
      .value({key_failed_2, own_line_2, line_failed_2}),
      .later({key_failed_11, own_line_11, line_failed_11}),
      .*
  );
  always_ff @(posedge clock) begin
    lacks_key_12 <= 1'b0;
    is_end_12 <= 1'b1;
    fault_12 <= memory_translation_pkg::FAULT_NONE;
    if (!is_empty_11) begin
      if (!needs_no_key_11 && !exists_11) fault_12 <= memory_translation_pkg::FAULT_UNKNOWN_KEY;
      else if (!needs_no_key_11 && key_failed_11) fault_12 <= memory_translation_pkg::FAULT_UNREACHABLE;
      else if (!needs_no_key_11 && !found_key_11) lacks_key_12 <= 1'b1;
      else if (!needs_no_key_11 && fault_11 != memory_translation_pkg::FAULT_NONE) fault_12 <= fault_11;
      else if (!is_check_11) begin
        is_end_12 <= is_there_11 ? line_failed_11 : 1'b1;
        fault_12 <= is_there_11 && !line_failed_11 ? memory_translation_pkg::FAULT_NONE : memory_translation_pkg::FAULT_UNREACHABLE;
      end
    end
  end

  // 16: the line of the page table. 17: its entry.
  logic found_line_16, found_line_17, mapped_17, is_last_17;
  logic [8*ENTRY_WIDTH-1:0] line_16, came_line;
  logic [2:0] place_16;
  logic [51:0] page_17;
  logic [31:0] bytes_17, next_length_13, next_length_17;
  logic [63:0] address_12, next_address_13, next_address_17;
  logic [31:0] length_12;
  logic [LINE_WIDTH-1:0] line_17;
  translation_cache #(
      .INDEX_WIDTH(LINE_WIDTH),
      .SETS(SETS),
      .SLOTS(SLOTS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .WIDTH(8 * ENTRY_WIDTH)
  ) i_lines (
      .clearing(clearing_lines),
      .look_index(entry_11[PLACE_WIDTH-1:3]),
      .look_own(own_line_11),
      .look_slot(slot_11),
      .found(found_line_16),
      .found_data(line_16),
      .fill(fill_line),
      .filled(line_filled),
      .fill_index(missing.index[LINE_WIDTH-1:0]),
      .fill_slot(answered_slot),
      .fill_underlying_function(missing.underlying_function),
      .fill_data(came_line),
      .clear(clear_lines),
      .clear_first(first),
      .clear_last(last),
      .clear_any(!clears_function),
      .clear_underlying_function(controlled_function),
      .*
  );
  delay #(.WIDTH(5), .CLOCKS(5)) i_outcome_17 (
      .value({lacks_key_12, is_end_12, fault_12}),
      .later({lacks_key_17, is_end_17, fault_17}),
      .*
  );
  delay #(.WIDTH(LINE_WIDTH + 31), .CLOCKS(6)) i_place_17 (
      .value({entry_11[PLACE_WIDTH-1:3], in_page_11}),
      .later({line_17, in_page_17}),
      .*
  );
  delay #(.WIDTH(3), .CLOCKS(5)) i_place_16 (.value(entry_11[2:0]), .later(place_16), .*);
  delay #(.WIDTH(96), .CLOCKS(4)) i_access_12 (
      .value({access_8.address, access_8.length}),
      .later({address_12, length_12}),
      .*
  );
  delay #(.WIDTH(33), .CLOCKS(5)) i_bytes_17 (.value({is_last_12, bytes_12}), .later({is_last_17, bytes_17}), .*);
  delay #(.WIDTH(96), .CLOCKS(4)) i_next_17 (
      .value({next_address_13, next_length_13}),
      .later({next_address_17, next_length_17}),
      .*
  );
  always_ff @(posedge clock) begin
    next_address_13 <= address_12 + 64'(bytes_12);
    next_length_13 <= length_12 - bytes_12;
    found_line_17 <= found_line_16;
    for (int unsigned each = 0; each < memory_translation_pkg::LINE_ENTRIES; each++)
      if (place_16 == 3'(each)) {mapped_17, page_17} <= line_16[each*ENTRY_WIDTH+:ENTRY_WIDTH];
  end

  // 18: report the burst, request what is missing, or continue with the next page.
  label_t label_17, label_18;
  logic says_18, lacks_18, lacks_line_18, is_last_18, is_page_17, lacks_line_17;
  logic [63:0] address_18;
  logic [31:0] bytes_18;
  logic [LINE_WIDTH-1:0] line_18;
  memory_translation_pkg::fault_t fault_18;
  lut_memory #(
      .WIDTH($bits(label_17)),
      .SIZE (SLOTS)
  ) i_labels (
      .write(takes),
      .write_address(slot),
      .write_data({request_function, access.queue_pair, user, epoch, access.key}),
      .read_addresses(slot_17),
      .read_data(label_17),
      .*
  );
  assign lacks_line_17 = !lacks_key_17 && !is_end_17 && !found_line_17;
  assign is_page_17 = !is_end_17 && mapped_17;
  always_ff @(posedge clock) begin
    slot_18 <= slot_17;
    label_18 <= label_17;
    next_address_18 <= next_address_17;
    next_length_18 <= next_length_17;
    line_18 <= line_17;
    lacks_18 <= !reset && valid[17] && (lacks_key_17 || lacks_line_17);
    lacks_line_18 <= lacks_line_17;
    says_18 <= !reset && valid[17] && !lacks_key_17 && !lacks_line_17;
    again <= !reset && valid[17] && !lacks_key_17 && !lacks_line_17 && is_page_17 && !is_last_17;
    ends <= !reset && valid[17] && !lacks_key_17 && !lacks_line_17 && !(is_page_17 && !is_last_17);
    is_last_18 <= !(is_page_17 && !is_last_17);
    address_18 <= {page_17, 12'd0} + 64'(in_page_17);
    bytes_18 <= is_page_17 ? bytes_17 : '0;
    fault_18 <= is_end_17 ? fault_17 : mapped_17 ? memory_translation_pkg::FAULT_NONE : memory_translation_pkg::FAULT_UNREACHABLE;
  end

  // Answers, with room for all accesses in the stages.
  logic [ANSWERS_WIDTH:0] room, unused_answers;
  unit_queue #(
      .UNIT_WIDTH(FUNCTION_WIDTH + NUMBER_WIDTH + USER_WIDTH + 101),
      .ENTRIES(ANSWERS)
  ) i_answers (
      .push(says_18),
      .push_unit({label_18.underlying_function, label_18.queue_pair, label_18.user, address_18, bytes_18, is_last_18, fault_18, label_18.epoch}),
      .valid(burst),
      .unit({burst_underlying_function, burst_queue_pair, burst_user, burst_address, burst_bytes, burst_last, burst_fault, burst_epoch}),
      .pop(burst && burst_ready),
      .filling(unused_answers),
      .*
  );
  always_ff @(posedge clock) begin
    may_enter <= !reset && room > (ANSWERS_WIDTH + 1)'(2);
    if (reset) room <= (ANSWERS_WIDTH + 1)'(ANSWERS);
    else room <= room - (ANSWERS_WIDTH + 1)'(enters) + (ANSWERS_WIDTH + 1)'(lacks_18) + (ANSWERS_WIDTH + 1)'(burst && burst_ready);
  end

  // Reads of host memory.
  logic has_read, begins_read, read_is_line;
  logic [INDEX_WIDTH-1:0] index_18, unused_index;
  logic [KEY_WIDTH-1:0] read_key;
  logic [LINE_WIDTH-1:0] read_line;
  logic [SLOT_WIDTH-1:0] next_read;
  logic [SLOT_WIDTH:0] unused_reads;
  assign index_18 = lacks_line_18 ? INDEX_WIDTH'(line_18) : label_18.key[INDEX_WIDTH-1:0];
  lut_memory #(
      .WIDTH($bits(missing)),
      .SIZE (SLOTS)
  ) i_missing (
      .write(lacks_18),
      .write_address(slot_18),
      .write_data({lacks_line_18, index_18, label_18.underlying_function, label_18.epoch}),
      .read_addresses(answered_slot),
      .read_data(missing),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(SLOT_WIDTH + 1 + INDEX_WIDTH),
      .ENTRIES(SLOTS)
  ) i_reads (
      .push(lacks_18),
      .push_unit({slot_18, lacks_line_18, index_18}),
      .valid(has_read),
      .unit({next_read, read_is_line, unused_index}),
      .pop(begins_read),
      .filling(unused_reads),
      .*
  );
  assign read_key = unused_index[INDEX_WIDTH-1:VARIANT_WIDTH];
  assign read_line = unused_index[LINE_WIDTH-1:0];
  assign begins_read = has_read && (!read || read_ready);
  always_ff @(posedge clock) begin
    read <= !reset && (begins_read || read && !read_ready);
    if (begins_read) begin
      read_user <= next_read;
      read_address <= (read_is_line ? page_tables_address : keys_address) +
          (read_is_line ? {52'(read_line), 12'd0} >> 6 : {52'(read_key), 12'd0} >> 6);
    end
  end
  translation_fill #(
      .BEAT_BYTES(BEAT_BYTES),
      .SLOTS(SLOTS),
      .FUNCTION_WIDTH(FUNCTION_WIDTH)
  ) i_fill (
      .slot(answered_slot),
      .slot_is_line(missing.is_line),
      .slot_variant(missing.index[VARIANT_WIDTH-1:0]),
      .slot_underlying_function(missing.underlying_function),
      .filled(key_filled || line_filled),
      .key(came_key),
      .line(came_line),
      .*
  );

  // Commands.
  translation_control #(
      .KEYS(KEYS),
      .LINE_WIDTH(LINE_WIDTH),
      .FUNCTION_WIDTH(FUNCTION_WIDTH),
      .UNITS(UNITS)
  ) i_control (
      .key(controlled_key),
      .underlying_function(controlled_function),
      .clearing(sweeps || clearing_keys || clearing_lines),
      .*
  );
  always_ff @(posedge clock) clearing <= reset || sweeps;
endmodule
