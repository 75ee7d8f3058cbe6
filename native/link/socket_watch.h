#pragma once

#include "link/descriptor.h"
#include "link/link.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace fpga_verbs::link {

// A thread that notifies the receiver of a link when there is something to read on its socket, or, where that
// was asked for, room to write.
class SocketWatch {
public:
  // Two sockets, which outlive it. None writable: -1.
  explicit SocketWatch(int readable, int writable = -1);
  ~SocketWatch();

  void attach(LinkReceiver& receiver);
  void detach();

  // Whether there may be something to read; it may not have been notified yet where ask() finds it.
  bool is_readable() const { return readable_.load(); }
  bool ask();

  // Around what the link's owner reads: notifications begin again where it has read all there was.
  void begin_reading() { readable_.store(false); }
  void end_reading(bool has_read_all);

  // Notifies once when there is room.
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
