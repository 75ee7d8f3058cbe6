#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// fuzzTargets(): string[], their names
// runFuzzTarget(name: string, input: Uint8Array): string, empty or which promise was broken
// The same targets as libFuzzer drives, without libFuzzer.
void define_fuzz_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
