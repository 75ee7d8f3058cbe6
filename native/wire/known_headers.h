#pragma once

#include "spec/enums.h"
#include "wire/packet_parse.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fpga_verbs::wire {

// The headers of a RoCEv2 packet that was parsed and found to be of a connection. A packet with the same
// headers, from its first byte through the queue pair number of its BTH, and of the same length, would be
// parsed and checked with the same result: only its acknowledge request, PSN, extended headers and ICRC are
// left to look at.
class KnownHeaders {
public:
  // Bytes that can be read of every packet that is compared, whatever its length.
  static constexpr size_t bytes = 80;

  // Whether a packet that has come in at the port has these headers.
  bool are_of(std::span<const uint8_t> packet, unsigned port) const {
    if (packet.size() != size_ || port != port_)
      return false;
    uint64_t differ = 0;
    for (size_t i = 0; i < headers_.size(); ++i) {
      uint64_t came = 0;
      std::memcpy(&came, packet.data() + i * sizeof came, sizeof came);
      differ |= (came ^ headers_[i]) & compared_[i];
    }
    return differ == 0;
  }

  // Takes the headers of a packet that was parsed and checked, if the one before had the same length: those
  // of lengths that alternate are not worth it.
  void learn(std::span<const uint8_t> packet, unsigned port, const ParsedPacket& parsed);

private:
  friend spec::PacketDrop parse_known(const KnownHeaders& known, uint8_t* packet, ParsedPacket& parsed);

  using Words = std::array<uint64_t, bytes / sizeof(uint64_t)>;

  Words headers_{};
  Words compared_{};     // ones in what is compared
  size_t size_ = 0;      // of the packet; 0: none is known
  size_t last_size_ = 0; // of the last one that was not known
  unsigned port_ = 0;
  uint32_t icrc_ = 0;     // the register after what is before the BTH
  uint32_t covered_ = 0;  // bytes that the ICRC covers from the BTH on
  ParsedPacket parsed_{}; // what all these packets share
};

// Parses a packet whose headers are known: checks its ICRC and fills in `parsed`, with the destination that
// it had when the headers were learned. As parse_packet() otherwise.
spec::PacketDrop parse_known(const KnownHeaders& known, uint8_t* packet, ParsedPacket& parsed);

} // namespace fpga_verbs::wire
