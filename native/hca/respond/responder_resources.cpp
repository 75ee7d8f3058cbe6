#include "hca/respond/responder_resources.h"

#include "hca/base/packet_sequence_number.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t index_mask = (uint32_t{1} << spec::queue_pair_index_bits) - 1;
constexpr uint32_t slots = spec::read_atomic_maximum;
static_assert(256 % slots == 0); // the tail, modulo 256, names a slot

} // namespace

void ResponderResources::add(uint32_t queue_pair_number, TransportResponder& responder,
                             const ResponderResource& resource) {
  std::unique_ptr<Ring>& ring = rings_[queue_pair_number & index_mask];
  if (!ring)
    ring = std::make_unique<Ring>();
  (*ring)[responder.read_atomic_tail() % slots] = resource;
  responder.set_read_atomic_tail(responder.read_atomic_tail() + 1);
  responder.set_read_atomic_kept(std::min(responder.read_atomic_kept() + 1, slots));
}

ResponderResource* ResponderResources::find(uint32_t queue_pair_number, const TransportResponder& responder,
                                            uint32_t psn, uint32_t depth) const {
  const std::unique_ptr<Ring>& ring = rings_[queue_pair_number & index_mask];
  const uint32_t kept = std::min(responder.read_atomic_kept(), depth);
  for (uint32_t age = 1; age <= kept; ++age) {
    ResponderResource& resource = (*ring)[(responder.read_atomic_tail() - age) % slots];
    const int32_t behind = psn_distance(resource.psn, psn);
    if (behind >= 0 && static_cast<uint32_t>(behind) < resource.packets)
      return &resource;
  }
  return nullptr;
}

} // namespace fpga_verbs::hca
