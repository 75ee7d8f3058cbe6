// A ring of four boards, as MPI programs have: each rank sends its number to the next one and passes on what comes from the one before,
// until each has the sum of all (an all-reduce in ranks - 1 steps).
//
// Run it: node dist/examples/ring-of-boards.js
import { openDevice, type MemoryRegion } from 'fpga-verbs';
import { EmulatedFabric } from 'fpga-verbs/board';
import { Connection } from 'fpga-verbs/connect';

const ranks = 4;

/** A rank: a connection to the rank behind it in the ring, and one from the rank before it. */
class Rank {
  readonly number: number;
  readonly next: Connection;
  readonly previous: Connection;
  private readonly memory: MemoryRegion;

  constructor(number: number, fabric: EmulatedFabric) {
    const device = openDevice(fabric.makeBoard().open());
    this.number = number;
    this.next = new Connection(device);
    this.previous = new Connection(device);
    this.memory = this.previous.allocate(8);
  }

  /** Sends to the next rank while it receives from the previous one: ranks that first send, all of them, do not wait for each other. */
  async exchange(value: number): Promise<number> {
    const arrived = this.previous.receive(this.memory.slice());
    await this.next.send(new Uint8Array(new Float64Array([value]).buffer));
    await arrived;
    return new DataView(this.memory.bytes.buffer, this.memory.bytes.byteOffset).getFloat64(0, true);
  }

  async sumOfAll(own: number): Promise<number> {
    let sum = own;
    let passed = own;
    for (let step = 1; step < ranks; step++) {
      passed = await this.exchange(passed);
      sum += passed;
    }
    return sum;
  }
}

using fabric = new EmulatedFabric();
const ring = Array.from({ length: ranks }, (_, number) => new Rank(number, fabric));
for (const [number, { next }] of ring.entries()) {
  const { previous } = ring[(number + 1) % ranks]!;
  next.connect(previous.address);
  previous.connect(next.address);
}

const sums = await Promise.all(ring.map((rank) => rank.sumOfAll(10 ** rank.number)));
for (const [number, sum] of sums.entries()) console.log(`rank ${number} of ${ranks}: the sum is ${sum}`);
