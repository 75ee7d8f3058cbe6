// Decides on a data unit of queue_pair_fetch, as QueuePairFetch of the device model: the verdict on a command, and the new requester part of its
// queue pair. A unit enters in any clock; its outcome follows eight clocks later. Numbers of the send queue count from `next` here, so that half of
// them are ahead.
module send_decision (
    input logic clock,
    input logic reset,

    // A unit, with its command if it is one, and the context of the number.
    input logic answer,
    input queue_pair_fetch_pkg::fetch_unit_t unit,
    input queue_pair_fetch_pkg::command_facts_t facts,
    input logic answer_found,
    input hca_spec_pkg::queue_pair_control_t answer_control,
    input hca_spec_pkg::queue_pair_requester_t answer_requester,
    input hca_spec_pkg::queue_pair_completion_t answer_completion,

    output logic decided,
    output queue_pair_fetch_pkg::fetch_outcome_t outcome
);
  localparam logic [23:0] PSN_WINDOW = 24'h800000;  // Half of all may be unacknowledged.
  localparam logic [8:0] BIND_BYTES = 9'(hca_spec_pkg::BIND_ENTRY_BYTES);

  // Fields that pass through all stages.
  typedef struct packed {
    logic [2:0] kind;  // fetch_unit_kind_t.
    logic stops;
    logic [7:0] refusal;
    logic [127:0] kick;  // kick_unit_t.
    logic [511:0] requester;  // queue_pair_requester_t.
    logic [15:0] acknowledged;
    logic [23:0] unacknowledged_psn;
    logic [23:0] message_psn;
    logic [6:0] retry_epoch;
    logic [7:0] answered;
    logic waits_for_receiver;
    logic is_there;
    logic stands;  // It exists and is not quiescing.
    logic is_drained;
    logic [1:0] quality_of_service_level;
    logic changes_epoch;
    logic is_local;
    logic is_returned;
    logic [35:0] message_length;
    logic [15:0] ahead;  // The unit's number.
    logic [15:0] posted;
    logic [15:0] fetched;
    logic [15:0] begun;
    logic [15:0] back;  // The oldest unacknowledged one.
  } carried_t;

  // 1: unit and context.
  logic valid_1, found_1;
  queue_pair_fetch_pkg::fetch_unit_t unit_1;
  hca_spec_pkg::kick_unit_t kick_1, kick_3, kick_5;
  queue_pair_fetch_pkg::command_facts_t facts_1;
  hca_spec_pkg::queue_pair_control_t control_1;
  hca_spec_pkg::queue_pair_requester_t requester_1;
  hca_spec_pkg::queue_pair_completion_t completion_1;
  assign kick_1 = unit_1.kick;
  always_ff @(posedge clock) begin
    valid_1 <= !reset && answer;
    unit_1 <= unit;
    facts_1 <= facts;
    found_1 <= answer_found;
    control_1 <= answer_control;
    requester_1 <= answer_requester & hca_spec_pkg::QUEUE_PAIR_REQUESTER_OF_QUEUE_PAIR_FETCH;
    completion_1 <= answer_completion;
  end

  // 2: distances; the operation, and whether the queue pair can execute it.
  logic valid_2, is_there_1, is_local_1, is_returned_1, is_of_service_1, has_sound_list_1;
  logic is_reliable_2, is_datagram_2, is_atomic_2, is_malformed_2, has_address_2, is_flushed_2, sends_2, is_fenced_2;
  logic [3:0] mtu_2;
  logic [4:0] log2_2;
  logic [7:0] outstanding_2, depth_2;
  logic [23:0] used_2;
  carried_t carried_2;
  assign is_there_1 = found_1 && control_1.underlying_function == 8'(kick_1.underlying_function);
  assign is_local_1 = hca_spec_pkg::OPCODES_LOCAL[facts_1.opcode];
  assign is_returned_1 = hca_spec_pkg::OPCODES_RETURNED[facts_1.opcode];
  always_comb begin
    case (control_1.service_type)
      hca_spec_pkg::SERVICE_TYPE_RELIABLE_CONNECTION:
      is_of_service_1 = hca_spec_pkg::OPCODES_OF_RELIABLE_CONNECTION[facts_1.opcode];
      hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_CONNECTION:
      is_of_service_1 = hca_spec_pkg::OPCODES_OF_UNRELIABLE_CONNECTION[facts_1.opcode];
      hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_DATAGRAM:
      is_of_service_1 = hca_spec_pkg::OPCODES_OF_UNRELIABLE_DATAGRAM[facts_1.opcode];
      default: is_of_service_1 = 1'b0;
    endcase
    if (is_local_1)
      has_sound_list_1 = !facts_1.inline_data && facts_1.gather_count == '0 &&
          facts_1.length == (facts_1.opcode == 8'(hca_spec_pkg::OPCODE_BIND_MEMORY_WINDOW) ? BIND_BYTES : '0);
    else if (facts_1.inline_data) has_sound_list_1 = facts_1.gather_count == '0 && !is_returned_1;
    else has_sound_list_1 = {facts_1.gather_count, 4'b0} == facts_1.length;
  end
  always_ff @(posedge clock) begin
    valid_2 <= !reset && valid_1;
    carried_2.kind <= unit_1.kind;
    carried_2.stops <= unit_1.stops;
    carried_2.refusal <= unit_1.refusal;
    carried_2.kick <= kick_1;
    carried_2.requester <= requester_1;
    carried_2.acknowledged <= completion_1.acknowledged;
    carried_2.unacknowledged_psn <= completion_1.unacknowledged_psn;
    carried_2.message_psn <= completion_1.message_psn;
    carried_2.retry_epoch <= completion_1.retry_epoch;
    carried_2.answered <= completion_1.read_atomic_answered;
    carried_2.waits_for_receiver <= completion_1.receiver_not_ready_wait;
    carried_2.is_there <= is_there_1;
    carried_2.stands <= is_there_1 && !control_1.destroying;
    carried_2.is_drained <= control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_SEND_QUEUE_DRAINED;
    carried_2.quality_of_service_level <= control_1.quality_of_service_level;
    carried_2.changes_epoch <= requester_1.retry_epoch != completion_1.retry_epoch;
    carried_2.is_local <= is_local_1;
    carried_2.is_returned <= is_returned_1;
    carried_2.message_length <= is_local_1 ? '0 : facts_1.inline_data ? 36'(facts_1.length) : facts_1.list_bytes;
    carried_2.ahead <= kick_1.send_queue_sequence_number - requester_1.next;
    carried_2.posted <= requester_1.posted - requester_1.next;
    carried_2.fetched <= requester_1.fetch_next - requester_1.next;
    carried_2.begun <= requester_1.begun - requester_1.next;
    carried_2.back <= completion_1.acknowledged - requester_1.next;
    is_reliable_2 <= control_1.service_type == hca_spec_pkg::SERVICE_TYPE_RELIABLE_CONNECTION;
    is_datagram_2 <= control_1.service_type == hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_DATAGRAM;
    is_atomic_2 <= hca_spec_pkg::OPCODES_ATOMIC[facts_1.opcode];
    is_malformed_2 <= !is_of_service_1 || !has_sound_list_1 || is_returned_1 && control_1.max_read_atomic == '0;
    is_flushed_2 <= control_1.send_error || control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_SEND_QUEUE_ERROR ||
        control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_ERROR;
    sends_2 <= control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_READY_TO_SEND ||
        control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_SEND_QUEUE_DRAINED;
    is_fenced_2 <= facts_1.fence;
    has_address_2 <= facts_1.has_address && facts_1.address_domain == control_1.protection_domain &&
        facts_1.address_port == control_1.port;
    mtu_2 <= control_1.path_mtu;
    log2_2 <= control_1.send_queue_log2;
    outstanding_2 <= requester_1.read_atomic_issued - completion_1.read_atomic_answered;
    depth_2 <= control_1.max_read_atomic;
    used_2 <= requester_1.next_psn - completion_1.unacknowledged_psn;
  end

  // 3: comparisons; whole packets of the message.
  logic valid_3, is_stale_3, is_far_3, is_next_3, has_begun_3, owes_3, raises_3, has_rest_3, is_empty_3, is_too_long_3, is_wrong_atomic_3;
  logic is_reliable_3, is_datagram_3, is_malformed_3, has_address_3, is_flushed_3, sends_3, waits_3, is_fenced_3, is_local_first_3,
      is_at_depth_3, resumes_3;
  logic [15:0] ahead_of_begun_2, back_7, unfetched_8;  // Of the last two the sign counts, as of the first.
  logic unused_distances;
  logic [27:0] packets_3;
  logic [23:0] used_3;
  assign ahead_of_begun_2 = carried_2.ahead - carried_2.begun;
  assign unused_distances = &{1'b0, ahead_of_begun_2, back_7, unfetched_8};
  always_ff @(posedge clock) begin
    valid_3 <= !reset && valid_2;
    is_stale_3 <= carried_2.ahead[15];
    is_far_3 <= !carried_2.ahead[15] && carried_2.ahead >> log2_2 != '0;
    is_next_3 <= carried_2.ahead == '0;
    has_begun_3 <= ahead_of_begun_2[15];
    owes_3 <= !carried_2.posted[15];
    raises_3 <= $signed(carried_2.ahead) > $signed(carried_2.posted);
    packets_3 <= 28'(carried_2.message_length[35:7] >> mtu_2);
    has_rest_3 <= (carried_2.message_length & ~({36{1'b1}} << 7 << mtu_2)) != '0;
    is_empty_3 <= carried_2.message_length == '0;
    is_too_long_3 <= carried_2.message_length[35:32] != '0 || carried_2.message_length[31] && carried_2.message_length[30:0] != '0;
    is_wrong_atomic_3 <= is_atomic_2 && carried_2.message_length != 36'd8;
    is_reliable_3 <= is_reliable_2;
    is_datagram_3 <= is_datagram_2;
    is_malformed_3 <= is_malformed_2;
    has_address_3 <= has_address_2;
    is_flushed_3 <= is_flushed_2;
    sends_3 <= sends_2;
    waits_3 <= carried_2.waits_for_receiver || carried_2.changes_epoch;
    is_fenced_3 <= is_fenced_2 && outstanding_2 != '0;
    is_local_first_3 <= carried_2.back == '0;
    is_at_depth_3 <= carried_2.is_returned && outstanding_2 != '0 && outstanding_2 >= depth_2;
    resumes_3 <= carried_2.requester[hca_spec_pkg::QUEUE_PAIR_REQUESTER_RESUME_PACKETS_LSB+:24] != '0;
    used_3 <= used_2;
  end

  // 4: packets, and the verdict but for holds and for the window of PSNs.
  carried_t carried_3, carried_4;
  logic valid_4, is_stale_4, is_far_4, may_execute_4, raises_4, looks_at_window_4, is_in_use_4;
  logic [28:0] packets_4;
  logic [23:0] used_4;
  logic is_scheduled_3, is_mode_3, may_send_3;
  hca_spec_pkg::send_hold_t hold_3, hold_4;
  hca_spec_pkg::completion_status_t status_3, status_4;
  always_ff @(posedge clock) carried_3 <= carried_2;
  assign kick_3 = carried_3.kick;
  assign is_scheduled_3 = kick_3.origin == hca_spec_pkg::KICK_ORIGIN_SCHEDULED;
  assign is_mode_3 = kick_3.origin == hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE;
  assign may_send_3 = !carried_3.is_drained || has_begun_3;
  always_comb begin
    if (waits_3) hold_3 = hca_spec_pkg::SEND_HOLD_RECEIVER_NOT_READY;
    else if (carried_3.is_local) hold_3 = is_local_first_3 ? hca_spec_pkg::SEND_HOLD_NONE : hca_spec_pkg::SEND_HOLD_LOCAL_OPERATION;
    else if (is_fenced_3) hold_3 = hca_spec_pkg::SEND_HOLD_FENCE;
    else if (is_at_depth_3) hold_3 = hca_spec_pkg::SEND_HOLD_READ_ATOMIC;
    else hold_3 = hca_spec_pkg::SEND_HOLD_NONE;
    if (is_flushed_3) status_3 = hca_spec_pkg::COMPLETION_STATUS_WORK_REQUEST_FLUSHED_ERROR;
    else if (!sends_3 || is_malformed_3) status_3 = hca_spec_pkg::COMPLETION_STATUS_LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    else if (is_wrong_atomic_3 || (is_datagram_3 ? packets_3 > 28'(!has_rest_3) : is_too_long_3))
      status_3 = hca_spec_pkg::COMPLETION_STATUS_LOCAL_LENGTH_ERROR;
    else if (is_datagram_3 && !has_address_3) status_3 = hca_spec_pkg::COMPLETION_STATUS_LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    else status_3 = hca_spec_pkg::COMPLETION_STATUS_SUCCESS;
  end
  always_ff @(posedge clock) begin
    valid_4 <= !reset && valid_3;
    carried_4 <= carried_3;
    is_stale_4 <= !carried_3.stands || is_stale_3 || is_scheduled_3 && !is_next_3 && !is_far_3;
    is_far_4 <= is_far_3;
    raises_4 <= raises_3;
    may_execute_4 <= !is_mode_3 && is_next_3 && (is_scheduled_3 || !owes_3) && may_send_3;
    hold_4 <= is_flushed_3 || !sends_3 || !is_reliable_3 ? hca_spec_pkg::SEND_HOLD_NONE : hold_3;
    looks_at_window_4 <= !is_flushed_3 && sends_3 && is_reliable_3 && !carried_3.is_local &&
        hold_3 == hca_spec_pkg::SEND_HOLD_NONE && !resumes_3;
    is_in_use_4 <= used_3 != '0;
    used_4 <= used_3;
    packets_4 <= is_empty_3 ? 29'd1 : 29'(packets_3) + 29'(has_rest_3);
    status_4 <= status_3;
  end

  // 5: PSNs that would be unacknowledged.
  carried_t carried_5;
  logic valid_5, is_stale_5, is_far_5, may_execute_5, raises_5, looks_at_window_5;
  logic [29:0] unacknowledged_5;
  logic [23:0] packets_5;
  hca_spec_pkg::send_hold_t hold_5;
  hca_spec_pkg::completion_status_t status_5;
  always_ff @(posedge clock) begin
    valid_5 <= !reset && valid_4;
    carried_5 <= carried_4;
    is_stale_5 <= is_stale_4;
    is_far_5 <= is_far_4;
    may_execute_5 <= may_execute_4;
    raises_5 <= raises_4;
    looks_at_window_5 <= looks_at_window_4 && is_in_use_4;
    unacknowledged_5 <= 30'(used_4) + 30'(packets_4);
    packets_5 <= packets_4[23:0];
    hold_5 <= hold_4;
    status_5 <= status_4;
  end

  // 6: the verdict.
  carried_t carried_6;
  logic unused_bits;
  assign unused_bits = &{1'b0, control_1, completion_1, kick_3, kick_5, carried_6};
  logic is_good_5, is_done_5, is_progress_5, is_notice_5;
  logic [15:0] behind_5;
  logic is_done_6, is_refused_6, is_progress_6, goes_back_6, is_posted_6, is_stopped_6, fails_6, is_command_6, is_resume_6, is_collected_6,
      sends_6, is_newest_6;
  logic valid_6, is_command_5, is_stale_6, is_judged_6, executes_6, hands_back_6, raises_6, is_good_6, judges_5, is_free_5;
  logic [23:0] packets_6;
  hca_spec_pkg::send_hold_t hold_6, held_5;
  hca_spec_pkg::completion_status_t status_6;
  assign is_command_5 = carried_5.kind == queue_pair_fetch_pkg::FETCH_UNIT_COMMAND;
  assign held_5 = looks_at_window_5 && unacknowledged_5 > 30'(PSN_WINDOW) ? hca_spec_pkg::SEND_HOLD_PACKET_WINDOW : hold_5;
  assign is_free_5 = held_5 == hca_spec_pkg::SEND_HOLD_NONE;
  assign is_good_5 = status_5 == hca_spec_pkg::COMPLETION_STATUS_SUCCESS;
  assign is_done_5 = carried_5.kind == queue_pair_fetch_pkg::FETCH_UNIT_SCHEDULE_DONE && carried_5.is_there;
  assign is_progress_5 = carried_5.kind == queue_pair_fetch_pkg::FETCH_UNIT_PROGRESS_NOTICE && carried_5.stands;
  assign is_notice_5 = carried_5.kind == queue_pair_fetch_pkg::FETCH_UNIT_POST_NOTICE && carried_5.stands;
  assign behind_5 = 16'd1 - carried_5.begun;
  assign kick_5 = carried_5.kick;
  assign judges_5 = is_command_5 && !is_stale_5 && !is_far_5;
  always_ff @(posedge clock) begin
    valid_6 <= !reset && valid_5;
    carried_6 <= carried_5;
    is_stale_6 <= is_stale_5;
    is_judged_6 <= judges_5 && may_execute_5;
    executes_6 <= judges_5 && may_execute_5 && is_free_5;
    hands_back_6 <= judges_5 && !(may_execute_5 && is_free_5);
    raises_6 <= raises_5;
    packets_6 <= packets_5;
    hold_6 <= held_5;
    status_6 <= status_5;
    is_good_6 <= is_good_5;
    sends_6 <= judges_5 && may_execute_5 && is_free_5 && is_good_5 && !carried_5.is_local;
    is_command_6 <= is_command_5;
    is_collected_6 <= kick_5.origin == hca_spec_pkg::KICK_ORIGIN_COLLECTED;
    is_done_6 <= is_done_5;
    is_refused_6 <= is_done_5 && carried_5.refusal != 8'(hca_spec_pkg::REFUSAL_NONE);
    is_progress_6 <= is_progress_5;
    goes_back_6 <= is_progress_5 && carried_5.changes_epoch;
    is_posted_6 <= is_notice_5 && !carried_5.stops && !is_far_5;
    is_stopped_6 <= is_notice_5 && carried_5.stops;
    fails_6 <= is_far_5 && (is_notice_5 && !carried_5.stops || is_command_5 && carried_5.stands);
    is_resume_6 <= carried_5.kind == queue_pair_fetch_pkg::FETCH_UNIT_RESUME && carried_5.stands;
    is_newest_6 <= !behind_5[15] && behind_5 != '0;
  end

  // 7: the next numbers of the send queue and of the connection, from the new `next`.
  logic valid_7, is_drained_7, asks_7, keeps_up_7;
  logic [15:0] posted_7, fetched_7, begun_7;
  queue_pair_fetch_pkg::fetch_outcome_t outcome_6, outcome_7;
  hca_spec_pkg::kick_unit_t told_kick_6, kick_6;
  hca_spec_pkg::queue_pair_requester_t own_6, requester_6, requester_7;
  logic begins_6;
  logic [15:0] shift_6, told_6, again_6;
  assign told_kick_6 = carried_6.kick;
  assign own_6 = carried_6.requester;
  assign shift_6 = goes_back_6 ? carried_6.back : 16'(executes_6);
  assign told_6 = raises_6 && (hands_back_6 || is_posted_6) || executes_6 && is_collected_6 ? carried_6.ahead : carried_6.posted;
  assign begins_6 = executes_6 && is_newest_6;
  assign again_6 = 16'd0 - carried_6.back;
  always_comb begin
    outcome_6 = '0;
    kick_6 = told_kick_6;
    if (executes_6) kick_6.status = status_6;
    outcome_6.kind = carried_6.kind;
    outcome_6.kick = kick_6;
    outcome_6.writes = carried_6.stands || is_done_6;
    outcome_6.quality_of_service_level = carried_6.quality_of_service_level;
    outcome_6.executes = executes_6;
    outcome_6.gives_back = is_command_6 && !executes_6 && told_kick_6.origin != hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE;
    outcome_6.fails = is_refused_6 || fails_6;
    outcome_6.refusal = is_refused_6 ? carried_6.refusal : 8'(hca_spec_pkg::REFUSAL_SEQUENCE_OUT_OF_RANGE);
    outcome_6.flushes = executes_6 && !is_good_6 && status_6 != hca_spec_pkg::COMPLETION_STATUS_WORK_REQUEST_FLUSHED_ERROR;
    outcome_6.rewinds = goes_back_6;
    outcome_6.rewind_psn = carried_6.unacknowledged_psn;
    outcome_6.is_stale = is_command_6 && is_stale_6;
    outcome_6.is_handed_back = hands_back_6;
    outcome_6.hold = is_judged_6 ? hold_6 : '0;
    outcome_6.message_length = is_good_6 ? carried_6.message_length[31:0] : '0;
    outcome_6.packets = sends_6 ? packets_6 : '0;
    outcome_6.first_psn = own_6.next_psn;
    outcome_6.next_packet = sends_6 ? own_6.resume_packets : '0;

    requester_6 = own_6;
    requester_6.next = goes_back_6 ? carried_6.acknowledged : own_6.next + 16'(executes_6);
    if (is_done_6) requester_6.scheduled = 1'b0;
    if (is_posted_6) requester_6.stopped = 1'b0;
    else if (is_refused_6 || is_stopped_6) requester_6.stopped = 1'b1;
    if (is_done_6) requester_6.rewound = 1'b0;
    else if (goes_back_6 || hands_back_6 && !is_collected_6) requester_6.rewound = own_6.scheduled;
    if (is_progress_6)
      requester_6.hold = carried_6.waits_for_receiver ? hca_spec_pkg::SEND_HOLD_RECEIVER_NOT_READY : hca_spec_pkg::SEND_HOLD_NONE;
    else if (is_judged_6) requester_6.hold = hold_6;
    if (goes_back_6) begin
      requester_6.retry_epoch = carried_6.retry_epoch;
      requester_6.send_sequence_number = own_6.send_sequence_number - {{8{again_6[15]}}, again_6};
      requester_6.next_psn = carried_6.message_psn;
      requester_6.resume_packets = carried_6.unacknowledged_psn - carried_6.message_psn;
      requester_6.read_atomic_issued = carried_6.answered;
    end else if (sends_6) begin
      requester_6.next_psn = own_6.next_psn + packets_6;
      requester_6.resume_packets = '0;
      requester_6.send_sequence_number = own_6.send_sequence_number + 24'd1;
      requester_6.read_atomic_issued = own_6.read_atomic_issued + 8'(carried_6.is_returned);
    end
  end
  always_ff @(posedge clock) begin
    valid_7 <= !reset && valid_6;
    outcome_7 <= outcome_6;
    requester_7 <= requester_6;
    is_drained_7 <= carried_6.is_drained;
    posted_7 <= told_6 - shift_6;
    if (goes_back_6 || hands_back_6 && !is_collected_6 || is_done_6 && own_6.rewound) fetched_7 <= '0;
    else fetched_7 <= (is_done_6 ? carried_6.ahead : carried_6.fetched) - shift_6;
    begun_7 <= begins_6 ? '0 : carried_6.begun - shift_6;
    keeps_up_7 <= executes_6 || is_done_6;
    asks_7 <= is_done_6 && carried_6.stands && !is_refused_6 || is_progress_6 || is_posted_6 || is_resume_6 || hands_back_6;
  end
  assign back_7 = 16'd0 - begun_7;

  // 8: whether a command is left to fetch.
  logic valid_8, asks_8;
  logic [15:0] posted_8, fetched_8, begun_8;
  queue_pair_fetch_pkg::fetch_outcome_t outcome_8, outcome_9;
  hca_spec_pkg::queue_pair_requester_t requester_8, requester_9;
  assign unfetched_8 = posted_8 - fetched_8;
  always_ff @(posedge clock) begin
    valid_8 <= !reset && valid_7;
    outcome_8 <= outcome_7;
    requester_8 <= requester_7;
    posted_8 <= posted_7;
    fetched_8 <= keeps_up_7 && fetched_7[15] ? '0 : fetched_7;
    begun_8 <= begun_7;
    asks_8 <= asks_7 && !requester_7.scheduled && !requester_7.stopped &&
        requester_7.hold == hca_spec_pkg::SEND_HOLD_NONE && (!is_drained_7 || back_7[15]);
    decided <= !reset && valid_8;
    outcome_9 <= outcome_8;
    requester_9 <= requester_8;
    outcome_9.asks_to_schedule <= asks_8 && !unfetched_8[15];
    requester_9.posted <= requester_8.next + posted_8;
    requester_9.fetch_next <= requester_8.next + fetched_8;
    requester_9.begun <= requester_8.next + begun_8;
  end
  always_comb begin
    outcome = outcome_9;
    outcome.requester = requester_9;
  end
endmodule
