// TypeScript: the PCI functions that may be an HCA.
import { notice } from './text.mjs';

const hex = (value) => `0x${value.toString(16).padStart(4, '0')}`;

/** pci_functions.ts */
export function tsPciFunctions({ pciFunctions }) {
  const entries = pciFunctions.map(({ name, vendor, device, subsystemVendor, subsystemDevice, doc }) => {
    const subsystem =
      subsystemVendor === undefined
        ? ''
        : `    subsystemVendor: ${hex(subsystemVendor)},\n    subsystemDevice: ${hex(subsystemDevice)},\n`;
    return `  /** ${doc} */
  {
    name: '${name}',
    vendor: ${hex(vendor)},
    device: ${hex(device)},
${subsystem}  },
`;
  });
  return `// ${notice}

/** IDs of a PCI function that may be an HCA; the start of BAR 0 confirms it. An undefined subsystem matches any. */
export interface PciIdentification {
  readonly name: string;
  readonly vendor: number;
  readonly device: number;
  readonly subsystemVendor?: number;
  readonly subsystemDevice?: number;
}

/** The PCI functions that may be an HCA. */
export const pciFunctions: readonly PciIdentification[] = [
${entries.join('')}];
`;
}
