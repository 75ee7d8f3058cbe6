#include "test/icrc_port.h"

#include "wire/icrc.h"

#include <chrono>
#include <string>

namespace fpga_verbs::test {
namespace {

// One computation, from the arguments: implementation, kind, … data.
struct Computation {
  const wire::CrcImplementation& implementation;
  std::string kind;
  const uint8_t* data;
  size_t bytes;

  uint32_t operator()(uint32_t crc) const {
    return kind == "icrc" ? implementation.icrc(crc, data, bytes) : implementation.vcrc(crc, data, bytes);
  }
};

Computation computation_of(const Napi::CallbackInfo& info, size_t array) {
  const auto data = info[array].As<Napi::Uint8Array>();
  return {wire::crc_implementations()[info[0].As<Napi::Number>().Uint32Value()],
          info[1].As<Napi::String>().Utf8Value(), data.Data(), data.ByteLength()};
}

Napi::Value implementations(const Napi::CallbackInfo& info) {
  auto list = Napi::Array::New(info.Env());
  for (const wire::CrcImplementation& implementation : wire::crc_implementations()) {
    auto value = Napi::Object::New(info.Env());
    value.Set("name", implementation.name);
    value.Set("isSupported", implementation.is_supported);
    list.Set(list.Length(), value);
  }
  return list;
}

Napi::Value in_use(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), wire::crc_in_use().name);
}

Napi::Value compute(const Napi::CallbackInfo& info) {
  const uint32_t crc = info[2].As<Napi::Number>().Uint32Value();
  return Napi::Number::New(info.Env(), computation_of(info, 3)(crc));
}

Napi::Value nanoseconds(const Napi::CallbackInfo& info) {
  const Computation computation = computation_of(info, 2);
  const uint32_t rounds = info[3].As<Napi::Number>().Uint32Value();
  uint32_t crc = wire::icrc_start;
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t round = 0; round < rounds; ++round)
    crc = computation(crc);
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  // Uses the register, so that the compiler removes nothing.
  return Napi::Number::New(info.Env(), passed.count() / rounds + (crc == 0 ? 1e-9 : 0));
}

Napi::Value of_headers(const Napi::CallbackInfo& info) {
  const auto framing = static_cast<wire::PacketFraming>(info[0].As<Napi::Number>().Uint32Value());
  const auto headers = info[1].As<Napi::Uint8Array>();
  return Napi::Number::New(info.Env(), wire::icrc_of_headers(framing, headers.Data(), headers.ByteLength()));
}

} // namespace

void define_icrc_port(Napi::Env env, Napi::Object exports) {
  exports.Set("crcImplementations", Napi::Function::New<implementations>(env, "crcImplementations"));
  exports.Set("crcInUse", Napi::Function::New<in_use>(env, "crcInUse"));
  exports.Set("crcCompute", Napi::Function::New<compute>(env, "crcCompute"));
  exports.Set("crcNanoseconds", Napi::Function::New<nanoseconds>(env, "crcNanoseconds"));
  exports.Set("icrcOfHeaders", Napi::Function::New<of_headers>(env, "icrcOfHeaders"));
}

} // namespace fpga_verbs::test
