#pragma once

#include "board/device.h"
#include "hca/hca.h"

namespace fpga_verbs::board {

// The Hca as the device of an emulated board.
class HcaDevice final : public Device {
public:
  HcaDevice(const hca::HcaParameters& parameters, const DeviceSlot& slot,
            const hca::BlockMakers& makers = hca::model_blocks())
      : hca_(parameters, slot.host, slot.clock, slot.ports, makers) {}

  bool can_accept_write() const override { return hca_.can_accept_write(); }
  void write(const hca::BarWrite& write) override { hca_.write(write); }
  bool write_burst(const hca::BarWrite& burst) override { return hca_.write_burst(burst); }
  uint32_t read(spec::RegionType region, unsigned page, uint32_t offset) override {
    return hca_.read(region, page, offset);
  }
  unsigned run(unsigned limit) override { return hca_.run(limit); }
  void pass_by_empty_links(bool on) override { hca_.pass_by_empty_links(on); }
  void notify_port() override { hca_.notify_port(); }
  uint64_t next_deadline() const override { return hca_.next_deadline(); }
  // The previous owner may have written commands without a driver.
  void reset_function(unsigned underlying_function) override {
    if (underlying_function != 0)
      hca_.reset_function(underlying_function);
    else if (has_driver())
      hca_.reset(); // what the control function gave to the device is gone with it
  }

  void watch(const hca::Watched& watched) override { hca_.watch(watched); }
  uint32_t inspect_queue_pairs(const hca::Inspection& inspection,
                               std::vector<hca::QueuePairFacts>& found) override {
    return hca_.inspect_queue_pairs(inspection, found);
  }
  uint32_t inspect_regions(const hca::Inspection& inspection, std::vector<hca::RegionFacts>& found) override {
    return hca_.inspect_regions(inspection, found);
  }

  size_t held_data_units() const override { return hca_.held_data_units(); }
  unsigned owner_of_data_unit(size_t rank) const override { return hca_.owner_of_data_unit(rank); }
  void flip_bits(size_t rank, uint64_t random, unsigned bits) override { hca_.flip_bits(rank, random, bits); }

  const char* verify() const override { return hca_.verify(); }
  const char* verify_at_rest() const override { return hca_.verify_at_rest(); }

private:
  // Whether the control function has a driver that has not reset it.
  bool has_driver() {
    constexpr uint32_t address = spec::underlying_function::management_completion_queue_address;
    constexpr auto region = spec::RegionType::underlying_function;
    return (hca_.read(region, 0, address) | hca_.read(region, 0, address + sizeof(uint32_t))) != 0;
  }

  hca::Hca hca_;
};

} // namespace fpga_verbs::board
