import type { Row, Section } from './table.ts';

/** Packets that the responder acknowledges, and one that it refuses: the queue pair enters ERR. */
function refused(
  what: string,
  nak: 'invalid' | 'access' | 'operational',
  packets: readonly string[],
  row: Partial<Row> = {},
): Row {
  const last = packets.length - 1;
  return {
    clause: nak === 'invalid' ? '9.7.4.1, 9.9.3' : '9.7.4.1.5, 9.9.3',
    what,
    steps: [
      {
        in: packets,
        out: packets.map((_, at) => `acknowledge @${at} ${at === last ? `nak=${nak}` : 'ack'} msn=0`),
      },
      // The responder sends no more answers.
      { in: [`rdma_write_only @${last} bytes=1`] },
    ],
    state: 'ERR',
    ...row,
  };
}

const receiveFails = 'completes the receive with a remote invalid request error';

/** SENDs, which take the posted receive. */
function refusedSend(what: string, packets: readonly string[], memory: readonly string[] = []): Row {
  const row = refused(what, 'invalid', packets);
  const begins = packets.length > 1;
  return {
    ...row,
    steps: [{ ...row.steps[0], receives: [600], received: ['0 work_request_flushed_error'] }, row.steps[1]!],
    memory: begins ? ['inbox 0+256=@0', ...memory] : memory,
    linux: receiveFails,
  };
}

const first = 'send_first @0 bytes=256';
const writeFirst = 'rdma_write_first @0 bytes=256 length=600';

