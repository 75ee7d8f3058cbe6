// The outcome of a verdict on an access, a clock later: the next responder part of the context, the receive record, and the units for other
// blocks.
module request_outcome (
    input logic clock,
    input logic reset,

    input logic valid_4,
    input receive_pkg::access_t access_4,
    input hca_spec_pkg::queue_pair_responder_t responder_4,
    input receive_pkg::facts_t facts_4,
    input receive_pkg::verdict_t verdict_4,
    input logic [7:0] syndrome_4,
    input logic is_reliable_4,
    input logic establishes_4,
    input logic kept_4,
    input logic takes_4,
    input logic [31:0] arrived_4,
    input logic [23:0] packets_less_one_4,
    input logic [4:0] resources_4,

    output logic write,
    output hca_spec_pkg::queue_pair_responder_t responder,
    output receive_pkg::unit_t unit,  // Of all that follows.
    output logic accept,  // Its receive record is written in this clock.
    output hca_spec_pkg::receive_action_t action,
    output receive_pkg::receive_record_t record,
    output logic want,
    output logic search,
    output receive_pkg::search_t search_for,
    output logic drop,  // Its pin ends; and with a packet, its buffer is free.
    output logic drop_has_packet,
    output logic begin_flush,
    output logic establish,
    output logic repeats,
    output logic add,  // A READ or atomic.
    output logic [3:0] add_slot,
    output receive_pkg::resource_t add_resource
);
  logic is_execute, is_message, is_accept, describes, is_lost;
  hca_spec_pkg::queue_pair_responder_t next;
  hca_spec_pkg::receive_action_t request_action, next_action;
  receive_pkg::receive_record_t next_record;
  logic unused_bits;
  assign unused_bits = &{1'b0, access_4, facts_4};
  assign is_execute = verdict_4 == receive_pkg::VERDICT_EXECUTE;
  assign is_message = facts_4.traits.is_send || facts_4.traits.is_write;
  assign is_accept = is_execute || verdict_4 == receive_pkg::VERDICT_REPEAT || verdict_4 == receive_pkg::VERDICT_REFUSE
      || verdict_4 == receive_pkg::VERDICT_PASS || verdict_4 == receive_pkg::VERDICT_END;
  assign describes = is_execute || verdict_4 == receive_pkg::VERDICT_PASS;

  // The receive work request of a SEND whose end was lost is taken by the next message.
  assign is_lost = verdict_4 == receive_pkg::VERDICT_LOSE
      || !is_reliable_4 && facts_4.traits.begins && (is_execute || verdict_4 == receive_pkg::VERDICT_WANT);
  always_comb begin
    next = responder_4;
    if (is_lost) begin
      if (responder_4.current_message == hca_spec_pkg::RECEIVE_MESSAGE_SEND) next.receive_kept = 1'b1;
      next.current_message = hca_spec_pkg::RECEIVE_MESSAGE_NONE;
    end
    if (is_execute) begin
      next.expected_psn = facts_4.packet_sequence_number + packets_less_one_4 + 24'd1;
      next.nak_sent = 1'b0;
      if (establishes_4) next.communication_established = 1'b1;
      if (takes_4 && kept_4) next.receive_kept = 1'b0;
      if (facts_4.traits.ends) next.message_sequence_number = responder_4.message_sequence_number + 24'd1;
      if (!is_message) begin
        next.read_atomic_tail = responder_4.read_atomic_tail + 8'd1;
        if (!responder_4.read_atomic_kept[4]) next.read_atomic_kept = responder_4.read_atomic_kept + 5'd1;
      end
    end
    if (describes) begin
      next.current_offset = arrived_4;
      if (facts_4.traits.begins) begin
        next.current_address = facts_4.virtual_address;
        next.current_key = facts_4.remote_key;
        next.current_length = facts_4.dma_length;
        if (facts_4.traits.is_send) next.current_message = hca_spec_pkg::RECEIVE_MESSAGE_SEND;
        else if (facts_4.traits.is_write) next.current_message = hca_spec_pkg::RECEIVE_MESSAGE_RDMA_WRITE;
      end
      if (facts_4.traits.ends) next.current_message = hca_spec_pkg::RECEIVE_MESSAGE_NONE;
    end
    if (verdict_4 == receive_pkg::VERDICT_REFUSE) next.nak_sent = 1'b1;
    if (verdict_4 == receive_pkg::VERDICT_REPEAT && facts_4.traits.is_read)
      next.repeated_reads_accepted = responder_4.repeated_reads_accepted + 8'd1;

    if (facts_4.traits.is_send) request_action = hca_spec_pkg::RECEIVE_ACTION_SEND;
    else if (facts_4.traits.is_write) request_action = hca_spec_pkg::RECEIVE_ACTION_RDMA_WRITE;
    else request_action = facts_4.traits.is_read ? hca_spec_pkg::RECEIVE_ACTION_RDMA_READ : hca_spec_pkg::RECEIVE_ACTION_ATOMIC;
    next_action = request_action;
    if (verdict_4 == receive_pkg::VERDICT_END) next_action = hca_spec_pkg::RECEIVE_ACTION_FLUSH;
    else if (verdict_4 == receive_pkg::VERDICT_REFUSE) next_action = hca_spec_pkg::RECEIVE_ACTION_REFUSE;
    else if (verdict_4 == receive_pkg::VERDICT_REPEAT && is_message) next_action = hca_spec_pkg::RECEIVE_ACTION_ACKNOWLEDGE;

    // A NAK gives the expected PSN. A SEND or RDMA WRITE is acknowledged up to the newest accepted one; other requests are answered again.
    if (verdict_4 == receive_pkg::VERDICT_REFUSE) next_record.answer_psn = responder_4.expected_psn;
    else if (verdict_4 == receive_pkg::VERDICT_REPEAT && is_message) next_record.answer_psn = responder_4.expected_psn - 24'd1;
    else next_record.answer_psn = facts_4.packet_sequence_number;
    // A READ counts when its execution is certain to begin, other requests when they are complete (9.7.7.1).
    next_record.message_sequence_number = next.message_sequence_number;
    next_record.syndrome = syndrome_4;
    next_record.first = facts_4.traits.begins || verdict_4 == receive_pkg::VERDICT_REPEAT;
    next_record.last = facts_4.traits.ends || verdict_4 == receive_pkg::VERDICT_REPEAT;
    next_record.duplicate = verdict_4 == receive_pkg::VERDICT_REPEAT;
    next_record.receive_kept = is_execute && takes_4 && kept_4;
    next_record.exposes_global_route = is_execute && facts_4.traits.is_datagram && !facts_4.is_local;
    if (is_execute && facts_4.traits.is_datagram && facts_4.is_local) next_record.message_offset = 32'(hca_spec_pkg::GLOBAL_ROUTE_HEADER_BYTES);
    else next_record.message_offset = facts_4.traits.begins ? '0 : responder_4.current_offset;
    next_record.message_length = facts_4.traits.begins ? facts_4.dma_length : responder_4.current_length;
    next_record.remote_address = facts_4.traits.begins ? facts_4.virtual_address : responder_4.current_address;
    next_record.remote_key = facts_4.traits.begins ? facts_4.remote_key : responder_4.current_key;
    next_record.receive_sequence_number = responder_4.receive_entry_number;
    next_record.receive_entry_offset = responder_4.receive_entry_offset;
    next_record.receive_entry_length = responder_4.receive_entry_length;
  end
  always_ff @(posedge clock) begin
    unit <= access_4.unit;
    write <= !reset && valid_4 && !access_4.unit.is_flush && (is_lost || describes || verdict_4 == receive_pkg::VERDICT_REFUSE
        || verdict_4 == receive_pkg::VERDICT_REPEAT);
    responder <= next;
    accept <= !reset && valid_4 && is_accept;
    action <= next_action;
    record <= next_record;
    want <= !reset && valid_4 && verdict_4 == receive_pkg::VERDICT_WANT;
    search <= !reset && valid_4 && verdict_4 == receive_pkg::VERDICT_SEARCH;
    search_for.unit <= access_4.unit;
    search_for.is_read <= facts_4.traits.is_read;
    search_for.tail <= responder_4.read_atomic_tail[3:0];
    search_for.count <= resources_4;
    search_for.packet_sequence_number <= facts_4.packet_sequence_number;
    search_for.packets_less_one <= packets_less_one_4;
    search_for.remote_key <= facts_4.remote_key;
    search_for.length <= facts_4.dma_length;
    search_for.address <= facts_4.virtual_address;
    drop <= !reset && valid_4 && (verdict_4 == receive_pkg::VERDICT_DROP || verdict_4 == receive_pkg::VERDICT_LOSE
        || verdict_4 == receive_pkg::VERDICT_IGNORE);
    drop_has_packet <= !access_4.unit.is_flush;
    begin_flush <= !reset && valid_4 && verdict_4 == receive_pkg::VERDICT_BEGIN;
    establish <= !reset && valid_4 && is_execute && establishes_4;
    repeats <= !reset && valid_4 && verdict_4 == receive_pkg::VERDICT_REPEAT;
    add <= !reset && valid_4 && is_execute && !is_message;
    add_slot <= responder_4.read_atomic_tail[3:0];
    add_resource.is_read <= facts_4.traits.is_read;
    add_resource.packet_sequence_number <= facts_4.packet_sequence_number;
    add_resource.packets <= packets_less_one_4 + 24'd1;
    add_resource.remote_key <= facts_4.remote_key;
    add_resource.length <= facts_4.dma_length;
    add_resource.address <= facts_4.virtual_address;
  end
endmodule
