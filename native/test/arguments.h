#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace fpga_verbs::test {

// Arguments of a port's methods, as vitest hands them over.
inline uint32_t number(const Napi::CallbackInfo& info, size_t index) {
  return info[index].As<Napi::Number>().Uint32Value();
}
inline uint64_t big_number(const Napi::Value& value) {
  bool lossless = false;
  return value.As<Napi::BigInt>().Uint64Value(&lossless);
}

// A data unit, mailbox or queue entry from its bytes.
template <class Format> Format format_of(const Napi::Value& value) {
  const auto bytes = value.As<Napi::Uint8Array>();
  if (bytes.ByteLength() != Format::bytes)
    throw Napi::RangeError::New(value.Env(), std::to_string(bytes.ByteLength()) +
                                                 " B were given; the format has " +
                                                 std::to_string(Format::bytes));
  Format format;
  std::memcpy(&format, bytes.Data(), Format::bytes);
  return format;
}

} // namespace fpga_verbs::test
