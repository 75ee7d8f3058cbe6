import { EmulatedBoard } from '../../lib/board/index.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import { statisticsOf } from '../../lib/cli/output/statistics.ts';
import { table } from '../../lib/cli/output/table.ts';
import { encodeCommand, type SendRequest } from '../../lib/driver/command.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { Opcode } from '../../lib/spec/index.ts';

const posts = 64; // as many as the link accepts while the device is not advanced
const rounds = 3000;
const aim = 150;

const entry = { addressLow: 0x1000, addressHigh: 1, length: 64, localKey: 7 };
const write = { opcode: Opcode.rdmaWrite, remote: { key: 1, addressLow: 2, addressHigh: 3 } };
const requests: readonly (readonly [name: string, request: SendRequest])[] = [
  ['SEND, no data', { opcode: Opcode.send, signaled: true }],
  ['SEND, 32 B inline', { opcode: Opcode.send, signaled: true, inlineData: new Uint8Array(32) }],
  ['SEND, 64 B inline', { opcode: Opcode.send, signaled: true, inlineData: new Uint8Array(64) }],
  ['RDMA WRITE, 1 gather entry', { ...write, signaled: true, gather: [entry] }],
  ['RDMA WRITE, 4 gather entries', { ...write, signaled: true, gather: [entry, entry, entry, entry] }],
  ['SEND, 32 B inline, checksum', { opcode: Opcode.send, inlineData: new Uint8Array(32), checksum: true }],
];

/** Nanoseconds of one of `calls` calls, the median of many rounds; `after` is not timed. */
function medianOf(call: () => void, after: () => void, calls = posts): number {
  const samples = new Float64Array(rounds);
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    for (let each = 0; each < calls; each++) call();
    samples[round] = ((performance.now() - begin) * 1e6) / calls;
    after();
  }
  return statisticsOf(samples.subarray(rounds / 3)).median; // the first third warms up
}

// Encode, copy to the virtual collect buffer, fence; the device is not advanced.
const board = new EmulatedBoard({ progress: 'stepped' });
const driver = new HcaDriver(board.open());
const sizes = { entries: 2 * posts, gatherEntries: 16, inlineBytes: 256 };
const { queuePair } = new UnansweredQueuePair(driver, sizes);
const { sendQueue } = queuePair;
const origin = { queuePairNumber: queuePair.number, level: queuePair.level, checksumSecret: 0 };
const dwords = new Uint32Array(1024);
const bytes = new Uint8Array(dwords.buffer);
const drain = (): void => {
  board.runUntilIdle();
  sendQueue.completedThrough((sendQueue.nextSequenceNumber - 1) & 0xffff);
};
const rows = requests.map(([name, request]) => {
  const encode = medianOf(
    () => encodeCommand(dwords, bytes, 0, origin, 5, request),
    () => {},
  );
  const post = medianOf(() => queuePair.post(request), drain);
  return [name, post.toFixed(0), encode.toFixed(0), (post / aim).toFixed(2)];
});
const batch = requests
  .map(([, request]) => request)
  .concat(Array.from({ length: 58 }, () => requests[1]![1]));
const inBatch = medianOf(() => queuePair.postBatch(batch), drain, 1) / batch.length;
rows.push(['64 in a batch, one doorbell', inBatch.toFixed(0), '', (inBatch / aim).toFixed(2)]);
console.log(
  `\nNanoseconds a post, medians\n${table(
    ['request', 'post', 'of which encode', `post / ${aim} ns`].map((title, index) => ({
      title,
      align: index === 0 ? 'left' : 'right',
    })),
    rows,
  )}`,
);
driver.close();
board.close();
