import { EmulatedFabric, type EmulatedBoard, type InjectedImpairment } from '../../lib/board/index.ts';
import type { BoardOptions } from '../../lib/board/addon.ts';
import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { openDevice } from '../../lib/index.ts';
import { Random } from '../helpers/random.mjs';
import { Connection } from './connection.ts';
import { Hostile } from './hostile.ts';
import { Party, require } from './party.ts';
import type { FaultKind, Plan } from './plan.ts';
import { Pool } from './pool.ts';
import { playWithReferences } from './reference.ts';
import { Station } from './station.ts';

/** Result of a simulation. */
export interface Outcome {
  /** Virtual time, nanoseconds. */
  readonly time: bigint;
  readonly steps: number;
  /** Queue pairs reconnected after a reset, with the same number and with a new one. */
  readonly reconnects: { readonly kept: number; readonly renumbered: number };
}

const fewestOfAll: BoardOptions = {
  physicalCollectBuffers: 2,
  transmitVirtualLanes: 1,
  executionCreditsPerLane: 1,
  completionCreditsPerLane: 1,
  sharedExecutionCredits: 0,
  sharedCompletionCredits: 0,
  sharedExecutionCreditsCap: 0,
  sharedCompletionCreditsCap: 0,
  schedulerBatch: 1,
};
const boardVariants: readonly BoardOptions[] = [
  {},
  {},
  fewestOfAll,
  { queuePairContextsCached: 2, physicalCollectBuffers: 1 },
  { acknowledgeCoalescing: false },
  { mapping: 'adversarial' },
];

const timeLimit = 200_000;
const longestIdle = 20_000;
const longestDmaLatency = 5000;
const ticksOfALook = 1000;
const ticksOfAMillisecond = 1e6;

