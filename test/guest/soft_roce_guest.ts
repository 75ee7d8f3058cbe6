import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type TestContext } from 'vitest';

import { freePort } from '../helpers/free_port.ts';
import { requireTool } from '../helpers/tools.ts';
import { GuestShell } from './guest_shell.ts';
import { hostFolder, requireGuest, runGuest, type GuestRun } from './guest.ts';

/**
 * Configures the network cards, and Soft-RoCE on the card of the cable, whose frames may be large; with an
 * address that no neighbor resolves, and one in virtual LAN 5.
 */
const setUp = `
  for module in virtio_net crc32_generic rdma_rxe ib_uverbs 8021q; do modprobe $module || exit 1; done;
  echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad;
  ip link set eth0 mtu 9000 && ip link set eth0 up && ip address add 10.0.0.99/24 dev eth0 &&
  ip address add 192.168.7.1/32 dev eth0 &&
  /usr/bin/ip link add link eth0 name eth0.5 type vlan id 5 && ip link set eth0.5 up &&
  ip address add 10.0.5.99/24 dev eth0.5 && ip link set eth1 up && ip address add 10.0.2.15/24 dev eth1 &&
  /usr/bin/rdma link add rxe0 type rxe netdev eth0`;

/**
 * A guest whose kernel's Soft-RoCE is at the other end of an Ethernet cable; both ends meet over TCP on a
 * second network.
 */
export class SoftRoceGuest {
  /** The address of this machine in the guest, and the port on which the guest waits. */
  static readonly hostAddress = '10.0.2.2';
  static readonly tcpPort = 18_515;
  /** Where its kernel shows the GID table of its port. */
  static readonly gids = '/sys/class/infiniband/rxe0/ports/1/gids';
  /** MAC address of its end of the cable. */
  static readonly mac = '525400123456';

  readonly shell: GuestShell;
  /** A port of this machine, which leads to the one of the guest. */
  readonly forwardedPort: number;
  /** The end of the cable for a board. */
  readonly link: string;
  /** Is seen by the guest as /host. */
  readonly folder: string;
  private readonly run: Promise<GuestRun>;

  /** @param seconds after which the guest is ended */
  static async boot(context: TestContext, seconds: number): Promise<SoftRoceGuest> {
    for (const tool of ['ibv_rc_pingpong', 'ip']) requireTool(tool, context);
    const guest = new SoftRoceGuest(requireGuest(context), await freePort(), seconds);
    const { status, out } = await guest.shell.run(setUp);
    expect(status, out).toBe(0);
    return guest;
  }

  private constructor(emulator: string, forwardedPort: number, seconds: number) {
    this.folder = hostFolder();
    this.shell = new GuestShell(this.folder);
    this.forwardedPort = forwardedPort;
    const [own, peer] = [`${this.folder}/guest`, `${this.folder}/board`];
    this.link = `ethernet:${peer},${own}`;
    const mac = SoftRoceGuest.mac.replaceAll(/..(?!$)/g, '$&:');
    this.run = runGuest(emulator, this.folder, {
      script: GuestShell.script,
      machine: [
        ['-machine', 'q35', '-m', '256'],
        this.shell.machine,
        '-netdev',
        `dgram,id=cable,local.type=unix,local.path=${own},remote.type=unix,remote.path=${peer}`,
        ['-device', `virtio-net-pci,netdev=cable,mac=${mac},romfile=`],
        ['-object', `filter-dump,id=dump,netdev=cable,file=${this.folder}/cable.pcap`],
        '-netdev',
        `user,id=network,hostfwd=tcp:127.0.0.1:${forwardedPort}-:${SoftRoceGuest.tcpPort}`,
        ['-device', 'virtio-net-pci,netdev=network,romfile='],
      ].flat(),
      seconds,
    });
    void this.run.then(({ console }) => this.shell.fail(`the guest has ended: ${console}`));
  }

  /**
   * Shuts the guest down.
   * @param name of a file in build/ that gets the traffic on the cable
   * @returns every frame on the cable, as the emulator has recorded them
   */
  async end(name: string): Promise<Uint8Array> {
    await this.shell.end();
    await this.run;
    const file = path.join(this.folder, 'cable.pcap');
    copyFileSync(file, fileURLToPath(new URL(`../../build/${name}`, import.meta.url)));
    return readFileSync(file);
  }
}
