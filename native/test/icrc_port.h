#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// crcImplementations(): { name: string, isSupported: boolean }[]
// crcInUse(): string
// crcCompute(implementation: number, kind: 'icrc' | 'vcrc', crc: number, data: Uint8Array): number
// crcNanoseconds(implementation: number, kind, data: Uint8Array, rounds: number): number
// icrcOfHeaders(framing: number, headers: Uint8Array): number
void define_icrc_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
