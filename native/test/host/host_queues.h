#pragma once

#include "spec/commands.h"
#include "spec/mailboxes.h"
#include "spec/queues.h"
#include "test/host/host_driver.h"

#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::test {

// A completion queue in host memory. Polled by one thread.
class HostCompletionQueue {
public:
  // The number is 0 if the device has created none.
  HostCompletionQueue(HostDriver& driver, unsigned entries_log2);

  uint32_t number() const { return number_; }

  // The oldest completion that has not been polled.
  std::optional<spec::CompletionQueueEntry> poll();

  // Arms the queue for one event, through the function of the polling thread.
  void arm(HostFunction& through);

private:
  unsigned entries_log2_;
  HostMemory ring_;
  HostMemory head_;
  uint32_t number_ = 0;
  uint32_t taken_ = 0;
};

// Sizes and completion queue of a queue pair.
struct HostQueuePairOptions {
  uint32_t protection_domain = 0;
  uint32_t completion_queue = 0;                                           // of both queues
  unsigned entries_log2 = 4;                                               // of both queues
  spec::ServiceType service_type = spec::ServiceType::reliable_connection; // or unreliable
  bool shares = false; // it receives from a shared receive queue, of which it is the only user
};

// The peer that a queue pair is connected to, and its local ACK timeout.
struct HostPeer {
  uint32_t queue_pair_number = 0;
  spec::AddressVector address;
  uint32_t send_psn = 0;
  uint32_t receive_psn = 0;
  spec::PathMtu path_mtu = spec::PathMtu::mtu_1024;
  unsigned timeout = 14;
};

// A queue pair with its queues in host memory. The caller must not overflow a queue. One thread posts sends,
// one posts receives.
class HostQueuePair {
public:
  // The number is 0 if the device has created none.
  HostQueuePair(HostDriver& driver, const HostQueuePairOptions& options);

  uint32_t number() const { return number_; }

  // Brings it from RESET to RTS.
  bool connect(HostDriver& driver, const HostPeer& peer);
  bool set_state(HostDriver& driver, spec::QueuePairState state);
  bool destroy(HostDriver& driver);

  // Posts a command: adds the fields that `header` leaves open. Returns its place in the send queue.
  std::span<const uint8_t> put(spec::CommandHeader header, std::span<const uint8_t> payload);
  // The same, and writes the command to a VCB.
  void post(HostFunction& through, unsigned virtual_collect_buffer, const spec::CommandHeader& header,
            std::span<const uint8_t> payload);
  // The same; the caller issues the fence.
  void store(HostFunction& through, unsigned virtual_collect_buffer, const spec::CommandHeader& header,
             std::span<const uint8_t> payload);
  void post_receive(std::span<const spec::GatherEntry> scatter);

  // Sequence number of the next command.
  uint16_t next() const { return send_next_; }

private:
  uint32_t make_shared_receive_queue(HostDriver& driver, uint32_t protection_domain);
  bool is_reliable() const { return service_type_ == spec::ServiceType::reliable_connection; }

  unsigned entries_log2_;
  spec::ServiceType service_type_;
  HostMemory send_references_;
  HostMemory send_entries_;
  HostMemory receive_references_;
  HostMemory receive_entries_;
  HostMemory receive_tail_;
  uint32_t shared_receive_queue_ = 0; // 0: it has its own receive queue
  uint32_t number_ = 0;
  uint16_t send_next_ = 0;
  uint16_t receive_next_ = 0;
};

// The address vector of function `underlying_function` at the first port of board `board_number`.
spec::AddressVector address_of(spec::LinkLayer link_layer, unsigned board_number,
                               unsigned underlying_function);

} // namespace fpga_verbs::test
