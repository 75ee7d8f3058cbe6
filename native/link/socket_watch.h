#pragma once

#include "link/descriptor.h"
#include "link/link.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace fpga_verbs::link {

// A thread that notifies the receiver of a link when its socket is readable or, on request, writable.
class SocketWatch {
public:
  // Watches two sockets, which outlive this object. -1: no writable one.
  explicit SocketWatch(int readable, int writable = -1);
  ~SocketWatch();

  void attach(LinkReceiver& receiver);
  void detach();

  // Whether the socket may be readable; ask() may find this before the notification.
  bool is_readable() const { return readable_.load(); }
  bool ask();

  // Called around the owner's reads: notifications resume when the owner has read everything.
  void begin_reading() { readable_.store(false); }
  void end_reading(bool has_read_all);

  // Requests one notification when there is room.
  void await_room();

private:
  void run();
  void arm(int socket, uint32_t events);

  int readable_socket_;
  int writable_socket_;
  Descriptor poll_; // the sockets, once each time they are armed, and the end
  Descriptor stop_event_;
  std::mutex mutex_; // of the receiver
  LinkReceiver* receiver_ = nullptr;
  std::atomic<bool> armed_{true}; // to read
  std::atomic<bool> readable_{false};
  std::thread thread_;
};

} // namespace fpga_verbs::link
