#include "link/identifications.h"

#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/icrc.h"
#include "wire/icrc_polynomial.h"
#include "wire/packet_bytes.h"
#include "wire/packet_checksum.h"

#include <cstring>

namespace fpga_verbs::link {

namespace {

using spec::Ipv4Header;

constexpr size_t headers_bytes =
    Ipv4Header::bytes + spec::UdpHeader::bytes + spec::BaseTransportHeader::bytes;
constexpr uint32_t reflected = wire::icrc_polynomial.reflected;
constexpr uint32_t one = 0x80000000u; // the polynomial 1: coefficients lie low bit first

// The product of two polynomials modulo that of the ICRC.
constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = one; bit != 0; bit >>= 1) {
    if ((a & bit) != 0)
      product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? reflected : 0);
  }
  return product;
}

// The register 2^n zero bytes before it has the value 1.
constexpr std::array<uint32_t, 16> backward = [] {
  uint32_t bits = ((one ^ reflected) << 1) | 1; // before one bit
  for (unsigned doubled = 0; doubled < 3; ++doubled)
    bits = multiply(bits, bits);
  std::array<uint32_t, 16> powers{};
  for (uint32_t& power : powers) {
    power = bits;
    bits = multiply(bits, bits);
  }
  return powers;
}();

// The register this number of zero bytes earlier.
uint32_t rewind(uint32_t crc, size_t bytes) {
  for (size_t n = 0; n < backward.size(); ++n)
    if ((bytes >> n & 1) != 0)
      crc = multiply(crc, backward[n]);
  return crc;
}

// The XOR of the four header bytes from the identification on with those that the ICRC covers, if nothing
// else differs; the first byte is in the lowest bits.
uint32_t difference_of(std::span<const uint8_t> network) {
  const size_t covered = network.size() - spec::icrc_bytes;
  uint32_t crc = wire::icrc_of_headers(wire::PacketFraming::ethernet_ipv4, network.data(), headers_bytes);
  crc = wire::icrc_update(crc, network.data() + headers_bytes, covered - headers_bytes);
  uint32_t expected = 0;
  uint32_t came = 0;
  wire::write_icrc(reinterpret_cast<uint8_t*>(&expected), crc);
  std::memcpy(&came, network.data() + covered, sizeof came);
  constexpr size_t before = Ipv4Header::identification_bit / 8;
  return expected == came ? 0 : rewind(expected ^ came, covered - before);
}

constexpr uint32_t identification_bits = 0xffff;
constexpr uint32_t do_not_fragment_bit =
    uint32_t{1} << (Ipv4Header::do_not_fragment_bit / 8 * 8 + 7 - Ipv4Header::do_not_fragment_bit % 8 -
                    Ipv4Header::identification_bit);

} // namespace

void Identifications::restore(std::span<uint8_t> network) {
  if (network.size() < headers_bytes + spec::icrc_bytes)
    return;
  auto ip = wire::read_header<Ipv4Header>(network.data());
  Peer& peer = peer_of(ip.source_address());
  const bool sends_zero = peer.zeros == in_a_row;
  if (sends_zero && ++peer.unchecked < looked_at)
    return;
  peer.unchecked = 0;
  const uint32_t difference = difference_of(network);
  if (difference == 0) {
    peer.zeros = static_cast<uint8_t>(sends_zero ? in_a_row : peer.zeros + 1);
    peer.may_fragment = false;
    return;
  }
  if ((difference & ~(identification_bits | do_not_fragment_bit)) != 0)
    return; // damaged
  const bool may_fragment = (difference & do_not_fragment_bit) != 0;
  const bool is_believed = !sends_zero && (!may_fragment || peer.may_fragment);
  peer.zeros = 0;
  peer.may_fragment = may_fragment;
  if (!is_believed)
    return;
  const uint32_t low_byte = difference & 0xff;
  ip.set_identification(low_byte << 8 | (difference >> 8 & 0xff));
  ip.set_do_not_fragment(may_fragment ? 0 : 1);
  ip.set_header_checksum(0);
  wire::write_header(network.data(), ip);
  ip.set_header_checksum(~wire::folded(wire::internet_sum(network.data(), Ipv4Header::bytes)));
  wire::write_header(network.data(), ip);
}

Identifications::Peer& Identifications::peer_of(uint32_t address) {
  constexpr uint32_t golden_ratio = 0x9e37'79b1;
  constexpr unsigned index_bits = 6;
  Peer& peer = peers_[address * golden_ratio >> (32 - index_bits)];
  if (peer.address != address)
    peer = {.address = address};
  return peer;
}

} // namespace fpga_verbs::link
