#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::link {

// The identification and the flag "do not fragment" of IPv4 headers that a UDP socket has taken off. The ICRC
// covers both (annex A17.3.3 masks only type of service, time to live and header checksum), a socket tells
// neither, and peers differ: RFC 6864 lets the identification of a packet that is not to be fragmented be
// anything. A board sends 0; Linux' rdma_rxe sends one that counts.
//
// A CRC is linear, so that the ICRC itself tells them: the difference between the ICRC that came and the one
// of a header with identification 0, taken back through the packet, is the identification, if everything but
// it is as it was sent. The check is then 16 bits strong, and still finds every error of a single bit; hence:
// - Identification 0 is taken as the whole 32 bits say. A peer that has sent it so many times in a row is
//   believed to send nothing else, and one packet in so many is looked at to see whether that has changed;
//   the others cost nothing.
// - A peer that lets its packets be fragmented is believed when two packets in a row say so.
class Identifications {
public:
  // `network`: an IPv4 header with identification 0 and "do not fragment", UDP header, BTH and all behind it
  // to the ICRC. Puts what the peer has sent into the header, if that makes the ICRC right; otherwise, and
  // for a peer that is believed to send 0, leaves it.
  void restore(std::span<uint8_t> network);

private:
  static constexpr unsigned in_a_row = 8;
  static constexpr unsigned looked_at = 16; // one of so many

  struct Peer {
    uint32_t address = 0;
    uint8_t zeros = 0;     // in a row, up to in_a_row
    uint8_t unchecked = 0; // since one was looked at
    bool may_fragment = false;
  };

  Peer& peer_of(uint32_t address);

  // By a hash of the address; two that share a place forget each other.
  std::array<Peer, 64> peers_{};
};

} // namespace fpga_verbs::link
