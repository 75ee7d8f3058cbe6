import { postedRead, postedSend, postedSends } from './posted.ts';
import type { Row, Section } from './table.ts';

const firstResponse = 'rdma_read_response_first @0 ack bytes=256';

/** A NAK that cannot be retried, of the second of three. */
function failing(nak: string, status: string, row: Partial<Row> = {}): Row {
  return {
    clause: '9.7.5.2.8, 9.9.2',
    what: `NAK that is not retried: ${nak}`,
    steps: [
      postedSends(3),
      {
        in: [`acknowledge @1 ${nak} msn=1`],
        sent: ['0 success', `1 ${status}`, '2 work_request_flushed_error'],
      },
      { post: ['send bytes=8'], sent: ['3 work_request_flushed_error'] },
    ],
    state: 'ERR',
    ...row,
  };
}

const operational = { linux: 'remote operation error' };
const warns = { linux: 'also enters ERR, but leaves the status success and logs a kernel warning' };

/** NAKs to the requester of a reliable connection that end a work request. */
export const failures: Section = {
  subject: 'NAKs that end a work request',
  role: 'requester',
  rows: [
    failing('nak=invalid', 'remote_invalid_request_error'),
    failing('nak=access', 'remote_access_error'),
    failing('nak=operational', 'remote_operation_error'),
    failing('nak=datagram', 'bad_response_error', operational),
    failing('nak=5', 'bad_response_error', operational),
    failing('nak=31', 'bad_response_error', operational),
    failing('syndrome=64', 'bad_response_error', warns),
    failing('syndrome=95', 'bad_response_error', warns),
    failing('syndrome=128', 'bad_response_error', warns),
    failing('syndrome=159', 'bad_response_error', warns),
    failing('syndrome=172', 'bad_response_error', warns),
    failing('syndrome=224', 'bad_response_error', warns),
    {
      clause: '9.7.5.2.8',
      what: 'NAK in the middle of a message',
      steps: [postedSend, { in: ['acknowledge @1 nak=invalid'], sent: ['0 remote_invalid_request_error'] }],
      state: 'ERR',
    },
    {
      clause: '9.7.5.2.8',
      what: 'NAK of a READ, at its first response',
      steps: [postedRead(600), { in: ['acknowledge @0 nak=access'], sent: ['0 remote_access_error'] }],
      state: 'ERR',
    },
    {
      clause: '9.7.5.2.8',
      what: 'NAK of a READ, in the place of a later response',
      steps: [
        postedRead(600),
        { in: [firstResponse] },
        { in: ['acknowledge @1 nak=operational'], sent: ['0 remote_operation_error'] },
      ],
      state: 'ERR',
      memory: ['local 0+256=@0'],
    },
    {
      clause: '9.7.5.2.8',
      what: 'NAK of an atomic',
      steps: [
        { post: ['fetch_and_add add=1'], out: ['fetch_and_add @0 to=peer at=0 add=1 ack-request'] },
        { in: ['acknowledge @0 nak=invalid'], sent: ['0 remote_invalid_request_error'] },
      ],
      state: 'ERR',
    },
    {
      clause: '9.7.6.1',
      what: 'an answer in ERR: dropped',
      steps: [
        postedSends(1),
        { in: ['acknowledge @0 nak=invalid'], sent: ['0 remote_invalid_request_error'] },
        { in: ['acknowledge @0 ack msn=1'] },
      ],
      state: 'ERR',
    },
  ],
};
