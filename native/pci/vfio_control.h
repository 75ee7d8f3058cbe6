#pragma once

namespace fpga_verbs::pci {

// ioctl(2) on a file of VFIO or iommufd. Gives what that gives, and errno.
int vfio_control(int file, unsigned long request, void* argument);

// A stand-in for the kernel in tests; null: the kernel. It is given the same, and gives the same.
using VfioControl = int (*)(int file, unsigned long request, void* argument);
void replace_vfio_control(VfioControl control);

} // namespace fpga_verbs::pci
