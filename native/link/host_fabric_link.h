#pragma once

#include "link/host_names.h"
#include "link/link.h"
#include "link/sealed_memory.h"
#include "link/shared_rings.h"
#include "spec/enums.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fpga_verbs::link {

// A port of a fabric that the processes of one user form on one machine, in one network namespace; each port
// reaches every other by its address. A board takes a free number, which determines its addresses. At the
// first packet to a port, the sender creates shared memory for that direction. The link checks everything
// that another process writes: a late, faulty, stopped or dead process cannot disturb this one. No call waits
// for another process.
class HostFabricLink final : public Link {
public:
  // `board_number`: the wanted number. Null: `failure` gives the reason and what would be right.
  static std::unique_ptr<HostFabricLink> make(const std::string& name, spec::LinkLayer link_layer,
                                              std::optional<unsigned> board_number, std::string& failure);
  ~HostFabricLink() override;

  unsigned board_number() const { return board_number_; }

  void attach(LinkReceiver& receiver) override;
  void detach() override;
  SendResult send(Lane lane, std::span<const uint8_t> packet) override;
  std::span<const uint8_t> front(Lane lane) override;
  void pop(Lane lane) override;
  bool has_arrived() override;

private:
  using Clock = std::chrono::steady_clock;
  using Rings = std::array<SharedRing, lanes>; // one way

  // The connection to or from another port.
  struct Way {
    Way(SealedMemory made, Descriptor to) : memory(std::move(made)), socket(std::move(to)) {}

    SealedMemory memory;
    Descriptor socket; // a message wakes the other end; closed: it has gone
    std::atomic<bool> gone{false};
    // Packets that this end has written or read. It does not use the counters in the rings, because the other
    // end can write them too.
    std::array<uint64_t, lanes> count{};

    SharedRing& ring(Lane lane) const {
      return (*static_cast<Rings*>(memory.data()))[static_cast<size_t>(lane)];
    }
    bool is_drained(Lane lane) const {
      return ring(lane).tail.load(std::memory_order_seq_cst) == count[static_cast<size_t>(lane)];
    }
  };

  // A process that has connected but has not yet announced what it brings.
  struct Caller {
    Descriptor socket;
    Clock::time_point until; // it is waited for
  };

  HostFabricLink(HostNames names, spec::LinkLayer link_layer, Descriptor event)
      : names_(std::move(names)), link_layer_(link_layer), event_(std::move(event)) {}
  bool take_number(std::optional<unsigned> board_number, std::string& failure);

  // Used by the device.
  std::optional<unsigned> number_of(Address address) const;
  Way* way_to(unsigned number);
  static SendResult put(Way& way, Lane lane, std::span<const uint8_t> packet);
  SendResult send_to_all(Lane lane, std::span<const uint8_t> packet);
  void refresh();
  std::span<const uint8_t> front_of(Way& way, Lane lane);
  static bool is_empty(Way& way, Lane lane);
  static void wake(const Way& way);

  // Used by the thread.
  void run();
  bool wait();
  void welcome();
  bool receive(Caller& caller);
  void receive(Way& way);
  void wake_thread();
  void notify();

  HostNames names_;
  spec::LinkLayer link_layer_;
  Descriptor event_; // wakes the thread
  unsigned board_number_ = 0;

  std::array<std::shared_ptr<Way>, board_numbers> to_; // the device's, by number
  std::vector<std::shared_ptr<Way>> from_;             // the device's copy of those that have come
  uint64_t copied_ = 0;                                // when it was made
  std::array<std::shared_ptr<Way>, lanes> shown_;      // whose packet front() has shown
  std::array<size_t, lanes> turn_{};                   // where front() begins to look
  std::vector<unsigned> members_;                      // all others, when they were looked for last
  Clock::time_point looked_{};

  std::mutex mutex_; // of the next three
  std::vector<std::shared_ptr<Way>> made_;
  std::vector<std::shared_ptr<Way>> come_;
  LinkReceiver* receiver_ = nullptr;
  std::atomic<uint64_t> changes_{0}; // of those that have come

  Descriptor listening_;
  std::vector<Caller> callers_; // the thread's, oldest first
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace fpga_verbs::link