/** Boards of a fabric that carry out a plan, and the guarantees that must hold throughout. */
export class Simulation {
  private readonly plan: Plan;
  private readonly random: Random;
  private readonly fabric: EmulatedFabric;
  private readonly parties: readonly Party[];
  private readonly atRest: readonly string[];
  private readonly pools: readonly Pool[];
  private readonly connections: readonly Connection[];
  private readonly stations: Station[] = [];
  private readonly victim: readonly Connection[];
  private readonly hostile: Hostile;
  private impairment: InjectedImpairment | undefined;
  private steps = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.random = new Random(plan.seed ^ 0x5eed);
    this.fabric = new EmulatedFabric();
    this.parties = Array.from({ length: plan.boards }, () => this.makeParty());
    this.atRest = this.parties.map(occupancyOf);
    this.pools = this.parties.map((party, index) => new Pool(this.randomOf(-2 - index), party));
    const isHostile = this.has('hostility');
    this.connections = Array.from({ length: plan.connections }, (_, index) =>
      this.makeConnection(index, isHostile && index % 4 === 3),
    );
    this.victim = this.connections.filter((_, index) => isHostile && index % 4 === 3);
    const isOnce = !this.has('duplication', 'replays', 'hostility');
    for (let number = 0; number < plan.stations; number++) {
      const random = this.randomOf(2 * number + 1);
      const options = { operations: plan.operations, isOnce, failures: this.has('failures') };
      this.stations.push(new Station(number, random, random.pick(this.parties), this.stations, options));
    }
    this.hostile = new Hostile(this.randomOf(-1), this.parties, (party, number) =>
      this.victim.some((connection) => connection.has(party, number)),
    );
  }

  /** @throws Violation, or any error of a verb: a guarantee is violated */
  run(): Outcome {
    const clock = performance.now;
    performance.now = () => this.look();
    try {
      playWithReferences(this.plan.seed, this.plan.judged);
      this.work();
      this.settle();
      this.leave();
      return { time: this.board.now(), steps: this.steps, reconnects: this.reconnects };
    } finally {
      performance.now = clock;
      this.fabric.close();
    }
  }

  /** Advances time whenever the driver reads the clock in a wait, so that its timeLimit is virtual time. */
  private look(): number {
    this.board.advanceTime(ticksOfALook);
    return Number(this.board.now()) / ticksOfAMillisecond;
  }

  private get reconnects(): Outcome['reconnects'] {
    const sum = (how: 'kept' | 'renumbered'): number =>
      this.connections.reduce((total, { resets }) => total + resets[how], 0);
    return { kept: sum('kept'), renumbered: sum('renumbered') };
  }

  private get board(): EmulatedBoard {
    return this.parties[0]!.board;
  }

  private work(): void {
    const all = [...this.connections, ...this.stations];
    for (let round = 0; !all.every(({ isDone }) => isDone); round++) {
      if (round === timeLimit) this.fail('does not come to an end');
      if (round % 64 === 0) this.changeLink();
      for (const each of [...all, ...this.pools]) if (this.random.once(3)) each.act();
      this.interfere();
      this.advance();
      if (round % 32 === 0) this.verify();
    }
  }

  private advance(): void {
    const done = this.board.step(this.random.below(200));
    if (done === 0) this.board.advanceTime(1 + this.random.below(longestIdle));
    this.steps += done;
    for (const party of this.parties) party.poll();
  }

  private interfere(): void {
    if (!this.has('replays', 'hostility')) return;
    this.hostile.look();
    if (this.has('replays') && this.random.once(4)) this.hostile.replay();
    if (this.has('hostility') && this.random.once(2)) this.hostile.attack();
  }

  /** Lets all packets in flight arrive. */
  private settle(): void {
    this.fabric.impair({});
    this.impairment?.remove();
    for (let round = 0; round < 200; round++) {
      this.board.runUntilIdle();
      this.board.advanceTime(longestIdle);
      for (const party of this.parties) party.poll();
    }
    this.verify();
    for (const each of [...this.connections, ...this.stations])
      require(each.isDone, () => `at the end not complete: ${each.progress}`);
  }

  /** Closes everything, and checks for leftovers. */
  private leave(): void {
    for (const each of [...this.connections, ...this.stations]) {
      each.verify();
      each.close();
    }
    for (const party of this.parties) party.poll();
    for (const pool of this.pools) {
      pool.drain();
      pool.verify();
      pool.close();
    }
    this.board.runUntilIdle();
    for (const [index, party] of this.parties.entries()) {
      const wrong = party.board.verify(true);
      require(wrong === undefined, () => `board ${index} at rest: ${wrong}`);
      const [before, after] = [this.atRest[index], occupancyOf(party)];
      require(before === after, () => `board ${index} at rest holds ${after}, and held ${before}`);
      const faults = party.board.takeDmaFaults();
      require(faults.length === 0, () => `board ${index} reached for ${faults[0]!.address.toString(16)}`);
    }
    for (const { context } of this.parties) context[Symbol.dispose]();
  }

  private verify(): void {
    for (const [index, { board }] of this.parties.entries()) {
      const wrong = board.verify();
      require(wrong === undefined, () => `board ${index}: ${wrong}`);
    }
  }

  private fail(what: string): never {
    const waiting = [...this.connections, ...this.stations].filter(({ isDone }) => !isDone);
    throw new Error(
      `${what}: ${waiting
        .slice(0, 3)
        .map(({ progress }) => progress)
        .join('\n')}`,
    );
  }

  private changeLink(): void {
    const { random } = this;
    const chance = (kind: FaultKind): number => (this.has(kind) ? random.below(100) / 1000 : 0);
    const former = this.impairment;
    this.impairment = this.fabric.impair({
      loss: chance('loss'),
      duplication: chance('duplication'),
      reordering: chance('reordering'),
      reorderDelay: 1 + random.below(longestIdle),
      corruption: chance('corruption'),
      delay: this.has('delay') ? random.below(longestIdle) : 0,
    });
    former?.remove();
  }

  private has(...kinds: readonly FaultKind[]): boolean {
    return kinds.some((kind) => this.plan.faults.includes(kind));
  }

  /** A separate random sequence for each, so that removing others changes little. */
  private randomOf(index: number): Random {
    return new Random(Math.imul(this.plan.seed, 0x9e37_79b1) + Math.imul(index, 0x85eb_ca6b));
  }

  private makeParty(): Party {
    const { plan, random } = this;
    const many = plan.connections + plan.stations;
    const board = this.fabric.makeBoard({
      ...random.pick(boardVariants),
      progress: 'stepped',
      seed: plan.seed,
      queuePairs: 2 * many + 64 > 256 ? 2048 : 256,
      memoryKeys: 6 * many + 64 > 256 ? 4096 : 256,
      pageTableEntries: 65_536,
      ...(this.has('dmaLatency') && { dmaLatency: 1, dmaLatencyMost: longestDmaLatency }),
    });
    const party = new Party(board, openDevice(board.open(0)));
    if (this.has('bitErrors')) board.inject({ kind: 'flip_bits', probability: 0.02, count: 0 });
    // Stations promise that their queue pairs do not fail.
    if (this.has('doubleBitErrors') && plan.stations === 0)
      board.inject({ kind: 'flip_bits', bits: 2, probability: 0.0005, count: 0 });
    return party;
  }

  private makeConnection(index: number, isVictim: boolean): Connection {
    const random = this.randomOf(2 * index);
    const service = random.once(4) ? 'UC' : 'RC';
    const places = [random.below(this.parties.length), random.below(this.parties.length)] as const;
    const sides = <Side>(all: readonly Side[]): [Side, Side] => [all[places[0]]!, all[places[1]]!];
    return new Connection(
      `${service} ${index}`,
      random,
      sides(this.parties),
      random.once(2) ? sides(this.pools) : [undefined, undefined],
      {
        service,
        operations: this.plan.operations,
        failures: this.has('failures'),
        disconnects: this.has('disconnects'),
        isVictim,
        isFaulty: this.has(
          'loss',
          'delay',
          'duplication',
          'reordering',
          'corruption',
          'replays',
          'hostility',
          'doubleBitErrors',
        ),
        isOrdered: !this.has('delay', 'duplication', 'reordering', 'replays', 'hostility'),
      },
    );
  }
}

/** The resources in use in the function and the device, in words. */
function occupancyOf({ context }: Party): string {
  const { page, controlPage } = context.driver.device;
  const control = blockNamed('control');
  const read = [
    readNamed(page, registerNamed(blockNamed('underlying_function'), 'physical_collect_buffers_available')),
    ...[
      'physical_collect_buffers_shared',
      'shared_execution_credits',
      'shared_completion_credits',
      'lane_state',
    ].map((name) => readNamed(controlPage!, registerNamed(control, name))),
  ];
  return read.map(({ name, values }) => `${name} ${values.join(' ')}`).join('; ');
}
