// Says, one clock later, what became of the beat or control command in collect_buffer's second stage beside the data units that it
// sends: what is counted, and for which function; that it is done, and which PCB a control command got.
module collect_buffer_outcome #(
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned PCB_WIDTH = 7
) (
    input logic clock,
    input logic reset,

    // The beat or control command.
    input logic valid,
    input logic is_control,
    input logic is_handover,
    input logic is_last,
    input logic is_continued,
    input logic is_empty,
    input logic is_management,
    input logic claimed,
    input logic [FUNCTION_WIDTH-1:0] underlying_function,

    // The page before it, and what becomes of it.
    input logic [2:0] state_now,
    input logic in_error,
    input logic may_cancel,
    input logic is_incomplete,
    input logic cancels,
    input logic hands_over,
    input logic binds,
    input logic gets_buffer,

    // PCBs.
    input logic locks,
    input logic has_lock_asked,
    input logic takes_management,
    input logic takes_dedicated,
    input logic [PCB_WIDTH-1:0] buffer,
    input logic [PCB_WIDTH-1:0] management_buffer,
    input logic [PCB_WIDTH-1:0] dedicated_buffer,

    output logic write_unclaimed,
    output logic write_dropped,
    output logic command_cancelled,
    output logic send_queue_mode_entered,
    output logic [FUNCTION_WIDTH-1:0] counted_underlying_function,
    output logic beat_done,
    output logic control_done,
    output logic control_granted,
    output logic [PCB_WIDTH-1:0] control_physical_collect_buffer
);
  always_ff @(posedge clock) begin
    write_unclaimed <= !reset && valid && !is_control && !is_continued && !claimed;
    write_dropped <= !reset && valid && !is_control && !is_continued && claimed && !is_empty
        && (state_now == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED || in_error && !may_cancel);
    command_cancelled <= !reset && cancels && is_incomplete && !is_management;
    send_queue_mode_entered <= !reset && (binds && !gets_buffer || hands_over);
    counted_underlying_function <= underlying_function;
    beat_done <= !reset && valid && !is_control && is_last;
    control_done <= !reset && valid && is_control && !is_handover;
    control_granted <= locks || has_lock_asked || takes_management || takes_dedicated;
    control_physical_collect_buffer <= takes_dedicated ? dedicated_buffer : takes_management ? management_buffer : buffer;
  end
endmodule
