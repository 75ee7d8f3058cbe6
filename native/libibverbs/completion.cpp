// Completion queues, polled and extended, and the channels of their events.
#include "driver/explanation.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

#include <cerrno>
#include <memory>
#include <sched.h>

namespace fpga_verbs::verbs {

namespace {

unsigned flags_of(const spec::CompletionQueueEntry& entry) {
  return (entry.with_global_route_header() != 0 ? wc_grh : 0u) |
         (entry.with_immediate() != 0 ? wc_with_imm : 0u) | (entry.with_invalidate() != 0 ? wc_with_inv : 0u);
}

void fill(WorkCompletion& to, const driver::Completion& completion) {
  const spec::CompletionQueueEntry& entry = completion.entry;
  to.wr_id = completion.id;
  to.status = static_cast<int>(entry.status());
  to.opcode = static_cast<int>(entry.opcode());
  to.vendor_err = entry.vendor_error();
  to.byte_len = entry.byte_length();
  to.imm_data = entry.immediate_data(); // the bytes of the wire, or a key
  to.qp_num = entry.queue_pair_number();
  to.src_qp = entry.source_queue_pair();
  to.wc_flags = flags_of(entry);
  to.pkey_index = static_cast<uint16_t>(entry.partition_key_index());
  to.slid = static_cast<uint16_t>(entry.source_local_identifier());
  to.sl = static_cast<uint8_t>(entry.service_level());
  to.dlid_path_bits = static_cast<uint8_t>(entry.destination_path_bits());
}

// Next to an adapter, a program that polls without pause has a CPU to itself. Here the other end of its
// connection may wait for the same CPU: after some unsuccessful polls a thread yields.
void found(bool nothing) {
  constexpr unsigned empty_polls = 64;
  thread_local unsigned empty = 0;
  empty = nothing ? empty + 1 : 0;
  if (empty > empty_polls)
    sched_yield();
}

OwnCompletionQueue& own(CompletionQueueEx* queue) { return *static_cast<OwnCompletionQueue*>(queue); }
const spec::CompletionQueueEntry& entry(CompletionQueueEx* queue) { return own(queue).current.entry; }

int next_poll(CompletionQueueEx* queue) {
  OwnCompletionQueue& polled = own(queue);
  if (!polled.queue.take(polled.current))
    return ENOENT;
  queue->wr_id = polled.current.id;
  queue->status = static_cast<int>(polled.current.entry.status());
  return 0;
}

// Held until end_poll, if it returns 0.
int start_poll(CompletionQueueEx* queue, PollAttributes* attributes) {
  OwnCompletionQueue& polled = own(queue);
  if (attributes->comp_mask != 0)
    return EINVAL;
  polled.queue.lock();
  if (next_poll(queue) == 0)
    return 0;
  polled.queue.unlock();
  polled.queue.advance();
  polled.queue.lock();
  const bool nothing = next_poll(queue) != 0;
  if (nothing)
    polled.queue.unlock();
  found(nothing);
  if (!nothing)
    return 0;
  return polled.queue.failure() == 0 ? ENOENT : polled.queue.explain_failure();
}

void end_poll(CompletionQueueEx* queue) {
  own(queue).queue.publish();
  own(queue).queue.unlock();
}

void fill_readers(CompletionQueueEx& queue) {
  queue.start_poll = start_poll;
  queue.next_poll = next_poll;
  queue.end_poll = end_poll;
  queue.read_opcode = [](CompletionQueueEx* each) { return static_cast<int>(entry(each).opcode()); };
  queue.read_vendor_err = [](CompletionQueueEx* each) { return entry(each).vendor_error(); };
  queue.read_byte_len = [](CompletionQueueEx* each) { return entry(each).byte_length(); };
  queue.read_imm_data = [](CompletionQueueEx* each) { return entry(each).immediate_data(); };
  queue.read_qp_num = [](CompletionQueueEx* each) { return entry(each).queue_pair_number(); };
  queue.read_src_qp = [](CompletionQueueEx* each) { return entry(each).source_queue_pair(); };
  queue.read_wc_flags = [](CompletionQueueEx* each) { return flags_of(entry(each)); };
  queue.read_slid = [](CompletionQueueEx* each) { return entry(each).source_local_identifier(); };
  queue.read_sl = [](CompletionQueueEx* each) { return static_cast<uint8_t>(entry(each).service_level()); };
  queue.read_dlid_path_bits = [](CompletionQueueEx* each) {
    return static_cast<uint8_t>(entry(each).destination_path_bits());
  };
  queue.read_completion_ts = [](CompletionQueueEx* each) { return entry(each).timestamp(); };
}

OwnCompletionQueue* make_queue(Context* context, uint32_t entries, void* user, Channel* channel,
                               uint32_t vector) {
  if (vector >= static_cast<uint32_t>(context->num_comp_vectors))
    return failed<OwnCompletionQueue>(driver::explain(EINVAL, "comp_vector is 0"));
  auto made = std::make_unique<OwnCompletionQueue>(*OwnContext::of(context).adapter);
  if (const int error = made->queue.create(entries, driver::Driver::completion_event_queue))
    return failed<OwnCompletionQueue>(error);
  CompletionQueue& shown = made->base;
  shown.context = context;
  shown.channel = channel;
  shown.cq_context = user;
  shown.handle = made->queue.number();
  shown.cqe = static_cast<int>(made->queue.entries());
  pthread_mutex_init(&shown.mutex, nullptr);
  pthread_cond_init(&shown.cond, nullptr);
  if (channel != nullptr) {
    pthread_mutex_lock(&context->mutex);
    ++channel->refcnt;
    pthread_mutex_unlock(&context->mutex);
  }
  made->adapter.add(*made);
  return made.release();
}

} // namespace

VERBS_EXPORT CompletionQueue* ibv_create_cq(Context* context, int entries, void* user, Channel* channel,
                                            int vector) {
  OwnCompletionQueue* const made = make_queue(context, static_cast<uint32_t>(std::max(entries, 0)), user,
                                              channel, static_cast<uint32_t>(vector));
  return made == nullptr ? nullptr : &made->base;
}

CompletionQueueEx* create_cq_ex(Context* context, CompletionQueueInitEx* init) {
  enum : uint32_t { has_flags = 1, has_parent_domain = 2, single_threaded = 1 };
  if ((init->comp_mask & ~(has_flags | has_parent_domain)) != 0 || (init->wc_flags & ~readable_fields) != 0 ||
      ((init->comp_mask & has_flags) != 0 && (init->flags & ~single_threaded) != 0))
    return failed<CompletionQueueEx>(
        driver::explain(EOPNOTSUPP, "ibv_create_cq_ex: fields or flags that this device does not have"));
  OwnCompletionQueue* const made =
      make_queue(context, init->cqe, init->cq_context, init->channel, init->comp_vector);
  if (made != nullptr)
    fill_readers(*made);
  return made;
}

int modify_cq(CompletionQueue* queue, ModifyCompletionQueue* attributes) {
  constexpr uint32_t moderation = 1;
  if (attributes->attr_mask != moderation)
    return driver::explain(EINVAL, "attr_mask is IBV_CQ_ATTR_MODERATE");
  return OwnCompletionQueue::of(queue).queue.moderate(attributes->cq_count, attributes->cq_period);
}

VERBS_EXPORT int ibv_resize_cq(CompletionQueue* queue, int entries) {
  driver::CompletionQueue& resized = OwnCompletionQueue::of(queue).queue;
  if (const int error = resized.resize(static_cast<uint32_t>(std::max(entries, 0))))
    return error;
  queue->cqe = static_cast<int>(resized.entries());
  return 0;
}

VERBS_EXPORT int ibv_destroy_cq(CompletionQueue* queue) {
  OwnCompletionQueue& destroyed = OwnCompletionQueue::of(queue);
  if (const int error = destroyed.queue.destroy())
    return error;
  destroyed.adapter.remove(destroyed);
  OwnContext::of(queue->context).events.remove([queue](const AsyncEvent& event) {
    return event.event_type == static_cast<int>(spec::EventType::completion_queue_error) &&
           event.element.cq == queue;
  });
  if (auto* const channel = static_cast<OwnChannel*>(queue->channel)) {
    channel->events.remove([queue](const CompletionQueue* each) { return each == queue; });
    pthread_mutex_lock(&queue->context->mutex);
    --channel->refcnt;
    pthread_mutex_unlock(&queue->context->mutex);
  }
  wait_for_acknowledgements(queue->mutex, queue->cond, queue->comp_events_completed,
                            destroyed.completion_events_taken);
  wait_for_acknowledgements(queue->mutex, queue->cond, queue->async_events_completed, destroyed.events.taken);
  delete &destroyed;
  return 0;
}

int poll_cq(CompletionQueue* queue, int wanted, WorkCompletion* completions) {
  driver::CompletionQueue& polled = OwnCompletionQueue::of(queue).queue;
  const unsigned count = polled.poll(
      static_cast<unsigned>(std::max(wanted, 0)),
      [completions](unsigned index, const driver::Completion& each) { fill(completions[index], each); });
  found(count == 0);
  if (count == 0 && polled.failure() != 0)
    return -polled.explain_failure();
  return static_cast<int>(count);
}

int req_notify_cq(CompletionQueue* queue, int solicited_only) {
  driver::CompletionQueue& armed = OwnCompletionQueue::of(queue).queue;
  if (armed.failure() != 0)
    return armed.explain_failure(); // no event comes any more
  armed.arm(solicited_only != 0);
  return 0;
}

// Channels.

VERBS_EXPORT Channel* ibv_create_comp_channel(Context* context) {
  auto made = std::make_unique<OwnChannel>();
  if (!made->events.begin())
    return nullptr;
  made->context = context;
  made->fd = made->events.descriptor();
  made->refcnt = 0;
  return made.release();
}

VERBS_EXPORT int ibv_destroy_comp_channel(Channel* channel) {
  pthread_mutex_lock(&channel->context->mutex);
  const bool is_used = channel->refcnt != 0;
  pthread_mutex_unlock(&channel->context->mutex);
  if (is_used)
    return driver::explain(EBUSY, "the completion channel has completion queues");
  delete static_cast<OwnChannel*>(channel);
  return 0;
}

VERBS_EXPORT int ibv_get_cq_event(Channel* channel, CompletionQueue** queue, void** user) {
  const auto count = [](CompletionQueue* each) {
    pthread_mutex_lock(&each->mutex);
    ++OwnCompletionQueue::of(each).completion_events_taken;
    pthread_mutex_unlock(&each->mutex);
  };
  if (!static_cast<OwnChannel*>(channel)->events.pop(*queue, count))
    return -1;
  *user = (*queue)->cq_context;
  return 0;
}

VERBS_EXPORT void ibv_ack_cq_events(CompletionQueue* queue, unsigned count) {
  pthread_mutex_lock(&queue->mutex);
  queue->comp_events_completed += count;
  pthread_cond_signal(&queue->cond);
  pthread_mutex_unlock(&queue->mutex);
}

} // namespace fpga_verbs::verbs
