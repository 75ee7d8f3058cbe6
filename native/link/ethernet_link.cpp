#include "link/ethernet_link.h"

#include "hca/packet_gid.h"
#include "link/ethernet_frame.h"
#include "spec/parameters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace fpga_verbs::link {

namespace {

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

std::optional<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un made = {};
  made.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof made.sun_path)
    return std::nullopt;
  std::ranges::copy(path, made.sun_path);
  return made;
}

Descriptor datagram_socket() {
  return Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// What a board that was killed has left behind is replaced.
bool bind_to(const Descriptor& socket, const sockaddr_un& path) {
  if (bind(socket.get(), generic(path), sizeof path) == 0)
    return true;
  const int failure = errno;
  const Descriptor probe = datagram_socket();
  struct stat found = {};
  const bool is_left = failure == EADDRINUSE && stat(path.sun_path, &found) == 0 && S_ISSOCK(found.st_mode) &&
                       connect(probe.get(), generic(path), sizeof path) != 0 && errno == ECONNREFUSED;
  errno = failure;
  return is_left && unlink(path.sun_path) == 0 && bind(socket.get(), generic(path), sizeof path) == 0;
}

std::string reason_of(int failure, const std::string& path) {
  if (failure == EADDRINUSE)
    return path + " is there already, and not left behind by a board that was killed; name another path";
  return path + ": " + std::strerror(failure);
}

} // namespace

std::unique_ptr<EthernetLink> EthernetLink::make(const std::string& paths, const Addresses& own,
                                                 std::string& failure) {
  const size_t comma = paths.find(',');
  const std::string own_path = paths.substr(0, comma);
  const auto bound = socket_address(own_path);
  const auto peer = socket_address(comma == std::string::npos ? "" : paths.substr(comma + 1));
  if (!bound || !peer) {
    failure = "it names the path of its own socket, a comma and that of the peer's, each 1 to " +
              std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " characters long";
    return nullptr;
  }
  Descriptor in = datagram_socket();
  Descriptor out = datagram_socket();
  if (!in || !out || !bind_to(in, *bound)) {
    failure = reason_of(errno, own_path);
    return nullptr;
  }
  return std::unique_ptr<EthernetLink>(new EthernetLink(std::move(in), std::move(out), *bound, *peer, own));
}

EthernetLink::EthernetLink(Descriptor in, Descriptor out, const sockaddr_un& own_path,
                           const sockaddr_un& peer_path, const Addresses& own)
    : in_(std::move(in)), out_(std::move(out)), own_path_(own_path), peer_path_(peer_path), own_(own),
      watch_(in_.get(), out_.get()) {}

EthernetLink::~EthernetLink() { unlink(own_path_.sun_path); }

// Out.

SendResult EthernetLink::send(Lane, std::span<const uint8_t> packet) {
  if (!transmit_ready())
    return SendResult::paused;
  const auto datagram = datagram_of(packet);
  if (!datagram || is_multicast(spec::LinkLayer::ethernet, destination_of(spec::LinkLayer::ethernet, packet)))
    return transmit(packet);
  const auto known = neighbors_.find(datagram->to.address);
  if (known != neighbors_.end())
    return transmit(packet, &known->second);
  ask(datagram->to.address, packet);
  return SendResult::sent;
}

// Asks for a neighbor again for each packet that is to go there: an answer may have been lost.
void EthernetLink::ask(const NetworkAddress& wanted, std::span<const uint8_t> packet) {
  if (waiting_.size() == most_waiting)
    waiting_.pop_front();
  waiting_.push_back({.to = wanted, .frame = {packet.begin(), packet.end()}});
  const Address own = source_of(spec::LinkLayer::ethernet, packet);
  const NetworkAddress address = hca::is_ipv4(wanted) ? ipv4_address(own) : link_local_address(own);
  transmit(neighbor_question({.address = address, .mac = mac_address(own)}, wanted));
}

// False: the peer has no room for them yet.
bool EthernetLink::transmit_ready() {
  while (!ready_.empty()) {
    if (transmit(ready_.front()) == SendResult::paused)
      return false;
    ready_.pop_front();
  }
  return true;
}

// A frame, with another destination where one is given.
SendResult EthernetLink::transmit(std::span<const uint8_t> frame, const MacAddress* destination) {
  const std::span<const uint8_t> begin =
      destination != nullptr ? std::span<const uint8_t>(*destination) : frame.first(sizeof(MacAddress));
  const auto rest = frame.subspan(begin.size());
  std::array<iovec, 2> parts{iovec{const_cast<uint8_t*>(begin.data()), begin.size()},
                             iovec{const_cast<uint8_t*>(rest.data()), rest.size()}};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  // A peer that was not there, or that went, may be there by now.
  for (const bool is_connected : {true, false}) {
    if (!is_connected && !connect_out())
      break;
    if (sendmsg(out_.get(), &message, MSG_NOSIGNAL) >= 0)
      return SendResult::sent;
    if (errno == EAGAIN) {
      watch_.await_room();
      return SendResult::paused;
    }
  }
  return SendResult::unreachable;
}

// To the peer, which may have come, or come anew.
bool EthernetLink::connect_out() { return connect(out_.get(), generic(peer_path_), sizeof peer_path_) == 0; }

// In.

std::span<const uint8_t> EthernetLink::front(Lane lane) {
  if (arrived_.front(lane).empty() && watch_.is_readable())
    receive();
  return arrived_.front(lane);
}

void EthernetLink::receive() {
  watch_.begin_reading();
  while (arrived_.free() > 0) {
    const std::span<uint8_t> buffer = arrived_.buffer(0);
    const ssize_t came = recv(in_.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    if (came < 0) {
      watch_.end_reading(true);
      return;
    }
    const auto bytes = static_cast<size_t>(came);
    if (bytes >= ethernet_bytes && bytes <= buffer.size())
      accept(buffer.first(bytes));
  }
  watch_.end_reading(false);
}

// What lies in the first free buffer.
void EthernetLink::accept(std::span<const uint8_t> frame) {
  if (const auto datagram = datagram_of(frame)) {
    if (datagram->to.port == spec::rocev2_udp_port &&
        datagram->payload.size() >= spec::BaseTransportHeader::bytes)
      arrived_.add(lane_of(datagram->payload), frame.size());
  } else if (const auto message = neighbor_message_of(frame)) {
    take_note(*message);
  }
}

void EthernetLink::take_note(const NeighborMessage& message) {
  if (message.sender)
    learn(*message.sender);
  if (const auto asked_for = message.question ? own(*message.question) : std::nullopt)
    transmit(neighbor_answer(*asked_for, message.sender));
}

void EthernetLink::learn(const Neighbor& neighbor) {
  if (neighbors_.size() == most_neighbors)
    neighbors_.clear();
  neighbors_[neighbor.address] = neighbor.mac;
  const auto is_answered = [&](const Waiting& waiting) { return waiting.to == neighbor.address; };
  for (Waiting& waiting : waiting_) {
    if (!is_answered(waiting))
      continue;
    std::ranges::copy(neighbor.mac, waiting.frame.begin());
    ready_.push_back(std::move(waiting.frame));
  }
  std::erase_if(waiting_, is_answered);
  transmit_ready();
}

std::optional<Neighbor> EthernetLink::own(const NetworkAddress& address) const {
  for (unsigned function = 0; function < own_.count; ++function) {
    const Address mac = own_.first + function;
    if (address == link_local_address(mac) || address == ipv4_address(mac))
      return Neighbor{.address = address, .mac = mac_address(mac)};
  }
  return std::nullopt;
}

} // namespace fpga_verbs::link
