import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { requireFile, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { DeviceProcess } from './device_process.ts';
import { GuestShell } from './guest_shell.ts';
import { guestTests, hostFolder, requireGuest } from './guest.ts';
import { inThisProcess, runHcaGuest, slotOf, slots, type HcaGuestOptions } from './hca_machine.ts';

/** Seconds; a run takes less than half a minute on an idle machine. */
const timeLimit = 600;
const [slot] = slots;
const megabytes = 384;
const behindIommu = { megabytes, iommu: true };
const withoutIommu = { megabytes, iommu: false, kernel: 'hugepages=24' };
const directory = `/sys/bus/pci/devices/${slot}`;

/** Binds the function to vfio-pci, and gives its group to an ordinary user. */
const bind = `
  modprobe -a vfio-pci vfio_iommu_type1;
  echo vfio-pci > ${directory}/driver_override; echo ${slot} > /sys/bus/pci/drivers_probe;
  chown 1000 /dev/vfio/$(basename $(readlink ${directory}/iommu_group))`;
const workByUser = `ulimit -l 65536; exec /usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups node test/guest/hca_work.mjs vfio:${slot}`;
const verbs = 'LD_LIBRARY_PATH=build/Release/verbs FPGA_VERBS_EXPLAIN=1';
const fatalByUser = workByUser
  .replace('-l 65536', '-l 131072')
  .replace(/exec .*clear-groups/, `export ${verbs} FPGA_VERBS_DEVICE=vfio:${slot}; $&`)
  .replace(/node .*/, '/host/fatal /host/may-end');
const askedByUser = workByUser.replace('hca_work.mjs', 'hca_asked.mjs');
const workByRoot = `exec node test/guest/hca_work.mjs pci:${slot}`;
const begin = (work: string): string => `rm -f /host/working /host/ended;
  sh -c '${work}' > /host/work 2>&1 & echo $! > /tmp/work;
  until [ -e /host/working ] || [ -e /host/ended ]; do sleep 0.1; done`;
const some = (work: string): string => `sh -c '${work} 30'`;
const untilGone = 'while kill -0 $(cat /tmp/work) 2> /dev/null; do sleep 0.1; done';
const kill = `kill -9 $(cat /tmp/work); ${untilGone}`;
const untilTold = 'until [ -e /host/ended ]; do sleep 0.1; done; cat /host/ended';
const rescan = `echo 1 > ${directory}/remove; echo 1 > /sys/bus/pci/rescan`;
/** 1: the function is bus master. */
const isMaster = `echo $(( ($(hexdump -s 4 -n 1 -e '1/1 "%d"' ${directory}/config) >> 2) & 1 ))`;
const freePages = 'cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages';
const guards = "pgrep -f '^/bin/sh -c .*fpga-verbs: ends the DMA' || true";

/** A guest with a function in its slot. A failed command ends the test. */
class Guest {
  readonly host = hostFolder();
  private readonly shell = new GuestShell(this.host);
  private over: Promise<unknown> = Promise.resolve();

  boot(
    context: TestContext,
    sizes: Pick<HcaGuestOptions, 'megabytes' | 'iommu' | 'kernel'>,
    functions: HcaGuestOptions['functions'],
  ): void {
    const options = { ...sizes, functions, script: GuestShell.script, machine: this.shell.machine };
    this.over = runHcaGuest(requireGuest(context), this.host, { ...options, seconds: timeLimit }).then(
      (run) => this.shell.fail(`the guest has ended:\n${run.console}`),
    );
  }

  /** The output of a line of shell. */
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

/** A device in a child process, in the slot of a guest. */
async function deviceOf(guest: Guest, sizes: Parameters<typeof slotOf>[2]): Promise<DeviceProcess> {
  const { memory, bus, sourceId } = slotOf(guest.host, 0, sizes);
  const words = [memory.path, memory.bytes, sourceId, ...(bus === undefined ? [] : [bus])];
  const device = new DeviceProcess(guest.host, words.map(String));
  await device.start();
  return device;
}

describe('in a virtual machine with an IOMMU', guestTests(timeLimit), () => {
  it('the death of the application stops its DMA, and the next application works', async (context) => {
    const board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 });
    onTestFinished(() => board.close());
    const guest = new Guest();
    guest.boot(context, behindIommu, inThisProcess([board]));
    await guest.run(bind);
    await guest.run(begin(workByUser));
    expect(await guest.run(isMaster)).toBe('1');
    await guest.run(kill);
    expect(await guest.run(isMaster)).toBe('0');
    // Nothing is in flight, and no object of the dead application is left.
    expect(board.verify(true)).toBeUndefined();
    expect(board.counters().dmaFaults).toBe(0);
    await guest.run(some(workByUser));
    expect(board.counters().dmaFaults).toBe(0);
    await guest.end();
  });

  it('unplugging the slot returns the function to the kernel from a living application, and the next application works', async (context) => {
    const board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 });
    onTestFinished(() => board.close());
    const guest = new Guest();
    guest.boot(context, behindIommu, inThisProcess([board]));
    await guest.run(bind);
    for (const takeAway of [
      `echo ${slot} > /sys/bus/pci/drivers/vfio-pci/unbind`,
      `echo 1 > ${directory}/remove`,
    ]) {
      await guest.run(begin(askedByUser));
      // The kernel waits here until the application has closed the function.
      await guest.run(takeAway);
      expect(await guest.run(untilTold)).toMatch(
        /^deviceFatal ENODEV 7: the device is gone: the kernel requests the function back/,
      );
      await guest.run('kill -0 $(cat /tmp/work)');
      await guest.run(kill);
      await guest.run(
        `[ ! -e ${directory} ] || echo 1 > ${directory}/remove; echo 1 > /sys/bus/pci/rescan; ${bind}`,
      );
    }
    await guest.run(some(workByUser));
    expect(board.counters().dmaFaults).toBe(0);
    await guest.end();
  });

  it('unplugging the slot raises DEVICE_FATAL in a libibverbs program, which releases the function', async (context) => {
    requireTool('g++', context);
    requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
    const board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 4096, linkLayer: 'infiniband' });
    onTestFinished(() => board.close());
    const guest = new Guest();
    const source = fileURLToPath(new URL('../libibverbs/programs/device_fatal.c', import.meta.url));
    const words = ['-o', path.join(guest.host, 'fatal'), source, '-libverbs', '-lpthread'];
    expect(spawnSync('gcc', words, { env: toolEnvironment() }).status).toBe(0);
    guest.boot(context, { ...behindIommu, megabytes: 512 }, inThisProcess([board]));
    await guest.run(bind);
    const begun = await guest.run(
      `sh -c '${fatalByUser}' > /host/work 2>&1 & echo $! > /tmp/work;
      while ! grep -qs ready /host/work && kill -0 $(cat /tmp/work); do sleep 0.1; done; cat /host/work`,
    );
    expect(begun).toBe('ready');
    // The kernel waits here until the living program has released the function.
    await guest.run(`echo ${slot} > /sys/bus/pci/drivers/vfio-pci/unbind`);
    await guest.run('kill -0 $(cat /tmp/work); touch /host/may-end');
    await guest.run(untilGone);
    const said = readFileSync(path.join(guest.host, 'work'), 'utf8');
    expect(said).toMatch(/^ok posts are refused\n[^]*^ok all\n/m);
    expect(said).toContain('fpga-verbs: the device is gone: the kernel requests the function back');
    expect(board.counters().dmaFaults).toBe(0);
    await guest.end();
  });

  it('the death of the device fails all waits, and the next device serves the next application', async (context) => {
    const guest = new Guest();
    const device = await deviceOf(guest, behindIommu);
    guest.boot(context, behindIommu, [(stream) => device.attend(stream)]);
    await guest.run(bind);
    await guest.run(begin(workByUser));
    await device.kill();
    expect(await guest.run(untilTold)).toMatch(/^ENODEV: /);
    await device.start();
    await guest.run(untilGone);
    await guest.run(`${rescan}; ${bind}`);
    await guest.run(some(workByUser));
    await guest.end();
  });
});

