#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/host_port.h"
#include "hca/memory/memory_access.h"
#include "hca/memory/memory_translation.h"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

// The blocks that read host memory for the data units on their lists.
enum class HostReader : uint8_t { dma, response };

// Reads of host memory that take time. A block asks for the bytes of a list's first data unit; until they are
// here, the data unit stays on its list, not ready, and delays no other list (US8804752, DMA module).
//
// The order is PCI Express's: reads end in any order, and none overtakes a write, which is done when the
// device starts it. Each read holds a tag until it ends; while all tags are taken, reads wait for one in the
// order in which they were asked for. From start to end a read counts as an access with its keys, so that
// their memory is not taken back.
class HostReads {
public:
  HostReads(Counters& counters, HostPort& host, MemoryTranslation& translation, MemoryAccess& memory,
            const Clock& clock)
      : counters_(counters), host_(host), translation_(translation), memory_(memory), clock_(clock) {}

  // False: every read is done at once, and no block asks.
  bool take_time() const { return host_.reads_take_time(); }

  // Whether all bytes of these accesses, of one function, are here; asks for them at the first call. Accesses
  // that a key does not permit are not started: read() refuses them.
  bool are_here(HostReader reader, uint16_t list, std::span<const KeyAccess> accesses);

  // Gives the bytes of the next access that are_here() was called with; reads them now if that did not start
  // it, or without a list.
  AccessFault read(HostReader reader, std::optional<uint16_t> list, const KeyAccess& access,
                   uint8_t* destination) {
    return list ? take(reader, *list, access, destination) : memory_.read(access, destination);
  }

  // Ends what was asked for, which is here or was never started.
  void end(HostReader reader, uint16_t list);

  // A list of this block for which the bytes have come since it was taken last.
  std::optional<uint16_t> take_arrived(HostReader reader);

  void on_payload(Waker waker) { block(HostReader::dma).waker = waker; }
  void on_response_payload(Waker waker) { block(HostReader::response).waker = waker; }

  uint64_t next_deadline() const { return deadline_; }
  // Ends the reads that are due.
  void notice_deadline();

  // The reads of the function access nothing any more. Their tags stay taken until they are due.
  void reset_function(unsigned underlying_function);

  // For tests: the first inconsistency, or null.
  const char* verify() const;

private:
  static constexpr size_t readers = 2;
  static constexpr uint64_t never = ~uint64_t{0};

  enum class State : uint8_t { none, waits_for_tag, under_way, here };

  // The read that a list waits for.
  struct Read {
    State state = State::none;
    AccessFault fault = AccessFault::none;
    size_t taken = 0; // bytes
    std::vector<KeyAccess> accesses;
    std::vector<uint8_t> bytes;
  };
  struct Reference {
    HostReader reader;
    uint16_t list;
  };
  struct UnderWay {
    uint64_t due;                    // clock ticks
    std::optional<Reference> waiter; // none: its function was reset
  };
  struct Block {
    std::vector<Read> reads; // by list
    std::deque<uint16_t> arrived;
    Waker waker;
  };

  Block& block(HostReader reader) { return blocks_[static_cast<size_t>(reader)]; }
  Read& read_of(const Reference& reference) { return block(reference.reader).reads[reference.list]; }
  AccessFault take(HostReader reader, uint16_t list, const KeyAccess& access, uint8_t* destination);
  uint64_t latency_of(const Read& read);
  void start(const Reference& reference);
  void arrive(const Reference& reference);

  Counters& counters_;
  HostPort& host_;
  MemoryTranslation& translation_;
  MemoryAccess& memory_;
  const Clock& clock_;
  std::array<Block, readers> blocks_;
  std::vector<UnderWay> under_way_; // each holds a tag; in the order of their ends
  std::deque<Reference> waiting_;   // for a tag
  uint64_t deadline_ = never;
};

} // namespace fpga_verbs::hca
