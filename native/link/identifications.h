#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::link {

// Restores the identification and the flag "do not fragment" of IPv4 headers that a UDP socket has removed.
// The ICRC covers both (annex A17.3.3 masks only type of service, time to live and header checksum), and the
// socket does not report them. Peers differ, because RFC 6864 allows any identification in a packet that must
// not be fragmented: a board sends 0, Linux' rdma_rxe increments it.
//
// A CRC is linear, so the ICRC itself gives the value. The difference between the received ICRC and that of a
// header with identification 0, taken back through the packet, is the identification, provided that all else
// is intact. For such a packet the check has a strength of 16 bits and still detects every single-bit error.
// Therefore:
// - Identification 0 is checked with all 32 bits. After several packets in a row with 0, the link assumes
// that
//   the peer always sends 0, and tests only one packet in so many for another value; the others cost nothing.
// - The link accepts a peer that permits fragmentation after two such packets in a row.
class Identifications {
public:
  // `network`: an IPv4 header with identification 0 and "do not fragment", UDP header, BTH and the rest up to
  // the ICRC. Writes the peer's values into the header if that makes the ICRC right; otherwise, and for a
  // peer that is assumed to send 0, leaves the header unchanged.
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

  // Indexed by a hash of the address; a collision evicts the other peer.
  std::array<Peer, 64> peers_{};
};

} // namespace fpga_verbs::link
