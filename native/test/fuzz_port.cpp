#include "test/fuzz_port.h"

#include "test/fuzz/fuzz_targets.h"

#include <string>

namespace fpga_verbs::test {

namespace {

Napi::Value target_names(const Napi::CallbackInfo& info) {
  auto names = Napi::Array::New(info.Env());
  for (const FuzzTarget& target : fuzz_targets)
    names.Set(names.Length(), target.name);
  return names;
}

Napi::Value run_target(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>();
  const auto input = info[1].As<Napi::Uint8Array>();
  for (const FuzzTarget& target : fuzz_targets)
    if (name == target.name)
      return Napi::String::New(info.Env(), target.run({input.Data(), input.ByteLength()}));
  throw Napi::RangeError::New(info.Env(), "no fuzz target is named " + name);
}

} // namespace

void define_fuzz_port(Napi::Env env, Napi::Object exports) {
  exports.Set("fuzzTargets", Napi::Function::New(env, target_names));
  exports.Set("runFuzzTarget", Napi::Function::New(env, run_target));
}

} // namespace fpga_verbs::test
