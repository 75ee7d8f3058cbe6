#pragma once

#include "hca/lists/hardware_linked_list_queue.h"

#include <napi.h>

#include <cstdint>

namespace fpga_verbs::test {

// A linked list queue for vitest. Its data units are 128-bit numbers; results are the TypeScript names of the
// enumerators; values that a command does not return are null.
class LinkedListQueuePort final : public Napi::ObjectWrap<LinkedListQueuePort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit LinkedListQueuePort(const Napi::CallbackInfo& info);

private:
  struct Unit {
    uint64_t low = 0;
    uint64_t high = 0;
  };
  using Queue = hca::HardwareLinkedListQueue<Unit>;

  void set_maximum(const Napi::CallbackInfo& info);
  void set_entry_credits(const Napi::CallbackInfo& info);
  void set_shared_entry_credits(const Napi::CallbackInfo& info);
  Napi::Value find(const Napi::CallbackInfo& info);
  Napi::Value push(const Napi::CallbackInfo& info);
  Napi::Value mark_ready(const Napi::CallbackInfo& info);
  Napi::Value mark_not_ready(const Napi::CallbackInfo& info);
  Napi::Value arbitrate(const Napi::CallbackInfo& info);
  Napi::Value pop(const Napi::CallbackInfo& info);
  Napi::Value peek(const Napi::CallbackInfo& info);
  Napi::Value reset_peek_pointer(const Napi::CallbackInfo& info);
  Napi::Value reclaim(const Napi::CallbackInfo& info);
  Napi::Value reclaim_step(const Napi::CallbackInfo& info);
  Napi::Value scrub_step(const Napi::CallbackInfo& info);
  void inject_error(const Napi::CallbackInfo& info);
  Napi::Value state(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  static Napi::Value read_value(Napi::Env env, const Queue::Read& read);

  hca::LinkedListQueueParameters parameters_;
  Queue queue_;
};

} // namespace fpga_verbs::test
