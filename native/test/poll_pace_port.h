#pragma once

#include "board/poll_pace.h"

#include <napi.h>

namespace fpga_verbs::test {

// The polling pace, for vitest.
class PollPacePort final : public Napi::ObjectWrap<PollPacePort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit PollPacePort(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PollPacePort>(info) {}

private:
  Napi::Value delay(const Napi::CallbackInfo& info);
  void looked(const Napi::CallbackInfo& info);

  board::PollPace pace_;
};

} // namespace fpga_verbs::test
