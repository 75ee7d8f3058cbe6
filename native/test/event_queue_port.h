#pragma once

#include "hca/complete/event_queue.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "test/hosted_port.h"

#include <napi.h>

namespace fpga_verbs::test {

// The event queue for vitest, with memory_translation behind it.
class EventQueuePort final : public HostedPort<EventQueuePort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit EventQueuePort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<EventQueuePort>;

  Napi::Value create(const Napi::CallbackInfo& info);
  Napi::Value destroy(const Napi::CallbackInfo& info);
  void arm(const Napi::CallbackInfo& info);
  void report(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value next_deadline(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);
  Napi::Value dropped(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  hca::EventQueue event_queue_;
  hca::ContextMemory context_memory_;
  hca::MemoryTranslation translation_;
};

} // namespace fpga_verbs::test
