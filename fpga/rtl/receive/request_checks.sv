// The checks of a responder (InfiniBand volume 1, 9.7.4 and 9.8.2): PSN, order of opcodes, lengths, rights of the queue pair, responder
// resources. Keys are checked later, when memory is accessed. The verdict on each access follows three clocks later, with its inputs.
module request_checks (
    input logic clock,
    input logic reset,

    input logic valid_1,
    input receive_pkg::access_t access_1,
    input logic found_1,  // The function has this queue pair.
    input hca_spec_pkg::queue_pair_control_t control_1,
    input hca_spec_pkg::queue_pair_responder_t responder_1,
    input receive_pkg::facts_t facts_1,  // Of a packet.

    output logic valid_4,
    output receive_pkg::access_t access_4,
    output hca_spec_pkg::queue_pair_responder_t responder_4,
    output receive_pkg::facts_t facts_4,
    output receive_pkg::verdict_t verdict_4,
    output logic [7:0] syndrome_4,
    output logic is_reliable_4,
    output logic establishes_4,  // The first packet of a connection, if it is executed.
    output logic kept_4,  // A receive work request is kept, even of a message whose end was lost just now.
    output logic takes_4,  // The packet takes a receive work request.
    output logic [31:0] arrived_4,  // Bytes of the message behind this packet.
    output logic [23:0] packets_less_one_4,  // PSNs of a READ.
    output logic [4:0] resources_4  // The newest READs and atomics that a duplicate may ask for.
);
  localparam logic [31:0] MESSAGE_BYTES_MAXIMUM = hca_spec_pkg::MESSAGE_BYTES_MAXIMUM;
  localparam int unsigned REMOTE_WRITE = 32'(hca_spec_pkg::ACCESS_FLAG_REMOTE_WRITE);
  localparam int unsigned REMOTE_READ = 32'(hca_spec_pkg::ACCESS_FLAG_REMOTE_READ);
  localparam int unsigned REMOTE_ATOMIC = 32'(hca_spec_pkg::ACCESS_FLAG_REMOTE_ATOMIC);

  // 2: the operands of comparisons.
  logic valid_2, receives_2, is_in_error_2, flushes_2, passes_2, is_reliable_2, establishes_2, kept_2, takes_2, continues_2, is_idle_2, fills_2,
      fits_2, has_payload_2, is_aligned_2, may_write_2, may_read_2, may_atomic_2, is_empty_2;
  receive_pkg::access_t access_2;
  receive_pkg::facts_t facts_2;
  hca_spec_pkg::queue_pair_responder_t responder_2;
  logic [23:0] ahead_2;
  logic [32:0] arrived_2;
  logic [31:0] length_2, length_less_one_2;
  logic [7:0] resources_used_2, resources_2, repeated_2;
  logic [4:0] kept_resources_2, timer_2;
  logic [3:0] mtu_2;
  logic [12:0] mtu_bytes;
  logic exists, is_receiving, is_error, is_lost;
  assign mtu_bytes = 13'd128 << control_1.path_mtu;
  assign exists = found_1 && !control_1.destroying;
  assign is_receiving = control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_READY_TO_RECEIVE
      || control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_READY_TO_SEND || control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_SEND_QUEUE_DRAINED
      || control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_SEND_QUEUE_ERROR;
  assign is_error = control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_ERROR;
  assign is_lost = control_1.service_type != hca_spec_pkg::SERVICE_TYPE_RELIABLE_CONNECTION
      && responder_1.current_message == hca_spec_pkg::RECEIVE_MESSAGE_SEND;
  always_ff @(posedge clock) begin
    valid_2 <= !reset && valid_1;
    access_2 <= access_1;
    facts_2 <= facts_1;
    responder_2 <= responder_1;
    receives_2 <= exists && is_receiving;
    is_in_error_2 <= found_1 && is_error;
    flushes_2 <= exists && is_error && control_1.shared_receive_queue == '0;
    passes_2 <= found_1 && control_1.shared_receive_queue != '0;
    is_reliable_2 <= control_1.service_type == hca_spec_pkg::SERVICE_TYPE_RELIABLE_CONNECTION;
    establishes_2 <= control_1.service_type != hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_DATAGRAM
        && control_1.state == hca_spec_pkg::QUEUE_PAIR_STATE_READY_TO_RECEIVE && !responder_1.communication_established;
    kept_2 <= responder_1.receive_kept || is_lost && facts_1.traits.begins;
    takes_2 <= facts_1.traits.is_send ? facts_1.traits.begins : facts_1.traits.completes_receive;
    continues_2 <= responder_1.current_message ==
        (facts_1.traits.is_send ? hca_spec_pkg::RECEIVE_MESSAGE_SEND : hca_spec_pkg::RECEIVE_MESSAGE_RDMA_WRITE);
    is_idle_2 <= responder_1.current_message == hca_spec_pkg::RECEIVE_MESSAGE_NONE;
    fills_2 <= facts_1.payload_bytes == mtu_bytes;
    fits_2 <= facts_1.payload_bytes <= mtu_bytes;
    has_payload_2 <= facts_1.payload_bytes != '0;
    is_aligned_2 <= facts_1.virtual_address[2:0] == '0;
    may_write_2 <= control_1.access_flags[REMOTE_WRITE];
    may_read_2 <= control_1.access_flags[REMOTE_READ];
    may_atomic_2 <= control_1.access_flags[REMOTE_ATOMIC];
    is_empty_2 <= facts_1.dma_length == '0;
    ahead_2 <= facts_1.packet_sequence_number - responder_1.expected_psn;
    arrived_2 <= (facts_1.traits.begins ? '0 : 33'(responder_1.current_offset)) + 33'(facts_1.payload_bytes);
    length_2 <= facts_1.traits.begins ? facts_1.dma_length : responder_1.current_length;
    length_less_one_2 <= facts_1.dma_length - 32'd1;
    resources_used_2 <= responder_1.read_atomic_tail - responder_1.read_atomic_head;
    resources_2 <= control_1.max_destination_read_atomic;
    repeated_2 <= responder_1.repeated_reads_accepted - responder_1.repeated_reads_answered;
    kept_resources_2 <= responder_1.read_atomic_kept;
    timer_2 <= control_1.min_receiver_not_ready_timer;
    mtu_2 <= control_1.path_mtu;
  end
  logic unused_bits;
  assign unused_bits = &{1'b0, control_1, length_less_one_2};

  // 3: compared.
  logic valid_3, receives_3, is_in_error_3, flushes_3, passes_3, is_reliable_3, establishes_3, kept_3, takes_3, continues_3, is_idle_3,
      has_proper_payload_3, is_proper_send_3, is_whole_3, is_part_3, is_proper_length_3, may_write_3, is_read_allowed_3, is_atomic_allowed_3,
      has_resources_3, may_repeat_3, is_next_3, is_behind_3;
  receive_pkg::access_t access_3;
  receive_pkg::facts_t facts_3;
  hca_spec_pkg::queue_pair_responder_t responder_3;
  logic [31:0] arrived_3;
  logic [23:0] packets_less_one_3;
  logic [4:0] resources_3, timer_3;
  always_ff @(posedge clock) begin
    valid_3 <= !reset && valid_2;
    access_3 <= access_2;
    facts_3 <= facts_2;
    responder_3 <= responder_2;
    receives_3 <= receives_2;
    is_in_error_3 <= is_in_error_2;
    flushes_3 <= flushes_2;
    passes_3 <= passes_2;
    is_reliable_3 <= is_reliable_2;
    establishes_3 <= establishes_2;
    kept_3 <= kept_2;
    takes_3 <= takes_2;
    continues_3 <= continues_2;
    is_idle_3 <= is_idle_2;
    // First and middle packets fill the path MTU; a last packet is not empty.
    has_proper_payload_3 <= facts_2.traits.ends ? fits_2 && (facts_2.traits.begins || has_payload_2) : fills_2;
    is_proper_send_3 <= arrived_2 <= 33'(MESSAGE_BYTES_MAXIMUM);
    is_whole_3 <= arrived_2 == 33'(length_2);
    is_part_3 <= arrived_2 < 33'(length_2);
    is_proper_length_3 <= length_2 <= MESSAGE_BYTES_MAXIMUM;
    may_write_3 <= may_write_2;
    is_read_allowed_3 <= may_read_2;
    is_atomic_allowed_3 <= may_atomic_2 && is_aligned_2;
    has_resources_3 <= resources_used_2 < resources_2;
    may_repeat_3 <= !facts_2.traits.is_read || may_read_2 && 32'(repeated_2) < hca_spec_pkg::READ_ATOMIC_MAXIMUM;
    is_next_3 <= ahead_2 == '0;
    is_behind_3 <= ahead_2[23];
    arrived_3 <= arrived_2[31:0];
    packets_less_one_3 <= '0;
    if (facts_2.traits.is_read && !is_empty_2)
      case (mtu_2)
        hca_spec_pkg::PATH_MTU_MTU_256: packets_less_one_3 <= length_less_one_2[31:8];
        hca_spec_pkg::PATH_MTU_MTU_512: packets_less_one_3 <= 24'(length_less_one_2[31:9]);
        hca_spec_pkg::PATH_MTU_MTU_1024: packets_less_one_3 <= 24'(length_less_one_2[31:10]);
        hca_spec_pkg::PATH_MTU_MTU_2048: packets_less_one_3 <= 24'(length_less_one_2[31:11]);
        default: packets_less_one_3 <= 24'(length_less_one_2[31:12]);
      endcase
    resources_3 <= resources_2 < 8'(kept_resources_2) ? resources_2[4:0] : kept_resources_2;
    timer_3 <= timer_2;
  end

  // 4: the verdict.
  logic is_message, is_duplicate_of_resource, is_valid, is_in_turn, follows, waits;
  receive_pkg::verdict_t verdict, packet_verdict, fetched_verdict;
  logic [7:0] syndrome;
  always_comb begin
    is_message = facts_3.traits.is_send || facts_3.traits.is_write;
    is_duplicate_of_resource = facts_3.traits.is_read || facts_3.traits.is_atomic;
    if (facts_3.traits.is_send) is_valid = has_proper_payload_3 && is_proper_send_3;
    else if (facts_3.traits.is_write)
      is_valid = has_proper_payload_3 && may_write_3 && is_proper_length_3 && (facts_3.traits.ends ? is_whole_3 : is_part_3);
    else if (facts_3.traits.is_read) is_valid = is_read_allowed_3 && is_proper_length_3 && has_resources_3;
    else is_valid = facts_3.traits.is_atomic && is_atomic_allowed_3 && has_resources_3;
    is_in_turn = facts_3.traits.begins ? is_idle_3 : continues_3;
    // A message of an unreliable service may start with any PSN; a packet that does not follow the previous one belongs to a message with a
    // lost packet.
    follows = facts_3.traits.begins || is_next_3 && continues_3;
    waits = takes_3 && !kept_3;

    syndrome = 8'(hca_spec_pkg::SYNDROME_INVALID_REQUEST);
    packet_verdict = waits ? receive_pkg::VERDICT_WANT : receive_pkg::VERDICT_EXECUTE;
    if (!receives_3) packet_verdict = receive_pkg::VERDICT_DROP;
    else if (!is_reliable_3) begin
      if (!follows || !is_valid) packet_verdict = receive_pkg::VERDICT_LOSE;
    end else if (is_behind_3) begin
      if (is_message) packet_verdict = receive_pkg::VERDICT_REPEAT;
      else if (!is_duplicate_of_resource) packet_verdict = receive_pkg::VERDICT_DROP;
      else if (access_3.kind != receive_pkg::ACCESS_SEARCHED) packet_verdict = receive_pkg::VERDICT_SEARCH;
      else packet_verdict = access_3.flag && may_repeat_3 ? receive_pkg::VERDICT_REPEAT : receive_pkg::VERDICT_DROP;
    end else if (!is_next_3) begin
      packet_verdict = responder_3.nak_sent ? receive_pkg::VERDICT_DROP : receive_pkg::VERDICT_REFUSE;
      syndrome = 8'(hca_spec_pkg::SYNDROME_SEQUENCE_ERROR);
    end else if (!is_in_turn || !is_valid) packet_verdict = receive_pkg::VERDICT_REFUSE;

    if (!receives_3) fetched_verdict = access_3.flag && passes_3 ? receive_pkg::VERDICT_PASS : receive_pkg::VERDICT_DROP;
    else if (access_3.flag) fetched_verdict = receive_pkg::VERDICT_EXECUTE;
    else fetched_verdict = is_reliable_3 ? receive_pkg::VERDICT_REFUSE : receive_pkg::VERDICT_LOSE;

    // The entries of a shared queue belong to the other queue pairs.
    if (access_3.kind == receive_pkg::ACCESS_BEGIN) verdict = is_in_error_3 ? receive_pkg::VERDICT_BEGIN : receive_pkg::VERDICT_IGNORE;
    else if (access_3.unit.is_flush)
      verdict = flushes_3 && !(access_3.kind == receive_pkg::ACCESS_FETCHED && !access_3.flag) ? receive_pkg::VERDICT_WANT :
          receive_pkg::VERDICT_END;
    else verdict = access_3.kind == receive_pkg::ACCESS_FETCHED ? fetched_verdict : packet_verdict;
  end
  always_ff @(posedge clock) begin
    valid_4 <= !reset && valid_3;
    access_4 <= access_3;
    facts_4 <= facts_3;
    responder_4 <= responder_3;
    verdict_4 <= verdict;
    syndrome_4 <= access_3.kind == receive_pkg::ACCESS_FETCHED ? 8'(hca_spec_pkg::SYNDROME_RECEIVER_NOT_READY) | 8'(timer_3) : syndrome;
    is_reliable_4 <= is_reliable_3;
    establishes_4 <= establishes_3;
    kept_4 <= kept_3;
    takes_4 <= takes_3;
    arrived_4 <= arrived_3;
    packets_less_one_4 <= packets_less_one_3;
    resources_4 <= resources_3;
  end
endmodule
