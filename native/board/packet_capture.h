#pragma once

#include "hca/base/clock.h"
#include "hca/port/packet_tap.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fpga_verbs::board {

class Watches;

// Writes the packets at the ports of a board to a pcapng file for Wireshark (draft-ietf-opsawg-pcapng): one
// interface for each port, and the cause of a packet as its comment. Observers get the same blocks. Under the
// board's lock.
class PacketCapture {
public:
  struct Source {
    unsigned board_number = 0;
    unsigned ports = 1;
    spec::LinkLayer link_layer = spec::LinkLayer::ethernet;
    uint64_t clock_frequency = spec::clock_frequency; // hertz
    uint64_t begin = 0;                               // nanoseconds since 1970 at clock tick 0
  };

  explicit PacketCapture(const hca::Clock& clock) : clock_(clock) {}

  // Starts a file, replacing an existing one. Returns 0 or an errno.
  int start(const std::string& path, const Source& source);
  // Closes the file. Returns 0, or the errno of a failed write.
  int stop();
  bool has_file() const { return file_ != nullptr; }
  // Whether there is a file, or an observer.
  bool on() const { return on_; }

  // Passes packets to observers from now on, in addition to the file; null: no observers.
  void watch(Watches* watches, const Source& source);
  // The blocks that precede all packets.
  static std::vector<uint8_t> head(const Source& source);

  void packet(hca::PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
              const wire::PacketCause& cause) {
    if (on_)
      take(direction, port, bytes, cause);
  }

private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void write(std::span<const uint8_t> bytes);
  void take(hca::PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
            const wire::PacketCause& cause);

  const hca::Clock& clock_;
  bool on_ = false;
  Watches* watches_ = nullptr;
  Source source_;
  std::unique_ptr<std::FILE, Closer> file_;
  int failure_ = 0; // errno of the first write that failed
};

} // namespace fpga_verbs::board
