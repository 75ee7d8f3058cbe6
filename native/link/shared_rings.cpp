#include "link/shared_rings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace fpga_verbs::link {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW;

} // namespace

std::shared_ptr<SharedRingsMapping> SharedRingsMapping::make() {
  Descriptor memory(memfd_create("fpga-verbs-link", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ftruncate(memory.get(), sizeof(SharedRings)) != 0 ||
      fcntl(memory.get(), F_ADD_SEALS, seals | F_SEAL_SEAL) != 0)
    return nullptr;
  return map(std::move(memory));
}

std::shared_ptr<SharedRingsMapping> SharedRingsMapping::adopt(Descriptor memory) {
  struct stat state = {};
  if (!memory || fstat(memory.get(), &state) != 0 || state.st_size != sizeof(SharedRings))
    return nullptr;
  const int found = fcntl(memory.get(), F_GET_SEALS);
  if (found < 0 || (found & seals) != seals)
    return nullptr;
  return map(std::move(memory));
}

std::shared_ptr<SharedRingsMapping> SharedRingsMapping::map(Descriptor memory) {
  void* const at = mmap(nullptr, sizeof(SharedRings), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (at == MAP_FAILED)
    return nullptr;
  return std::shared_ptr<SharedRingsMapping>(
      new SharedRingsMapping(std::move(memory), static_cast<SharedRings*>(at)));
}

SharedRingsMapping::~SharedRingsMapping() { munmap(rings_, sizeof(SharedRings)); }

} // namespace fpga_verbs::link
