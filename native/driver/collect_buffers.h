#pragma once

#include "driver/device_function.h"
#include "spec/enums.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace fpga_verbs::driver {

// A page of the prefetchable BAR that commands are written to. Thread-safe: one writer at a time has it.
class CollectBuffer {
public:
  // `function`: its own, as writers of different pages do not wait for each other.
  CollectBuffer(std::shared_ptr<board::BoardFunction> function, DeviceFunction::Place page, unsigned number)
      : function_(std::move(function)), page_(page), number_(number) {}

  unsigned number() const { return number_; }

  // `bytes` of the command, readable up to the next multiple of 8.
  void write(const void* command, size_t bytes);

  // Doorbells: work requests of a queue pair up to a sequence number lie in its send queue; what was begun
  // here is given up, or the error of what was refused.
  void start(uint32_t queue_pair_number, uint32_t sequence_number);
  void cancel();

  // Nothing is written from now on.
  void stop();

private:
  void write_slot(spec::DoorbellSlot slot, uint32_t queue_pair_number, uint32_t sequence_number);

  std::mutex mutex_;
  std::shared_ptr<board::BoardFunction> function_;
  DeviceFunction::Place page_;
  unsigned number_;
  bool stopped_ = false;
};

// The virtual collect buffers of a function that queue pairs of the low level take turns at.
class CollectBuffers {
public:
  // False: the function has none, as explain() says.
  bool begin(DeviceFunction& function);

  // The one for a new queue pair.
  CollectBuffer& take();

  // The device is gone: no thread writes to one of them when this returns, nor later.
  void stop();

  // Null: it is not one that is used here.
  CollectBuffer* find(unsigned number);

private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<CollectBuffer>> buffers_;
  size_t turn_ = 0;
};

} // namespace fpga_verbs::driver
