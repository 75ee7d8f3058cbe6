// Asynchronous events.
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

namespace fpga_verbs::verbs {

namespace {

enum class Subject : uint8_t { completion_queue, queue_pair, shared_receive_queue, other };

Subject subject_of(const AsyncEvent& event) {
  using enum spec::EventType;
  switch (static_cast<spec::EventType>(event.event_type)) {
  case completion_queue_error:
    return Subject::completion_queue;
  case queue_pair_fatal:
  case queue_pair_request_error:
  case queue_pair_access_error:
  case communication_established:
  case send_queue_drained:
  case path_migrated:
  case path_migration_error:
  case queue_pair_last_work_queue_entry_reached:
    return Subject::queue_pair;
  case shared_receive_queue_error:
  case shared_receive_queue_limit_reached:
    return Subject::shared_receive_queue;
  default:
    return Subject::other;
  }
}

// Under the mutex of the event's object: its counts change, and its destruction waits for them.
template <class Shown, class Change> void change(Shown& shown, Change&& change) {
  pthread_mutex_lock(&shown.mutex);
  change();
  pthread_cond_signal(&shown.cond);
  pthread_mutex_unlock(&shown.mutex);
}

void count_taken(const AsyncEvent& event) {
  switch (subject_of(event)) {
  case Subject::completion_queue:
    return change(*event.element.cq, [&] { ++OwnCompletionQueue::of(event.element.cq).events.taken; });
  case Subject::queue_pair:
    return change(*event.element.qp, [&] { ++OwnQueuePair::of(event.element.qp).events.taken; });
  case Subject::shared_receive_queue:
    return change(*event.element.srq,
                  [&] { ++static_cast<OwnSharedReceiveQueue*>(event.element.srq)->events.taken; });
  case Subject::other:
    return;
  }
}

} // namespace

VERBS_EXPORT int ibv_get_async_event(Context* context, AsyncEvent* event) {
  return OwnContext::of(context).events.pop(*event, count_taken) ? 0 : -1;
}

VERBS_EXPORT void ibv_ack_async_event(AsyncEvent* event) {
  switch (subject_of(*event)) {
  case Subject::completion_queue:
    return change(*event->element.cq, [&] { ++event->element.cq->async_events_completed; });
  case Subject::queue_pair:
    return change(*event->element.qp, [&] { ++event->element.qp->events_completed; });
  case Subject::shared_receive_queue:
    return change(*event->element.srq, [&] { ++event->element.srq->events_completed; });
  case Subject::other:
    return;
  }
}

} // namespace fpga_verbs::verbs