describe('deaths in a virtual machine without an IOMMU', guestTests(timeLimit), () => {
  it('of the application, then of the device: no process is given memory that the device reaches, and the next works', async (context) => {
    const guest = new Guest();
    const device = await deviceOf(guest, withoutIommu);
    guest.boot(context, withoutIommu, [(stream) => device.attend(stream)]);
    const pages = await guest.run(freePages);
    await guest.run(begin(workByRoot));
    expect(await guest.run(isMaster)).toBe('1');
    const taken = await guest.run(freePages);
    expect(Number(taken)).toBeLessThan(Number(pages));

    // Until the DMA guard runs, the device continues, in memory and behind a lock that no other process gets.
    const guard = await guest.run(guards);
    expect(guard).toMatch(/^\d+$/);
    await guest.run(`kill -STOP ${guard}; ${kill}`);
    expect(await guest.run(isMaster)).toBe('1');
    expect(await guest.run(freePages)).toBe(taken);
    expect(await guest.run(`flock -n ${directory}/config true || echo locked`)).toBe('locked');
    await guest.run(`kill -CONT ${guard}; while kill -0 ${guard} 2> /dev/null; do sleep 0.1; done`);
    expect(await guest.run(isMaster)).toBe('0');
    expect(await guest.run(freePages)).toBe(pages);

    await guest.run(begin(workByRoot));
    expect(await guest.run('ls /host/ended 2> /dev/null || true')).toBe('');
    await device.kill();
    expect(await guest.run(untilTold)).toMatch(/^ENODEV: /);
    await device.start();
    await guest.run(untilGone);
    await guest.run(rescan);
    await guest.run(some(workByRoot));
    expect(await guest.run(isMaster)).toBe('0');
    expect(await guest.run(freePages)).toBe(pages);
    expect(await guest.run(guards)).toBe('');
    await guest.end();
  });
});
