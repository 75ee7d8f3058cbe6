#pragma once

#include "link/link.h"
#include "link/meeting_place.h"
#include "link/shared_rings.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace fpga_verbs::link {

// A cable between boards of two processes of one user: rings of packets in memory that both map, found by a
// name. Nothing of what the other end writes is believed: it can be late, wrong or dead, and harms nobody. An
// end whose peer has gone waits for another one.
class SharedMemoryLink final : public Link {
public:
  // `board_number`: the wanted one. Null: `failure` says why, and what would be right.
  static std::unique_ptr<SharedMemoryLink> make(const std::string& name, std::optional<unsigned> board_number,
                                                std::string& failure);
  ~SharedMemoryLink() override;

  // The wanted one, else 0, or 1 where the other end has 0.
  unsigned board_number() const { return board_number_; }

  void attach(LinkReceiver& receiver) override;
  void detach() override;
  SendResult send(Lane lane, std::span<const uint8_t> packet) override;
  std::span<const uint8_t> front(Lane lane) override;
  void pop(Lane lane) override;
  bool has_arrived() override;
  bool is_connected() override { return present_peer() != nullptr; }

private:
  // The other end, while there is one.
  struct Peer {
    std::shared_ptr<SharedRingsMapping> mapping;
    Descriptor event;              // wakes it
    unsigned side = 0;             // that is ours: which rings we fill
    std::atomic<bool> gone{false}; // nothing is sent to it any more; what it has left is taken

    SharedRing& to(Lane lane) const { return mapping->rings().from[side][static_cast<size_t>(lane)]; }
    SharedRing& from(Lane lane) const { return mapping->rings().from[1 - side][static_cast<size_t>(lane)]; }
    bool is_drained(Lane lane) const {
      const SharedRing& ring = from(lane);
      return ring.tail.load(std::memory_order_seq_cst) == ring.head.load(std::memory_order_relaxed);
    }
  };

  enum class Paired : uint8_t { yes, refused, left_alone };

  explicit SharedMemoryLink(const std::string& name);
  bool begin(std::optional<unsigned> board_number, std::string& failure);
  Paired pair(Descriptor socket, std::optional<unsigned> board_number, std::string& failure);
  void run();
  void meet();
  void welcome();
  void stay();
  void adopt(std::shared_ptr<Peer> peer);
  void part();
  void notify();
  std::shared_ptr<Peer> peer();
  std::shared_ptr<Peer> present_peer(); // null: it has gone
  bool is_empty(const Peer& peer, Lane lane);
  void distrust();
  static void wake(int event);

  MeetingPlace place_;
  unsigned board_number_ = 0;
  Descriptor event_; // wakes this end: the other has put something in, or made room
  Descriptor stop_event_;
  Descriptor listening_;
  Descriptor socket_; // to the other end; closed when that one has gone
  std::mutex mutex_;  // of the next two
  std::shared_ptr<Peer> peer_;
  LinkReceiver* receiver_ = nullptr;
  std::array<std::shared_ptr<Peer>, lanes> shown_; // whose packet front() has shown
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace fpga_verbs::link
