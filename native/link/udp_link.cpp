#include "link/udp_link.h"

#include "spec/packets.h"
#include "spec/parameters.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

namespace fpga_verbs::link {

namespace {

sockaddr_in socket_address(const UdpAddress& address) {
  sockaddr_in made = {};
  made.sin_family = AF_INET;
  made.sin_addr.s_addr = htonl(address.address);
  made.sin_port = htons(address.port);
  return made;
}

sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

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
  in_addr parsed = {};
  if (inet_pton(AF_INET, address.c_str(), &parsed) != 1 || parsed.s_addr == INADDR_ANY) {
    failure = "\"" + address + "\" is no IPv4 address of one interface, as 127.0.0.1";
    return nullptr;
  }
  const UdpAddress own{ntohl(parsed.s_addr), static_cast<uint16_t>(spec::rocev2_udp_port)};
  Descriptor made(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // Not fragmented, and so with the identification 0 that the ICRC was made with.
  constexpr int never_fragment = IP_PMTUDISC_DO;
  sockaddr_in bound = socket_address(own);
  if (!made ||
      setsockopt(made.get(), IPPROTO_IP, IP_MTU_DISCOVER, &never_fragment, sizeof never_fragment) != 0 ||
      bind(made.get(), generic(bound), sizeof bound) != 0) {
    failure = reason_of(errno, address);
    return nullptr;
  }
  // Room for what comes while this process does something else; the system gives less where it allows less.
  constexpr int room = 4 << 20; // bytes
  setsockopt(made.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(made.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  return std::unique_ptr<UdpLink>(new UdpLink(std::move(made), own));
}

UdpLink::UdpLink(Descriptor socket, const UdpAddress& own)
    : socket_(std::move(socket)), own_(own), watch_(socket_.get()) {}

// Out.

SendResult UdpLink::send(Lane, std::span<const uint8_t> packet) {
  const auto frame = udp_frame_of(packet);
  if (!frame || frame->from.address != own_.address || frame->from.port != own_.port)
    return SendResult::unreachable;
  Leaving& leaving = leaving_[leaving_count_++];
  leaving.to = frame->to;
  leaving.payload.assign(frame->payload.begin(), frame->payload.end());
  if (leaving_count_ == leaving_.size())
    flush();
  return SendResult::sent;
}

// What the kernel does not take is lost; the transport repairs it.
void UdpLink::flush() {
  if (leaving_count_ == 0)
    return;
  std::array<sockaddr_in, batch> addresses;
  std::array<iovec, batch> parts;
  std::array<mmsghdr, batch> messages{};
  for (size_t i = 0; i < leaving_count_; ++i) {
    addresses[i] = socket_address(leaving_[i].to);
    parts[i] = {.iov_base = leaving_[i].payload.data(), .iov_len = leaving_[i].payload.size()};
    msghdr& message = messages[i].msg_hdr;
    message.msg_name = &addresses[i];
    message.msg_namelen = sizeof addresses[i];
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

// In.

std::span<const uint8_t> UdpLink::front(Lane lane) {
  if (arrived_.front(lane).empty() && watch_.is_readable())
    receive();
  return arrived_.front(lane);
}

void UdpLink::receive() {
  std::array<sockaddr_in, batch> addresses;
  std::array<iovec, batch> parts;
  std::array<mmsghdr, batch> messages{};
  const size_t wanted = std::min(batch, arrived_.free());
  for (size_t i = 0; i < wanted; ++i) {
    const std::span<uint8_t> payload = arrived_.buffer(i).subspan(udp_headers_bytes);
    parts[i] = {.iov_base = payload.data(), .iov_len = payload.size()};
    msghdr& message = messages[i].msg_hdr;
    message.msg_name = &addresses[i];
    message.msg_namelen = sizeof addresses[i];
    message.msg_iov = &parts[i];
    message.msg_iovlen = 1;
  }
  if (wanted == 0)
    return;
  watch_.begin_reading();
  const int came = recvmmsg(socket_.get(), messages.data(), static_cast<unsigned>(wanted), 0, nullptr);
  for (int i = 0; i < came; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_whole = (messages[at].msg_hdr.msg_flags & MSG_TRUNC) == 0;
    accept({ntohl(addresses[at].sin_addr.s_addr), ntohs(addresses[at].sin_port)},
           is_whole ? messages[at].msg_len : 0);
  }
  // A full batch: there may be more.
  watch_.end_reading(came != static_cast<int>(wanted));
}

// What lies in the first free buffer.
void UdpLink::accept(const UdpAddress& from, size_t bytes) {
  if (bytes < spec::BaseTransportHeader::bytes) {
    arrived_.skip();
    return;
  }
  uint8_t* const payload = arrived_.buffer(0).data() + udp_headers_bytes;
  write_udp_headers(payload, from, own_, bytes);
  arrived_.add(lane_of({payload, bytes}), udp_headers_bytes + bytes);
}

} // namespace fpga_verbs::link
