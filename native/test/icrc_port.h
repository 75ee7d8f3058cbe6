#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// crcImplementations(): { name: string, isSupported: boolean }[]
// crcInUse(): string
// crcCompute(implementation: number, kind: 'icrc' | 'icrc_copy' | 'vcrc', crc: number, source: Uint8Array,
//            target: Uint8Array): number
// crcNanoseconds(implementation: number, kind, source: Uint8Array, target: Uint8Array, rounds: number):
// number icrcOfHeaders(framing: number, headers: Uint8Array): number
void define_icrc_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
