#pragma once

#include "addon/loop_handle.h"
#include "addon/open_function.h"

#include <napi.h>

#include <memory>

namespace fpga_verbs::addon {

// Interrupt in JavaScript: calls back from the event loop when an eventfd is signalled; see
// lib/board/addon.ts. Its object holds the callback, and what that knows; it is held here only while it is
// referenced, so that a device that was forgotten goes.
class Interrupt final : public Napi::ObjectWrap<Interrupt>, public Child {
public:
  static Napi::Function define(Napi::Env env);

  static Napi::Value watch(Napi::Env env, const std::shared_ptr<OpenFunction>& owner, unsigned vector,
                           Napi::Function callback);

  // Calls back once, when the device is gone. Undefined: the backend does not tell.
  static Napi::Value watch_removal(Napi::Env env, const std::shared_ptr<OpenFunction>& owner,
                                   Napi::Function callback);

  explicit Interrupt(const Napi::CallbackInfo& info);
  ~Interrupt() override;

  void close() override;

private:
  void start(const std::shared_ptr<OpenFunction>& owner, int event, Napi::Function callback);
  void signalled();
  void removed();
  void call_back(const Napi::Value& value);
  void ref(const Napi::CallbackInfo& info);
  void unref(const Napi::CallbackInfo& info);
  void close_method(const Napi::CallbackInfo& info);

  std::shared_ptr<OpenFunction> owner_;
  bool referenced_ = false;
  std::unique_ptr<Napi::AsyncContext> context_;
  int event_ = -1;             // an eventfd; -1: of a removal
  LoopHandle* poll_ = nullptr; // null: closed
};

} // namespace fpga_verbs::addon
