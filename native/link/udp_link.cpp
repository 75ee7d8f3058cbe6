#include "link/udp_link.h"

#include "hca/packet_bytes.h"
#include "spec/enums.h"
#include "spec/packets.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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

// RDMA READ responses and acknowledgements.
Lane lane_of(std::span<const uint8_t> payload) {
  const auto opcode =
      static_cast<spec::PacketOpcode>(hca::read_header<spec::BaseTransportHeader>(payload.data()).opcode());
  const bool is_response = opcode >= spec::PacketOpcode::reliable_connection_rdma_read_response_first &&
                           opcode <= spec::PacketOpcode::reliable_connection_atomic_acknowledge;
  return is_response ? Lane::responses : Lane::requests;
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
    : socket_(std::move(socket)), own_(own), poll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      buffers_(std::make_unique_for_overwrite<Buffer[]>(buffers)) {
  for (size_t buffer = 0; buffer < buffers; ++buffer)
    free_.push_back(buffer);
  epoll_event once{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = socket_.get()}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket_.get(), &once);
  epoll_event stop{.events = EPOLLIN, .data = {.fd = stop_event_.get()}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, stop_event_.get(), &stop);
  thread_ = std::thread([this] { run(); });
}

UdpLink::~UdpLink() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_event_.get(), &one, sizeof one);
  thread_.join();
}

// The thread.

void UdpLink::run() {
  epoll_event event = {};
  while (epoll_wait(poll_.get(), &event, 1, -1) >= 0 || errno == EINTR) {
    if (event.data.fd == stop_event_.get())
      return;
    armed_.store(false);
    readable_.store(true);
    const std::scoped_lock lock(mutex_);
    if (receiver_ != nullptr)
      receiver_->notify();
  }
}

void UdpLink::arm() {
  if (armed_.exchange(true))
    return;
  epoll_event once{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = socket_.get()}};
  epoll_ctl(poll_.get(), EPOLL_CTL_MOD, socket_.get(), &once);
}

void UdpLink::attach(LinkReceiver& receiver) {
  const std::scoped_lock lock(mutex_);
  receiver_ = &receiver;
}

void UdpLink::detach() {
  const std::scoped_lock lock(mutex_);
  receiver_ = nullptr;
}

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
  const std::deque<size_t>& here = arrived_[static_cast<size_t>(lane)];
  if (here.empty() && readable_.load())
    receive();
  if (here.empty())
    return {};
  const Buffer& buffer = buffers_[here.front()];
  return {buffer.bytes.data(), buffer.length};
}

void UdpLink::pop(Lane lane) {
  std::deque<size_t>& here = arrived_[static_cast<size_t>(lane)];
  free_.push_back(here.front());
  here.pop_front();
}

bool UdpLink::has_arrived() {
  pollfd polled{socket_.get(), POLLIN, 0};
  if (poll(&polled, 1, 0) <= 0)
    return false;
  readable_.store(true);
  return true;
}

void UdpLink::receive() {
  std::array<sockaddr_in, batch> addresses;
  std::array<iovec, batch> parts;
  std::array<mmsghdr, batch> messages{};
  const size_t wanted = std::min(batch, free_.size());
  for (size_t i = 0; i < wanted; ++i) {
    Buffer& buffer = buffers_[free_[free_.size() - 1 - i]];
    parts[i] = {.iov_base = buffer.bytes.data() + udp_headers_bytes,
                .iov_len = buffer.bytes.size() - udp_headers_bytes};
    msghdr& message = messages[i].msg_hdr;
    message.msg_name = &addresses[i];
    message.msg_namelen = sizeof addresses[i];
    message.msg_iov = &parts[i];
    message.msg_iovlen = 1;
  }
  if (wanted == 0)
    return;
  readable_.store(false);
  const int came = recvmmsg(socket_.get(), messages.data(), static_cast<unsigned>(wanted), 0, nullptr);
  for (int i = 0; i < came; ++i) {
    const auto at = static_cast<size_t>(i);
    const size_t buffer = free_[free_.size() - 1];
    free_.pop_back();
    const bool is_whole = (messages[at].msg_hdr.msg_flags & MSG_TRUNC) == 0;
    accept(buffer, {ntohl(addresses[at].sin_addr.s_addr), ntohs(addresses[at].sin_port)},
           is_whole ? messages[at].msg_len : 0);
  }
  // A full batch: there may be more.
  if (came == static_cast<int>(wanted))
    readable_.store(true);
  else
    arm();
}

void UdpLink::accept(size_t buffer, const UdpAddress& from, size_t bytes) {
  if (bytes < spec::BaseTransportHeader::bytes) {
    free_.insert(free_.begin(), buffer);
    return;
  }
  Buffer& filled = buffers_[buffer];
  uint8_t* const payload = filled.bytes.data() + udp_headers_bytes;
  write_udp_headers(payload, from, own_, bytes);
  filled.length = udp_headers_bytes + bytes;
  arrived_[static_cast<size_t>(lane_of({payload, bytes}))].push_back(buffer);
}

} // namespace fpga_verbs::link
