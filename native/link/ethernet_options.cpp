#include "link/ethernet_options.h"

#include "wire/packet_gid.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <string_view>
#include <vector>

namespace fpga_verbs::link {

namespace {

constexpr unsigned first_vlan = 1; // IEEE 802.1Q, table 9-2
constexpr unsigned last_vlan = 4094;
constexpr unsigned ipv4_bits = 32;

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find(',', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool take_path(const std::string& path, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return false;
  std::ranges::copy(path, address.sun_path);
  return true;
}

std::optional<unsigned> number_of(std::string_view text, unsigned least, unsigned most) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const bool is_right = read.ec == std::errc{} && read.ptr == end && number >= least && number <= most;
  return is_right ? std::optional(number) : std::nullopt;
}

std::optional<Gateway> gateway_of(const std::string& text) {
  const size_t slash = text.find('/');
  in_addr address{};
  if (slash == std::string::npos || inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) != 1)
    return std::nullopt;
  const auto bits = number_of(std::string_view(text).substr(slash + 1), 0, ipv4_bits);
  if (!bits)
    return std::nullopt;
  return Gateway{.address = ipv4_address(ntohl(address.s_addr)), .prefix_bits = *bits};
}

bool take_option(const std::string& part, EthernetOptions& options, std::string& failure) {
  const size_t equals = part.find('=');
  const std::string name = part.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
  if (name == "vlan") {
    const auto vlan = number_of(value, first_vlan, last_vlan);
    options.vlan = vlan.value_or(0);
    failure = "vlan is the number of a virtual LAN, 1 to 4094";
    return vlan.has_value();
  }
  if (name == "gateway") {
    options.gateway = gateway_of(value);
    failure = "gateway is the IPv4 address of a router, and after a slash how many bits of it those share "
              "that are reached without it, as in 10.0.0.254/24";
    return options.gateway.has_value();
  }
  failure = "its paths may be followed by vlan=NUMBER and gateway=ADDRESS/BITS";
  return false;
}

} // namespace

bool Gateway::is_between(const NetworkAddress& destination) const {
  const uint32_t differing = wire::ipv4_address(address) ^ wire::ipv4_address(destination);
  return wire::is_ipv4(destination) && prefix_bits != 0 && differing >> (ipv4_bits - prefix_bits) != 0;
}

std::optional<EthernetOptions> ethernet_options(const std::string& name, std::string& failure) {
  const std::vector<std::string> parts = parts_of(name);
  EthernetOptions options;
  if (parts.size() < 2 || !take_path(parts[0], options.own_path) || !take_path(parts[1], options.peer_path)) {
    failure = "it names the path of its own socket, a comma and that of the peer's, each 1 to " +
              std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " characters long";
    return std::nullopt;
  }
  for (size_t part = 2; part < parts.size(); ++part)
    if (!take_option(parts[part], options, failure))
      return std::nullopt;
  failure.clear();
  return options;
}

} // namespace fpga_verbs::link
