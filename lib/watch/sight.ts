import type { BoardFunction, QueuePairFacts, Watch } from '../board/index.ts';
import { stallCounters } from '../driver/counters.ts';
import { CommandWays, type CommandWay, type TakenWays } from '../driver/command_ways.ts';
import type { DeviceFunction } from '../driver/device_function.ts';
import { blockNamed, registerNamed } from '../driver/named_registers.ts';
import { readBuffersAndLanes, readOccupancy } from '../driver/occupancy.ts';
import type { EventWatch, Observer } from '../driver/observer.ts';
import { whyStalled } from '../driver/why.ts';
import { enumDescriptions } from '../spec/index.ts';
import { eventText } from './event_text.ts';
import { CounterSample } from './counter_sample.ts';
import { queuePairValue } from './queue_pair_value.ts';
import { Rates, countersOfRates, functionRates, portRates } from './rates.ts';
import type {
  BoardMessage,
  EventsMessage,
  QueuePairsMessage,
  StateMessage,
  WaysMessage,
  WhyMessage,
} from './frames.ts';
import { LatencyBins } from './latency_bins.ts';

/** Blocks whose data units are counted, by the names of their counters. */
const blockCounters = blockNamed('control')
  .registers.map(({ name }) => name)
  .filter((name) => name.startsWith('data_units_'));
const counted = [...countersOfRates, ...blockCounters];
const mostWays = 48;
const mostQueuePairs = 200;
const noBuffer = 0xffff;
const noLane = 0xff;

/** An observer's view of a board, as messages for a page. It watches from {@link begin} to {@link end}, and costs the board nothing else. */
export class Sight {
  private readonly observer: Observer;
  private readonly functions: readonly DeviceFunction[];
  private ways: CommandWays | undefined;
  private events: EventWatch | undefined;
  private sampleBefore: CounterSample | undefined;
  private waysBefore = 0;

  /** @param functions whose registers are read: of the control function all, that one first */
  constructor(observer: Observer, functions: readonly DeviceFunction[]) {
    this.observer = observer;
    this.functions = functions;
  }

  get isWatching(): boolean {
    return this.ways !== undefined;
  }

  begin(): void {
    const { board } = this.observer.device;
    this.ways ??= new CommandWays(board.watch('kicks'), completionsOf(board));
    this.events ??= this.observer.watchEvents();
    this.waysBefore = performance.now();
  }

  end(): void {
    this.ways?.close();
    this.events?.close();
    [this.ways, this.events, this.sampleBefore] = [undefined, undefined, undefined];
  }

  board(device: string, stepped: boolean): BoardMessage {
    const { identity } = this.observer.device;
    return {
      kind: 'board',
      device,
      functions: this.functions.map(({ underlyingFunction }) => underlyingFunction),
      sizes: {
        virtualCollectBuffers: identity.virtualCollectBuffers,
        physicalCollectBuffers: identity.physicalCollectBuffers,
        dedicatedPhysicalCollectBuffers: identity.dedicatedPhysicalCollectBuffers,
        transmitVirtualLanes: identity.transmitVirtualLanes,
      },
      stepped,
      causes: causesInWords(),
    };
  }

  /** @throws VerbsError ENODEV: the device is gone */
  takeWays(): WaysMessage {
    const now = performance.now();
    const milliseconds = now - this.waysBefore;
    this.waysBefore = now;
    const taken = this.ways!.take();
    const seen = [...new Set([...taken.sent, ...taken.kicked])].slice(0, mostWays);
    return {
      kind: 'ways',
      milliseconds,
      kicks: taken.kicks,
      oneOf: taken.oneOf,
      lost: this.ways!.lost,
      ways: seen.map((way) => [
        way.underlyingFunction,
        way.qualityOfServiceLevel,
        way.virtualCollectBuffer === noBuffer ? -1 : way.virtualCollectBuffer,
        way.physicalCollectBuffer === noBuffer ? -1 : way.physicalCollectBuffer,
        (way.transmitVirtualLane ?? noLane) === noLane ? -1 : way.transmitVirtualLane!,
        way.queuePairNumber,
      ]),
      latencies: latenciesOf(taken, this.observer.device.identity.clockFrequency / 1e9),
    };
  }

  /** Undefined: none came. @throws as {@link takeWays} */
  takeEvents(): EventsMessage | undefined {
    const { identity } = this.observer.device;
    const events = this.events!.take().map((event) => eventText(event, identity.clockFrequency));
    return events.length === 0 ? undefined : { kind: 'events', events, lost: this.events!.lost };
  }

