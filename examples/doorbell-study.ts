// A study of doorbells: how long a command takes from its first write to its last packet, by the payload that is written with it. The
// device says so itself, in kick records; the study ends in a plot, with the median and 99% of each payload.
//
// Run it: node dist/examples/doorbell-study.js [FILE.svg [DEVICE]]
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Completion, Opcode, openDevice } from 'fpga-verbs';
import { addressOf, connectQueuePair } from 'fpga-verbs/connect';

const payloads = [0, 32, 64, 96, 128, 192, 256];
const postsOfPayload = 200;
const [file, deviceString = 'emu:'] = process.argv.slice(2);

const device = openDevice(deviceString);
const { identity } = device.queryDevice();
const domain = device.createProtectionDomain();
const completionQueue = device.createCompletionQueue({ entries: 64 });
const queuePair = domain.createQueuePair({
  type: 'RC',
  sendCompletionQueue: completionQueue,
  receiveCompletionQueue: completionQueue,
  capabilities: { maxInlineData: 256 },
});
const here = addressOf(device, queuePair);
connectQueuePair(queuePair, here, here);

/** Nanoseconds of each command, sorted. */
async function measure(bytes: number): Promise<number[]> {
  const taken: number[] = [];
  const completion = new Completion();
  const kicks = device.kicks();
  for (let post = 0; post < postsOfPayload; post++) {
    queuePair.postReceive({ wrId: 1, scatter: [region.slice()] });
    const next = kicks.next(); // observes from here on
    queuePair.postSend({ wrId: 2, opcode: Opcode.send, inlineData: new Uint8Array(bytes), signaled: true });
    const { value: kick } = await next;
    for (let done = 0; done < 2;) done += completionQueue.poll([completion]);
    if (kick?.sent !== undefined)
      taken.push(((kick.sent.end - kick.firstWrite) * 1e9) / identity.clockFrequency);
  }
  await kicks.return();
  return taken.sort((one, other) => one - other);
}

/** A line for each share of the commands over the payloads, from 0 to the largest latency. */
function plot(latencies: readonly (readonly number[])[]): string {
  const [width, height, margin] = [640, 360, 60];
  const shares = [
    { share: 0.5, label: 'median', color: '#0072b2' },
    { share: 0.99, label: '99%', color: '#d55e00' },
  ];
  const at = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;
  const most = Math.max(...latencies.map((sorted) => at(sorted, 0.99)));
  const x = (bytes: number) => margin + (bytes / 256) * (width - 2 * margin);
  const y = (nanoseconds: number) => height - margin - (nanoseconds / most) * (height - 2 * margin);
  const text = (left: number, top: number, content: string, more = '') =>
    `<text x="${left}" y="${top}" text-anchor="middle" ${more}>${content}</text>`;
  const lines = shares.map(({ share, label, color }, index) => {
    const points = latencies.map(
      (sorted, place) => `${x(payloads[place]!)},${y(at(sorted, share)).toFixed(1)}`,
    );
    return (
      `<polyline fill="none" stroke="${color}" stroke-width="2" points="${points.join(' ')}"/>` +
      text(width - margin - 30 - 90 * index, 40, label, `fill="${color}" font-weight="bold"`)
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    `<path d="M${margin} ${margin}V${height - margin}H${width - margin}" fill="none" stroke="#000000"/>`,
    ...payloads.map((bytes) => text(x(bytes), height - margin + 18, `${bytes}`)),
    text(width / 2, height - 16, 'payload, bytes'),
    text(margin, margin - 10, 'first write to last packet, ns'),
    ...[0, 0.5, 1].map((part) => text(margin - 28, y(part * most) + 4, `${Math.round(part * most)}`)),
    ...lines,
    '</svg>\n',
  ].join('\n');
}

const region = domain.allocate(4096);
const latencies: number[][] = [];
for (const bytes of payloads) latencies.push(await measure(bytes));
const directory = await mkdtemp(path.join(tmpdir(), 'doorbell-study-'));
const drawn = file ?? path.join(directory, 'doorbell.svg');
await writeFile(drawn, plot(latencies));
console.log(`${payloads.length} payloads, ${latencies[0]!.length} commands each: ${path.basename(drawn)}`);
await rm(directory, { recursive: true });
device[Symbol.dispose]();
