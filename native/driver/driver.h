#pragma once

#include "driver/collect_buffers.h"
#include "driver/device_function.h"
#include "driver/event_queue.h"
#include "driver/management_queue.h"
#include "driver/queue_pair.h"
#include "driver/queue_pair_table.h"
#include "link/descriptor.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <thread>

namespace fpga_verbs::driver {

// A listener to events, on the driver's own thread.
class EventListener {
public:
  virtual ~EventListener() = default;
  // A completion queue that was armed has a completion.
  virtual void completed(uint32_t completion_queue_number) = 0;
  // An asynchronous event, one of those that libibverbs knows.
  virtual void happened(const spec::EventQueueEntry& event) = 0;
};

// A port as a function knows it, and the port's tables.
struct PortFacts {
  spec::QueryPortOutput attributes;
  std::array<spec::GidEntry, spec::gid_table_entries> gids;
  std::array<spec::PartitionKeyEntry, spec::partition_key_table_entries> partition_keys;
};

// Memory of the program that the device reaches under a key.
struct RegisteredMemory {
  uint32_t key = 0;     // L_Key and R_Key
  uint64_t mapping = 0; // by which the function takes it back
};

// The driver of one underlying function: management, events, and what the device needs of host memory. The
// second implementation of fpga/doc/programmers-guide.md; lib/driver is the first. Thread-safe.
class Driver {
public:
  // Opens what a device string names. Null: `error` is what a verb gives, explain() says why.
  static std::unique_ptr<Driver> open(const std::string& device, int& error);
  // Resets the function, after which the device reaches none of its memory.
  ~Driver();

  DeviceFunction& function() { return *function_; }
  ManagementQueue& management() { return management_; }
  QueuePairTable& queue_pairs() { return queue_pairs_; }
  DriverParts parts() { return {*function_, management_, collect_buffers_, queue_pairs_}; }
  const spec::QueryFunctionOutput& limits() const { return limits_; }

  // Event queue of completion queues that are armed.
  static constexpr unsigned completion_event_queue = 1;

  // Turns the reporting of events on; once.
  int listen(EventListener& listener);

  int query_port(unsigned port, PortFacts& facts);

  // Each gives 0, or what a verb gives.
  int create_protection_domain(uint32_t& number);
  int destroy_protection_domain(uint32_t number);
  int create_address_handle(uint32_t protection_domain, const spec::AddressVector& address, uint32_t& number);
  int destroy_address_handle(uint32_t number);
  int create_memory_window(uint32_t protection_domain, unsigned type, uint32_t& key);
  int destroy_memory_window(uint32_t key);
  // `base`: what keys call the first byte. `access_flags`: bits of spec::AccessFlag.
  int register_memory(uint32_t protection_domain, void* memory, uint64_t bytes, uint64_t base,
                      unsigned access_flags, RegisteredMemory& made);
  int deregister_memory(const RegisteredMemory& memory);

private:
  Driver() = default;
  int begin();
  int enable();
  int give_queuing_structures();
  int register_pieces(uint32_t protection_domain, std::span<const DmaPiece> pieces, uint64_t bytes,
                      uint64_t base, unsigned access_flags, uint32_t& key);
  void reset();
  void run();
  bool is_removed(const pollfd& removal) const;
  void lose();
  void take_completions();
  void take_events();
  void handle_event(const spec::EventQueueEntry& event);

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<DeviceFunction> function_;
  ManagementQueue management_;
  CollectBuffers collect_buffers_;
  QueuePairTable queue_pairs_;
  EventQueue events_;
  EventQueue completions_;
  spec::QueryFunctionOutput limits_;
  bool has_enabled_ = false;
  EventListener* listener_ = nullptr;
  link::Descriptor stop_; // wakes the thread
  std::thread thread_;
};

} // namespace fpga_verbs::driver
