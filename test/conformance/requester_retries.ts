import { postedRead, postedSend, postedSends } from './posted.ts';
import type { Section, Step } from './table.ts';

const firstResponse = 'rdma_read_response_first @0 ack bytes=256';
const resent: readonly string[] = [...postedSend.out!];

/**
 * A READ of 600 bytes whose first response has arrived, and which the requester has repeated from the second
 * response on.
 */
const interrupted: readonly Step[] = [
  postedRead(600),
  { in: [firstResponse] },
  { wait: 'timeout', out: ['rdma_read_request @1 to=peer at=256 length=344 ack-request'] },
];

const sendReadSend: Step = {
  post: ['send bytes=8', 'rdma_read bytes=300', 'send bytes=8'],
  out: [
    'send_only @0 bytes=8 from=local+0 ack-request',
    'rdma_read_request @1 to=peer at=0 length=300 ack-request',
    'send_only @3 bytes=8 from=local+2048 ack-request',
  ],
};
const readSend = sendReadSend.out!.slice(1);

/** The requester of a reliable connection misses an answer, or an answer reports a missing request. */
export const retries: Section = {
  subject: 'gaps, time-outs and retries',
  role: 'requester',
  rows: [
    {
      clause: '9.7.5.2.8, 9.7.6',
      what: 'NAK of PSN sequence error: retransmitted from that PSN on',
      steps: [
        postedSend,
        { in: ['acknowledge @1 nak=sequence'], out: resent.slice(1) },
        { in: ['acknowledge @2 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.5.2.8, 9.7.6',
      what: 'NAK of PSN sequence error acknowledges the requests before it',
      steps: [
        postedSends(3),
        {
          in: ['acknowledge @1 nak=sequence msn=1'],
          sent: ['0 success'],
          out: postedSends(3).out!.slice(1),
        },
        { in: ['acknowledge @2 ack msn=3'], sent: ['1 success', '2 success'] },
      ],
    },
    {
      clause: '9.7.6',
      what: 'a repeated NAK causes no second retransmission',
      steps: [
        postedSend,
        { in: ['acknowledge @1 nak=sequence'], out: resent.slice(1) },
        { in: ['acknowledge @1 nak=sequence'] },
        { in: ['acknowledge @2 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.5.1, 9.7.6',
      what: 'an ACK beyond a READ is an implied NAK of it',
      steps: [
        sendReadSend,
        { in: ['acknowledge @3 ack msn=3'], sent: ['0 success'], out: readSend },
        {
          in: [
            'rdma_read_response_first @1 ack msn=2 bytes=256',
            'rdma_read_response_last @2 ack msn=2 bytes=44',
          ],
          sent: ['1 success'],
        },
        { in: ['acknowledge @3 ack msn=3'], sent: ['2 success'] },
      ],
      memory: ['local 1024+256=@1', 'local 1280+44=@2'],
    },
    {
      clause: '9.7.5.1, 9.7.6',
      what: 'an ACK of the PSN of a READ is an implied NAK of it: a duplicate SEND is acknowledged up to there',
      steps: [
        sendReadSend,
        { in: ['acknowledge @2 ack msn=2'], sent: ['0 success'], out: readSend },
        {
          in: [
            'rdma_read_response_first @1 ack msn=2 bytes=256',
            'rdma_read_response_last @2 ack msn=2 bytes=44',
          ],
          sent: ['1 success'],
        },
        { in: ['acknowledge @3 ack msn=3'], sent: ['2 success'] },
      ],
      memory: ['local 1024+256=@1', 'local 1280+44=@2'],
      linux: 'drops it; for a READ of one response, treats it as the answer, without data',
    },
    {
      clause: '9.7.5.1, 9.7.6',
      what: 'a NAK beyond a READ is an implied NAK of it',
      steps: [
        sendReadSend,
        { in: ['acknowledge @3 nak=access msn=2'], sent: ['0 success'], out: readSend },
        {
          in: [
            'rdma_read_response_first @1 ack msn=2 bytes=256',
            'rdma_read_response_last @2 ack msn=2 bytes=44',
          ],
          sent: ['1 success'],
        },
        { in: ['acknowledge @3 nak=access msn=2'], sent: ['2 remote_access_error'] },
      ],
      state: 'ERR',
      memory: ['local 1024+256=@1', 'local 1280+44=@2'],
    },
    {
      clause: '9.7.5.1, 9.7.6',
      what: 'the answer of a later atomic is an implied NAK of the missing one',
      steps: [
        {
          post: ['fetch_and_add add=1', 'fetch_and_add at=8 add=2'],
          out: [
            'fetch_and_add @0 to=peer at=0 add=1 ack-request',
            'fetch_and_add @1 to=peer at=8 add=2 ack-request',
          ],
        },
        {
          in: ['atomic_acknowledge @1 ack msn=2 original=7'],
          out: [
            'fetch_and_add @0 to=peer at=0 add=1 ack-request',
            'fetch_and_add @1 to=peer at=8 add=2 ack-request',
          ],
        },
        {
          in: ['atomic_acknowledge @0 ack msn=2 original=6', 'atomic_acknowledge @1 ack msn=2 original=7'],
          sent: ['0 success', '1 success'],
        },
      ],
      memory: ['local 0+8=6', 'local 1024+8=7'],
    },
    {
      clause: '9.7.5.1, 9.7.6',
      what: 'a READ response after a missing one: the READ resumes at the missing one',
      steps: [
        postedRead(600),
        {
          in: [firstResponse, 'rdma_read_response_last @2 ack msn=1 bytes=88'],
          out: ['rdma_read_request @1 to=peer at=256 length=344 ack-request'],
        },
        {
          in: [
            'rdma_read_response_first @1 ack msn=1 bytes=256',
            'rdma_read_response_last @2 ack msn=1 bytes=88',
          ],
          sent: ['0 success'],
        },
      ],
      memory: ['local 0+256=@0', 'local 256+256=@1', 'local 512+88=@2'],
      linux: 'drops it and waits for the timeout',
    },
    {
      clause: '9.7.6',
      what: 'the first response of a READ is missing: the whole READ is retransmitted',
      steps: [
        postedRead(600),
        { in: ['rdma_read_response_middle @1 bytes=256'], out: postedRead(600).out! },
        {
          in: [
            firstResponse,
            'rdma_read_response_middle @1 bytes=256',
            'rdma_read_response_last @2 ack msn=1 bytes=88',
          ],
          sent: ['0 success'],
        },
      ],
      memory: ['local 0+256=@0', 'local 256+256=@1', 'local 512+88=@2'],
      linux: 'drops it and waits for the timeout',
    },
    {
      clause: '9.7.6',
      what: 'a resumed READ is answered from its first response again',
      steps: [
        ...interrupted,
        {
          in: ['rdma_read_response_first @1 ack bytes=256', 'rdma_read_response_last @2 ack bytes=88'],
          sent: ['0 success'],
        },
      ],
      memory: ['local 0+256=@0', 'local 256+256=@1', 'local 512+88=@2'],
    },
    {
      clause: '9.7.6',
      what: 'a resumed READ accepts late responses of the interrupted one',
      steps: [
        ...interrupted,
        {
          in: ['rdma_read_response_middle @1 bytes=256', 'rdma_read_response_last @2 ack bytes=88'],
          sent: ['0 success'],
        },
        {
          in: [
            'rdma_read_response_first @1 ack bytes=256 data=2',
            'rdma_read_response_last @2 ack bytes=88 data=2',
          ],
        },
      ],
      memory: ['local 0+256=@0', 'local 256+256=@1', 'local 512+88=@2'],
    },
    {
      clause: '9.7.6',
      what: 'a READ resumed at its last response is answered with an only packet',
      steps: [
        postedRead(300),
        { in: [firstResponse] },
        { wait: 'timeout', out: ['rdma_read_request @1 to=peer at=256 length=44 ack-request'] },
        { in: ['rdma_read_response_only @1 ack bytes=44'], sent: ['0 success'] },
      ],
      memory: ['local 0+256=@0', 'local 256+44=@1'],
    },
    {
      clause: '9.7.6',
      what: 'a resumed READ gets a first packet after the one that it resumed at',
      steps: [
        ...interrupted,
        { in: ['rdma_read_response_first @1 ack bytes=256'] },
        { in: ['rdma_read_response_only @2 ack bytes=88'], sent: ['0 bad_response_error'] },
      ],
      state: 'ERR',
      memory: ['local 0+256=@0', 'local 256+256=@1'],
      linux: 'also enters ERR, but leaves the status success and logs a kernel warning',
    },
    {
      clause: '9.7.6.1.3',
      what: 'no answer within the timeout: everything is retransmitted',
      steps: [
        postedSend,
        { wait: 'nearly timeout' },
        { wait: 'timeout', out: resent },
        { in: ['acknowledge @2 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.6.1.3',
      what: 'no answer within the timeout: retransmitted from the first unacknowledged packet',
      steps: [
        postedSend,
        { in: ['acknowledge @0 ack'] },
        { wait: 'timeout', out: resent.slice(1) },
        { in: ['acknowledge @2 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.6.1.3',
      what: 'each acknowledgement restarts the timer',
      steps: [
        postedSend,
        { wait: 'nearly timeout' },
        { in: ['acknowledge @0 ack'], wait: 'nearly timeout' },
        { in: ['acknowledge @2 ack msn=1'], sent: ['0 success'] },
        { wait: 'timeout' },
      ],
    },
    {
      clause: '9.7.6.1.3, 9.9.2',
      what: 'retries are exhausted',
      setup: { retries: 2 },
      steps: [
        postedSends(2),
        { wait: 'timeout', out: postedSends(2).out! },
        { wait: 'timeout', out: postedSends(2).out! },
        { wait: 'timeout', sent: ['0 retry_exceeded_error', '1 work_request_flushed_error'] },
      ],
      state: 'ERR',
    },
    {
      clause: '9.7.6.1.3',
      what: 'no retries',
      setup: { retries: 0 },
      steps: [postedSends(1), { wait: 'timeout', sent: ['0 retry_exceeded_error'] }],
      state: 'ERR',
    },
    {
      clause: '9.7.6.1.3',
      what: 'no retries: a NAK of PSN sequence error exhausts them',
      setup: { retries: 0 },
      steps: [postedSends(1), { in: ['acknowledge @0 nak=sequence'], sent: ['0 retry_exceeded_error'] }],
      state: 'ERR',
    },
    {
      clause: '9.7.6',
      what: 'no retries: an implied NAK of a READ exhausts them',
      setup: { retries: 0 },
      steps: [
        sendReadSend,
        {
          in: ['acknowledge @3 ack msn=3'],
          sent: ['0 success', '1 retry_exceeded_error', '2 work_request_flushed_error'],
        },
      ],
      state: 'ERR',
    },
    {
      clause: '9.7.6.1.3',
      what: 'an acknowledgement restores all retries',
      setup: { retries: 1 },
      steps: [
        postedSends(2),
        { wait: 'timeout', out: postedSends(2).out! },
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
        { wait: 'timeout', out: postedSends(2).out!.slice(1) },
        { wait: 'timeout', sent: ['1 retry_exceeded_error'] },
      ],
      state: 'ERR',
    },
    {
      clause: '9.7.6.1.3',
      what: 'a duplicate acknowledgement restores no retries',
      setup: { retries: 1 },
      steps: [
        postedSends(2),
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
        { wait: 'timeout', out: postedSends(2).out!.slice(1) },
        { in: ['acknowledge @0 ack msn=1', 'acknowledge @0 nak=sequence'] },
        { wait: 'timeout', sent: ['1 retry_exceeded_error'] },
      ],
      state: 'ERR',
    },
    {
      clause: '9.7.6.1.3',
      what: 'an ACK after the timeout completes the work request',
      steps: [
        postedSends(1),
        { wait: 'timeout', out: postedSends(1).out! },
        { in: ['acknowledge @0 ack msn=1', 'acknowledge @0 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.5.2.8',
      what: 'RNR NAK: retransmitted after its delay',
      steps: [
        postedSends(1),
        { in: ['acknowledge @0 rnr=12'] },
        { wait: 'nearly rnr' },
        { wait: 'rnr', out: postedSends(1).out! },
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.5.2.8',
      what: 'RNR NAK acknowledges the requests before it',
      steps: [
        postedSends(3),
        { in: ['acknowledge @1 rnr=12 msn=1'], sent: ['0 success'] },
        { wait: 'rnr', out: postedSends(3).out!.slice(1) },
        { in: ['acknowledge @2 ack msn=3'], sent: ['1 success', '2 success'] },
      ],
    },
    {
      clause: '9.7.5.2.8',
      what: 'an answer during the delay of an RNR NAK: dropped',
      steps: [
        postedSends(2),
        { in: ['acknowledge @0 rnr=12'] },
        { in: ['acknowledge @0 rnr=12', 'acknowledge @0 nak=sequence'] },
        { wait: 'rnr', out: postedSends(2).out! },
        { in: ['acknowledge @1 ack msn=2'], sent: ['0 success', '1 success'] },
      ],
      linux: 'keeps it until it has retransmitted',
    },
    {
      clause: '9.7.5.2.8, 9.9.2',
      what: 'RNR retries are exhausted',
      setup: { rnrRetries: 1 },
      steps: [
        postedSends(2),
        { in: ['acknowledge @0 rnr=12'] },
        { wait: 'rnr', out: postedSends(2).out! },
        {
          in: ['acknowledge @0 rnr=12'],
          sent: ['0 receiver_not_ready_retry_exceeded_error', '1 work_request_flushed_error'],
        },
      ],
      state: 'ERR',
    },
    {
      clause: '9.7.5.2.8',
      what: 'an acknowledgement restores the RNR retries',
      setup: { rnrRetries: 1 },
      steps: [
        postedSends(2),
        { in: ['acknowledge @0 rnr=12'] },
        { wait: 'rnr', out: postedSends(2).out! },
        { in: ['acknowledge @1 rnr=12 msn=1'], sent: ['0 success'] },
        { wait: 'rnr', out: postedSends(2).out!.slice(1) },
        { in: ['acknowledge @1 ack msn=2'], sent: ['1 success'] },
      ],
    },
    {
      clause: '9.7.5.2.8',
      what: 'an RNR retry count of 7 means unlimited retries',
      steps: [
        postedSends(1),
        ...Array.from({ length: 9 }, (): Step[] => [
          { in: ['acknowledge @0 rnr=12'] },
          { wait: 'rnr', out: postedSends(1).out! },
        ]).flat(),
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.5.2.8',
      what: 'RNR NAK of a READ',
      steps: [
        postedRead(8),
        { in: ['acknowledge @0 rnr=12'] },
        { wait: 'rnr', out: postedRead(8).out! },
        { in: ['rdma_read_response_only @0 ack msn=1 bytes=8'], sent: ['0 success'] },
      ],
      memory: ['local 0+8=@0'],
    },
  ],
};
