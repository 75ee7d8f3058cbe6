#pragma once

#include <napi.h>

namespace fpga_verbs::test {

// buildPacket(addressVector: Uint8Array, source: PacketSource, sourceQueuePair: number,
//             destinationQueuePair: number, fields: PacketFields, payload: Uint8Array): Uint8Array
// parsePacket(linkLayer: number, packet: Uint8Array): ParsedPacket | string, the name of a drop reason
// packetOpcodes(): PacketOpcodeTraits[], by opcode
// The types are those of test/hca/packet_port.ts.
void define_packet_port(Napi::Env env, Napi::Object exports);

} // namespace fpga_verbs::test
