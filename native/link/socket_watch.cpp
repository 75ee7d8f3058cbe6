#include "link/socket_watch.h"

#include <cerrno>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace fpga_verbs::link {

SocketWatch::SocketWatch(int readable, int writable)
    : readable_socket_(readable), writable_socket_(writable), poll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event once{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = readable}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, readable, &once);
  if (writable >= 0) {
    epoll_event never{.events = EPOLLONESHOT, .data = {.fd = writable}};
    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, writable, &never);
  }
  epoll_event stop{.events = EPOLLIN, .data = {.fd = stop_event_.get()}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, stop_event_.get(), &stop);
  thread_ = std::thread([this] { run(); });
}

SocketWatch::~SocketWatch() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_event_.get(), &one, sizeof one);
  thread_.join();
}

void SocketWatch::run() {
  epoll_event event = {};
  while (epoll_wait(poll_.get(), &event, 1, -1) >= 0 || errno == EINTR) {
    if (event.data.fd == stop_event_.get())
      return;
    if (event.data.fd == readable_socket_) {
      armed_.store(false);
      readable_.store(true);
    }
    const std::scoped_lock lock(mutex_);
    if (receiver_ != nullptr)
      receiver_->notify();
  }
}

void SocketWatch::arm(int socket, uint32_t events) {
  epoll_event once{.events = events | EPOLLONESHOT, .data = {.fd = socket}};
  epoll_ctl(poll_.get(), EPOLL_CTL_MOD, socket, &once);
}

void SocketWatch::attach(LinkReceiver& receiver) {
  const std::scoped_lock lock(mutex_);
  receiver_ = &receiver;
}

void SocketWatch::detach() {
  const std::scoped_lock lock(mutex_);
  receiver_ = nullptr;
}

bool SocketWatch::ask() {
  pollfd polled{readable_socket_, POLLIN, 0};
  if (poll(&polled, 1, 0) <= 0)
    return false;
  readable_.store(true);
  return true;
}

void SocketWatch::end_reading(bool has_read_all) {
  if (!has_read_all)
    readable_.store(true);
  else if (!armed_.exchange(true))
    arm(readable_socket_, EPOLLIN);
}

void SocketWatch::await_room() { arm(writable_socket_, EPOLLOUT); }

} // namespace fpga_verbs::link
