#pragma once

#include "hca/port/packet_tap.h"
#include "spec/enums.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fpga_verbs::board {

// Consecutive blocks of a pcapng file, in the byte order of this machine (draft-ietf-opsawg-pcapng, 3 and 4).
class PcapngBlocks {
public:
  void section(std::string_view application);
  // Interfaces are numbered from 0. Times count in nanoseconds.
  void interface(spec::LinkLayer link_layer, std::string_view name);
  // An empty comment is omitted. InfiniBand packets become records of the extensible record format, because
  // Wireshark does not read InfiniBand's own link type.
  void packet(spec::LinkLayer link_layer, uint32_t interface_number, uint64_t nanoseconds,
              hca::PacketDirection direction, std::span<const uint8_t> bytes, std::string_view comment);

  std::span<const uint8_t> bytes() const { return bytes_; }

private:
  enum class BlockType : uint32_t;
  enum class Option : uint16_t;

  size_t begin(BlockType type);
  void end(size_t block);
  template <class Number> void put(Number number);
  void put_bytes(std::span<const uint8_t> bytes); // padded to 32 bits
  void put_option(Option option, std::span<const uint8_t> value);
  void put_option(Option option, std::string_view text);

  std::vector<uint8_t> bytes_;
};

} // namespace fpga_verbs::board
