// Shared receive queues.
#include "driver/explanation.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

#include <cerrno>
#include <memory>

namespace fpga_verbs::verbs {

VERBS_EXPORT SharedReceiveQueue* ibv_create_srq(ProtectionDomain* domain, SharedReceiveQueueInit* init) {
  Context* const context = domain->context;
  const SharedReceiveQueueAttributes& wanted = init->attr;
  if (wanted.max_wr == 0 || wanted.max_wr > spec::queue_entries_maximum ||
      wanted.max_sge > spec::gather_entries)
    return failed<SharedReceiveQueue>(driver::explain(EINVAL, "max_wr is 1 to 32768, max_sge 0 to 16"));
  auto made = std::make_unique<OwnSharedReceiveQueue>(*OwnContext::of(context).adapter);
  // The limit is set by ibv_modify_srq alone.
  if (const int error = made->queue.create(number_of(domain), wanted.max_wr, wanted.max_sge, 0))
    return failed<SharedReceiveQueue>(error);
  made->context = context;
  made->srq_context = init->srq_context;
  made->pd = domain;
  made->handle = made->queue.number();
  pthread_mutex_init(&made->mutex, nullptr);
  pthread_cond_init(&made->cond, nullptr);
  init->attr.max_wr = made->queue.entries();
  init->attr.max_sge = made->queue.scatter_entries();
  made->adapter.add(*made);
  return made.release();
}

SharedReceiveQueue* create_srq_ex(Context*, SharedReceiveQueueInitEx*) {
  return failed<SharedReceiveQueue>(
      driver::explain(EOPNOTSUPP, "the device has no shared receive queues for XRC or tag matching"));
}

int get_srq_num(SharedReceiveQueue* queue, uint32_t* number) {
  *number = static_cast<OwnSharedReceiveQueue*>(queue)->queue.number();
  return 0;
}

VERBS_EXPORT int ibv_modify_srq(SharedReceiveQueue* queue, SharedReceiveQueueAttributes* attributes,
                                int mask) {
  enum : int { size = 1, limit = 2 };
  if ((mask & ~(size | limit)) != 0)
    return driver::explain(EINVAL, "of a shared receive queue max_wr and srq_limit can be changed");
  using Number = std::optional<uint32_t>;
  return static_cast<OwnSharedReceiveQueue*>(queue)->queue.modify(
      (mask & size) != 0 ? Number(attributes->max_wr) : Number(),
      (mask & limit) != 0 ? Number(attributes->srq_limit) : Number());
}

VERBS_EXPORT int ibv_query_srq(SharedReceiveQueue* queue, SharedReceiveQueueAttributes* attributes) {
  driver::SharedReceiveQueue& asked = static_cast<OwnSharedReceiveQueue*>(queue)->queue;
  attributes->max_wr = asked.entries();
  attributes->max_sge = asked.scatter_entries();
  return asked.query(attributes->srq_limit);
}

VERBS_EXPORT int ibv_destroy_srq(SharedReceiveQueue* queue) {
  auto* const destroyed = static_cast<OwnSharedReceiveQueue*>(queue);
  if (const int error = destroyed->queue.destroy())
    return error;
  destroyed->adapter.remove(*destroyed);
  OwnContext::of(queue->context).events.remove([queue](const AsyncEvent& event) {
    const auto type = static_cast<spec::EventType>(event.event_type);
    return (type == spec::EventType::shared_receive_queue_error ||
            type == spec::EventType::shared_receive_queue_limit_reached) &&
           event.element.srq == queue;
  });
  wait_for_acknowledgements(queue->mutex, queue->cond, queue->events_completed, destroyed->events.taken);
  delete destroyed;
  return 0;
}

int post_srq_recv(SharedReceiveQueue* queue, ReceiveRequest* request, ReceiveRequest** bad) {
  driver::SharedReceiveQueue& posted = static_cast<OwnSharedReceiveQueue*>(queue)->queue;
  int error = 0;
  for (; request != nullptr; request = request->next) {
    error = posted.put(request->wr_id, segments_of(request->sg_list, request->num_sge));
    if (error != 0) {
      *bad = request;
      break;
    }
  }
  posted.publish();
  return error;
}

} // namespace fpga_verbs::verbs
