#include "link/ethernet_link.h"

#include "link/ethernet_frame.h"
#include "spec/parameters.h"
#include "wire/packet_gid.h"

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

Descriptor datagram_socket() {
  return Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Replaces the socket of a killed board.
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

iovec part_of(std::span<const uint8_t> bytes) { return {const_cast<uint8_t*>(bytes.data()), bytes.size()}; }

std::string reason_of(int failure, const std::string& path) {
  if (failure == EADDRINUSE)
    return path + " already exists, and is not left over from a killed board; use another path";
  return path + ": " + std::strerror(failure);
}

} // namespace

std::unique_ptr<EthernetLink> EthernetLink::make(const std::string& name, const Addresses& own,
                                                 std::string& failure) {
  const auto options = ethernet_options(name, failure);
  if (!options)
    return nullptr;
  Descriptor in = datagram_socket();
  Descriptor out = datagram_socket();
  if (!in || !out || !bind_to(in, options->own_path)) {
    failure = reason_of(errno, options->own_path.sun_path);
    return nullptr;
  }
  return std::unique_ptr<EthernetLink>(new EthernetLink(std::move(in), std::move(out), *options, own));
}

EthernetLink::EthernetLink(Descriptor in, Descriptor out, const EthernetOptions& options,
                           const Addresses& own)
    : in_(std::move(in)), out_(std::move(out)), options_(options), own_(own), watch_(in_.get(), out_.get()) {}

EthernetLink::~EthernetLink() { unlink(options_.own_path.sun_path); }

// Transmit side.

SendResult EthernetLink::send(Lane, std::span<const uint8_t> packet) {
  if (!transmit_ready())
    return SendResult::paused;
  const auto datagram = datagram_of(packet);
  if (!datagram || is_multicast(spec::LinkLayer::ethernet, destination_of(spec::LinkLayer::ethernet, packet)))
    return transmit(packet);
  const NetworkAddress& to = datagram->to.address;
  const auto& gateway = options_.gateway;
  const NetworkAddress& next_hop = gateway && gateway->is_between(to) ? gateway->address : to;
  const auto known = neighbors_.find(next_hop);
  if (known != neighbors_.end())
    return transmit(packet, &known->second);
  ask(next_hop, packet);
  return SendResult::sent;
}

// Requests the MAC of a neighbor again for each packet to it, because an answer may have been lost.
void EthernetLink::ask(const NetworkAddress& wanted, std::span<const uint8_t> packet) {
  if (waiting_.size() == most_waiting)
    waiting_.pop_front();
  waiting_.push_back({.to = wanted, .frame = {packet.begin(), packet.end()}});
  const Address own = source_of(spec::LinkLayer::ethernet, packet);
  const NetworkAddress address = wire::is_ipv4(wanted) ? ipv4_address(own) : link_local_address(own);
  transmit(neighbor_question({.address = address, .mac = mac_address(own)}, wanted));
}

// False: the peer has no room for the packets yet.
bool EthernetLink::transmit_ready() {
  while (!ready_.empty()) {
    if (transmit(ready_.front()) == SendResult::paused)
      return false;
    ready_.pop_front();
  }
  return true;
}

// A frame, with another destination if one is given, and the VLAN tag of the link.
SendResult EthernetLink::transmit(std::span<const uint8_t> frame, const MacAddress* destination) {
  const auto tagged = tagged_header(frame, options_.vlan);
  const auto header = options_.vlan == 0 ? frame.first(ethernet_bytes) : std::span<const uint8_t>(tagged);
  const std::span<const uint8_t> to =
      destination != nullptr ? std::span<const uint8_t>(*destination) : frame.first(sizeof(MacAddress));
  std::array<iovec, 3> parts{part_of(to), part_of(header.subspan(to.size())),
                             part_of(frame.subspan(ethernet_bytes))};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  // A peer that was absent may be present now.
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

// Sends to the peer, which may have started or restarted.
bool EthernetLink::connect_out() {
  const sockaddr_un& path = options_.peer_path;
  return connect(out_.get(), generic(path), sizeof path) == 0;
}

// Receive side.

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
    if (bytes < ethernet_bytes || bytes > buffer.size())
      continue;
    if (const auto untagged = untag(buffer.first(bytes), options_.vlan))
      accept(buffer.first(*untagged));
  }
  watch_.end_reading(false);
}

// The frame is in the first free buffer.
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
