#include "test/secded_port.h"

#include "hca/secded.h"
#include "test/arguments.h"

#include <array>

namespace fpga_verbs::test {

Napi::Value secded_encode(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), hca::secded_encode(big_number(info[0])));
}

Napi::Value secded_decode(const Napi::CallbackInfo& info) {
  constexpr std::array names{"clean", "corrected", "uncorrectable"};
  const auto check = static_cast<uint8_t>(number(info, 1));
  const hca::SecdedWord word = hca::secded_decode(big_number(info[0]), check);
  auto value = Napi::Object::New(info.Env());
  value.Set("status", names[static_cast<size_t>(word.status)]);
  value.Set("data", Napi::BigInt::New(info.Env(), word.data));
  return value;
}

} // namespace fpga_verbs::test
