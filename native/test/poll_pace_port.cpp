#include "test/poll_pace_port.h"

namespace fpga_verbs::test {

Napi::Function PollPacePort::define(Napi::Env env) {
  return DefineClass(env, "PollPacePort",
                     {
                         InstanceMethod<&PollPacePort::delay>("delay"),
                         InstanceMethod<&PollPacePort::looked>("looked"),
                     });
}

Napi::Value PollPacePort::delay(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(pace_.delay()));
}

void PollPacePort::looked(const Napi::CallbackInfo& info) { pace_.looked(info[0].As<Napi::Boolean>()); }

} // namespace fpga_verbs::test
