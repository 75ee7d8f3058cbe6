#pragma once

#include "hca/base/object_facts.h"

#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

class KeyTable;
class QueuePairStateCache;
class VirtualQueuePairs;

// Finds objects in the order of their indices and adds what they are to `found`. One call looks at a bounded
// number of indices and adds a bounded number of objects. Gives the index from which the next call goes on;
// 0: that was all.
// Behind the queue pairs come the numbers in time-wait.
uint32_t inspect_queue_pairs(QueuePairStateCache& queue_pairs, VirtualQueuePairs& numbers,
                             const Inspection& inspection, std::vector<QueuePairFacts>& found);
uint32_t inspect_regions(KeyTable& keys, const Inspection& inspection, std::vector<RegionFacts>& found);

} // namespace fpga_verbs::hca
