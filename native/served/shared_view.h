#pragma once

#include "board/observer_view.h"
#include "served/shared_observation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::served {

// An observer's view of a function, through another process's driver of that function or of the control
// function: see SharedObservation. Each view has its own inspect registers.
class SharedView final : public board::ObserverView {
public:
  SharedView(std::shared_ptr<SharedObservation> observation, unsigned underlying_function)
      : observation_(std::move(observation)), underlying_function_(underlying_function) {}

  unsigned underlying_function() const override { return underlying_function_; }
  uint32_t read32(unsigned bar, uint64_t offset) override;
  bool write32(unsigned bar, uint64_t offset, uint32_t value) override;
  void access(unsigned bar, std::span<board::RegisterAccess> accesses) override;
  std::unique_ptr<board::BoardWatch> watch_board(board::WatchKind kind) override {
    return observation_->watch(underlying_function_, kind);
  }
  uint32_t queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) override;
  uint32_t regions(uint32_t from, std::vector<hca::RegionFacts>& found) override;

private:
  using Register = SharedFunction::Register;

  bool has_control() const { return observation_->function().underlying_function() == 0; }
  bool is_own_page(const Register& place) const;
  bool selects(const Register& place) const;
  uint32_t read_inspected(const Register& place);
  uint32_t inspect_of_control(uint32_t offset);
  void read_page(std::span<board::RegisterAccess*> reads);
  template <class Format>
  std::optional<std::vector<Format>> list(spec::ManagementOpcode opcode, uint32_t from, uint32_t& next);

  std::shared_ptr<SharedObservation> observation_;
  unsigned underlying_function_;
  std::vector<SharedFunction::Selection> selections_; // written by the observer
};

} // namespace fpga_verbs::served
