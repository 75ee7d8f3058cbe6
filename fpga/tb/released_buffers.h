#pragma once

#include "hca/collect/collect_buffer_port.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// collect_buffer as blocks need it that only release PCBs.
class ReleasedBuffers final : public hca::CollectBufferPort {
public:
  std::vector<uint16_t> released;

  void release(uint16_t buffer) override { released.push_back(buffer); }

  bool step() override { std::abort(); }
  bool can_accept_write() const override { std::abort(); }
  void write(const hca::BarWrite&) override { std::abort(); }
  bool write_burst(const hca::BarWrite&) override { std::abort(); }
  void write_management_page(unsigned, const hca::BarWrite&) override { std::abort(); }
  uint64_t next_deadline() const override { std::abort(); }
  void set_half_written_limit(uint64_t) override { std::abort(); }
  uint64_t half_written_limit() const override { std::abort(); }
  std::optional<uint16_t> take_dedicated() override { std::abort(); }
  std::optional<uint16_t> take_management() override { std::abort(); }
  bool has_dedicated_to_spare() const override { std::abort(); }
  void on_dedicated_freed(hca::Waker) override { std::abort(); }
  void fetched(uint16_t) override { std::abort(); }
  uint32_t take_kick_number() override { std::abort(); }
  std::optional<uint16_t> management_lock(unsigned) const override { std::abort(); }
  std::optional<uint16_t> lock_management(unsigned) override { std::abort(); }
  void unlock_management(unsigned) override { std::abort(); }
  Inspection inspect(unsigned) const override { std::abort(); }
  void cancel(unsigned) override { std::abort(); }
  void close(unsigned) override { std::abort(); }
  void open(unsigned) override { std::abort(); }
  bool set_bar(unsigned, const hca::VirtualCollectBufferBar&) override { std::abort(); }
  void set_bars(const std::array<hca::VirtualCollectBufferBar, spec::underlying_functions>&) override {
    std::abort();
  }
  const hca::VirtualCollectBufferBar& bar(unsigned) const override { std::abort(); }
  bool set_allotment(unsigned, const hca::CollectAllotment&) override { std::abort(); }
  void keep_guarantees() override { std::abort(); }
  const hca::CollectGroupTable& groups() const override { std::abort(); }
  const char* verify() const override { return nullptr; }
};

} // namespace fpga_verbs::bench
