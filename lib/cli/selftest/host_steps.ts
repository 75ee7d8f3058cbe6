import { checksOf } from '../demo_checks.ts';
import { Connection } from '../../connect/index.ts';
import { unlessGivenUp } from '../../connect/give_up.ts';
import { KickRecord, KickRecordRing } from '../../driver/kick_records.ts';
import {
  KickRecordType,
  ManagementOpcode,
  QUERY_FUNCTION_OUTPUT_BYTES,
  UNDERLYING_FUNCTION_DMA_FAULTS_OFFSET,
  kickRecordTypeNames,
} from '../../spec/index.ts';
import type { Bench } from './bench.ts';
import { SelftestFailure, hex } from './failure.ts';

const reaching =
  'bus mastering enabled, the IOMMU and its mappings, addresses above 4 GiB; underlying_function.dma_faults counts refusals';
const signalling =
  'MSI-X enabled and not masked, its table, interrupt remapping; that the vector has a handler';
const looping =
  "the port's loopback and packet counters (control.port_packets_out, port_packets_looped, packets_dropped), keys and DMA";

/** Brings up the driver: the device gets context memory, fetches and answers management commands, and creates a queue pair. */
export function bringUp(bench: Bench): string {
  const { limits } = bench.context.driver;
  return `enabled, management commands answered; queue pair ${bench.command.source.queuePair.number} of ${limits.queuePairs} made`;
}

/** Writes a whole command, whose kick records the device must write to host memory. */
export async function writeRecords(bench: Bench): Promise<string> {
  const { command, device } = bench;
  const { number } = command.source.queuePair;
  const records = new KickRecordRing(device, 2);
  try {
    command.encode();
    command.write(0, command.length - 8);
    for (const type of [KickRecordType.kicked, KickRecordType.sent]) {
      const record = new KickRecord();
      if (!(await bench.until(() => records.poll([record]) > 0))) {
        const faults = device.page.read64(UNDERLYING_FUNCTION_DMA_FAULTS_OFFSET);
        const what = `no record of a ${kickRecordTypeNames[type]} command arrived`;
        throw new SelftestFailure(`${what}; the device counts ${faults} DMA faults`, reaching);
      }
      if (record.type === type && record.queuePairNumber === number) continue;
      const [found, expected] = [hex(record.queuePairNumber, 6), hex(number, 6)];
      throw new SelftestFailure(
        `a kick record reports ${kickRecordTypeNames[record.type]} of queue pair ${found}, not ${kickRecordTypeNames[type]} of ${expected}`,
        reaching,
      );
    }
    return 'both kick records of a command lie in host memory';
  } finally {
    records.close();
  }
}

/** Arms event queue 0, and has a management command reported in it. */
export async function interrupt(bench: Bench): Promise<string> {
  const { device, events, management } = bench.context.driver;
  const vector = events.number;
  const { backend, interruptVectors } = device.board.facts();
  if (interruptVectors === 0) return `none: ${backend}: has no vectors, so waits poll`;
  let signals = 0;
  const subscription = device.board.interrupt(vector, (count) => {
    signals += count;
  });
  try {
    events.arm();
    const begin = performance.now();
    management.execute({
      verb: 'queryDevice',
      opcode: ManagementOpcode.queryFunction,
      outputBytes: QUERY_FUNCTION_OUTPUT_BYTES,
    });
    if (!(await bench.until(() => signals > 0))) {
      throw new SelftestFailure(
        `MSI-X vector ${vector} was not signaled, although event queue ${events.number} was armed and an event arrived`,
        signalling,
      );
    }
    return `MSI-X vector ${vector} after ${(performance.now() - begin).toFixed(1)} ms`;
  } finally {
    subscription.close();
  }
}

/** Executes every operation between two queue pairs of the board, connected through its port, and compares every byte. */
export async function loopBack(bench: Bench): Promise<string> {
  const { timeout, signal } = bench.options;
  const [a, b] = [0, 1].map(() => new Connection(bench.context)) as [Connection, Connection];
  a.connect(b.address);
  b.connect(a.address);
  let compared = 0;
  const checks = checksOf(a, b);
  for (const { name, run } of checks) {
    try {
      compared += await unlessGivenUp(run(), { timeout, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new SelftestFailure(
        `${name}: ${error instanceof Error ? error.message : String(error)}`,
        looping,
      );
    }
  }
  a.close();
  b.close();
  return `${checks.map(({ name }) => name).join(', ')}: ${compared} B compared`;
}
