#pragma once

#include "link/link.h"
#include "link/meeting_place.h"
#include "link/shared_rings.h"

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

// A cable between boards of two processes of one user: packet rings in shared memory, found by a name. The
// link checks everything that the other end writes: a late, faulty, stopped or dead peer cannot disturb this
// process. If the peer goes, the end waits for another one. No call waits for another process, except make(),
// briefly.
class SharedMemoryLink final : public Link {
public:
  // `board_number`: the wanted number. Null: `failure` gives the reason and what would be right.
  static std::unique_ptr<SharedMemoryLink> make(const std::string& name, std::optional<unsigned> board_number,
                                                std::string& failure);
  ~SharedMemoryLink() override;

  // The wanted number; otherwise 0, or 1 if the other end has 0.
  unsigned board_number() const { return board_number_; }

  void attach(LinkReceiver& receiver) override;
  void detach() override;
  SendResult send(Lane lane, std::span<const uint8_t> packet) override;
  std::span<const uint8_t> front(Lane lane) override;
  void pop(Lane lane) override;
  bool has_arrived() override;
  bool is_connected() override { return present_peer() != nullptr; }

private:
  using Clock = std::chrono::steady_clock;

  // The other end, while it is connected.
  struct Peer {
    std::shared_ptr<SharedRingsMapping> mapping;
    Descriptor socket;             // a message wakes the end that it comes to; the thread closes it
    unsigned side = 0;             // that is ours: which rings we fill
    std::atomic<bool> gone{false}; // nothing is sent to it any more; what it has left is taken
    // Packets that this end has written and read. It does not use the counters in the rings, because the
    // other end can write them too.
    std::array<uint64_t, lanes> tails{};
    std::array<std::atomic<uint64_t>, lanes> heads{};

    SharedRing& to(Lane lane) const { return mapping->rings().from[side][static_cast<size_t>(lane)]; }
    SharedRing& from(Lane lane) const { return mapping->rings().from[1 - side][static_cast<size_t>(lane)]; }
    uint64_t& tail(Lane lane) { return tails[static_cast<size_t>(lane)]; }
    std::atomic<uint64_t>& head(Lane lane) { return heads[static_cast<size_t>(lane)]; }
    bool is_drained(Lane lane) {
      return from(lane).tail.load(std::memory_order_seq_cst) == head(lane).load(std::memory_order_relaxed);
    }
  };

  // A process that has connected, or was connected to, and has not announced itself yet.
  struct Caller {
    Descriptor socket;
    Clock::time_point until; // it is waited for
  };

  enum class Paired : uint8_t { yes, refused, left_alone };

  explicit SharedMemoryLink(const std::string& name);
  bool begin(std::optional<unsigned> board_number, std::string& failure);
  Paired pair(Descriptor socket, std::optional<unsigned> board_number, std::string& failure);
  Paired take_answer(Descriptor socket, Greeted greeted, std::optional<unsigned> board_number,
                     unsigned& own_number, std::string& failure);
  void run();
  void look_for_other();
  void wait();
  int timeout() const;
  void hear_peer(Peer& peer);
  void part_from(Peer& peer);
  void hear_answer();
  bool receive_greeting(Caller& caller);
  void answer(Caller& caller, uint32_t wanted);
  void welcome();
  void adopt(std::shared_ptr<Peer> peer);
  void notify();
  std::shared_ptr<Peer> peer();
  std::shared_ptr<Peer> present_peer(); // null: it has gone
  bool is_empty(Peer& peer, Lane lane);
  void distrust(Peer& peer);
  void wake(const Peer& peer);
  void wake_thread();

  MeetingPlace place_;
  unsigned board_number_ = 0;
  Descriptor event_; // wakes the thread; no other process has it
  // Used by the thread.
  Descriptor listening_;
  std::optional<Caller> asked_;
  Clock::time_point again_{};   // when the other end is asked, or the name taken, at the earliest
  std::vector<Caller> callers_; // oldest first
  std::mutex mutex_;            // of the next two, and of what wakes the peer
  std::shared_ptr<Peer> peer_;
  LinkReceiver* receiver_ = nullptr;
  std::array<std::shared_ptr<Peer>, lanes> shown_; // whose packet front() has shown
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace fpga_verbs::link
