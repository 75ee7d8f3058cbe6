import { postedSends } from './posted.ts';
import type { Row, Section, Step } from './table.ts';

const setup = { credits: true };
const sendOnly = (number: number): string =>
  `send_only @${number} bytes=10 from=local+${number * 1024} ack-request`;

/** SENDs of one packet, of which the first asks for credits and the others wait. */
const held = (count: number): Step => ({ ...postedSends(count), out: [sendOnly(0)] });

/** The first of three SENDs is acknowledged without credits: the second waits. */
const withoutCredits: readonly Step[] = [
  held(3),
  { in: ['acknowledge @0 syndrome=0 msn=1'], sent: ['0 success'] },
];

const requesterRows: readonly Row[] = [
  {
    clause: '9.7.7.2',
    what: 'the first SEND asks for credits; the others go when they come',
    steps: [
      held(3),
      { in: ['acknowledge @0 syndrome=2 msn=1'], sent: ['0 success'], out: [sendOnly(1), sendOnly(2)] },
      { in: ['acknowledge @2 syndrome=0 msn=3'], sent: ['1 success', '2 success'] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'SENDs go up to the limit, MSN + credits, and not beyond it',
    steps: [
      held(4),
      { in: ['acknowledge @0 syndrome=1 msn=1'], sent: ['0 success'], out: [sendOnly(1)] },
      { in: ['acknowledge @1 syndrome=1 msn=2'], sent: ['1 success'], out: [sendOnly(2)] },
      { in: ['acknowledge @2 ack msn=3'], sent: ['2 success'], out: [sendOnly(3)] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'an ACK with a count that was rounded down takes no credits back',
    steps: [
      held(9),
      {
        in: ['acknowledge @0 syndrome=6 msn=1'],
        sent: ['0 success'],
        out: [1, 2, 3, 4, 5, 6, 7, 8].map(sendOnly),
      },
      { in: ['acknowledge @4 syndrome=0 msn=5'], sent: ['1 success', '2 success', '3 success', '4 success'] },
      { wait: 'timeout', out: [5, 6, 7, 8].map(sendOnly) },
    ],
  },
  {
    clause: '9.7.5.2.4',
    what: 'an ACK without a credit count (11111b) ends the limit',
    steps: [
      held(4),
      {
        in: ['acknowledge @0 ack msn=1'],
        sent: ['0 success'],
        out: [sendOnly(1), sendOnly(2), sendOnly(3)],
      },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'after ACKs without a count one with a count limits again, from its MSN on',
    steps: [
      held(1),
      { in: ['acknowledge @0 syndrome=10 msn=1'], sent: ['0 success'] },
      { post: ['send bytes=10'], out: [sendOnly(1)] },
      { in: ['acknowledge @1 ack msn=2'], sent: ['1 success'] },
      { post: ['send bytes=10'], out: [sendOnly(2)] },
      { in: ['acknowledge @2 syndrome=1 msn=3'], sent: ['2 success'] },
      { post: ['send bytes=10', 'send bytes=10'], out: [sendOnly(3)] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'no credits: nothing is sent before the timer expires',
    steps: [...withoutCredits, { wait: 'nearly timeout' }],
  },
  {
    clause: '9.7.7.2',
    what: 'no credits: when the timer expires, one SEND asks',
    steps: [
      ...withoutCredits,
      { wait: 'timeout', out: [sendOnly(1)] },
      { in: ['acknowledge @1 syndrome=0 msn=2'], sent: ['1 success'] },
      { wait: 'timeout', out: [sendOnly(2)] },
      { in: ['acknowledge @2 syndrome=0 msn=3'], sent: ['2 success'] },
    ],
  },
  {
    clause: '9.7.7.2, 9.7.6.1.3',
    what: 'no credits, and no local ACK timeout: one SEND asks at once',
    setup: { timeout: 0 },
    steps: [
      held(3),
      { in: ['acknowledge @0 syndrome=0 msn=1'], sent: ['0 success'], out: [sendOnly(1)] },
      { in: ['acknowledge @1 syndrome=0 msn=2'], sent: ['1 success'], out: [sendOnly(2)] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'an unsolicited ACK brings credits',
    steps: [
      ...withoutCredits,
      { in: ['acknowledge @0 syndrome=1 msn=1'], out: [sendOnly(1)] },
      { in: ['acknowledge @1 syndrome=1 msn=2'], sent: ['1 success'], out: [sendOnly(2)] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'an unsolicited ACK without a credit count ends the limit',
    steps: [...withoutCredits, { in: ['acknowledge @0 ack msn=1'], out: [sendOnly(1), sendOnly(2)] }],
  },
  {
    clause: '9.7.7.2',
    what: 'credits of an ACK that counts more messages than were sent are ignored',
    steps: [...withoutCredits, { in: ['acknowledge @0 syndrome=2 msn=2'] }],
  },
  {
    clause: '9.7.7.2',
    what: 'credits of an older ACK are ignored',
    steps: [...withoutCredits, { in: ['acknowledge @-1 syndrome=4 msn=0'] }],
  },
  {
    clause: '9.7.7.2, 9.7.5.2.8',
    what: 'the SEND that asks finds no receive: RNR NAK, and again',
    steps: [
      ...withoutCredits,
      { wait: 'timeout', out: [sendOnly(1)] },
      { in: ['acknowledge @1 rnr=12 msn=1'], wait: 'nearly rnr' },
      { wait: 'rnr', out: [sendOnly(1)] },
      { in: ['acknowledge @1 syndrome=1 msn=2'], sent: ['1 success'], out: [sendOnly(2)] },
    ],
  },
  {
    clause: '9.7.6.1.3',
    what: 'the SEND that asks is lost: the transport timer repeats it',
    steps: [
      held(2),
      { wait: 'timeout', out: [sendOnly(0)] },
      { in: ['acknowledge @0 syndrome=1 msn=1'], sent: ['0 success'], out: [sendOnly(1)] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'the ACK with the credits is lost: the repetition brings them',
    steps: [
      held(3),
      { in: ['acknowledge @0 syndrome=1 msn=1'], sent: ['0 success'], out: [sendOnly(1)] },
      { wait: 'timeout', out: [sendOnly(1)] },
      { in: ['acknowledge @1 syndrome=4 msn=2'], sent: ['1 success'], out: [sendOnly(2)] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'RDMA WRITE, READ and atomic need no credits; RDMA WRITE with immediate does',
    steps: [
      { ...postedSends(1) },
      { in: ['acknowledge @0 syndrome=0 msn=1'], sent: ['0 success'] },
      {
        post: [
          'rdma_write',
          'rdma_read bytes=8',
          'fetch_and_add add=1',
          'rdma_write_with_immediate immediate=1',
        ],
        out: [
          'rdma_write_only @1 to=peer at=0 length=0 ack-request',
          'rdma_read_request @2 to=peer at=0 length=8 ack-request',
          'fetch_and_add @3 to=peer at=0 add=1 ack-request',
        ],
      },
      { in: ['acknowledge @1 syndrome=0 msn=2'], sent: ['1 success'] },
      {
        in: ['rdma_read_response_only @2 syndrome=0 msn=3 bytes=8', 'atomic_acknowledge @3 syndrome=1 msn=4'],
        sent: ['2 success', '3 success'],
        out: ['rdma_write_only_with_immediate @4 to=peer at=0 length=0 immediate=16777216 ack-request'],
      },
    ],
    memory: ['local 2048+8=@2', 'local 3072+8=0'],
  },
  {
    clause: '9.7.7.2',
    what: 'messages that need no receive use up SSNs until they are acknowledged',
    steps: [
      held(1),
      { in: ['acknowledge @0 syndrome=1 msn=1'], sent: ['0 success'] },
      {
        post: ['rdma_write', 'send bytes=10'],
        out: ['rdma_write_only @1 to=peer at=0 length=0 ack-request'],
      },
      { in: ['acknowledge @1 syndrome=1 msn=2'], sent: ['1 success'], out: [sendOnly(2)] },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'a message that needs no receive is sent and lost while a SEND waits for credits: it is repeated',
    steps: [
      held(1),
      { in: ['acknowledge @0 syndrome=0 msn=1'], sent: ['0 success'] },
      {
        post: ['rdma_write', 'send bytes=10'],
        out: ['rdma_write_only @1 to=peer at=0 length=0 ack-request'],
      },
      { wait: 'timeout' },
      { wait: 'timeout', out: ['rdma_write_only @1 to=peer at=0 length=0 ack-request'] },
      { in: ['acknowledge @1 syndrome=1 msn=2'], sent: ['1 success'], out: [sendOnly(2)] },
    ],
  },
  {
    clause: '9.7.7.2, 9.7.6.1.3',
    what: 'an unsolicited ACK brings credits while another message is outstanding, whose timer goes on',
    steps: [
      held(1),
      { in: ['acknowledge @0 syndrome=0 msn=1'], sent: ['0 success'] },
      {
        post: ['rdma_write', 'send bytes=10'],
        out: ['rdma_write_only @1 to=peer at=0 length=0 ack-request'],
      },
      { in: ['acknowledge @0 syndrome=2 msn=1'], out: [sendOnly(2)] },
      {
        wait: 'timeout',
        out: ['rdma_write_only @1 to=peer at=0 length=0 ack-request', sendOnly(2)],
      },
    ],
  },
  {
    clause: '9.7.7.2',
    what: 'a reset forgets the limit',
    steps: [
      held(1),
      { in: ['acknowledge @0 syndrome=10 msn=1'], sent: ['0 success'] },
      {
        reconnect: true,
        post: ['send bytes=10', 'send bytes=10'],
        out: ['send_only @0 bytes=10 from=local+1024 ack-request'],
      },
    ],
  },
];

/** A requester that is limited by the credits of its peer. */
export const limitedRequester: Section = {
  subject: 'end-to-end credits',
  role: 'requester',
  rows: requesterRows.map((row) => ({ ...row, setup: { ...setup, ...row.setup } })),
};

const linux = 'gives no credits, and ignores those that it gets';

/** Its ACKs say how many receives are posted. */
export const creditingResponder: Section = {
  subject: 'end-to-end credits',
  role: 'responder',
  rows: [
    {
      clause: '9.7.7.2',
      what: 'an unsolicited ACK tells a peer without credits of receives; an ACK, of those that are left',
      setup,
      steps: [
        { receives: [8, 8, 8], out: ['acknowledge @-1 syndrome=3 msn=0'] },
        { in: ['send_only @0'], out: ['acknowledge @0 syndrome=2 msn=1'], received: ['0 success 0'] },
        { in: ['send_only @1'], out: ['acknowledge @1 syndrome=1 msn=2'], received: ['1 success 0'] },
        { in: ['send_only @2'], out: ['acknowledge @2 syndrome=0 msn=3'], received: ['2 success 0'] },
      ],
      linux,
    },
    {
      clause: '9.7.7.2',
      what: 'while the peer has credits, receives bring no unsolicited ACK, but the next ACK counts them',
      setup,
      steps: [
        { receives: [8, 8], out: ['acknowledge @-1 syndrome=2 msn=0'] },
        { receives: [8, 8] },
        { in: ['send_only @0'], out: ['acknowledge @0 syndrome=3 msn=1'], received: ['0 success 0'] },
      ],
    },
    {
      clause: '9.7.7.2',
      what: 'the credits are used up: receives bring an unsolicited ACK',
      setup,
      steps: [
        { receives: [8], out: ['acknowledge @-1 syndrome=1 msn=0'] },
        { in: ['send_only @0'], out: ['acknowledge @0 syndrome=0 msn=1'], received: ['0 success 0'] },
        { receives: [8], out: ['acknowledge @0 syndrome=1 msn=1'] },
      ],
    },
    {
      clause: '9.7.7.2',
      what: 'credits within a SEND: its own receive is not counted by the MSN yet',
      setup,
      steps: [
        { receives: [300, 8], out: ['acknowledge @-1 syndrome=2 msn=0'] },
        { in: ['send_first @0 bytes=256'], out: ['acknowledge @0 syndrome=2 msn=0'] },
        {
          in: ['send_last @1 bytes=1'],
          out: ['acknowledge @1 syndrome=1 msn=1'],
          received: ['0 success 257'],
        },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+1=@1'],
    },
    {
      clause: '9.7.7.2',
      what: 'RDMA WRITE takes no credit, RDMA WRITE with immediate does',
      setup,
      steps: [
        { receives: [8, 8], out: ['acknowledge @-1 syndrome=2 msn=0'] },
        { in: ['rdma_write_only @0'], out: ['acknowledge @0 syndrome=2 msn=1'] },
        {
          in: ['rdma_write_only_with_immediate @1 immediate=1'],
          out: ['acknowledge @1 syndrome=1 msn=2'],
          received: ['0 success 0 immediate=1'],
        },
      ],
    },
    {
      clause: '9.7.7.2',
      what: 'responses of READs and atomics carry credits',
      setup: { ...setup, word: 7 },
      steps: [
        { receives: [8, 8], out: ['acknowledge @-1 syndrome=2 msn=0'] },
        {
          in: ['rdma_read_request @0 length=8'],
          out: ['rdma_read_response_only @0 syndrome=2 msn=1 bytes=8 from=target+0'],
        },
        {
          in: ['fetch_and_add @1 add=1'],
          out: ['atomic_acknowledge @1 syndrome=2 msn=2 original=7'],
        },
      ],
      memory: ['target 0+8=8'],
    },
    {
      clause: '9.7.5.2.8, 9.7.7.2',
      what: 'after an RNR NAK a receive brings an unsolicited ACK of the request before it',
      setup,
      steps: [
        { receives: [8], out: ['acknowledge @-1 syndrome=1 msn=0'] },
        { in: ['send_only @0'], out: ['acknowledge @0 syndrome=0 msn=1'], received: ['0 success 0'] },
        { in: ['send_only @1'], out: ['acknowledge @1 rnr=12 msn=1'] },
        { receives: [8], out: ['acknowledge @0 syndrome=1 msn=1'] },
        { in: ['send_only @1'], out: ['acknowledge @1 syndrome=0 msn=2'], received: ['1 success 0'] },
      ],
    },
    {
      clause: '9.7.7.2',
      what: 'a duplicate SEND is acknowledged with the credits of now',
      setup,
      steps: [
        { receives: [8, 8], out: ['acknowledge @-1 syndrome=2 msn=0'] },
        { in: ['send_only @0'], out: ['acknowledge @0 syndrome=1 msn=1'], received: ['0 success 0'] },
        { receives: [8] },
        { in: ['send_only @0'], out: ['acknowledge @0 syndrome=2 msn=1'] },
      ],
    },
    {
      clause: '9.7.5.1, 9.7.7.2',
      what: 'credits of coalesced acknowledgements',
      setup: { ...setup, coalescing: true },
      steps: [
        { receives: [8, 8, 8], out: ['acknowledge @-1 syndrome=3 msn=0'] },
        {
          in: ['send_only @0 ack-request', 'send_only @1 ack-request'],
          out: ['acknowledge @1 syndrome=1 msn=2'],
          received: ['0 success 0', '1 success 0'],
        },
      ],
    },
  ],
};
