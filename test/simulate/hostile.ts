import type { Random } from '../helpers/random.mjs';
import type { Party } from './party.ts';
import { putCheck } from './reference_packet.ts';

// Offsets in a packet between link-local addresses of Ethernet ports: Ethernet 14 B, IPv6 40 B, UDP 8 B, BTH.
const network = 14;
const transport = network + 48;
const destinationQueuePair = transport + 5;
const checkBytes = 4;
const shortest = transport + 12 + checkBytes;
/** A number that no queue pair has. */
const noQueuePair = [0xff, 0xff, 0xf0];
const mostKept = 64;

/** An attacker on the network who has captured packets and sends arbitrary ones. */
export class Hostile {
  private readonly random: Random;
  private readonly parties: readonly Party[];
  /** Whether a queue pair may receive forged packets. */
  private readonly isVictim: (party: Party, queuePairNumber: number) => boolean;
  private readonly seen: { readonly party: Party; readonly packet: Uint8Array }[] = [];

  constructor(
    random: Random,
    parties: readonly Party[],
    isVictim: (party: Party, queuePairNumber: number) => boolean,
  ) {
    this.random = random;
    this.parties = parties;
    this.isVictim = isVictim;
    for (const { board } of parties) board.startPacketTrace(mostKept);
  }

  /** Keeps some of the packets captured since the last call. */
  look(): void {
    for (const party of this.parties)
      for (const { direction, data } of party.board.takePackets())
        if (direction === 'in' && data.length >= shortest && this.random.once(4))
          this.seen[this.seen.length < mostKept ? this.seen.length : this.random.below(mostKept)] = {
            party,
            packet: data,
          };
  }

  /** Replays a packet. */
  replay(): void {
    if (this.seen.length === 0) return;
    const { party, packet } = this.random.pick(this.seen);
    party.board.arrive(packet);
  }

  /** Sends a forged packet: with a valid ICRC to the victim, in a form that must be dropped to others. */
  attack(): void {
    if (this.seen.length === 0) return;
    const { party, packet: seen } = this.random.pick(this.seen);
    let packet = Uint8Array.from(seen);
    const isVictim = this.isVictim(party, numberAt(packet, destinationQueuePair));
    if (!isVictim) {
      // A packet that must harm no queue pair names none.
      packet.set(noQueuePair, destinationQueuePair);
    }
    for (let count = 1 + this.random.below(3); count > 0; count--) this.change(packet);
    if (this.random.once(8)) packet = packet.subarray(0, 1 + this.random.below(packet.length));
    else if (!this.random.once(4)) putCheck(packet);
    party.board.arrive(packet);
  }

  private change(packet: Uint8Array): void {
    // Changes headers more often than data, and never the destination.
    const end = this.random.once(4) ? packet.length : Math.min(packet.length, transport + 28);
    const at = this.random.once(8) ? this.random.below(end) : transport + this.random.below(end - transport);
    if (at >= destinationQueuePair && at < destinationQueuePair + noQueuePair.length) return;
    packet[at] = this.random.once(2) ? packet[at]! ^ (1 << this.random.below(8)) : this.random.below(256);
  }
}

function numberAt(packet: Uint8Array, at: number): number {
  return (packet[at]! << 16) | (packet[at + 1]! << 8) | packet[at + 2]!;
}
