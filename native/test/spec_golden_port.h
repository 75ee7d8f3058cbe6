#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// encodeGolden(name: string): Uint8Array
Napi::Value encode_golden_structure(const Napi::CallbackInfo& info);

// goldenMismatch(name: string, bytes: Uint8Array): string
Napi::Value golden_structure_mismatch(const Napi::CallbackInfo& info);

} // namespace fpga_verbs::test
