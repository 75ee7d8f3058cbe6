#pragma once

#include "board/board.h"
#include "board/board_host.h"
#include "board/board_ports.h"
#include "board/board_watch.h"
#include "board/device.h"
#include "board/fault_rules.h"
#include "board/impaired_links.h"
#include "board/packet_taps.h"
#include "board/progress.h"
#include "board/remapping_tables.h"
#include "board/transaction.h"
#include "board/transaction_ring.h"
#include "board/transaction_trace.h"
#include "board/wakeups.h"
#include "board/watches.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fpga_verbs::board {

enum class ProgressMode : uint8_t { shared, own, stepped };

// How a store to the prefetchable BAR becomes transactions.
enum class StoreModel : uint8_t {
  write_combining, // a command becomes its 64 B transactions, in order
  adversarial,     // write combining at its worst, from the seed
  uncached,        // 8 B each, in order
};

struct EmulatedBoardOptions {
  ProgressMode progress = ProgressMode::shared;
  int device_cpu = -1;         // that an own thread is pinned to; negative: none
  uint64_t sleep_after = 2000; // microseconds that an own thread is idle before it sleeps
  uint64_t seed = 1;
  StoreModel stores = StoreModel::write_combining;
  bool double_word_only = false;                              // behind a 32-bit bridge
  unsigned underlying_functions = spec::underlying_functions; // of the device
  uint64_t clock_frequency = spec::clock_frequency;           // hertz
  BoardPortsOptions ports;
  LinkImpairment impairment;    // from the start on
  double bit_errors = 0;        // probability per turn of the device, in a data unit that waits
  double double_bit_errors = 0; // the same, of two bits of a word
  ReadLatency dma_latency;
  bool operator==(const EmulatedBoardOptions&) const = default;
};

class BoardWatch;
class EmulatedFunction;

// A board without hardware: a device behind BARs, an IOMMU and interrupts, and the threads that run it.
// Thread-safe; kept alive by its functions.
class EmulatedBoard final : public std::enable_shared_from_this<EmulatedBoard>,
                            public WatchKeeper,
                            link::LinkReceiver {
public:
  // Null: `failure` says why its fabric or link does not accept the board.
  static std::shared_ptr<EmulatedBoard> make(const EmulatedBoardOptions& options,
                                             const DeviceFactory& make_device, std::string& failure);
  ~EmulatedBoard() override;
  EmulatedBoard(const EmulatedBoard&) = delete;
  EmulatedBoard& operator=(const EmulatedBoard&) = delete;

  const EmulatedBoardOptions& options() const { return options_; }

  // Null: the board has no such function.
  std::shared_ptr<EmulatedFunction> open(unsigned underlying_function);

  // Opens the lowest free function other than the control function. Null: there is none.
  std::shared_ptr<EmulatedFunction> open_free();

  // Facts of a function, open or not.
  BoardFacts facts_of(unsigned underlying_function) const;

  // Starts to watch a function of the board; the control function watches all functions. Null: only the
  // control function can watch packets, or there is no memory.
  std::unique_ptr<BoardWatch> watch(unsigned underlying_function, WatchKind kind);

  // Injects one write into the link unchanged, for transactions that a processor's stores would not produce.
  // It must be legal: DWORD aligned, 4 to 64 bytes within an aligned 64 B block, byte enables partial only in
  // the first and the last DWORD.
  void post(const Transaction& transaction);

  // Steps a board with stepped progress; null for other boards.
  SteppedProgress* stepped() { return stepped_; }

  uint64_t now(); // device clock, ticks
  BoardCounters counters();

  unsigned inject(const FaultRule& rule);
  std::optional<uint64_t> injected(unsigned number);
  // Removes a fault, or all, and delivers the writes that they hold back. False: no such fault.
  bool clear_fault(unsigned number);
  void clear_faults();

  // Impairs packets that arrive at its ports from links; returns the rule's number.
  unsigned impair(const LinkImpairment& rule);
  std::optional<LinkImpairmentCounters> impaired(unsigned number);
  // Removes a rule, or all. False: no such rule.
  bool clear_impairment(unsigned number);
  void clear_impairments();
  // Injects a packet into a port, from 1, as if from its link. False: the port has no link.
  bool arrive(unsigned port, std::span<const uint8_t> packet);

  // Checks the device's consistency: Device::verify, or with `at_rest` Device::verify_at_rest. Null: no
  // inconsistency.
  const char* verify(bool at_rest);

  void start_trace(size_t capacity);
  void stop_trace();
  std::vector<Transaction> take_trace();
  uint64_t trace_dropped();
  std::deque<DmaFault> take_dma_faults();

  // The number that determines its addresses.
  unsigned board_number() const { return ports_->board_number(); }
  void start_packet_trace(size_t capacity);
  void stop_packet_trace();
  std::vector<PortPacket> take_packets();

  // Writes the packets at its ports to a file, which it replaces; one file at a time. Returns 0, or the errno
  // of a failed open or write.
  int start_capture(const std::string& path);
  int stop_capture();
  bool captures();

  // Makes `bytes` of a file, whole pages, the memory that a function reaches: another machine's memory, from
  // DMA address 0 on, or where the tables of that machine's IOMMU point. Returns 0, or the errno of a failed
  // mapping; EBUSY: memory is already mapped there.
  int attach_memory(unsigned underlying_function, const std::string& path, size_t bytes,
                    const std::optional<RemappingRoot>& root);
  // Removes that memory: DMA of the function no longer reaches it.
  void detach_memory(unsigned underlying_function);

  // Runs the device if polling drives it; false: it is idle or runs on its own.
  bool advance();

  // A board of its fabric has sent it a packet: the calling thread runs the device or leaves that to the
  // device's thread.
  void attend(Attendance attendance) { progress_->attend(attendance); }

private:
  // Memory of another machine that a function reaches.
  struct AttachedMemory {
    DmaMemory memory;
    std::optional<RemappingTables> tables; // of that machine
  };

  friend class EmulatedFunction;
  friend class FunctionView;

  EmulatedBoard(const EmulatedBoardOptions& options, std::unique_ptr<BoardPorts> ports,
                const DeviceFactory& make_device);
  void notify() override;
  void attach_tap() { attachments_.tap = packets_.on() ? &packets_ : nullptr; }
  PacketCapture::Source capture_source() const;
  void follow_watches();
  void pause_watch(unsigned underlying_function, WatchKind kind) override;
  void resume_watch(unsigned underlying_function, WatchKind kind) override;
  std::optional<WatchMemory> end_watch(unsigned underlying_function, WatchKind kind) override;
  std::unique_ptr<Progress> make_progress();
  std::shared_ptr<EmulatedFunction> make_function(unsigned underlying_function);

  EmulatedBoardOptions options_;
  std::unique_ptr<BoardPorts> ports_;
  HostClock host_clock_;
  const hca::Clock& clock_;
  BoardCounters counters_;
  FaultRules faults_;
  TransactionTrace trace_;
  PacketTaps packets_;
  hca::PortAttachments attachments_; // of the device
  Watches watches_;
  ImpairedLinks impaired_links_;
  std::array<unsigned, spec::underlying_functions> handles_{}; // open functions, by number
  BoardHost host_;
  std::array<AttachedMemory, spec::underlying_functions> attached_; // by function
  std::unique_ptr<Device> device_;
  TransactionRing ring_;
  Wakeups wakeups_;
  DeviceSide device_side_;
  SteppedProgress* stepped_ = nullptr;
  std::unique_ptr<Progress> progress_; // last: its thread uses the others
};

} // namespace fpga_verbs::board
