#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// secdedEncode(data: bigint): number
Napi::Value secded_encode(const Napi::CallbackInfo& info);

// secdedDecode(data: bigint, check: number): { status: 'clean' | 'corrected' | 'uncorrectable', data: bigint
// }
Napi::Value secded_decode(const Napi::CallbackInfo& info);

} // namespace fpga_verbs::test
