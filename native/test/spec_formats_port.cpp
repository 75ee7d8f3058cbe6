#include "test/spec_formats_port.h"

#include "test/spec_format.h"

#include <algorithm>
#include <string>

namespace fpga_verbs::test {

namespace {

// The format that the first argument names.
const SpecFormat& format_of(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>().Utf8Value();
  const auto found = spec_formats().find(name);
  if (found == spec_formats().end())
    throw Napi::TypeError::New(info.Env(), "no format " + name);
  return found->second;
}

std::span<const uint8_t> bytes_of(const Napi::CallbackInfo& info) {
  const auto bytes = info[1].As<Napi::Uint8Array>();
  return {bytes.Data(), bytes.ByteLength()};
}

} // namespace

Napi::Value encode_spec_format(const Napi::CallbackInfo& info) {
  const auto elements = info[1].As<Napi::BigUint64Array>();
  const std::vector<uint8_t> bytes = format_of(info).encode({elements.Data(), elements.ElementLength()});
  auto value = Napi::Uint8Array::New(info.Env(), bytes.size());
  std::ranges::copy(bytes, value.Data());
  return value;
}

Napi::Value decode_spec_format(const Napi::CallbackInfo& info) {
  const std::vector<uint64_t> elements = format_of(info).decode(bytes_of(info));
  auto value = Napi::BigUint64Array::New(info.Env(), elements.size());
  std::ranges::copy(elements, value.Data());
  return value;
}

Napi::Value spec_format_reserved_is_zero(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), format_of(info).reserved_is_zero(bytes_of(info)));
}

} // namespace fpga_verbs::test
