#include "link/udp_link.h"

#include "link/socket_address.h"
#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/packet_gid.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace fpga_verbs::link {

namespace {

// A numeric address; a link-local one has its interface after %.
std::optional<SocketAddress> parsed(const std::string& address) {
  addrinfo wanted = {};
  wanted.ai_flags = AI_NUMERICHOST;
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), nullptr, &wanted, &found) != 0)
    return std::nullopt;
  SocketAddress made = {};
  std::memcpy(&made, found->ai_addr, std::min<size_t>(found->ai_addrlen, sizeof made));
  freeaddrinfo(found);
  return made;
}

// An address that a board can own: of one interface.
bool is_own(const UdpAddress& address) {
  const NetworkAddress unspecified{};
  return address.address != unspecified && address.address != wire::ipv4_gid(INADDR_ANY) &&
         !wire::is_multicast(address.address);
}

bool add(const Descriptor& set, const Descriptor& socket) {
  epoll_event readable{.events = EPOLLIN, .data = {.fd = socket.get()}};
  return epoll_ctl(set.get(), EPOLL_CTL_ADD, socket.get(), &readable) == 0;
}

// Sends without fragmentation, so that IPv4 has identification 0, which the ICRC covers.
bool forbid_fragments(const Descriptor& socket, bool ipv4) {
  const int never = ipv4 ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO;
  return setsockopt(socket.get(), ipv4 ? IPPROTO_IP : IPPROTO_IPV6,
                    ipv4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &never, sizeof never) == 0;
}

std::string reason_of(int failure, const std::string& address) {
  switch (failure) {
  case EADDRINUSE:
    return "UDP port 4791 of " + address +
           " is taken by another board or driver; boards of one machine have addresses of their own, as "
           "127.0.0.2";
  case EADDRNOTAVAIL:
    return "this machine has no address " + address + "; \"ip address\" lists those it has";
  default:
    return std::strerror(failure);
  }
}

} // namespace

