#include "test/spec_golden_port.h"

#include "test/spec_golden.h"

#include <algorithm>
#include <string>

namespace fpga_verbs::test {

Napi::Value encode_golden_structure(const Napi::CallbackInfo& info) {
  const std::vector<uint8_t> bytes = encode_golden(info[0].As<Napi::String>().Utf8Value());
  auto value = Napi::Uint8Array::New(info.Env(), bytes.size());
  std::ranges::copy(bytes, value.Data());
  return value;
}

Napi::Value golden_structure_mismatch(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>().Utf8Value();
  const auto bytes = info[1].As<Napi::Uint8Array>();
  return Napi::String::New(info.Env(),
                           std::string(golden_mismatch(name, {bytes.Data(), bytes.ByteLength()})));
}

} // namespace fpga_verbs::test
