// Without `hca run`, the library itself parses device strings, with the same errors as lib/board.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { requireTool, toolEnvironment } from '../helpers/tools.ts';

const library = fileURLToPath(new URL('../../build/Release/verbs', import.meta.url));

test.for([
  [
    'emu:?progres=own',
    'device "emu:?progres=own": no option "progres"; expected: one of acknowledgeCoalescing, boardNumber,',
  ],
  ['emu:?progress=stepped', 'device "emu:?progress=stepped": progress=stepped; expected: own, shared'],
  ['emu:?seed=x', 'device "emu:?seed=x": seed=x; expected: a whole number'],
  ['emu:?seed=1&seed=2', 'device "emu:?seed=1&seed=2": option "seed" twice; expected: each option once'],
  ['emu:?linkLoss=2', 'device "emu:?linkLoss=2": linkLoss=2; expected: a number from 0 to 1'],
  ['emu:?boardNumber=1024', 'device "emu:?boardNumber=1024": boardNumber=1024; expected: 0 to 1023'],
  ['emu:?link=wire', 'device "emu:?link=wire": link wire: links are shm:NAME, host:NAME,'],
  ['emu:?link=host%3', 'option "link" with an invalid value; expected: link=…'],
  ['emu:9', 'device "emu:9": underlying function 9; expected: 0 to 7'],
  ['emu:1', 'the device is not enabled; open its underlying function 0 first'],
  [
    'rtl:',
    'device "rtl:": this library has no blocks in RTL; expected: libibverbs.so.1 of the folder verbs_rtl',
  ],
  ['usb:1', 'device "usb:1": programs of libibverbs do not run on such a device; expected: emu:[UF]?link=…'],
  ['serve:lab', 'device "serve:lab": "lab" is no path; expected: serve:PATH/UF, or hca run'],
  ['serve:/tmp/lab/4294967296', 'underlying function "4294967296"; expected: a whole number'],
  ['pci:00:1.0', 'device "pci:00:1.0": PCI address "00:1.0"; expected: DDDD:BB:DD.F'],
  ['pci:FFFF:01:00.0', 'there is no PCI function ffff:01:00.0; expected: an address that lspci -D prints'],
  ['vfio:00:1.0', 'device "vfio:00:1.0": PCI address "00:1.0"; expected: DDDD:BB:DD.F'],
  ['vfio:ffff:01:00.0', 'there is no PCI function ffff:01:00.0; expected: an address that lspci -D prints'],
  ['vfio:FFFF:01:00.0', 'there is no PCI function ffff:01:00.0; expected: an address that lspci -D prints'],
])('%s', ([device, message], context) => {
  requireTool('ibv_rc_pingpong', context);
  const { status, stderr } = spawnSync('ibv_devinfo', [], {
    encoding: 'utf8',
    env: { ...toolEnvironment(), LD_LIBRARY_PATH: library, FPGA_VERBS_DEVICE: device },
  });
  expect(status).not.toBe(0);
  expect(stderr).toContain(`fpga-verbs: fpga0: `);
  expect(stderr).toContain(message);
});
