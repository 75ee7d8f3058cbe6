import { sections } from './sections.ts';
import type { Section } from './table.ts';

const count = (parts: readonly Section[]): number => parts.reduce((sum, { rows }) => sum + rows.length, 0);

const cells = (...words: readonly (string | number)[]): string => `| ${words.join(' | ')} |`;

/** The rows in which rdma_rxe behaves differently, one line for each difference. */
function differences({ rows }: Section): string[] {
  const by = new Map<string, string[]>();
  for (const { linux, what } of rows)
    if (linux !== undefined) by.set(linux, [...(by.get(linux) ?? []), what]);
  return [...by].map(([linux, what]) => cells(what.join('; '), linux));
}

const credits: readonly string[] = [
  '## End-to-end credits',
  '',
  'A fast sender overruns a slow receiver: each SEND that finds no receive work request costs an RNR NAK, a wait and a retransmission. With end-to-end credits (InfiniBand volume 1, 9.7.7.2) the ACKs of a queue pair with its own receive queue say how many receive work requests are posted beyond those that the messages counted by the MSN have taken. The 5-bit code stands for 0, 1, 2, 3, 4, 6, 8, 12, 16 … 32768, rounded down. The requester sends SENDs and RDMA WRITEs with immediate with an SSN up to MSN + credits. RDMA WRITEs without immediate, READs and atomics are not limited.',
  '',
  '```ts',
  'connectQueuePair(queuePair, own, peer, { endToEndCredits: true });',
  '```',
  '',
  'Both sides should ask for it. If one does not, its ACKs have the code 11111b, and the other is limited only until the first of them; so it is with a shared receive queue. `queuePair.query().endToEndCredits` tells whether it is on. The default is off: the driver then rings no doorbell for receives.',
  '',
  '- The device does not read host memory for an ACK. It counts up to its copy of the tail of the receive queue, which it updates when it fetches descriptors and when the driver rings the receive doorbell. With end-to-end credits the driver rings it for each call of `postReceive`. A program that does not ring it gives a lower bound.',
  '- The first message goes without credits, to ask. At the limit, a message that needs credits is handed back to the send queue and holds no execution credit; `hca why` says that the peer has not granted credit for the message. ACKs bring more credits.',
  '- When receives are posted and the peer has used up its credits, the responder sends an unsolicited ACK. It may be lost. A requester with nothing outstanding therefore waits as long as its local ACK timeout, then sends one message to ask. If that finds no receive, the RNR NAK is handled as ever.',
  '',
  'A sender with 128 SENDs posted, and a receiver with 4 receives (two CPUs under load):',
  '',
  '```',
  '$ hca bw send -n 200 --warmup 0 -s 64 -r 4',
  '…',
  '#bytes      #iterations  BW peak[MB/sec]  BW average[MB/sec]  MsgRate[Mpps]',
  '64          200          0.11             0.11                0.001759',
  '$ hca bw send -n 200 --warmup 0 -s 64 -r 4 --end-to-end-credits',
  '…',
  '64          200          0.71             0.71                0.011582',
  '```',
  '',
  '`npx vitest run test/verbs/end_to_end_credits` counts the RNR NAKs of such a pair: none with credits, more than one for every second message without.',
  '',
];

