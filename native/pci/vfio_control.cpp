#include "pci/vfio_control.h"

#include <atomic>
#include <sys/ioctl.h>

namespace fpga_verbs::pci {

namespace {

std::atomic<VfioControl> replacement = nullptr;

} // namespace

int vfio_control(int file, unsigned long request, void* argument) {
  const VfioControl control = replacement.load(std::memory_order_acquire);
  return control == nullptr ? ioctl(file, request, argument) : control(file, request, argument);
}

void replace_vfio_control(VfioControl control) { replacement.store(control, std::memory_order_release); }

} // namespace fpga_verbs::pci
