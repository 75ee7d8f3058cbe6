#pragma once

#include "board/board.h"
#include "board/observation.h"
#include "link/sealed_memory.h"
#include "served/served_connection.h"
#include "served/served_producer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::served {

// The reason why a function could not be opened, and what would be right.
struct OpenFailure {
  const char* code = "ENODEV"; // or EBUSY, ENOMEM, EINVAL, ETIMEDOUT
  std::string text;
};

// An open function of a board in another process. Stores go into a ring shared with the server. The client
// makes a system call only to wake a sleeping server, and when it waits for one. When the server is gone,
// writes are dropped and reads return all ones.
class ServedFunction final : public board::BoardFunction, board::Observation {
public:
  // `number`: a function, or any_function. Null: `failure` gives the reason.
  static std::shared_ptr<ServedFunction> open(const std::string& path, uint32_t number,
                                              OpenFailure& failure) {
    return ask(path, {.kind = RequestKind::open, .number = number}, failure);
  }
  // Observes the registers of a function, even if it is open. Only the inspect registers can be written, and
  // there is no memory and no interrupt. See observation().
  static std::shared_ptr<ServedFunction> observe(const std::string& path, uint32_t number,
                                                 OpenFailure& failure) {
    return ask(path, {.kind = RequestKind::observe, .number = number}, failure);
  }

  ~ServedFunction() override;

  const board::BoardFacts& facts() const override { return facts_; }
  uint32_t read32(unsigned bar, uint64_t offset) override;
  void write32(unsigned bar, uint64_t offset, uint32_t value) override;
  void write64(unsigned bar, uint64_t offset, uint64_t value) override;
  void write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override;
  void store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override;
  void fence() override;
  bool advance() override;
  board::DmaMemory allocate_dma(size_t bytes, uint64_t& address, std::string& failure) override;
  const char* foreign_memory_refusal() const override;
  std::optional<uint64_t> map_dma(void*, size_t, board::DmaRights) override { return std::nullopt; }
  bool unmap_dma(uint64_t address) override;
  int interrupt_event(unsigned vector) override;
  int removal_event() override { return connection_.socket(); } // nothing else comes on it unasked
  board::Observation* observation() override { return observes_ ? this : nullptr; }

private:
  ServedFunction(ServedConnection connection, link::SealedMemory page, const Reply& opened);
  static std::shared_ptr<ServedFunction> ask(const std::string& path, const Request& request,
                                             OpenFailure& failure);
  std::unique_ptr<board::Watch> watch(board::WatchKind kind) override;
  void access(unsigned bar, std::span<board::RegisterAccess> accesses) override;
  uint32_t queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) override;
  uint32_t regions(uint32_t from, std::vector<hca::RegionFacts>& found) override;
  template <class Facts> uint32_t list(const Request& request, std::vector<Facts>& found);
  template <class Push> bool push(Push push);
  void look_for_server(uint64_t& since);
  void wake();
  bool wait_for_answer();
  ServedPage& page() { return *static_cast<ServedPage*>(page_memory_.data()); }

  ServedConnection connection_;
  link::SealedMemory page_memory_;
  ServedProducer producer_;
  board::BoardFacts facts_;
  bool observes_ = false;
  std::array<unsigned, board::watch_kinds> watches_{}; // by kind
  bool gone_ = false;
  unsigned idle_ = 0;                           // advances in a row
  std::map<unsigned, link::Descriptor> events_; // by vector
};

} // namespace fpga_verbs::served