/** docs/transport-conformance.md */
export function conformanceDocument(): string {
  const table = sections.map((section) =>
    cells(
      section.role,
      section.subject,
      section.rows.length,
      new Set(section.rows.map(({ clause }) => clause)).size,
    ),
  );
  const different = sections
    .filter(({ rows }) => rows.some(({ linux }) => linux !== undefined))
    .flatMap((section) => [
      `### ${section.role}: ${section.subject}`,
      '',
      cells('packets', 'rdma_rxe'),
      cells('---', '---'),
      ...differences(section),
      '',
    ]);
  return `${[
    '# Transport conformance',
    '',
    'The table [test/conformance](../test/conformance/sections.ts) defines how a queue pair answers the packets of its peer. A row has the clause of the InfiniBand Architecture Specification (volume 1), the initial state, the packets in, the packets out, and the resulting completions, memory and state. `npx vitest run test/conformance` runs each row on an emulated board through the verbs, twice: from PSN 201, and across the wrap of the PSNs. The test acts as the peer; it builds and parses packets with its own code.',
    '',
    '`npx vitest run test/conformance -u` regenerates this page from the table.',
    '',
    cells('role', 'subject', 'rows', 'clauses'),
    cells('---', '---', '---', '---'),
    ...table,
    '',
    `Together ${count(sections)} rows: ${count(sections.filter(({ role }) => role === 'responder'))} of responders, ${count(sections.filter(({ role }) => role === 'requester'))} of requesters.`,
    '',
    '## How to read a row',
    '',
    '`send_first @0 bytes=256` is a packet by its opcode; its PSN is counted from the first PSN of the connection. `ack`, `nak=invalid` and `rnr=12` are syndromes of an AETH, `msn` is its message sequence number. `to` and `at` name a key and an offset in its memory, `from` the offset of the payload. A row without an answer expects none. Memory that a row does not name must be unchanged.',
    '',
    '## Choices that the specification leaves open',
    '',
    '- The responder answers a duplicate READ that requests a part of the original range with the same R_Key. It drops any other duplicate READ, a duplicate of a READ or atomic older than its responder resources, and a duplicate at the PSN of another operation. In these cases the peer never sent the request, or it already has the answer.',
    '- An ACK at the PSN of a READ is an implied NAK of the READ, not a bad response. A responder acknowledges a duplicate SEND up to the newest PSN, which may belong to a READ whose responses were lost.',
    '- A response with a reserved syndrome, or with NAK code 4 (reliable datagram) on another service, is a bad response. So is a READ response or atomic response whose AETH is not an ACK: a responder sends a NAK in an acknowledge packet.',
    '- After a READ is resumed in the middle, its first response is a first or only packet. The requester also accepts a late middle or last packet of the earlier request.',
    '- A receive that is too small for a message of an unreliable service completes with a local length error (class E), even if it is not from a shared queue.',
    '- Without end-to-end credits, the default, an ACK has the credit count 11111b, and the requester ignores that of its peer.',
    '- At the limit of its credits a requester with nothing outstanding waits for an unsolicited ACK as long as the local ACK timeout, then sends one whole message to ask.',
    '',
    ...credits,
    '## The local ACK timeout of a path',
    '',
    "A requester with a short local ACK timeout repeats packets that are not lost; with a long one it notices a loss late. With `packetLifetime`, `connectQueuePair` sets the shortest timeout that covers a packet's way to the peer and back and the work of the peer (InfiniBand volume 1, 9.7.6.1.3): 4.096 µs × 2^timeout ≥ 2 × packet lifetime + target ACK delay. The device reports its target ACK delay (`local_ca_ack_delay` of `ibv_query_device`), and `addressOf()` tells it to the peer. Both are exponents of 4.096 µs, as in a path record. A loss is detected between one and four times the timeout.",
    '',
    '```',
    '$ hca info -v | grep ack_delay',
    'local_ca_ack_delay:                15',
    '$ node -e "import(\'fpga-verbs/connect\').then((c) => console.log(c.localAckTimeout({ packetLifetime: 2, targetAckDelay: 15 })))"',
    '16',
    '```',
    '',
    '```ts',
    'connectQueuePair(queuePair, own, peer, { packetLifetime: 2 });',
    '```',
    '',
    "Without `packetLifetime` the timeout is 14, 67 ms, as in the programs of rdma-core. An emulated board's delay is 134 ms, because its thread may wait for a CPU.",
    '',
    '## UDP links and the identification of IPv4 headers',
    '',
    'The ICRC of RoCEv2 covers the IPv4 header except type of service, time to live and header checksum (annex A17.3.3). It therefore covers the identification and the flags, which a UDP socket does not report. Boards send identification 0 and "do not fragment". RFC 6864 allows any identification with that flag, and Linux\' rdma_rxe increments it.',
    '',
    'A UDP link (`link=udp:ADDRESS`) derives the identification from the ICRC. A CRC is linear: the difference between the ICRC of the packet and the ICRC with identification 0 gives those 16 bits, or shows that other bits differ too. For such a packet the check has a strength of 16 bits, and still detects every single-bit error. After eight packets in a row with identification 0, the link assumes that the peer always sends 0. It then checks all 32 bits of that peer\'s packets, and tests one packet in 16 for another identification. A peer that starts to count loses at most 16 packets. The link accepts a peer that does not set "do not fragment" from its second such packet on.',
    '',
    'If this is too weak, use an Ethernet link (`link=ethernet:PATH,PATH`) or IPv6: both check the header as received.',
    '',
    "## Differences of Linux' rdma_rxe",
    '',
    'These differences come from its source (drivers/infiniband/sw/rxe); no row was run against it. In all cases rdma_rxe acknowledges only requests with the AckReq bit (BTH:A), treats a retry count of 7 as unlimited, and reuses the resource of the oldest READ or atomic when it runs out of resources.',
    '',
    ...different,
  ]
    .join('\n')
    .trimEnd()}\n`;
}
