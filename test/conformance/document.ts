import { sections } from './sections.ts';
import type { Section } from './table.ts';

const count = (parts: readonly Section[]): number => parts.reduce((sum, { rows }) => sum + rows.length, 0);

const cells = (...words: readonly (string | number)[]): string => `| ${words.join(' | ')} |`;

/** The rows of which rdma_rxe does something else, one line for those that differ in the same. */
function differences({ rows }: Section): string[] {
  const by = new Map<string, string[]>();
  for (const { linux, what } of rows)
    if (linux !== undefined) by.set(linux, [...(by.get(linux) ?? []), what]);
  return [...by].map(([linux, what]) => cells(what.join('; '), linux));
}

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
    'A table of data, [test/conformance](../test/conformance/sections.ts), tells the answer of a queue pair to the packets of its peer. A row has the clause of the InfiniBand Architecture Specification (volume 1), the state before, the packets in, the packets out, and the completions, the memory and the state after. `npx vitest run test/conformance` plays each row on an emulated board through the verbs, twice: from PSN 201, and where the PSNs begin again. The test plays the peer, and makes and reads its packets with code of its own.',
    '',
    '`npx vitest run test/conformance -u` writes this page anew from the table.',
    '',
    cells('role', 'subject', 'rows', 'clauses'),
    cells('---', '---', '---', '---'),
    ...table,
    '',
    `Together ${count(sections)} rows: ${count(sections.filter(({ role }) => role === 'responder'))} of responders, ${count(sections.filter(({ role }) => role === 'requester'))} of requesters.`,
    '',
    '## How to read a row',
    '',
    '`send_first @0 bytes=256` is a packet by its opcode; its PSN is counted from the first PSN of the connection. `ack`, `nak=invalid` and `rnr=12` are syndromes of an AETH, `msn` is its message sequence number. `to` and `at` name a key and an offset in its memory, `from` where the payload lies. A row that names no answer has none, and memory that it does not name is unchanged.',
    '',
    '## Where the specification leaves a choice',
    '',
    '- A duplicate READ is answered if it asks for a part of what was asked for at its PSN, by the same R_Key. Otherwise it is dropped, as is a duplicate of a READ or atomic that is older than the responder has resources for, and one at the PSN of another operation: the peer either has never asked for it, or has the answer.',
    '- An ACK at the PSN of a READ is an implied NAK of the READ, not a bad response: a responder acknowledges a duplicate SEND up to the newest PSN, which may be that of a READ whose responses were lost.',
    '- A response with a reserved syndrome, or with NAK code 4 (reliable datagram) on another service, is a bad response. So are a READ response and an answer of an atomic whose AETH is not an ACK: a responder says NAK in an acknowledge packet.',
    '- Of a READ that was sent again from the middle, the first response is a first or only one; a late middle or last of the request before it is taken too.',
    '- A receive that is too small for a message of an unreliable service completes with a local length error (class E), also when it is not from a shared queue.',
    '- The requester counts no end-to-end credits: any credit count of an ACK is taken for none.',
    '',
    '## UDP links and the identification of IPv4 headers',
    '',
    'The ICRC of RoCEv2 covers the IPv4 header but for type of service, time to live and header checksum (annex A17.3.3): the identification and the flags are covered. A UDP socket tells neither. Boards send identification 0 and "do not fragment"; RFC 6864 allows any identification with that flag, and Linux\' rdma_rxe counts.',
    '',
    'A UDP link (`link=udp:ADDRESS`) finds the identification from the ICRC. A CRC is linear: the difference between the ICRC of the packet and the ICRC with identification 0 leads back to those 16 bits, or shows that other bits differ too. The check of such a packet is then 16 bits strong, and still finds every error of a single bit. The link believes that a peer which has sent 0 eight times in a row sends nothing else. It checks the packets of that peer with all 32 bits, and looks at one in 16 for another identification; a peer that begins to count loses at most 16 packets. A peer that does not set "do not fragment" is believed from its second such packet on.',
    '',
    'Where that is too little, use a link of Ethernet frames (`link=ethernet:PATH,PATH`) or IPv6: both check the header as it came.',
    '',
    "## What Linux' rdma_rxe does otherwise",
    '',
    'By its source (drivers/infiniband/sw/rxe); it was not run against these rows. Everywhere it acknowledges only requests that ask for it (BTH:A), takes a retry count of 7 for ever, and reuses the resource of the oldest READ or atomic when more come than it has.',
    '',
    ...different,
  ]
    .join('\n')
    .trimEnd()}\n`;
}
