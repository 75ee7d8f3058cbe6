#include "libibverbs/objects.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace fpga_verbs::verbs {

namespace {

template <class Object> void erase(std::vector<Object*>& objects, Object& object) {
  std::erase(objects, &object);
}

template <class Object, class NumberOf>
Object* find(const std::vector<Object*>& objects, uint32_t number, NumberOf&& number_of) {
  const auto found =
      std::ranges::find_if(objects, [&](const Object* object) { return number_of(*object) == number; });
  return found == objects.end() ? nullptr : *found;
}

uint32_t queue_number(const OwnCompletionQueue& queue) { return queue.queue.number(); }

} // namespace

OwnCompletionQueue::OwnCompletionQueue(Adapter& owner)
    : CompletionQueueEx{}, adapter(owner),
      queue(owner.driver().function(), owner.driver().management(), owner.driver().queue_pairs()) {}

OwnSharedReceiveQueue::OwnSharedReceiveQueue(Adapter& owner)
    : SharedReceiveQueue{}, adapter(owner), queue(owner.driver().function(), owner.driver().management()) {}

OwnQueuePair::OwnQueuePair(Adapter& owner, const driver::QueuePairOptions& options)
    : QueuePairEx{}, adapter(owner), pair(owner.driver().parts(), options) {}

std::shared_ptr<Adapter> Adapter::open(OwnDevice& device) {
  auto made = std::make_shared<Adapter>();
  int error = 0;
  made->driver_ = driver::Driver::open(device.device_string, error);
  if (made->driver_ != nullptr)
    error = made->driver_->listen(*made);
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  made->process_ = getpid();
  return made;
}

// The threads of the driver belong to the parent; a child only closes what it inherited.
Adapter::~Adapter() {
  if (getpid() != process_)
    static_cast<void>(driver_.release());
}

uint64_t Adapter::node_guid() {
  driver::PortFacts facts;
  constexpr size_t prefix = 8;
  uint64_t guid = 0;
  if (driver_->query_port(1, facts) != 0)
    return 0;
  const uint64_t mac = facts.attributes.mac_low() | uint64_t{facts.attributes.mac_high()} << 32;
  if (mac == 0) {
    std::memcpy(&guid, facts.gids[0].gid().data() + prefix, sizeof guid);
    return guid;
  }
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&mac);
  const std::array<uint8_t, sizeof guid> identifier{
      static_cast<uint8_t>(bytes[0] ^ 2), bytes[1], bytes[2], 0xff, 0xfe, bytes[3], bytes[4], bytes[5]};
  std::memcpy(&guid, identifier.data(), sizeof guid);
  return guid;
}

void Adapter::add(OwnContext& context) {
  const std::scoped_lock lock(mutex_);
  contexts_.push_back(&context);
}
void Adapter::remove(OwnContext& context) {
  const std::scoped_lock lock(mutex_);
  erase(contexts_, context);
}
void Adapter::add(OwnCompletionQueue& queue) {
  const std::scoped_lock lock(mutex_);
  completion_queues_.push_back(&queue);
  if (is_lost_)
    queue.queue.fail(EIO);
}
void Adapter::remove(OwnCompletionQueue& queue) {
  const std::scoped_lock lock(mutex_);
  erase(completion_queues_, queue);
}
void Adapter::add(OwnQueuePair& queue_pair) {
  const std::scoped_lock lock(mutex_);
  queue_pairs_.push_back(&queue_pair);
}
void Adapter::remove(OwnQueuePair& queue_pair) {
  const std::scoped_lock lock(mutex_);
  erase(queue_pairs_, queue_pair);
}
void Adapter::add(OwnSharedReceiveQueue& queue) {
  const std::scoped_lock lock(mutex_);
  shared_receive_queues_.push_back(&queue);
  if (is_lost_)
    queue.queue.lose();
}
void Adapter::remove(OwnSharedReceiveQueue& queue) {
  const std::scoped_lock lock(mutex_);
  erase(shared_receive_queues_, queue);
}

void Adapter::completed(uint32_t completion_queue_number) {
  const std::scoped_lock lock(mutex_);
  OwnCompletionQueue* const queue = find(completion_queues_, completion_queue_number, queue_number);
  if (queue == nullptr)
    return;
  queue->queue.event_taken();
  if (queue->base.channel != nullptr)
    static_cast<OwnChannel*>(queue->base.channel)->events.push(&queue->base);
}

// Threads that wait for a completion wake up, poll, and get the error.
void Adapter::lose() {
  is_lost_ = true;
  for (OwnCompletionQueue* const queue : completion_queues_) {
    queue->queue.fail(EIO);
    if (queue->base.channel != nullptr)
      static_cast<OwnChannel*>(queue->base.channel)->events.push(&queue->base);
  }
  for (OwnSharedReceiveQueue* const queue : shared_receive_queues_)
    queue->queue.lose();
}

// The numbers of events are those of libibverbs.
void Adapter::happened(const spec::EventQueueEntry& event) {
  using enum spec::EventType;
  const std::scoped_lock lock(mutex_);
  AsyncEvent told{.element = {}, .event_type = static_cast<int>(event.type())};
  switch (event.type()) {
  case completion_queue_error:
    if (OwnCompletionQueue* const queue = find(completion_queues_, event.object(), queue_number)) {
      queue->queue.fail(EOVERFLOW);
      told.element.cq = &queue->base;
      OwnContext::of(queue->base.context).events.push(told);
    }
    return;
  case shared_receive_queue_error:
  case shared_receive_queue_limit_reached:
    if (OwnSharedReceiveQueue* const queue =
            find(shared_receive_queues_, event.object(),
                 [](const OwnSharedReceiveQueue& each) { return each.queue.number(); })) {
      told.element.srq = queue;
      OwnContext::of(queue->context).events.push(told);
    }
    return;
  case queue_pair_fatal:
  case queue_pair_request_error:
  case queue_pair_access_error:
  case communication_established:
  case send_queue_drained:
  case path_migrated:
  case path_migration_error:
  case queue_pair_last_work_queue_entry_reached:
    if (OwnQueuePair* const queue_pair =
            find(queue_pairs_, event.object(), [](const OwnQueuePair& each) { return each.pair.number(); })) {
      told.element.qp = &queue_pair->qp_base;
      OwnContext::of(queue_pair->qp_base.context).events.push(told);
    }
    return;
  case device_fatal:
    lose();
    [[fallthrough]];
  default:
    told.element.port_num = static_cast<int>(event.object());
    for (OwnContext* const context : contexts_)
      context->events.push(told);
  }
}

void wait_for_acknowledgements(pthread_mutex_t& mutex, pthread_cond_t& condition,
                               const uint32_t& acknowledged, const uint32_t& taken) {
  pthread_mutex_lock(&mutex);
  while (acknowledged != taken)
    pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
}

} // namespace fpga_verbs::verbs