/** Requests at the expected PSN that the responder of a reliable connection refuses. */
export const refusals: Section = {
  subject: 'refusals',
  role: 'responder',
  rows: [
    refused('SEND middle without a first', 'invalid', ['send_middle @0 bytes=256']),
    refused('SEND last without a first', 'invalid', ['send_last @0 bytes=1']),
    refused('SEND last with immediate without a first', 'invalid', ['send_last_with_immediate @0 bytes=1']),
    refused('SEND last with invalidate without a first', 'invalid', ['send_last_with_invalidate @0 bytes=1']),
    refused('RDMA WRITE middle without a first', 'invalid', ['rdma_write_middle @0 bytes=256']),
    refused('RDMA WRITE last without a first', 'invalid', ['rdma_write_last @0 bytes=1']),
    refused('RDMA WRITE last with immediate without a first', 'invalid', [
      'rdma_write_last_with_immediate @0 bytes=1',
    ]),
    refusedSend('SEND first within a SEND', [first, 'send_first @1 bytes=256']),
    refusedSend('SEND only within a SEND', [first, 'send_only @1 bytes=1']),
    refusedSend('RDMA WRITE first within a SEND', [first, 'rdma_write_first @1 bytes=256 length=600']),
    refusedSend('RDMA WRITE only within a SEND', [first, 'rdma_write_only @1 bytes=1']),
    refusedSend('RDMA WRITE middle within a SEND', [first, 'rdma_write_middle @1 bytes=256']),
    refusedSend('RDMA WRITE last within a SEND', [first, 'rdma_write_last @1 bytes=1']),
    refusedSend('READ within a SEND', [first, 'rdma_read_request @1 length=1']),
    refusedSend('atomic within a SEND', [first, 'fetch_and_add @1 add=1']),
    refused('SEND last within an RDMA WRITE', 'invalid', [writeFirst, 'send_last @1 bytes=1'], {
      memory: ['target 0+256=@0'],
    }),
    refused('SEND only within an RDMA WRITE', 'invalid', [writeFirst, 'send_only @1 bytes=1'], {
      memory: ['target 0+256=@0'],
    }),
    refused(
      'RDMA WRITE first within an RDMA WRITE',
      'invalid',
      [writeFirst, 'rdma_write_first @1 bytes=256 length=600'],
      {
        memory: ['target 0+256=@0'],
      },
    ),
    refused('READ within an RDMA WRITE', 'invalid', [writeFirst, 'rdma_read_request @1 length=1'], {
      memory: ['target 0+256=@0'],
    }),
    refused('reserved opcode', 'invalid', ['reserved_24 @0'], {
      linux: 'does not answer it',
    }),
    refusedSend('SEND first that does not fill the path MTU', ['send_first @0 bytes=255']),
    refusedSend('SEND first beyond the path MTU', ['send_first @0 bytes=260']),
    refusedSend('SEND middle that does not fill the path MTU', [first, 'send_middle @1 bytes=252']),
    refusedSend('SEND last of no bytes', [first, 'send_last @1']),
    refusedSend('SEND last beyond the path MTU', [first, 'send_last @1 bytes=257']),
    refusedSend('SEND only beyond the path MTU', ['send_only @0 bytes=257']),
    {
      clause: '9.7.4.1.7, 9.9.3',
      what: 'SEND beyond its receive: the receive fails too',
      steps: [
        {
          receives: [300],
          in: [first, 'send_last @1 bytes=45'],
          out: ['acknowledge @0 ack msn=0', 'acknowledge @1 nak=invalid msn=0'],
          received: ['0 local_length_error'],
        },
      ],
      state: 'ERR',
      memory: ['inbox 0+256=@0'],
      linux: receiveFails,
    },
    {
      clause: '9.7.4.1.7',
      what: 'SEND that fills its receive',
      steps: [
        {
          receives: [300],
          in: [first, 'send_last @1 bytes=44'],
          out: ['acknowledge @0 ack msn=0', 'acknowledge @1 ack msn=1'],
          received: ['0 success 300'],
        },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+44=@1'],
    },
    refused('RDMA WRITE only of fewer bytes than its length', 'invalid', [
      'rdma_write_only @0 bytes=9 length=10',
    ]),
    refused('RDMA WRITE only of more bytes than its length', 'invalid', [
      'rdma_write_only @0 bytes=10 length=9',
    ]),
    refused('RDMA WRITE first that already has all bytes', 'invalid', [
      'rdma_write_first @0 bytes=256 length=256',
    ]),
    refused('RDMA WRITE last that ends early', 'invalid', [writeFirst, 'rdma_write_last @1 bytes=88'], {
      memory: ['target 0+256=@0'],
    }),
    refused(
      'RDMA WRITE middle that already has all bytes',
      'invalid',
      ['rdma_write_first @0 bytes=256 length=512', 'rdma_write_middle @1 bytes=256'],
      {
        memory: ['target 0+256=@0'],
      },
    ),
    refused(
      'RDMA WRITE last beyond its length',
      'invalid',
      ['rdma_write_first @0 bytes=256 length=300', 'rdma_write_last @1 bytes=45'],
      {
        memory: ['target 0+256=@0'],
      },
    ),
    refused('RDMA WRITE of more than 2^31 bytes', 'invalid', [
      'rdma_write_first @0 bytes=256 length=2147483649',
    ]),
    refused('READ of more than 2^31 bytes', 'invalid', ['rdma_read_request @0 length=2147483649']),
    refused('RDMA WRITE without the right of the queue pair', 'invalid', ['rdma_write_only @0 bytes=1'], {
      setup: { without: ['remoteWrite'] },
    }),
    refused('READ without the right of the queue pair', 'invalid', ['rdma_read_request @0 length=1'], {
      setup: { without: ['remoteRead'] },
    }),
    refused('atomic without the right of the queue pair', 'invalid', ['fetch_and_add @0 add=1'], {
      setup: { without: ['remoteAtomic'] },
    }),
    refused('atomic that is not aligned', 'invalid', ['compare_and_swap @0 at=4 compare=1 swap=2']),
    refused('READ without a responder resource', 'invalid', ['rdma_read_request @0 length=1'], {
      setup: { resources: 0 },
    }),
    refused('atomic without a responder resource', 'invalid', ['fetch_and_add @0 add=1'], {
      setup: { resources: 0 },
    }),
    {
      clause: '9.7.4.1, 9.9.3',
      what: 'more concurrent READs than responder resources',
      setup: { resources: 1 },
      steps: [
        {
          in: ['rdma_read_request @0 length=1024', 'rdma_read_request @4 length=1'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_middle @1 bytes=256 from=target+256',
            'rdma_read_response_middle @2 bytes=256 from=target+512',
            'rdma_read_response_last @3 ack msn=1 bytes=256 from=target+768',
            'acknowledge @4 nak=invalid msn=1',
          ],
        },
      ],
      state: 'ERR',
      linux: 'gives the resource of the first to the second',
    },
    refused('RDMA WRITE with an invalid key', 'access', ['rdma_write_only @0 to=closed bytes=1']),
    refused('RDMA WRITE with a key of another protection domain', 'access', [
      'rdma_write_only @0 to=foreign bytes=1',
    ]),
    refused('RDMA WRITE with a key that lacks the right', 'access', [
      'rdma_write_only @0 to=readable bytes=1',
    ]),
    refused('RDMA WRITE beyond its region', 'access', ['rdma_write_only @0 at=4095 bytes=2']),
    refused('RDMA WRITE first of a message beyond its region', 'access', [
      'rdma_write_first @0 at=3840 bytes=256 length=300',
    ]),
    refused('READ with an invalid key', 'access', ['rdma_read_request @0 to=closed length=1']),
    refused('READ with a key of another protection domain', 'access', [
      'rdma_read_request @0 to=foreign length=1',
    ]),
    refused('READ beyond its region', 'access', ['rdma_read_request @0 at=4000 length=97']),
    refused('READ before its region', 'access', ['rdma_read_request @0 at=-1 length=8']),
    refused('atomic with an invalid key', 'access', ['fetch_and_add @0 to=closed add=1']),
    refused('atomic with a key that lacks the right', 'access', ['fetch_and_add @0 to=readable add=1']),
    refused('atomic beyond its region', 'access', ['fetch_and_add @0 at=4096 add=1']),
    {
      clause: '9.7.5.2.8',
      what: 'a refusal acknowledges the requests before it, and flushes the receives',
      steps: [
        {
          receives: [100, 100],
          in: ['send_only @0 bytes=1', 'rdma_write_only @1 to=closed bytes=1'],
          out: ['acknowledge @0 ack msn=1', 'acknowledge @1 nak=access msn=1'],
          received: ['0 success 1', '1 work_request_flushed_error'],
        },
      ],
      state: 'ERR',
      memory: ['inbox 0+1=@0'],
    },
    {
      clause: '9.6.1',
      what: 'P_Key of another partition: dropped',
      steps: [
        { in: ['rdma_write_only @0 bytes=1 pkey=32769'] },
        { in: ['rdma_write_only @0 bytes=1'], out: ['acknowledge @0 ack msn=1'] },
      ],
      memory: ['target 0+1=@0'],
    },
  ],
};
