#include "test/secded_port.h"

#include "hca/lists/secded.h"

#include <array>

namespace fpga_verbs::test {
namespace {

uint64_t data_of(const Napi::CallbackInfo& info) {
  bool lossless = false;
  return info[0].As<Napi::BigInt>().Uint64Value(&lossless);
}

} // namespace

Napi::Value secded_encode(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), hca::secded_encode(data_of(info)));
}

Napi::Value secded_decode(const Napi::CallbackInfo& info) {
  constexpr std::array names{"clean", "corrected", "uncorrectable"};
  const auto check = static_cast<uint8_t>(info[1].As<Napi::Number>().Uint32Value());
  const hca::SecdedWord word = hca::secded_decode(data_of(info), check);
  auto value = Napi::Object::New(info.Env());
  value.Set("status", names[static_cast<size_t>(word.status)]);
  value.Set("data", Napi::BigInt::New(info.Env(), word.data));
  return value;
}

} // namespace fpga_verbs::test
