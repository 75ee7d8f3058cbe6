import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { DeviceProcess } from './device_process.ts';
import { GuestShell } from './guest_shell.ts';
import { hostFolder, requireGuest } from './guest.ts';
import { inThisProcess, runHcaGuest, slotOf, slots, type HcaGuestOptions } from './hca_machine.ts';

/** Seconds for a run that takes less than half a minute on a machine of its own. */
const patience = 600;
const [slot] = slots;
const sizes = { megabytes: 384, iommu: true };
const directory = `/sys/bus/pci/devices/${slot}`;

/** Gives the function to VFIO, and its group to an ordinary user. */
const bind = `
  modprobe -a vfio-pci vfio_iommu_type1;
  echo vfio-pci > ${directory}/driver_override; echo ${slot} > /sys/bus/pci/drivers_probe;
  chown 1000 /dev/vfio/$(basename $(readlink ${directory}/iommu_group))`;
const asUser = 'ulimit -l 65536; exec /usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups';
const work = `${asUser} node test/guest/hca_work.mjs vfio:${slot}`;
const begin = `rm -f /host/working; sh -c '${work}' > /host/work 2>&1 & echo $! > /tmp/work;
  until [ -e /host/working ] || [ -e /host/ended ]; do sleep 0.1; done`;
const untilGone = 'while kill -0 $(cat /tmp/work) 2> /dev/null; do sleep 0.1; done';
/** 1: the function is bus master. */
const isMaster = `echo $(( ($(hexdump -s 4 -n 1 -e '1/1 "%d"' ${directory}/config) >> 2) & 1 ))`;

/** A guest with a function in its slot, bound to VFIO. Commands that fail end the test. */
class Guest {
  readonly host = hostFolder();
  private readonly shell = new GuestShell(this.host);
  private over: Promise<unknown> = Promise.resolve();

  boot(context: TestContext, functions: HcaGuestOptions['functions']): void {
    const options = { ...sizes, functions, script: GuestShell.script, machine: this.shell.machine };
    this.over = runHcaGuest(requireGuest(context), this.host, { ...options, seconds: patience }).then((run) =>
      this.shell.fail(`the guest has ended:\n${run.console}`),
    );
  }

  /** What a line of shell says. */
  async run(command: string): Promise<string> {
    const { status, out } = await this.shell.run(command);
    const said = ['work', 'ended']
      .map((name) => path.join(this.host, name))
      .filter((file) => existsSync(file));
    expect(status, [command, out, ...said.map((file) => readFileSync(file, 'utf8'))].join('\n')).toBe(0);
    return out.trim();
  }

  async end(): Promise<void> {
    await this.shell.end();
    await this.over;
  }
}

describe('deaths in a virtual machine, behind an IOMMU', { timeout: (patience + 60) * 1000 }, () => {
  it('of the application: its DMA is stopped, and the next one works', async (context) => {
    const board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 });
    onTestFinished(() => board.close());
    const guest = new Guest();
    guest.boot(context, inThisProcess([board]));
    await guest.run(bind);
    await guest.run(begin);
    expect(await guest.run(isMaster)).toBe('1');
    await guest.run(`kill -9 $(cat /tmp/work); ${untilGone}`);
    expect(await guest.run(isMaster)).toBe('0');
    // Nothing is in flight, and nothing that the dead one had made is left.
    expect(board.verify(true)).toBeUndefined();
    expect(board.counters().dmaFaults).toBe(0);
    await guest.run(`sh -c '${work} 30'`);
    expect(board.counters().dmaFaults).toBe(0);
    await guest.end();
  });

  it('of the device: who waits is told, and the next device serves the next application', async (context) => {
    const guest = new Guest();
    const { memory, bus, sourceId } = slotOf(guest.host, 0, sizes);
    const words = [memory.path, memory.bytes, bus, sourceId].map(String);
    const device = new DeviceProcess(guest.host, words);
    await device.start();
    guest.boot(context, [(stream) => device.attend(stream)]);
    await guest.run(bind);
    await guest.run(begin);
    await device.kill();
    expect(await guest.run('until [ -e /host/ended ]; do sleep 0.1; done; cat /host/ended')).toMatch(
      /^ENODEV: /,
    );
    await device.start();
    await guest.run(untilGone);
    await guest.run(`echo 1 > ${directory}/remove; echo 1 > /sys/bus/pci/rescan; ${bind}`);
    await guest.run(`sh -c '${work} 30'`);
    await guest.end();
  });
});
