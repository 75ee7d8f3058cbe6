#pragma once

#include "hca/base/object_facts.h"

#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

class KeyTable;
class QueuePairStateCache;
class VirtualQueuePairs;

// Appends descriptions of objects to `found`, in the order of their indices. One call checks a bounded number
// of indices and adds a bounded number of objects. Returns the index from which to continue; 0: done. The
// numbers in time-wait follow the queue pairs.
uint32_t inspect_queue_pairs(QueuePairStateCache& queue_pairs, VirtualQueuePairs& numbers,
                             const Inspection& inspection, std::vector<QueuePairFacts>& found);
uint32_t inspect_regions(KeyTable& keys, const Inspection& inspection, std::vector<RegionFacts>& found);

} // namespace fpga_verbs::hca
