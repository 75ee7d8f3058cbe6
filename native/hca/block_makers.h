#pragma once

#include "hca/base/rtl_blocks.h"
#include "hca/collect/collect_buffer.h"
#include "hca/kick/virtual_kick.h"

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
      [](auto& parameters, auto& counters, auto& collector, auto& queue_pairs, auto& kicks_collected,
         auto& kicks_scheduled, auto& kicks_started, auto finishes) {
        return std::make_unique<VirtualKick>(parameters, counters, collector, queue_pairs, kicks_collected,
                                             kicks_scheduled, kicks_started, std::move(finishes));
      };
  std::unique_ptr<CollectBuffer> (*collect_buffer)(const HcaParameters& parameters, Counters& counters,
                                                   const Clock& clock, QueuePairPort& queue_pairs,
                                                   EventPort& events, KickRecords& kick_records,
                                                   DataLink<spec::KickUnit, 128>& kicks_collected,
                                                   DataLink<spec::PostNotice, 16>& post_notices,
                                                   DataLink<spec::ManagementUnit, 16>& management_units) =
      [](auto&... ports) { return std::make_unique<CollectBuffer>(ports...); };
  RtlBlocks rtl;
};

} // namespace fpga_verbs::hca
