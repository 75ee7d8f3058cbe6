// The plain reference model of the hardware linked list queue: arrays and maps, without any optimization.

export interface Shape {
  readonly entries: number;
  readonly lists: number;
  readonly direct: boolean;
  readonly underlyingFunctions: number;
  readonly readyOnPush: boolean;
}

export interface PushResult {
  readonly result: string;
  readonly list: number | null;
  readonly entry: number | null;
}

export interface ReadResult {
  readonly result: string;
  readonly entry: number | null;
  readonly index: number | null;
  readonly unit: bigint | null;
}

/** Bits of a stored data unit: two words of 64 data bits and 8 check bits. */
export const entryBits = 144;
const wordBits = 72;

interface Stored {
  readonly entry: number;
  readonly unit: bigint;
  readonly underlyingFunction: number;
  readonly credit: 'own' | 'shared';
  ready: boolean;
  peeked: boolean;
  reported: boolean;
  flipped: Set<number>;
}

interface List {
  readonly list: number;
  readonly index: number;
  readonly units: Stored[];
  closed: boolean;
}

const refused = (result: string): ReadResult => ({ result, entry: null, index: null, unit: null });

export class LinkedListQueueModel {
  readonly counters = {
    pushed: 0,
    popped: 0,
    reclaimed: 0,
    droppedFull: 0,
    droppedNoEntryCredit: 0,
    droppedNoListIdentifier: 0,
    droppedListFull: 0,
    droppedClosed: 0,
    droppedCorrupted: 0,
    correctedBitErrors: 0,
    detectedBitErrors: 0,
  };
  private readonly shape: Shape;
  private readonly lists: List[] = [];
  private readonly maxima: number[];
  private readonly own: number[];
  private shared = 0;
  private sharedCap = 0;
  private lastGranted: number;
  private readonly closedInOrder: List[] = [];
  private scrubbed = 0;

  constructor(shape: Shape) {
    this.shape = shape;
    this.maxima = Array.from({ length: shape.lists }, () => shape.entries);
    this.own = Array.from({ length: shape.underlyingFunctions }, () => shape.entries);
    this.lastGranted = shape.lists - 1;
    if (shape.direct)
      for (let list = 0; list < shape.lists; list++)
        this.lists.push({ list, index: list, units: [], closed: false });
  }

  setMaximum(list: number, units: number): void {
    this.maxima[list] = units;
  }

  setEntryCredits(underlyingFunction: number, credits: number): void {
    this.own[underlyingFunction] = credits;
  }

  setSharedEntryCredits(credits: number, cap: number): void {
    this.shared = credits;
    this.sharedCap = cap;
  }

  find(index: number): number | null {
    return this.lists.find((list) => list.index === index)?.list ?? null;
  }

  push(index: number, unit: bigint, underlyingFunction: number): PushResult {
    const drop = (result: string): PushResult => ({ result, list: null, entry: null });
    const entry = this.lowestFree(this.shape.entries, (used) => this.stored(used) !== undefined);
    if (entry === undefined) {
      this.counters.droppedFull++;
      return drop('full');
    }
    const credit = this.credit(underlyingFunction);
    if (credit === undefined) {
      this.counters.droppedNoEntryCredit++;
      return drop('noEntryCredit');
    }
    const existing = this.lists.find((list) => list.index === index);
    const number = existing?.list ?? (this.shape.direct ? undefined : this.freeListIdentifier());
    if (number === undefined) {
      this.counters.droppedNoListIdentifier++;
      return drop('noListIdentifier');
    }
    if (existing?.closed === true) {
      this.counters.droppedClosed++;
      return drop('closed');
    }
    if ((existing?.units.length ?? 0) >= this.maxima[number]!) {
      this.counters.droppedListFull++;
      return drop('listFull');
    }
    const list = existing ?? { list: number, index, units: [], closed: false };
    if (existing === undefined) this.lists.push(list);
    const ready = this.shape.readyOnPush;
    list.units.push({
      entry,
      unit,
      underlyingFunction,
      credit,
      ready,
      peeked: false,
      reported: false,
      flipped: new Set(),
    });
    this.counters.pushed++;
    return { result: 'ok', list: number, entry };
  }

  markReady(entry: number): string {
    return this.setReady(entry, true);
  }

  markNotReady(entry: number): string {
    return this.setReady(entry, false);
  }

  arbitrate(outboundCredits: number): number | null {
    const ready = this.lists.filter((list) => this.isReady(list)).map(({ list }) => list);
    if (outboundCredits === 0 || ready.length === 0) return null;
    this.lastGranted = this.nextInTurn(ready, this.lastGranted);
    return this.lastGranted;
  }

  pop(number: number): ReadResult {
    const list = this.access(number);
    if (typeof list === 'string') return refused(list);
    return this.isReady(list) ? this.takeHead(list, 'popped') : refused('notReady');
  }

  peek(number: number): ReadResult {
    const list = this.access(number);
    if (typeof list === 'string') return refused(list);
    const next = list.units.find((stored) => !stored.peeked);
    if (next === undefined) return refused('empty');
    next.peeked = true;
    return this.read(list, next);
  }

  resetPeekPointer(number: number): string {
    const list = this.access(number);
    if (typeof list === 'string') return list;
    for (const stored of list.units) stored.peeked = false;
    return 'ok';
  }

  reclaim(number: number): string {
    const list = this.access(number);
    if (typeof list === 'string') return list;
    list.closed = true;
    this.closedInOrder.push(list);
    return 'ok';
  }

  reclaimStep(): ReadResult {
    const list = this.closedInOrder[0];
    if (list === undefined) return refused('empty');
    if (list.units.length === 1) this.closedInOrder.shift();
    return this.takeHead(list, 'reclaimed');
  }

