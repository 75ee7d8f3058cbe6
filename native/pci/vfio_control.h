#pragma once

namespace fpga_verbs::pci {

// Calls ioctl(2) on a file of VFIO or iommufd. Returns its result, and sets errno.
int vfio_control(int file, unsigned long request, void* argument);

// A stand-in for the kernel in tests, with the same arguments and results; null: the kernel.
using VfioControl = int (*)(int file, unsigned long request, void* argument);
void replace_vfio_control(VfioControl control);

} // namespace fpga_verbs::pci
