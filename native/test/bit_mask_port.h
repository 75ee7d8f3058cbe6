#pragma once

#include "hca/base/bit_mask.h"

#include <napi.h>

namespace fpga_verbs::test {

// A bit mask for vitest. A bit that is not found is null.
class BitMaskPort final : public Napi::ObjectWrap<BitMaskPort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit BitMaskPort(const Napi::CallbackInfo& info);

private:
  Napi::Value any(const Napi::CallbackInfo& info);
  Napi::Value test(const Napi::CallbackInfo& info);
  void set(const Napi::CallbackInfo& info);
  void clear(const Napi::CallbackInfo& info);
  Napi::Value find_first(const Napi::CallbackInfo& info);
  Napi::Value find_next(const Napi::CallbackInfo& info);
  Napi::Value take_first(const Napi::CallbackInfo& info);

  hca::BitMask mask_;
};

} // namespace fpga_verbs::test
