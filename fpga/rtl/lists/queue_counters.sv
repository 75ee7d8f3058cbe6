// Counters of a linked list queue: pushes by result, departures, bit errors.
module queue_counters (
    input logic clock,
    input logic reset,
    input logic pushed,
    input linked_list_queue_pkg::linked_list_result_t pushed_result,
    input logic left,  // A data unit was removed from its list.
    input logic left_reclaimed,
    input logic left_corrupted,
    input logic corrected,
    input logic detected,
    output linked_list_queue_pkg::linked_list_queue_counters_t counters
);
  always_ff @(posedge clock) begin
    if (reset) counters <= '0;
    else begin
      counters.pushed <= counters.pushed + 32'(pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_OK);
      counters.dropped_full <= counters.dropped_full
          + 32'(pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_FULL);
      counters.dropped_no_entry_credit <= counters.dropped_no_entry_credit
          + 32'(pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_NO_ENTRY_CREDIT);
      counters.dropped_no_list_identifier <= counters.dropped_no_list_identifier
          + 32'(pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_NO_LIST_IDENTIFIER);
      counters.dropped_list_full <= counters.dropped_list_full
          + 32'(pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_LIST_FULL);
      counters.dropped_closed <= counters.dropped_closed
          + 32'(pushed && pushed_result == linked_list_queue_pkg::LINKED_LIST_RESULT_CLOSED);
      counters.popped <= counters.popped + 32'(left && !left_reclaimed && !left_corrupted);
      counters.reclaimed <= counters.reclaimed + 32'(left && left_reclaimed && !left_corrupted);
      counters.dropped_corrupted <= counters.dropped_corrupted + 32'(left && left_corrupted);
      counters.corrected_bit_errors <= counters.corrected_bit_errors + 32'(corrected);
      counters.detected_bit_errors <= counters.detected_bit_errors + 32'(detected);
    end
  end
endmodule
