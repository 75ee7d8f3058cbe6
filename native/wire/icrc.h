#pragma once

#include "wire/packet_framing.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// The two checks of a packet: ICRC, a CRC-32, over what no switch or router may change (InfiniBand volume 1,
// 7.8.1; annex A17 for RoCEv2), and VCRC, a CRC-16 over everything (7.8.2). A check is computed over pieces,
// in wire order: a register goes in and comes out; it begins as all ones, and what goes on the wire is its
// inverse, low byte first.
namespace fpga_verbs::wire {

// One way of computing, with the same results as every other.
struct CrcImplementation {
  const char* name;
  bool is_supported; // by this CPU

  // The ICRC register after `bytes` more bytes.
  uint32_t (*icrc)(uint32_t crc, const uint8_t* data, size_t bytes);
  // The same, of bytes that are copied at once; the areas do not overlap.
  uint32_t (*icrc_copy)(uint32_t crc, uint8_t* target, const uint8_t* source, size_t bytes);
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

// The ICRC register after `bytes` more bytes, which are copied.
inline uint32_t icrc_copy(uint32_t crc, uint8_t* target, const uint8_t* source, size_t bytes) {
  return crc_in_use().icrc_copy(crc, target, source, bytes);
}

// The VCRC register after `bytes` more bytes.
inline uint32_t vcrc_update(uint32_t crc, const uint8_t* data, size_t bytes) {
  return crc_in_use().vcrc(crc, data, bytes);
}

// The ICRC register after a packet's headers, their variant fields taken as ones. `network` is where the LRH
// or IP header begins, `bytes` reach from there to the payload (at most 128).
uint32_t icrc_of_headers(PacketFraming framing, const uint8_t* network, size_t bytes);

// The ICRC register after `bytes` more bytes from a BTH on, whose variant fields are taken as ones. They are
// ones while it is computed: nothing else looks at the packet meanwhile.
uint32_t icrc_of_transport(uint32_t crc, uint8_t* transport, size_t bytes);

// The ICRC register after a packet from where the LRH or IP header begins, its variant fields taken as ones,
// as above; up to the payload there are `header_bytes` (at most 128), and `bytes` in all.
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
