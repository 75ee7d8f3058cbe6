#pragma once

#include "hca/hca.h"
#include "test/hosted_port.h"

#include <napi.h>

#include <optional>

namespace fpga_verbs::test {

// A whole Hca for vitest, on a TestHost and a clock that the test sets.
class HcaPort final : public HostedPort<HcaPort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit HcaPort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<HcaPort>;

  void write(const Napi::CallbackInfo& info);
  Napi::Value read(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value can_accept_write(const Napi::CallbackInfo& info);
  Napi::Value next_deadline(const Napi::CallbackInfo& info);
  void reset(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  void push(const Napi::CallbackInfo& info);
  Napi::Value pop(const Napi::CallbackInfo& info);
  Napi::Value credits(const Napi::CallbackInfo& info);
  Napi::Value step_block(const Napi::CallbackInfo& info);
  Napi::Value is_awake(const Napi::CallbackInfo& info);
  void report(const Napi::CallbackInfo& info);

  hca::HcaParameters parameters_;
  const hca::PortAttachments attachments_;
  std::optional<hca::Hca> hca_;
};

} // namespace fpga_verbs::test
