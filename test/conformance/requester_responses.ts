import { postedAtomic, postedRead, postedSend, postedSends } from './posted.ts';
import type { Row, Section, Step } from './table.ts';

const bad = ['0 bad_response_error'];
const warns = 'also enters ERR, but leaves the status success and logs a kernel warning';

/** Answers that end the oldest work request as a bad response. */
function badResponse(what: string, posted: Step, steps: readonly Step[], row: Partial<Row> = {}): Row {
  const last = steps.length - 1;
  return {
    clause: '9.7.5.1, 9.9.2',
    what,
    steps: [posted, ...steps.map((step, at) => (at === last ? { ...step, sent: bad } : step))],
    state: 'ERR',
    ...row,
  };
}

const firstResponse = 'rdma_read_response_first @0 ack bytes=256';

/** READ responses and answers of atomics to the requester of a reliable connection. */
export const responses: Section = {
  subject: 'READ responses and answers of atomics',
  role: 'requester',
  rows: [
    {
      clause: '9.7.5.1',
      what: 'READ of one response',
      steps: [
        postedRead(100),
        { in: ['rdma_read_response_only @0 ack msn=1 bytes=100'], sent: ['0 success'] },
      ],
      memory: ['local 0+100=@0'],
    },
    {
      clause: '9.7.5.1, 9.7.7.2',
      what: 'READ whose responses have a credit count',
      steps: [
        postedRead(300),
        { in: ['rdma_read_response_first @0 syndrome=5 msn=1 bytes=256'] },
        { in: ['rdma_read_response_last @1 syndrome=0 msn=1 bytes=44'], sent: ['0 success'] },
      ],
      memory: ['local 0+256=@0', 'local 256+44=@1'],
    },
    {
      clause: '9.7.5.1',
      what: 'READ of no bytes',
      steps: [postedRead(0), { in: ['rdma_read_response_only @0 ack msn=1'], sent: ['0 success'] }],
    },
    {
      clause: '9.7.5.1',
      what: 'READ of the path MTU is one response',
      steps: [
        postedRead(256),
        { in: ['rdma_read_response_only @0 ack msn=1 bytes=256'], sent: ['0 success'] },
      ],
      memory: ['local 0+256=@0'],
    },
    {
      clause: '9.7.6.1',
      what: 'duplicate response within a READ: dropped',
      steps: [
        postedRead(300),
        { in: [firstResponse, 'rdma_read_response_first @0 ack bytes=256 data=2'] },
        { in: ['rdma_read_response_last @1 ack msn=1 bytes=44'], sent: ['0 success'] },
      ],
      memory: ['local 0+256=@0', 'local 256+44=@1'],
    },
    {
      clause: '9.7.6.1',
      what: 'late response to a READ that is complete: dropped',
      steps: [
        postedRead(100),
        { in: ['rdma_read_response_only @0 ack msn=1 bytes=100'], sent: ['0 success'] },
        { in: ['rdma_read_response_only @0 ack msn=1 bytes=100 data=2'] },
      ],
      memory: ['local 0+100=@0'],
    },
    {
      clause: '9.7.6.1',
      what: 'late answer of an atomic that is complete: dropped',
      steps: [
        postedAtomic,
        { in: ['atomic_acknowledge @0 ack msn=1 original=41'], sent: ['0 success'] },
        { in: ['atomic_acknowledge @0 ack msn=1 original=42'] },
      ],
      memory: ['local 0+8=41'],
    },
    badResponse(
      'middle packet as the first of two responses',
      postedRead(300),
      [{ in: ['rdma_read_response_middle @0 bytes=256'] }],
      {
        linux: warns,
      },
    ),
    badResponse(
      'middle packet as the first of three responses',
      postedRead(600),
      [{ in: ['rdma_read_response_middle @0 bytes=256'] }],
      {
        linux: warns,
      },
    ),
    badResponse(
      'last packet for a READ of one response',
      postedRead(100),
      [{ in: ['rdma_read_response_last @0 ack bytes=100'] }],
      {
        linux: warns,
      },
    ),
    badResponse(
      'middle packet for a READ of one response',
      postedRead(256),
      [{ in: ['rdma_read_response_middle @0 bytes=256'] }],
      {
        linux: warns,
      },
    ),
    badResponse(
      'first packet for a READ of one response',
      postedRead(256),
      [{ in: ['rdma_read_response_first @0 ack bytes=256'] }],
      {
        linux: 'accepts the bytes and waits for a last packet',
      },
    ),
    badResponse(
      'last packet as the first of two responses',
      postedRead(300),
      [{ in: ['rdma_read_response_last @0 ack bytes=256'] }],
      {
        linux: warns,
      },
    ),
    badResponse(
      'only packet as the first of two responses',
      postedRead(300),
      [{ in: ['rdma_read_response_only @0 ack bytes=256'] }],
      {
        linux: 'accepts it and starts over with the next',
      },
    ),
    badResponse(
      'first packet as the second of three responses',
      postedRead(600),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_first @1 ack bytes=256'] }],
      { memory: ['local 0+256=@0'], linux: warns },
    ),
    badResponse(
      'only packet as the last of two responses',
      postedRead(300),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_only @1 ack bytes=44'] }],
      { memory: ['local 0+256=@0'], linux: warns },
    ),
    badResponse(
      'last packet as the second of three responses',
      postedRead(600),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_last @1 ack bytes=256'] }],
      { memory: ['local 0+256=@0'], linux: 'accepts the bytes and starts over with the next' },
    ),
    badResponse(
      'middle packet as the last of two responses',
      postedRead(512),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_middle @1 bytes=256'] }],
      { memory: ['local 0+256=@0'], linux: 'accepts the bytes and waits for a last packet' },
    ),
    ...['only', 'first'].flatMap((position) =>
      [
        'nak=sequence',
        'nak=invalid',
        'nak=access',
        'nak=operational',
        'rnr=12',
        'syndrome=64',
        'syndrome=159',
      ].map((aeth) =>
        badResponse(
          `READ response ${position} whose AETH has ${aeth}`,
          postedRead(position === 'only' ? 256 : 300),
          [{ in: [`rdma_read_response_${position} @0 ${aeth} bytes=256`] }],
          { clause: '9.7.5.2', linux: warns },
        ),
      ),
    ),
    badResponse(
      'READ response last whose AETH has nak=access',
      postedRead(300),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_last @1 nak=access bytes=44'] }],
      { clause: '9.7.5.2', memory: ['local 0+256=@0'], linux: warns },
    ),
    ...['nak=sequence', 'nak=access', 'nak=operational', 'rnr=12', 'syndrome=64', 'syndrome=159'].map(
      (aeth) =>
        badResponse(
          `answer of an atomic whose AETH has ${aeth}`,
          postedAtomic,
          [{ in: [`atomic_acknowledge @0 ${aeth} original=1`] }],
          { clause: '9.7.5.2', linux: warns },
        ),
    ),
    badResponse(
      'READ response first that does not fill the path MTU',
      postedRead(300),
      [{ in: ['rdma_read_response_first @0 ack bytes=252'] }],
      { linux: 'accepts it' },
    ),
    badResponse(
      'READ response first beyond the path MTU',
      postedRead(600),
      [{ in: ['rdma_read_response_first @0 ack bytes=260'] }],
      { linux: 'accepts it' },
    ),
    badResponse(
      'READ response only of fewer bytes',
      postedRead(100),
      [{ in: ['rdma_read_response_only @0 ack bytes=99'] }],
      { linux: 'accepts it and waits for the rest' },
    ),
    badResponse(
      'READ response only of more bytes',
      postedRead(100),
      [{ in: ['rdma_read_response_only @0 ack bytes=101'] }],
      { linux: 'fails with a local protection error' },
    ),
    badResponse(
      'READ response only of no bytes',
      postedRead(100),
      [{ in: ['rdma_read_response_only @0 ack'] }],
      { linux: 'accepts it and waits for the rest' },
    ),
    badResponse(
      'READ response last of fewer bytes',
      postedRead(300),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_last @1 ack bytes=43'] }],
      { memory: ['local 0+256=@0'], linux: 'accepts it and waits for the rest' },
    ),
    badResponse(
      'READ response last of more bytes',
      postedRead(300),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_last @1 ack bytes=45'] }],
      { memory: ['local 0+256=@0'], linux: 'fails with a local protection error' },
    ),
    badResponse(
      'READ response middle that does not fill the path MTU',
      postedRead(600),
      [{ in: [firstResponse] }, { in: ['rdma_read_response_middle @1 bytes=252'] }],
      { memory: ['local 0+256=@0'], linux: 'accepts it' },
    ),
    badResponse(
      'answer of an atomic to a READ',
      postedRead(8),
      [{ in: ['atomic_acknowledge @0 ack original=1'] }],
      { linux: warns },
    ),
    badResponse(
      'answer of an atomic to a READ of no bytes',
      postedRead(0),
      [{ in: ['atomic_acknowledge @0 ack original=1'] }],
      { linux: warns },
    ),
    badResponse(
      'READ response of no bytes to an atomic',
      postedAtomic,
      [{ in: ['rdma_read_response_only @0 ack'] }],
      { linux: 'completes it with a fatal error' },
    ),
    badResponse(
      'READ response to an atomic',
      postedAtomic,
      [{ in: ['rdma_read_response_only @0 ack bytes=8'] }],
      { linux: 'completes it with a fatal error' },
    ),
    badResponse(
      'READ response to a SEND',
      postedSends(1),
      [{ in: ['rdma_read_response_only @0 ack bytes=8'] }],
      { linux: 'completes it with a fatal error' },
    ),
    badResponse(
      'READ response to a middle of a SEND',
      postedSend,
      [{ in: ['rdma_read_response_middle @1 bytes=256'] }],
      { linux: warns },
    ),
    badResponse(
      'answer of an atomic to an RDMA WRITE',
      {
        post: ['rdma_write bytes=4'],
        out: ['rdma_write_only @0 to=peer at=0 length=4 bytes=4 from=local+0 ack-request'],
      },
      [{ in: ['atomic_acknowledge @0 ack original=1'] }],
      { linux: warns },
    ),
    badResponse(
      'a bad response: earlier work requests succeed, later ones are flushed',
      {
        post: ['send bytes=8', 'rdma_read bytes=8', 'send bytes=8'],
        out: [
          'send_only @0 bytes=8 from=local+0 ack-request',
          'rdma_read_request @1 to=peer at=0 length=8 ack-request',
          'send_only @2 bytes=8 from=local+2048 ack-request',
        ],
      },
      [],
      {
        steps: [
          {
            post: ['send bytes=8', 'rdma_read bytes=8', 'send bytes=8'],
            out: [
              'send_only @0 bytes=8 from=local+0 ack-request',
              'rdma_read_request @1 to=peer at=0 length=8 ack-request',
              'send_only @2 bytes=8 from=local+2048 ack-request',
            ],
          },
          {
            in: ['rdma_read_response_first @1 ack bytes=8'],
            sent: ['0 success', '1 bad_response_error', '2 work_request_flushed_error'],
          },
        ],
        linux: 'accepts the bytes and waits for a last packet',
      },
    ),
  ],
};
