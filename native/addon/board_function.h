#pragma once

#include "addon/direct_calls.h"
#include "addon/open_function.h"

#include <napi.h>

#include <cstdint>
#include <memory>

namespace fpga_verbs::addon {

// BoardFunction in JavaScript; see lib/board/addon.ts.
class BoardFunction final : public Napi::ObjectWrap<BoardFunction> {
public:
  static Napi::Function define(Napi::Env env);
  static Napi::Value make(Napi::Env env, std::shared_ptr<board::BoardFunction> function);

  // Called with a function in an External.
  explicit BoardFunction(const Napi::CallbackInfo& info);
  ~BoardFunction() override;

private:
  board::BoardFunction& open(Napi::Env env) const;      // ERR_CLOSED
  board::Observation& observation(Napi::Env env) const; // Error with the code ENOTSUP

  Napi::Value read32(const Napi::CallbackInfo& info);
  void write32(const Napi::CallbackInfo& info);
  void write64(const Napi::CallbackInfo& info);
  void fence(const Napi::CallbackInfo& info);
  Napi::Value advance(const Napi::CallbackInfo& info);
  void let_time_pass(const Napi::CallbackInfo& info);
  Napi::Value allocate_memory(const Napi::CallbackInfo& info);
  Napi::Value map(const Napi::CallbackInfo& info);
  void unmap(const Napi::CallbackInfo& info);
  Napi::Value command_writer(const Napi::CallbackInfo& info);
  Napi::Value doorbell_probe(const Napi::CallbackInfo& info);
  Napi::Value interrupt(const Napi::CallbackInfo& info);
  Napi::Value removal(const Napi::CallbackInfo& info);
  Napi::Value watch(const Napi::CallbackInfo& info);
  void access(const Napi::CallbackInfo& info);
  Napi::Value queue_pairs(const Napi::CallbackInfo& info);
  Napi::Value regions(const Napi::CallbackInfo& info);
  Napi::Value share_observation(const Napi::CallbackInfo& info);
  Napi::Value execute_management(const Napi::CallbackInfo& info);
  Napi::Value facts(const Napi::CallbackInfo& info);
  void close(const Napi::CallbackInfo& info);

  std::shared_ptr<OpenFunction> open_;
  std::shared_ptr<DirectCalls> calls_;
  uint32_t number_ = 0; // among the functions of the calls
};

} // namespace fpga_verbs::addon
