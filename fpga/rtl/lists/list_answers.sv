// The data memory of a hardware linked list queue; its answers, which carry the data read; counters. A command enters in the fourth stage,
// after its decision, and is answered three clocks later.
module list_answers #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned LISTS = 64,
    parameter int unsigned INDEX_WIDTH = 32,
    parameter int unsigned UNIT_WIDTH = 128,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1,
    localparam int unsigned BIT_WIDTH = $clog2((UNIT_WIDTH + 63) / 64 * 72)
) (
    input logic clock,
    input logic reset,

    // A push: its data unit one stage earlier, its entry on acceptance, and its answer.
    input logic [UNIT_WIDTH-1:0] push_unit_3,
    input logic accepted_4,
    input logic [ENTRY_WIDTH-1:0] pushed_entry,
    input logic pushed,
    input linked_list_queue_pkg::linked_list_result_t pushed_result,

    // A command.
    input logic valid_4,
    input logic forward_4,
    input linked_list_queue_pkg::linked_list_command_t kind_4,
    input linked_list_queue_pkg::linked_list_result_t result_4,
    input logic [LIST_WIDTH-1:0] list_4,
    input logic [INDEX_WIDTH-1:0] index_4,
    input logic reads_4,
    input logic removed_4,
    input logic [ENTRY_WIDTH-1:0] entry_4,
    output logic answered,
    output logic answered_forward,
    output linked_list_queue_pkg::linked_list_command_t answered_kind,
    output linked_list_queue_pkg::linked_list_result_t answered_result,
    output logic [LIST_WIDTH-1:0] answered_list,
    output logic [ENTRY_WIDTH-1:0] answered_entry,
    output logic [INDEX_WIDTH-1:0] answered_index,
    output logic [UNIT_WIDTH-1:0] answered_unit,

    input logic scrub,
    output logic [ENTRY_WIDTH-1:0] scrub_entry,
    input logic scrub_used,
    output logic scrubbed,
    output logic [ENTRY_WIDTH-1:0] scrubbed_entry,
    output logic [1:0] scrubbed_status,  // secded_status_t
    input logic inject_error,
    input logic [ENTRY_WIDTH-1:0] inject_error_entry,
    input logic [BIT_WIDTH-1:0] inject_error_bit,
    output logic error_injected,
    output linked_list_queue_pkg::linked_list_queue_counters_t counters
);
  localparam logic [1:0] CORRECTED = linked_list_queue_pkg::SECDED_STATUS_CORRECTED;
  localparam logic [1:0] UNCORRECTABLE = linked_list_queue_pkg::SECDED_STATUS_UNCORRECTABLE;

  logic [1:0] status_7;
  logic answers_5, answers_6, answers_7, reads_5, reads_6, reads_7, removed_5, removed_6, removed_7, forward_5, forward_6;
  linked_list_queue_pkg::linked_list_command_t kind_5, kind_6;
  linked_list_queue_pkg::linked_list_result_t result_5, result_6, result_7;
  logic [LIST_WIDTH-1:0] list_5, list_6;
  logic [ENTRY_WIDTH-1:0] entry_5, entry_6;
  logic [INDEX_WIDTH-1:0] index_5, index_6;
  logic is_reclaimed, is_corrupted;

  data_memory #(
      .ENTRIES(ENTRIES),
      .UNIT_WIDTH(UNIT_WIDTH)
  ) i_data_memory (
      .clock(clock),
      .reset(reset),
      .write_unit(push_unit_3),
      .write(accepted_4),
      .write_entry(pushed_entry),
      .read(reads_4),
      .read_entry(entry_4),
      .unit(answered_unit),
      .status(status_7),
      .inject(inject_error),
      .inject_entry(inject_error_entry),
      .inject_bit(inject_error_bit),
      .injected(error_injected),
      .scrub(scrub),
      .scrub_entry(scrub_entry),
      .scrub_used(scrub_used),
      .scrubbed(scrubbed),
      .scrubbed_entry(scrubbed_entry),
      .scrubbed_status(scrubbed_status)
  );

  always_ff @(posedge clock) begin
    answers_5 <= valid_4 && !reset
        && (removed_4 || !forward_4 && kind_4 != linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP);
    {answers_7, answers_6} <= reset ? '0 : {answers_6, answers_5};
    {reads_7, reads_6, reads_5} <= reset ? '0 : {reads_6, reads_5, reads_4};
    {removed_7, removed_6, removed_5} <= reset ? '0 : {removed_6, removed_5, removed_4};
    {answered_forward, forward_6, forward_5} <= {forward_6, forward_5, forward_4};
    {answered_list, list_6, list_5} <= {list_6, list_5, list_4};
    {answered_entry, entry_6, entry_5} <= {entry_6, entry_5, entry_4};
    {answered_index, index_6, index_5} <= {index_6, index_5, index_4};
    kind_5 <= kind_4;
    kind_6 <= kind_5;
    answered_kind <= kind_6;
    result_5 <= result_4;
    result_6 <= result_5;
    result_7 <= result_6;
  end
  assign is_corrupted = reads_7 && status_7 == UNCORRECTABLE;
  assign is_reclaimed = answered_kind == linked_list_queue_pkg::LINKED_LIST_COMMAND_RECLAIM_STEP;
  assign answered = answers_7;
  assign answered_result = is_corrupted ? linked_list_queue_pkg::LINKED_LIST_RESULT_CORRUPTED : result_7;

  // An uncorrectable entry is counted once: it has not been counted if its bits of reads and of pushes are equal.
  logic reported_bit, written_bit, reported_of_push, finds, detects, pushed_5;
  logic [ENTRY_WIDTH-1:0] found_entry, pushed_entry_5;

  assign found_entry = reads_7 ? answered_entry : scrubbed_entry;
  assign finds = is_corrupted || scrubbed && scrubbed_status == UNCORRECTABLE;
  assign detects = finds && reported_bit == written_bit;
  always_ff @(posedge clock) begin
    pushed_5 <= accepted_4;
    pushed_entry_5 <= pushed_entry;
  end

  lut_memory #(
      .SIZE(1 << ENTRY_WIDTH),
      .READERS(2)
  ) i_reported (
      .clock(clock),
      .write(finds),
      .write_address(found_entry),
      .write_data(!written_bit),
      .read_addresses({pushed_entry_5, found_entry}),
      .read_data({reported_of_push, reported_bit})
  );
  lut_memory #(
      .SIZE(1 << ENTRY_WIDTH)
  ) i_written (
      .clock(clock),
      .write(pushed_5),
      .write_address(pushed_entry_5),
      .write_data(reported_of_push),
      .read_addresses(found_entry),
      .read_data(written_bit)
  );

  queue_counters i_queue_counters (
      .clock(clock),
      .reset(reset),
      .pushed(pushed),
      .pushed_result(pushed_result),
      .left(removed_7),
      .left_reclaimed(is_reclaimed),
      .left_corrupted(is_corrupted),
      .corrected(reads_7 && status_7 == CORRECTED || scrubbed && scrubbed_status == CORRECTED),
      .detected(detects),
      .counters(counters)
  );
endmodule
