#pragma once

#include "driver/collect_buffers.h"
#include "driver/completion_queue.h"
#include "driver/receive_queue.h"
#include "driver/send_queue.h"
#include "driver/shared_receive_queue.h"
#include "spec/mailboxes.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

namespace fpga_verbs::driver {

class QueuePairTable;

// How a queue pair is made.
struct QueuePairOptions {
  spec::ServiceType service_type = spec::ServiceType::reliable_connection;
  uint32_t protection_domain = 0;
  CompletionQueue* send_completion_queue = nullptr;
  CompletionQueue* receive_completion_queue = nullptr;
  SharedReceiveQueue* shared_receive_queue = nullptr; // instead of a receive queue of its own
  uint32_t send_entries = 1;
  uint32_t gather_entries = 1;
  uint32_t inline_bytes = 0;
  uint32_t receive_entries = 0; // 0: it has no receive queue
  uint32_t scatter_entries = 0;
  bool signal_all = false;
};

// The parts of a function's driver that its objects use.
struct DriverParts {
  DeviceFunction& function;
  ManagementQueue& management;
  CollectBuffers& collect_buffers;
  QueuePairTable& queue_pairs;
};

// A queue pair in the device, and its queues in host memory. Thread-safe.
class QueuePair {
public:
  QueuePair(const DriverParts& parts, const QueuePairOptions& options)
      : parts_(parts), options_(options), buffer_(parts.collect_buffers.take()) {}
  ~QueuePair();

  // Each gives 0, or what a verb gives; post functions too.
  int create();
  int destroy();
  int modify(const spec::QueuePairAttributes& attributes);
  int query(spec::QueuePairAttributes& attributes);
  int change_multicast(spec::ManagementOpcode opcode, std::span<const uint8_t, 16> gid);

  // Of commands, completions and events.
  uint32_t number() const { return number_; }
  // That peers know: the same, until it is reset with another one (US7095750).
  uint32_t virtual_number() const { return virtual_number_.load(std::memory_order_relaxed); }
  const QueuePairOptions& options() const { return options_; }
  SharedReceiveQueue* shared_receive_queue() const { return options_.shared_receive_queue; }
  // As this side knows it; the device may have put it in error.
  spec::QueuePairState state() const { return state_.load(std::memory_order_relaxed); }
  uint32_t send_entries() const { return send_queue_.area().entries(); }
  uint32_t receive_entries() const { return receive_queue_ ? receive_queue_->memory().area().entries() : 0; }

  int post_send(const SendRequest& request);
  int post_receive(uint64_t id, std::span<const Segment> scatter);
  // The device learns of what was posted since.
  void publish_receives();

  // A completion of it is taken: its slots are free. Gives the identifier of the work request.
  uint64_t complete(const Completion& completion);

  // A completion or an event said that the device has put it in error: receives are flushed from now on.
  void failed();

  // The device is gone: what is posted from now on is refused.
  void lose() { state_.store(spec::QueuePairState::reset); }

  // Commands written to this buffer may be lost: rings for the posted work requests. Does nothing for another
  // buffer.
  void recover(const CollectBuffer& buffer);
  // Looks, about once a second, whether nothing has moved since the last look: as where all writes of a
  // command were lost.
  void look();

private:
  int refuse(const char* sentence) const;
  void start();

  DriverParts parts_;
  QueuePairOptions options_;
  CollectBuffer& buffer_;
  uint32_t number_ = 0;
  std::atomic<uint32_t> virtual_number_{0};
  std::atomic<spec::QueuePairState> state_{spec::QueuePairState::reset};
  std::atomic<bool> flushing_{false}; // the driver must ring for receives
  std::mutex send_mutex_;
  SendQueue send_queue_;
  std::mutex receive_mutex_;
  std::optional<ReceiveQueue> receive_queue_;
  uint32_t mark_ = 0; // of the send queue, at the last look
};

} // namespace fpga_verbs::driver