  scrubStep(): { status: string; entry: number } {
    const entry = this.scrubbed;
    this.scrubbed = (entry + 1) % this.shape.entries;
    const stored = this.stored(entry);
    const status = stored === undefined ? 'clean' : this.check(stored);
    if (status === 'corrected') this.heal(stored!);
    return { status, entry };
  }

  /**
   * Flips a bit of a stored data unit, unless its word already has two wrong bits, because the result of
   * three is undefined.
   */
  mayInject(entry: number, bit: number): boolean {
    const stored = this.stored(entry);
    return (
      stored === undefined ||
      stored.flipped.has(bit) ||
      this.wrongBits(stored)[Math.floor(bit / wordBits)]! < 2
    );
  }

  injectError(entry: number, bit: number): void {
    const flipped = this.stored(entry)?.flipped;
    if (flipped?.delete(bit) === false) flipped.add(bit);
  }

  /** Entries in use, lowest first. */
  usedEntries(): number[] {
    return this.lists.flatMap(({ units }) => units.map(({ entry }) => entry)).sort((a, b) => a - b);
  }

  /** The entry at the head of every open list. */
  heads(): number[] {
    return this.lists
      .filter(({ units, closed }) => units.length > 0 && !closed)
      .map(({ units }) => units[0]!.entry);
  }

  /** Lists with data units, lowest first. */
  usedLists(): number[] {
    return this.lists
      .filter(({ units }) => units.length > 0)
      .map(({ list }) => list)
      .sort((a, b) => a - b);
  }

  state(): unknown {
    const lists = Array.from({ length: this.shape.lists }, (_, number) => {
      const list = this.lists.find((candidate) => candidate.list === number);
      return { count: list?.units.length ?? 0, ready: list !== undefined && this.isReady(list) };
    });
    return {
      empty: this.usedEntries().length === 0,
      inboundCredits: this.shape.entries - this.usedEntries().length,
      reclaiming: this.lists.some(({ closed }) => closed),
      dataUnitsReady: Array.from(
        { length: this.shape.entries },
        (_, entry) => this.stored(entry)?.ready ?? false,
      ),
      lists,
      entryCredits: this.own.map((_, underlyingFunction) => ({
        own: this.held('own', underlyingFunction),
        shared: this.held('shared', underlyingFunction),
      })),
    };
  }

  private setReady(entry: number, ready: boolean): string {
    const list = this.lists.find(({ units }) => units.some((stored) => stored.entry === entry));
    if (list === undefined) return 'empty';
    if (list.closed) return 'closed';
    this.stored(entry)!.ready = ready;
    return 'ok';
  }

  private lowestFree(size: number, used: (number: number) => boolean): number | undefined {
    for (let number = 0; number < size; number++) if (!used(number)) return number;
    return undefined;
  }

  private freeListIdentifier(): number | undefined {
    return this.lowestFree(this.shape.lists, (number) => this.lists.some(({ list }) => list === number));
  }

  private stored(entry: number): Stored | undefined {
    return this.lists.flatMap(({ units }) => units).find((stored) => stored.entry === entry);
  }

  private held(credit: 'own' | 'shared', underlyingFunction?: number): number {
    return this.lists
      .flatMap(({ units }) => units)
      .filter((stored) => stored.credit === credit)
      .filter(
        (stored) => underlyingFunction === undefined || stored.underlyingFunction === underlyingFunction,
      ).length;
  }

  private credit(underlyingFunction: number): 'own' | 'shared' | undefined {
    if (this.held('own', underlyingFunction) < this.own[underlyingFunction]!) return 'own';
    const some =
      this.held('shared') < this.shared && this.held('shared', underlyingFunction) < this.sharedCap;
    return some ? 'shared' : undefined;
  }

  private isReady(list: List): boolean {
    return !list.closed && list.units[0]?.ready === true;
  }

  private nextInTurn(candidates: number[], last: number): number {
    const sorted = candidates.toSorted((a, b) => a - b);
    return sorted.find((number) => number > last) ?? sorted[0]!;
  }

  private access(number: number): List | string {
    const list = this.lists.find((candidate) => candidate.list === number);
    if (list === undefined) return 'unknownList';
    if (list.closed) return 'closed';
    return list.units.length === 0 ? 'empty' : list;
  }

  private wrongBits(stored: Stored): number[] {
    const inWord = (word: number): number =>
      [...stored.flipped].filter((bit) => Math.floor(bit / wordBits) === word).length;
    return [inWord(0), inWord(1)];
  }

  private heal(stored: Stored): void {
    stored.flipped.clear();
    stored.reported = false;
  }

  private check(stored: Stored): string {
    const wrong = Math.max(...this.wrongBits(stored));
    if (wrong === 0) return 'clean';
    if (wrong === 1) {
      this.counters.correctedBitErrors++;
      return 'corrected';
    }
    if (!stored.reported) this.counters.detectedBitErrors++;
    stored.reported = true;
    return 'uncorrectable';
  }

  private read(list: List, stored: Stored): ReadResult {
    const corrupted = this.check(stored) === 'uncorrectable';
    return {
      result: corrupted ? 'corrupted' : 'ok',
      entry: stored.entry,
      index: list.index,
      unit: corrupted ? null : stored.unit,
    };
  }

  private takeHead(list: List, counter: 'popped' | 'reclaimed'): ReadResult {
    const read = this.read(list, list.units[0]!);
    this.counters[read.result === 'ok' ? counter : 'droppedCorrupted']++;
    list.units.shift();
    if (list.units.length === 0) {
      list.closed = false;
      if (!this.shape.direct) this.lists.splice(this.lists.indexOf(list), 1);
    }
    return read;
  }
}