  /** @throws as {@link takeWays} */
  state(clock: { readonly virtualTime?: number; readonly pace?: number } = {}): StateMessage {
    const { device } = this.observer;
    const sample = new CounterSample(this.functions, counted);
    const rates = new Rates(sample, this.sampleBefore);
    this.sampleBefore = sample;
    const isControl = device.controlPage !== undefined;
    const { virtual, physical, lanes } = isControl
      ? readBuffersAndLanes(device)
      : { virtual: [], physical: [], lanes: [] };
    const occupancy = readOccupancy(device, { virtual, physical, lanes });
    return {
      kind: 'state',
      functions: occupancy.map((each) => ({ ...each, perSecond: functionRates(rates, each) })),
      ports: isControl ? portRates(rates, device.identity.ports) : [],
      blocks: Object.fromEntries(
        blockCounters.map((name) => [name.replace('data_units_', ''), rates.of(undefined, name)]),
      ),
      virtual: virtual.map(({ number, state, underlyingFunction }) => [
        number,
        state,
        underlyingFunction ?? -1,
      ]),
      physical: physical.map(({ number, state, underlyingFunction }) => [number, state, underlyingFunction]),
      lanes: lanes.map((lane) => [
        lane.commands,
        lane.executionCredits,
        lane.completionCredits,
        lane.sharedExecutionCredits,
        lane.sharedCompletionCredits,
      ]),
      virtualTime: clock.virtualTime,
      pace: clock.pace,
    };
  }

  /** @throws as {@link takeWays} */
  queuePairs(): QueuePairsMessage {
    const found = this.observer.queuePairs();
    const outstanding = (facts: QueuePairFacts): number => {
      const { waiting, unacknowledged } = queuePairValue(facts);
      return waiting + unacknowledged;
    };
    const shown = found
      .map((facts) => ({ facts, outstanding: outstanding(facts) }))
      .sort((one, other) => other.outstanding - one.outstanding)
      .slice(0, mostQueuePairs)
      .sort((one, other) => one.facts.number - other.facts.number);
    return {
      kind: 'queuePairs',
      all: found.length,
      queuePairs: shown.map(({ facts }) => {
        const {
          number,
          underlyingFunction,
          level,
          type,
          state,
          waiting,
          unacknowledged,
          receives,
          hold,
          peer,
        } = queuePairValue(facts);
        return {
          number,
          underlyingFunction,
          level,
          type: type ?? `${facts.serviceType}`,
          state: state ?? `${facts.state}`,
          waiting,
          unacknowledged,
          receives,
          hold: hold ?? `${facts.hold}`,
          peer: peer && `0x${peer.queuePair.toString(16)} ${peer.address}`,
        };
      }),
    };
  }

  /** @throws as {@link takeWays} */
  why(number: number): WhyMessage {
    return { kind: 'why', number, reasons: whyStalled(this.observer.device, number)?.reasons ?? [] };
  }
}

function latenciesOf({ sent, completed }: TakenWays, ticksPerNanosecond: number): WaysMessage['latencies'] {
  const found = new Map<
    string,
    { underlyingFunction: number; level: number; doorbell: LatencyBins; completion: LatencyBins }
  >();
  const binsOf = ({ underlyingFunction, qualityOfServiceLevel: level }: CommandWay) => {
    const key = `${underlyingFunction}.${level}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const made = { underlyingFunction, level, doorbell: new LatencyBins(), completion: new LatencyBins() };
    found.set(key, made);
    return made;
  };
  for (const way of sent) binsOf(way).doorbell.add((way.sent! - way.firstWrite) / ticksPerNanosecond);
  for (const way of completed)
    binsOf(way).completion.add((way.completed! - way.firstWrite) / ticksPerNanosecond);
  return [...found.values()].map((each) => ({
    ...each,
    doorbell: each.doorbell.bins,
    completion: each.completion.bins,
  }));
}

/** The words of the specification for each cause, and for a counter that has none. */
function causesInWords(): Record<string, string> {
  const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const words: Record<string, string> = {};
  for (const counter of stallCounters) {
    words[counter] = registerNamed(blockNamed('underlying_function'), counter).doc;
    const cause = enumDescriptions.find(({ name }) => `${name}s` === counter);
    for (const { name, doc } of cause?.values ?? []) words[`${counter}.${snake(name)}`] = doc;
  }
  words['credit_waits.execution'] = 'No execution credit was free for the lane of the command.';
  words['credit_waits.completion'] = 'No completion credit was free for the lane of the command.';
  return words;
}

/** Undefined: the board is observed through a device, which shows none. */
function completionsOf(board: BoardFunction): Watch | undefined {
  try {
    return board.watch('completions');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTSUP') return undefined;
    throw error;
  }
}
