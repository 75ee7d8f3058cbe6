#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// encodeFormat(format: string, elements: BigUint64Array): Uint8Array, with the setters of C++
Napi::Value encode_spec_format(const Napi::CallbackInfo& info);

// decodeFormat(format: string, bytes: Uint8Array): BigUint64Array, with the getters of C++
Napi::Value decode_spec_format(const Napi::CallbackInfo& info);

// reservedIsZero(format: string, bytes: Uint8Array): boolean
Napi::Value spec_format_reserved_is_zero(const Napi::CallbackInfo& info);

} // namespace fpga_verbs::test
