#include "link/shared_rings.h"

#include <optional>

namespace fpga_verbs::link {

namespace {

std::shared_ptr<SharedRingsMapping> mapping_of(std::optional<SealedMemory> memory) {
  return memory ? std::make_shared<SharedRingsMapping>(std::move(*memory)) : nullptr;
}

} // namespace

std::shared_ptr<SharedRingsMapping> SharedRingsMapping::make() {
  return mapping_of(SealedMemory::make("fpga-verbs-link", sizeof(SharedRings)));
}

std::shared_ptr<SharedRingsMapping> SharedRingsMapping::adopt(Descriptor memory) {
  return mapping_of(SealedMemory::adopt(std::move(memory), sizeof(SharedRings)));
}

} // namespace fpga_verbs::link
