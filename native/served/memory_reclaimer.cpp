#include "served/memory_reclaimer.h"

#include "board/device_thread.h"

#include <optional>
#include <sys/eventfd.h>
#include <utility>

namespace fpga_verbs::served {

MemoryReclaimer::MemoryReclaimer(int event)
    : event_(event), thread_(board::start_device_thread(-1, [this] { run(); })) {}

MemoryReclaimer::~MemoryReclaimer() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void MemoryReclaimer::take(link::SealedMemory memory, const Pending& pending) {
  pending->fetch_add(1);
  {
    const std::scoped_lock lock(mutex_);
    items_.push_back({std::move(memory), pending});
  }
  changed_.notify_one();
}

void MemoryReclaimer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !items_.empty(); });
    if (items_.empty())
      return;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    const Pending pending = std::move(item->pending);
    item.reset();
    pending->fetch_sub(1);
    eventfd_write(event_, 1);
    lock.lock();
  }
}

} // namespace fpga_verbs::served
