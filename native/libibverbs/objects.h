#pragma once

#include "driver/completion_queue.h"
#include "driver/driver.h"
#include "driver/queue_pair.h"
#include "driver/shared_receive_queue.h"
#include "libibverbs/abi.h"
#include "libibverbs/event_fifo.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::verbs {

class Adapter;

// The objects behind the pointers that programs have: what the interface shows, and what the library adds.

struct OwnDevice : Device {
  std::string device_string;
  std::mutex mutex;
  std::shared_ptr<Adapter> adapter; // while it is open
};

struct OwnContext {
  ExtendedContext shown;
  std::shared_ptr<Adapter> adapter;
  EventFifo<AsyncEvent> events;

  static OwnContext& of(Context* context) {
    return *reinterpret_cast<OwnContext*>(reinterpret_cast<uint8_t*>(context) -
                                          offsetof(ExtendedContext, context));
  }
};

// Asynchronous events of an object: how many programs have taken, and how many they have acknowledged, which
// stands in what the interface shows.
struct EventCount {
  uint32_t taken = 0; // under the mutex that the interface shows
};

struct OwnProtectionDomain : ProtectionDomain {
  OwnProtectionDomain* parent = nullptr; // of a parent domain, which is the same to the device
  std::atomic<unsigned> users{0};        // address handles and parent domains
  uint32_t number = 0;
};

struct OwnMemoryRegion : MemoryRegion {
  driver::RegisteredMemory registered;
  uint64_t base = 0;
  unsigned access = 0;
};

struct OwnChannel : Channel {
  EventFifo<CompletionQueue*> events;
};

struct OwnCompletionQueue : CompletionQueueEx {
  explicit OwnCompletionQueue(Adapter& owner);
  Adapter& adapter;
  driver::CompletionQueue queue;
  uint32_t completion_events_taken = 0; // under the mutex that the interface shows
  EventCount events;
  driver::Completion current; // of an extended poll

  static OwnCompletionQueue& of(CompletionQueue* queue) {
    return *static_cast<OwnCompletionQueue*>(reinterpret_cast<CompletionQueueEx*>(queue));
  }
};

struct OwnSharedReceiveQueue : SharedReceiveQueue {
  explicit OwnSharedReceiveQueue(Adapter& owner);
  Adapter& adapter;
  driver::SharedReceiveQueue queue;
  EventCount events;
};

// A work request that ibv_wr_* builds.
struct BuiltRequest {
  driver::SendRequest request;
  std::vector<driver::Segment> segments;
  std::vector<uint8_t> data; // inline
  spec::BindEntry binding;
};

struct OwnQueuePair : QueuePairEx {
  OwnQueuePair(Adapter& owner, const driver::QueuePairOptions& options);
  Adapter& adapter;
  driver::QueuePair pair;
  QueuePairCapabilities capabilities{};
  bool is_extended = false;
  EventCount events;
  std::mutex building;             // from wr_start to wr_complete or wr_abort
  std::vector<BuiltRequest> built; // since then
  int build_error = 0;

  static OwnQueuePair& of(QueuePair* queue_pair) {
    return *static_cast<OwnQueuePair*>(reinterpret_cast<QueuePairEx*>(queue_pair));
  }
};

// An open device of this process: its driver, and the objects that its events are about. Contexts of one
// device share it.
class Adapter final : public driver::EventListener {
public:
  // Null: errno says why, and driver::last_explanation().
  static std::shared_ptr<Adapter> open(OwnDevice& device);
  ~Adapter() override;

  driver::Driver& driver() { return *driver_; }
  int process() const { return process_; } // that opened it: a child of that has no threads of it

  // 64 bits in network byte order, from the address of the first port.
  uint64_t node_guid();

  void add(OwnContext& context);
  void remove(OwnContext& context);
  void add(OwnCompletionQueue& queue);
  void remove(OwnCompletionQueue& queue);
  void add(OwnQueuePair& queue_pair);
  void remove(OwnQueuePair& queue_pair);
  void add(OwnSharedReceiveQueue& queue);
  void remove(OwnSharedReceiveQueue& queue);

  void completed(uint32_t completion_queue_number) override;
  void happened(const spec::EventQueueEntry& event) override;

private:
  void lose();

  template <class Object> using Objects = std::vector<Object*>;

  std::unique_ptr<driver::Driver> driver_;
  int process_ = 0;
  std::mutex mutex_; // of what follows; held while an event is handed over, so that no object goes meanwhile
  bool is_lost_ = false;
  Objects<OwnContext> contexts_;
  Objects<OwnCompletionQueue> completion_queues_;
  Objects<OwnQueuePair> queue_pairs_;
  Objects<OwnSharedReceiveQueue> shared_receive_queues_;
};

inline driver::Driver& driver_of(Context* context) { return OwnContext::of(context).adapter->driver(); }
inline uint32_t number_of(const ProtectionDomain* domain) {
  return static_cast<const OwnProtectionDomain*>(domain)->number;
}

// As libibverbs gives an error of a verb that makes an object.
template <class Object = std::nullptr_t> Object* failed(int error) {
  errno = error;
  return nullptr;
}

// Sets the functions that programs reach through a context.
void fill_operations(ExtendedContext& context);

// The pieces of a scatter or gather list.
static_assert(sizeof(ScatterGatherEntry) == sizeof(driver::Segment));
inline std::span<const driver::Segment> segments_of(const ScatterGatherEntry* list, int count) {
  return {reinterpret_cast<const driver::Segment*>(list), static_cast<size_t>(count < 0 ? 0 : count)};
}

// An address vector of what a program says. Gives 0, or EINVAL.
int address_vector_of(Context* context, const AddressAttributes& attributes, spec::AddressVector& vector);

// Waits until programs have acknowledged all events that they took of an object that goes.
void wait_for_acknowledgements(pthread_mutex_t& mutex, pthread_cond_t& condition,
                               const uint32_t& acknowledged, const uint32_t& taken);

// Operations of contexts, by the files that have them.
int poll_cq(CompletionQueue*, int, WorkCompletion*);
int req_notify_cq(CompletionQueue*, int);
CompletionQueueEx* create_cq_ex(Context*, CompletionQueueInitEx*);
int modify_cq(CompletionQueue*, ModifyCompletionQueue*);
int post_send(QueuePair*, SendRequest*, SendRequest**);
int post_recv(QueuePair*, ReceiveRequest*, ReceiveRequest**);
QueuePair* create_qp_ex(Context*, QueuePairInitEx*);
void fill_send_operations(QueuePairEx&);
int post_srq_recv(SharedReceiveQueue*, ReceiveRequest*, ReceiveRequest**);
SharedReceiveQueue* create_srq_ex(Context*, SharedReceiveQueueInitEx*);
int get_srq_num(SharedReceiveQueue*, uint32_t*);
MemoryWindow* alloc_mw(ProtectionDomain*, int);
int dealloc_mw(MemoryWindow*);
int bind_mw(QueuePair*, MemoryWindow*, Bind*);
int query_port(Context*, uint8_t, PortAttributes*, size_t);
int query_device_ex(Context*, const void*, DeviceAttributesEx*, size_t);
int query_rt_values(Context*, TimeValues*);
ThreadDomain* alloc_td(Context*, void*);
int dealloc_td(ThreadDomain*);
ProtectionDomain* alloc_parent_domain(Context*, ParentDomainInit*);

} // namespace fpga_verbs::verbs
