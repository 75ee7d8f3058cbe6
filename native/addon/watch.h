#pragma once

#include "addon/open_function.h"
#include "board/watch_memory.h"

#include <napi.h>

#include <memory>

namespace fpga_verbs::addon {

// Watch in JavaScript: the observed records, read on request; see lib/board/addon.ts.
class Watch final : public Napi::ObjectWrap<Watch>, public Child {
public:
  static Napi::Function define(Napi::Env env);

  // Of the function's observation. TypeError: `kind`; Error with the code ENOTSUP: it is not for this
  // observer.
  static Napi::Value make(Napi::Env env, const std::shared_ptr<OpenFunction>& owner, const Napi::Value& kind);

  explicit Watch(const Napi::CallbackInfo& info);
  ~Watch() override;

  void close() override;

private:
  board::WatchReader& reader(Napi::Env env) const; // ERR_CLOSED

  Napi::Value take(const Napi::CallbackInfo& info);
  Napi::Value take_events(const Napi::CallbackInfo& info);
  Napi::Value lost(const Napi::CallbackInfo& info);
  void close_method(const Napi::CallbackInfo& info);

  std::shared_ptr<OpenFunction> owner_;
  board::WatchKind kind_ = board::WatchKind::kicks;
  std::unique_ptr<board::Watch> watch_; // null: closed
};

} // namespace fpga_verbs::addon
