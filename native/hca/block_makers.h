#pragma once

#include "hca/virtual_kick.h"

#include <memory>
#include <utility>
#include <vector>

namespace fpga_verbs::hca {

// Makes the blocks that can be RTL: without more said those of the device model.
struct BlockMakers {
  std::unique_ptr<VirtualKick> (*virtual_kick)(const HcaParameters& parameters, Counters& counters,
                                               CollectBuffer& collect_buffer,
                                               QueuePairStateCache& queue_pairs,
                                               DataLink<spec::KickUnit, 128>& kicks_collected,
                                               DataLink<spec::KickUnit, 16>& kicks_scheduled,
                                               DataLink<spec::KickUnit, 8>& kicks_started,
                                               std::vector<DataLink<spec::FinishUnit, 16>*> finishes) =
      [](auto& parameters, auto& counters, auto& collect_buffer, auto& queue_pairs, auto& kicks_collected,
         auto& kicks_scheduled, auto& kicks_started, auto finishes) -> std::unique_ptr<VirtualKick> {
    return std::make_unique<VirtualKick>(parameters, counters, collect_buffer, queue_pairs, kicks_collected,
                                         kicks_scheduled, kicks_started, std::move(finishes));
  };
  bool virtual_kick_is_rtl = false;
};

} // namespace fpga_verbs::hca
