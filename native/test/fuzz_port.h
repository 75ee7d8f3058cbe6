#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// fuzzTargets(): string[], the names of the targets
// runFuzzTarget(name: string, input: Uint8Array): string, empty or the broken property
// The targets that libFuzzer drives, here without libFuzzer.
void define_fuzz_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
