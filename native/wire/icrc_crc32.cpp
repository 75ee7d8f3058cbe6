#include "wire/icrc_implementations.h"

#if defined(__aarch64__)

#include <arm_acle.h>
#include <cstring>

// The ICRC uses the polynomial of the ARMv8 CRC32 instructions (InfiniBand 7.8.1), which later versions
// require.
namespace fpga_verbs::wire {
namespace {

[[gnu::target("+crc")]] uint32_t compute(uint32_t crc, const uint8_t* data, size_t bytes) {
  for (; bytes >= 8; data += 8, bytes -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, sizeof(word));
    crc = __crc32d(crc, word);
  }
  for (; bytes != 0; ++data, --bytes)
    crc = __crc32b(crc, *data);
  return crc;
}

} // namespace

uint32_t icrc_crc32(uint32_t crc, const uint8_t* data, size_t bytes) { return compute(crc, data, bytes); }

} // namespace fpga_verbs::wire

#endif
