import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { list } from '../../lib/cli/list.ts';
import { Output } from '../../lib/cli/output/output.ts';
import { setup, type SetupOptions } from '../../lib/cli/setup.ts';
import { FakeHost, fakeAddress } from './fake_host.ts';

interface Run {
  readonly text: string;
  readonly json: unknown;
}

function runSetup(host: FakeHost, options: Partial<SetupOptions> = {}): Run {
  const asked: SetupOptions = { devices: [], apply: false, release: false, root: host.root, ...options };
  return outputOf((output) => setup(output, asked));
}

/** Runs the command once and returns its text, or its JSON. */
function outputOf(run: (output: Output) => void, json = false): Run {
  let text = '';
  run(new Output({ out: (part) => (text += part), error: () => undefined }, json));
  return { text, json: json ? (JSON.parse(text) as unknown) : undefined };
}

const read = (host: FakeHost, file: string): string => readFileSync(host.path(file), 'utf8');

describe('hca list', () => {
  it('shows the functions on PCIe and their obstacles', () => {
    const host = new FakeHost();
    host.add({ driver: 'xdma', group: 4 });
    host.add({ address: '0000:05:00.0' });
    const { text } = outputOf((output) => list(output, host.root));
    expect(text).toContain(
      'vfio:0000:01:00.0  xilinx_shell (10ee:9038 10ee:0007); 0000:01:00.0 is bound to xdma\n',
    );
    expect(text).toContain('pci:0000:05:00.0   xilinx_shell (10ee:9038 10ee:0007)\n');
    expect(text).toMatch(/^emu: /m);
    const { json } = outputOf((output) => list(output, host.root), true);
    expect(json).toMatchObject([
      { device: 'emu:', obstacles: [] },
      { device: 'vfio:0000:01:00.0', backend: 'vfio', obstacles: ['0000:01:00.0 is bound to xdma'] },
      { device: 'pci:0000:05:00.0', backend: 'pci', obstacles: [] },
    ]);
  });
});

describe('hca setup', () => {
  it('reports that there is no board', () => {
    expect(runSetup(new FakeHost()).text).toMatch(/^There is no board on PCIe/);
  });

  it('reports the obstacles of each function, and changes nothing', () => {
    const host = new FakeHost({ hugepages: 0 });
    host.add({ driver: 'xdma', group: 4 });
    host.add({ address: '0000:05:00.0' });
    const { text } = runSetup(host, { apply: true });
    expect(text).toContain(
      'vfio:0000:01:00.0 (10ee:9038 10ee:0007)\n  obstacle: 0000:01:00.0 is bound to xdma\n',
    );
    expect(text).toContain(
      '    modprobe vfio-pci\n    modprobe vfio_iommu_type1\n    echo 0000:01:00.0 > /sys/bus/pci/drivers/xdma/unbind\n',
    );
    expect(text).toContain('    echo 64 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages\n');
    expect(text).toContain('Nothing was done: --apply needs the device named.\n');
    expect(read(host, '/sys/bus/pci/drivers/xdma/unbind')).toBe('');
    expect(read(host, '/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages')).toBe('0\n');
  });

  it('carries out the printed actions for the named function only', () => {
    const host = new FakeHost();
    host.add({ driver: 'xdma' });
    host.add({ address: '0000:05:00.0', driver: 'other' });
    const options = { devices: [`pci:${fakeAddress}`] };
    expect(runSetup(host, options).text).toContain('  by root, or with --apply:\n    echo 0000:01:00.0 >');
    expect(read(host, '/sys/bus/pci/drivers/xdma/unbind')).toBe('');
    const { text } = runSetup(host, { ...options, apply: true });
    expect(text).toContain('  done:\n    echo 0000:01:00.0 > /sys/bus/pci/drivers/xdma/unbind\n');
    expect(read(host, '/sys/bus/pci/drivers/xdma/unbind')).toBe('0000:01:00.0\n');
    expect(read(host, '/sys/bus/pci/drivers/other/unbind')).toBe('');
    expect(text).not.toContain('0000:05:00.0');
  });

  it('returns a function to the kernel driver', () => {
    const host = new FakeHost();
    host.add({ driver: 'vfio-pci', group: 4 });
    const { text } = runSetup(host, { devices: [`vfio:${fakeAddress}`], release: true, apply: true });
    expect(text).toContain('    echo 0000:01:00.0 > /sys/bus/pci/drivers/vfio-pci/unbind\n');
    expect(read(host, '/sys/bus/pci/devices/0000:01:00.0/driver_override')).toBe('\n');
    expect(read(host, '/sys/bus/pci/drivers_probe')).toBe('0000:01:00.0\n');
  });

  it('gives the group file to its owner', () => {
    const host = new FakeHost();
    host.add({ driver: 'vfio-pci', group: 4 });
    const { text } = runSetup(host, { devices: [`vfio:${fakeAddress}`], owner: 'alice' });
    expect(text).toContain('  no obstacles\n');
    expect(text).toMatch(/chown alice \S*\/dev\/vfio\/4\n/);
  });

  it('refuses a device that is no HCA function', () => {
    const host = new FakeHost();
    host.add({ vendor: 0x8086, device: 0x1533 });
    expect(() => runSetup(host, { devices: [`vfio:${fakeAddress}`], apply: true })).toThrow(
      'is no HCA: it is 8086:1533',
    );
    expect(() => runSetup(host, { devices: ['vfio:0000:09:00.0'] })).toThrow(
      'there is no PCI function 0000:09:00.0',
    );
    expect(() => runSetup(host, { devices: ['emu:'] })).toThrow('emu: is not a PCI function');
  });
});