std::unique_ptr<UdpLink> UdpLink::make(const std::string& address, std::string& failure) {
  const auto found = parsed(address);
  if (!found || !is_own(udp_address(*found))) {
    failure =
        "\"" + address + "\" is not an IPv4 or IPv6 address of one interface, such as 127.0.0.1 or fd00::1";
    return nullptr;
  }
  const UdpAddress own{udp_address(*found).address, static_cast<uint16_t>(spec::rocev2_udp_port)};
  const uint32_t scope = wire::is_ipv4(own.address) ? 0 : found->ipv6.sin6_scope_id;
  const SocketAddress bound = socket_address(own, scope);
  Descriptor made(socket(bound.generic.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made || !forbid_fragments(made, wire::is_ipv4(own.address)) ||
      bind(made.get(), &bound.generic, bound.length()) != 0) {
    failure = reason_of(errno, address);
    return nullptr;
  }
  Descriptor readable(epoll_create1(EPOLL_CLOEXEC));
  if (!readable || !add(readable, made)) {
    failure = std::strerror(errno);
    return nullptr;
  }
  // Buffer for packets that arrive while this process does other work; the system may grant less.
  constexpr int room = 4 << 20; // bytes
  setsockopt(made.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(made.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  return std::unique_ptr<UdpLink>(new UdpLink(std::move(made), std::move(readable), own, scope));
}

UdpLink::UdpLink(Descriptor socket, Descriptor readable, const UdpAddress& own, uint32_t scope)
    : socket_(std::move(socket)), own_(own), scope_(scope), headers_bytes_(udp_headers_bytes(own.address)),
      groups_(own), readable_(std::move(readable)), watch_(readable_.get()) {
  groups_.prepare_to_send(socket_); // join() says where it cannot
}

bool UdpLink::join(const NetworkAddress& group) {
  const Descriptor* const socket = groups_.join(group);
  if (socket != nullptr && add(readable_, *socket))
    return true;
  groups_.leave(group);
  return false;
}

// Transmit side.

SendResult UdpLink::send(Lane, std::span<const uint8_t> packet) {
  const auto frame = datagram_of(packet);
  if (!frame || frame->from != own_ || wire::is_ipv4(frame->to.address) != wire::is_ipv4(own_.address))
    return SendResult::unreachable;
  Leaving& leaving = leaving_[leaving_count_++];
  leaving.to = frame->to;
  leaving.payload.assign(frame->payload.begin(), frame->payload.end());
  if (leaving_count_ == leaving_.size())
    flush();
  return SendResult::sent;
}

// A packet that the kernel rejects is lost; the transport repairs the loss.
void UdpLink::flush() {
  if (leaving_count_ == 0)
    return;
  std::array<SocketAddress, batch> addresses;
  std::array<iovec, batch> parts;
  std::array<mmsghdr, batch> messages{};
  for (size_t i = 0; i < leaving_count_; ++i) {
    addresses[i] = socket_address(leaving_[i].to, scope_);
    parts[i] = {.iov_base = leaving_[i].payload.data(), .iov_len = leaving_[i].payload.size()};
    msghdr& message = messages[i].msg_hdr;
    message.msg_name = &addresses[i];
    message.msg_namelen = addresses[i].length();
    message.msg_iov = &parts[i];
    message.msg_iovlen = 1;
  }
  for (size_t done = 0; done < leaving_count_;) {
    const auto left = static_cast<unsigned>(leaving_count_ - done);
    const int sent = sendmmsg(socket_.get(), messages.data() + done, left, MSG_NOSIGNAL);
    done += sent > 0 ? static_cast<size_t>(sent) : 1; // one that is refused does not hold up the others
  }
  leaving_count_ = 0;
}

// Receive side.

std::span<const uint8_t> UdpLink::front(Lane lane) {
  if (arrived_.front(lane).empty() && watch_.is_readable())
    receive();
  return arrived_.front(lane);
}

void UdpLink::receive() {
  watch_.begin_reading();
  bool has_read_all = receive_from(socket_, own_);
  for (const auto& [group, socket] : groups_.sockets())
    has_read_all = receive_from(socket, {group, own_.port}) && has_read_all;
  // A port that found no packet checks again when the link signals.
  const bool shows_none = arrived_.free() == ArrivedPackets::buffers;
  watch_.end_reading(has_read_all || shows_none);
}

// Whether no more packets are waiting.
bool UdpLink::receive_from(const Descriptor& socket, const UdpAddress& to) {
  std::array<SocketAddress, batch> addresses;
  std::array<iovec, batch> parts;
  std::array<mmsghdr, batch> messages{};
  const size_t wanted = std::min(batch, arrived_.free());
  for (size_t i = 0; i < wanted; ++i) {
    const std::span<uint8_t> payload = arrived_.buffer(i).subspan(headers_bytes_);
    parts[i] = {.iov_base = payload.data(), .iov_len = payload.size()};
    msghdr& message = messages[i].msg_hdr;
    message.msg_name = &addresses[i];
    message.msg_namelen = sizeof addresses[i];
    message.msg_iov = &parts[i];
    message.msg_iovlen = 1;
  }
  if (wanted == 0)
    return false;
  const int came = recvmmsg(socket.get(), messages.data(), static_cast<unsigned>(wanted), 0, nullptr);
  for (int i = 0; i < came; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_whole = (messages[at].msg_hdr.msg_flags & MSG_TRUNC) == 0;
    accept(udp_address(addresses[at]), to, is_whole ? messages[at].msg_len : 0);
  }
  return came != static_cast<int>(wanted);
}

// The packet is in the first free buffer. The fabric has already looped back one that the own board sent to a
// group.
void UdpLink::accept(const UdpAddress& from, const UdpAddress& to, size_t bytes) {
  if (bytes < spec::BaseTransportHeader::bytes || from == own_) {
    arrived_.skip();
    return;
  }
  uint8_t* const payload = arrived_.buffer(0).data() + headers_bytes_;
  write_udp_headers(payload, from, to, bytes);
  if (wire::is_ipv4(own_.address))
    identifications_.restore(
        arrived_.buffer(0).subspan(ethernet_bytes, headers_bytes_ - ethernet_bytes + bytes));
  arrived_.add(lane_of({payload, bytes}), headers_bytes_ + bytes);
}

} // namespace fpga_verbs::link
