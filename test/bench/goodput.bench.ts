import { EmulatedFabric, type EmulatedBoard, type LinkImpairment } from '../../lib/board/index.ts';
import { table } from '../../lib/cli/output/table.ts';
import { Connection } from '../../lib/connect/index.ts';
import {
  Completion,
  CompletionError,
  CompletionStatus,
  Opcode,
  PathMtu,
  openDevice,
} from '../../lib/index.ts';

// Two stepped boards of a fabric, in virtual time: RDMA WRITEs over a link that loses, duplicates and
// reorders packets. The ideal device retransmits only lost packets and keeps the link busy: (1 - loss) of its
// rate.

const linkRate = 10e9; // bits a second
const clockRate = 1e9; // ticks a second
const delay = 2000; // ticks, in each direction
const mtu = 4096;
const headersAndIcrc = 14 + 20 + 8 + 12 + 4;
const messageBytes = 16 * 1024;
const messages = 2000;
const underWay = 4; // 52 us of link time
const timeout = 5; // 131 us

function goodput(impairment: LinkImpairment): number {
  using fabric = new EmulatedFabric();
  const boards = [1, 2].map((seed) => fabric.makeBoard({ progress: 'stepped', seed })) as [
    EmulatedBoard,
    EmulatedBoard,
  ];
  const [a, b] = boards.map(
    (board) => new Connection(openDevice(board.open(0)), { pathMtu: PathMtu.mtu4096, timeout }),
  ) as [Connection, Connection];
  a.connect(b.address);
  b.connect(a.address);
  fabric.impair(impairment);
  const [source, target] = [a.allocate(messageBytes), b.allocate(messageBytes)];
  const request = { opcode: Opcode.rdmaWrite, gather: [source.slice()], remote: target.remote() };
  const completions = Array.from({ length: underWay }, () => new Completion());
  const [board] = boards;
  const begin = board.now();
  for (let posted = 0, done = 0; done < messages;) {
    for (; posted < messages && posted - done < underWay; posted++) a.queuePair.postSend(request);
    if (board.step(64) === 0) board.advanceTime(200);
    const count = a.completionQueue.poll(completions);
    for (const completion of completions.slice(0, count))
      if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
    done += count;
  }
  const seconds = Number(board.now() - begin) / clockRate;
  return (messages * messageBytes * 8) / seconds;
}

const whole = (linkRate * mtu) / (mtu + headersAndIcrc);
const rows = [0, 0.01, 0.1].flatMap((loss) =>
  [0, 0.01].map((others) => {
    const reached = goodput({ rate: linkRate, delay, loss, duplication: others, reordering: others });
    const percent = (part: number): string => `${(100 * part).toFixed(0)} %`;
    return [
      percent(loss),
      percent(others),
      (reached / 1e9).toFixed(2),
      (reached / (whole * (1 - loss))).toFixed(2),
    ];
  }),
);
console.log(
  `\nGoodput over a link of ${linkRate / 1e9} Gbit/s and ${(2 * delay) / 1000} us there and back, ${messageBytes / 1024} KiB RDMA WRITEs, in virtual time\n${table(
    ['lost', 'doubled, and reordered', 'Gbit/s', 'of the ideal'].map((title) => ({ title, align: 'right' })),
    rows,
  )}`,
);
