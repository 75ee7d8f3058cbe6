#pragma once

#include "wire/packet_framing.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// The two checks of a packet: the ICRC, a CRC-32 over the fields that no switch or router may change
// (InfiniBand volume 1, 7.8.1; annex A17 for RoCEv2), and the VCRC, a CRC-16 over the whole packet (7.8.2).
// Callers compute a check over pieces in wire order and pass the register from piece to piece. The register
// starts as all ones; the wire carries its inverse, low byte first.
namespace fpga_verbs::wire {

// One implementation; all have the same results.
struct CrcImplementation {
  const char* name;
  bool is_supported; // by this CPU

  // The ICRC register after `bytes` more bytes.
  uint32_t (*icrc)(uint32_t crc, const uint8_t* data, size_t bytes);
  // The VCRC register, in the low 16 bits, after `bytes` more bytes.
  uint32_t (*vcrc)(uint32_t crc, const uint8_t* data, size_t bytes);
};

// All implementations, the fastest first; the last is supported everywhere.
std::span<const CrcImplementation> crc_implementations();

// The first one that this CPU supports, chosen once at start.
const CrcImplementation& crc_in_use();

inline constexpr uint32_t icrc_start = 0xffffffffu;
inline constexpr uint32_t vcrc_start = 0xffffu;

// The ICRC register after `bytes` more bytes of payload or pad.
inline uint32_t icrc_update(uint32_t crc, const uint8_t* data, size_t bytes) {
  return crc_in_use().icrc(crc, data, bytes);
}

// The VCRC register after `bytes` more bytes.
inline uint32_t vcrc_update(uint32_t crc, const uint8_t* data, size_t bytes) {
  return crc_in_use().vcrc(crc, data, bytes);
}

// The ICRC register after a packet's headers, with variant fields taken as ones. `network` points to the LRH
// or IP header; `bytes` extend from there to the payload (at most 128).
uint32_t icrc_of_headers(PacketFraming framing, const uint8_t* network, size_t bytes);

// The ICRC register after `bytes` more bytes from a BTH on, with variant fields taken as ones. The function
// overwrites them with ones while it computes, so no other thread may read the packet meanwhile.
uint32_t icrc_of_transport(uint32_t crc, uint8_t* transport, size_t bytes);

// The ICRC register after a packet from its LRH or IP header on, with variant fields taken as ones, as above.
// `header_bytes` (at most 128) precede the payload; `bytes` is the total.
uint32_t icrc_of_packet(PacketFraming framing, uint8_t* network, size_t header_bytes, size_t bytes);

// Writes the 4 B of an ICRC whose register is `crc`.
inline void write_icrc(uint8_t* at, uint32_t crc) {
  crc = ~crc;
  std::memcpy(at, &crc, sizeof(crc));
}

// Writes the 2 B of a VCRC whose register is `crc`.
inline void write_vcrc(uint8_t* at, uint32_t crc) {
  const auto inverse = static_cast<uint16_t>(~crc);
  std::memcpy(at, &inverse, sizeof(inverse));
}

} // namespace fpga_verbs::wire
