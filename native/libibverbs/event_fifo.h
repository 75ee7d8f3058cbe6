#pragma once

#include "link/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <sys/socket.h>

namespace fpga_verbs::verbs {

// Events that programs wait for at a descriptor: it is readable while there is one. Programs poll it and set
// its flags; they do not read from it themselves. Thread-safe.
template <class Event> class EventFifo {
public:
  // False: no descriptor is left; errno says so.
  bool begin() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return false;
    reader_ = link::Descriptor(ends[0]);
    writer_ = link::Descriptor(ends[1]);
    return true;
  }

  int descriptor() const { return reader_.get(); }

  // Never waits.
  void push(const Event& event) {
    const std::scoped_lock lock(mutex_);
    events_.push_back(event);
    ++owed_;
    pay();
  }

  // Waits for an event, as the descriptor's flags say. `taken(event)` is called before another thread can
  // remove it. False: errno says why there is none.
  template <class Taken> bool pop(Event& event, Taken&& taken) {
    for (;;) {
      uint8_t token = 0;
      const ssize_t bytes = recv(reader_.get(), &token, sizeof token, 0);
      if (bytes < 0)
        return false;
      const std::scoped_lock lock(mutex_);
      pay();
      if (events_.empty())
        continue; // it was removed while the token was taken
      event = events_.front();
      events_.pop_front();
      taken(event);
      return true;
    }
  }

  // Removes the events for which `is_meant(event)` holds, and with each what made the descriptor readable.
  template <class IsMeant> void remove(IsMeant&& is_meant) {
    const std::scoped_lock lock(mutex_);
    size_t removed = std::erase_if(events_, is_meant);
    const size_t unpaid = std::min(removed, owed_);
    owed_ -= unpaid;
    uint8_t token = 0;
    for (removed -= unpaid; removed != 0; --removed)
      if (recv(reader_.get(), &token, sizeof token, MSG_DONTWAIT) <= 0)
        return; // a thread that waits has it, and finds no event
  }

private:
  // A token for each event, as far as the descriptor takes them.
  void pay() {
    constexpr uint8_t token = 0;
    for (; owed_ != 0; --owed_)
      if (send(writer_.get(), &token, sizeof token, MSG_DONTWAIT | MSG_NOSIGNAL) <= 0)
        return;
  }

  link::Descriptor reader_;
  link::Descriptor writer_;
  std::mutex mutex_;
  std::deque<Event> events_;
  size_t owed_ = 0; // tokens that the descriptor had no room for
};

} // namespace fpga_verbs::verbs
