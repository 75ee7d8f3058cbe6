#pragma once

#include "hca/queue_pair/transport_context.h"
#include "spec/contexts.h"

#include <cstddef>
#include <type_traits>

namespace fpga_verbs::hca {

// A queue pair without its connection: each class holds the fields of a part that are the queue pair's, and
// hides those of the transport context, which lies in the same place of context memory.

// The order of the send queue: what is posted, fetched, and executed. Written by queue_pair_fetch.
class SendQueueState : private TransportRequester {
public:
  using TransportRequester::TransportRequester;

  using spec::QueuePairRequester::begun;
  using spec::QueuePairRequester::fetch_next;
  using spec::QueuePairRequester::hold;
  using spec::QueuePairRequester::next;
  using spec::QueuePairRequester::posted;
  using spec::QueuePairRequester::rewound;
  using spec::QueuePairRequester::scheduled;
  using spec::QueuePairRequester::set_begun;
  using spec::QueuePairRequester::set_fetch_next;
  using spec::QueuePairRequester::set_hold;
  using spec::QueuePairRequester::set_next;
  using spec::QueuePairRequester::set_posted;
  using spec::QueuePairRequester::set_rewound;
  using spec::QueuePairRequester::set_scheduled;
  using spec::QueuePairRequester::set_stopped;
  using spec::QueuePairRequester::stopped;

private:
  template <class Parts> friend class BasicTransportContext;
};

// How far the send queue is complete. Written by completion.
class SendQueueProgress : private TransportCompletion {
public:
  using TransportCompletion::TransportCompletion;

  using spec::QueuePairCompletion::acknowledged;
  using spec::QueuePairCompletion::set_acknowledged;

private:
  template <class Parts> friend class BasicTransportContext;
};

// The receive queue. Written by descriptor_fetch (receive_*), except receive_kept, which is receive's, and
// what dma_validation completes (completed, receive_open, last_entry_reached).
class ReceiveQueueState : private TransportResponder {
public:
  using TransportResponder::TransportResponder;

  using spec::QueuePairResponder::completed;
  using spec::QueuePairResponder::last_entry_reached;
  using spec::QueuePairResponder::receive_entry_length;
  using spec::QueuePairResponder::receive_entry_number;
  using spec::QueuePairResponder::receive_entry_offset;
  using spec::QueuePairResponder::receive_head;
  using spec::QueuePairResponder::receive_kept;
  using spec::QueuePairResponder::receive_open;
  using spec::QueuePairResponder::receive_prefetched;
  using spec::QueuePairResponder::receive_tail;
  using spec::QueuePairResponder::set_completed;
  using spec::QueuePairResponder::set_last_entry_reached;
  using spec::QueuePairResponder::set_receive_entry_length;
  using spec::QueuePairResponder::set_receive_entry_number;
  using spec::QueuePairResponder::set_receive_entry_offset;
  using spec::QueuePairResponder::set_receive_head;
  using spec::QueuePairResponder::set_receive_kept;
  using spec::QueuePairResponder::set_receive_open;
  using spec::QueuePairResponder::set_receive_prefetched;
  using spec::QueuePairResponder::set_receive_tail;

private:
  template <class Parts> friend class BasicTransportContext;
};

// The transport context that a queue pair's work goes through: of RC and UC its own, in the queue pair's
// context. Of const parts, for reading.
template <class Parts> class BasicTransportContext {
  template <class Part> using In = std::conditional_t<std::is_const_v<Parts>, const Part, Part>;

public:
  explicit BasicTransportContext(Parts& own) : parts_(&own) {}

  TransportPath path() const { return TransportPath(parts_->control); }
  In<TransportRequester>& requester() const { return parts_->requester; }
  In<TransportCompletion>& completion() const { return parts_->completion; }
  In<TransportResponder>& responder() const { return parts_->responder; }

private:
  Parts* parts_;
};

// The parts of a queue pair context, each with one writer: control by resource_manager, requester by
// queue_pair_fetch, completion by completion, responder by receive. The connection's fields are reached
// through transport().
struct QueuePairParts {
  spec::QueuePairControl control;
  SendQueueState requester;
  SendQueueProgress completion;
  ReceiveQueueState responder;

  BasicTransportContext<QueuePairParts> transport() { return BasicTransportContext(*this); }
  BasicTransportContext<const QueuePairParts> transport() const { return BasicTransportContext(*this); }
};
static_assert(offsetof(QueuePairParts, control) == spec::QueuePairContext::control_byte &&
              offsetof(QueuePairParts, requester) == spec::QueuePairContext::requester_byte &&
              offsetof(QueuePairParts, completion) == spec::QueuePairContext::completion_byte &&
              offsetof(QueuePairParts, responder) == spec::QueuePairContext::responder_byte);

// Neither reaches what is the other's.
template <class Part>
concept HasConnection = requires(Part part) { part.next_psn(); } || requires(Part part) {
  part.message_psn();
} || requires(Part part) { part.expected_psn(); };
template <class Part>
concept HasQueue = requires(Part part) { part.next(); } || requires(Part part) { part.acknowledged(); } ||
                   requires(Part part) { part.receive_head(); };
static_assert(HasConnection<TransportRequester> && HasConnection<TransportCompletion> &&
              HasConnection<TransportResponder> && !HasQueue<TransportRequester> &&
              !HasQueue<TransportCompletion> && !HasQueue<TransportResponder>);
static_assert(HasQueue<SendQueueState> && HasQueue<SendQueueProgress> && HasQueue<ReceiveQueueState> &&
              !HasConnection<SendQueueState> && !HasConnection<SendQueueProgress> &&
              !HasConnection<ReceiveQueueState>);

using TransportContext = BasicTransportContext<QueuePairParts>;
using ReadTransportContext = BasicTransportContext<const QueuePairParts>;

} // namespace fpga_verbs::hca
