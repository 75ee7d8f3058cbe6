import { Connection } from '../connect/index.ts';
import { Completion, CompletionError, CompletionStatus, Opcode, type Context } from '../index.ts';
import { pathMtus } from './path_mtus.ts';

/** Largest inline message, bytes; larger ones are gathered. */
export const largestInline = 64;
const underWay = 64;
const atOnce = 16; // work requests per batch, and completions per poll

/** RDMA WRITEs of `size` bytes per second from one open device to another, in batches, several outstanding. @param mtu path MTU, bytes */
export function rateOf([from, to]: readonly [Context, Context], size: number, mtu: number): number {
  const [a, b] = [from, to].map((context) => new Connection(context, { pathMtu: pathMtus[mtu]! })) as [
    Connection,
    Connection,
  ];
  try {
    a.connect(b.address);
    b.connect(a.address);
    return rateOver(a, b, size);
  } finally {
    a.close();
    b.close();
  }
}

function rateOver(a: Connection, b: Connection, size: number): number {
  const [source, target] = [a.allocate(size), b.allocate(size)];
  const data = size <= largestInline ? { inlineData: source.bytes } : { gather: [source.slice()] };
  const request = { opcode: Opcode.rdmaWrite, ...data, remote: target.remote() };
  const batch = Array.from({ length: atOnce }, () => request);
  const messages = Math.ceil(Math.max(64, Math.min(40_000, 2 ** 27 / size)) / atOnce) * atOnce;
  const completions = Array.from({ length: atOnce }, () => new Completion());
  const begin = performance.now();
  let [posted, done] = [0, 0];
  while (done < messages) {
    for (; posted < messages && posted - done <= underWay - atOnce; posted += atOnce)
      a.queuePair.postSend(batch);
    const count = a.completionQueue.poll(completions);
    for (const completion of completions.slice(0, count)) {
      if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
    }
    done += count;
  }
  return messages / ((performance.now() - begin) / 1000);
}
