// C++: the PCI functions that may be an HCA.
import { hex, notice } from './text.mjs';

const digits = 4;
const any = -1;

/** pci_functions.h */
export function cppPciFunctions({ pciFunctions }) {
  const subsystem = (number) => (number === undefined ? `${any}` : hex(number, digits));
  const entries = pciFunctions.map(
    ({ vendor, device, subsystemVendor, subsystemDevice, doc }) =>
      `    // ${doc}\n    {${[hex(vendor, digits), hex(device, digits), subsystem(subsystemVendor), subsystem(subsystemDevice)].join(', ')}},\n`,
  );
  return `// ${notice}
#pragma once

#include <array>
#include <cstdint>

namespace fpga_verbs::spec {

/// IDs of a PCI function that may be an HCA; the start of BAR 0 confirms it. A subsystem of ${any} matches any.
struct PciIdentification {
  int32_t vendor, device, subsystem_vendor, subsystem_device;
};

/// The PCI functions that may be an HCA.
inline constexpr std::array<PciIdentification, ${pciFunctions.length}> pci_functions{{
${entries.join('')}}};

}  // namespace fpga_verbs::spec
`;
}
