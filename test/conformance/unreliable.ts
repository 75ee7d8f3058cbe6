import type { Row, Section } from './table.ts';

const first = 'send_first @0 bytes=256';
const writeFirst = 'rdma_write_first @0 bytes=256 length=600';
const whole: Row['steps'][number] = { in: ['send_only @9 bytes=5'], received: ['0 success 5'] };
const wholeMemory = 'inbox 0+5=@9';

/** Packets that complete no message; the next message takes the posted receive. */
function dropped(what: string, packets: readonly string[], row: Partial<Row> = {}): Row {
  return {
    clause: '9.8.2.2, 9.9.3',
    what,
    service: 'UC',
    steps: [{ receives: [600], in: packets }, whole],
    memory: [wholeMemory],
    ...row,
  };
}

/** Packets to the responder of an unreliable connection, which sends no answers. */
export const unreliableConnection: Section = {
  subject: 'unreliable connection',
  role: 'responder',
  rows: [
    {
      clause: '9.8.2',
      what: 'SEND of three packets',
      service: 'UC',
      steps: [
        {
          receives: [600],
          in: [first, 'send_middle @1 bytes=256', 'send_last @2 bytes=9'],
          received: ['0 success 521'],
        },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+256=@1', 'inbox 512+9=@2'],
    },
    {
      clause: '9.8.2',
      what: 'RDMA WRITE of three packets',
      service: 'UC',
      steps: [{ in: [writeFirst, 'rdma_write_middle @1 bytes=256', 'rdma_write_last @2 bytes=88'] }],
      memory: ['target 0+256=@0', 'target 256+256=@1', 'target 512+88=@2'],
    },
    {
      clause: '9.8.2',
      what: 'RDMA WRITE with immediate',
      service: 'UC',
      steps: [
        {
          receives: [0],
          in: ['rdma_write_only_with_immediate @0 bytes=4 immediate=5'],
          received: ['0 success 4 immediate=5'],
        },
      ],
      memory: ['target 0+4=@0'],
    },
    dropped('SEND without its middle packet', [first, 'send_last @2 bytes=9'], {
      memory: ['inbox 0+256=@0', wholeMemory],
    }),
    dropped('SEND without its first packet', ['send_middle @1 bytes=256', 'send_last @2 bytes=9']),
    dropped('SEND without its last packet, before the next message', [first], {
      memory: ['inbox 0+256=@0', wholeMemory],
    }),
    dropped('RDMA WRITE without its middle packet', [writeFirst, 'rdma_write_last @2 bytes=88'], {
      memory: ['target 0+256=@0', wholeMemory],
    }),
    dropped('the rest of a message after a lost packet, although its PSNs are consecutive', [
      'send_middle @1 bytes=256',
      'send_middle @2 bytes=256',
      'send_last @3 bytes=9',
    ]),
    dropped('RDMA WRITE last within a SEND', [first, 'rdma_write_last @1 bytes=9'], {
      memory: ['inbox 0+256=@0', wholeMemory],
    }),
    dropped('SEND first that does not fill the path MTU', ['send_first @0 bytes=252']),
    dropped('SEND only beyond the path MTU', ['send_only @0 bytes=257']),
    dropped('SEND last of no bytes', [first, 'send_last @1'], { memory: ['inbox 0+256=@0', wholeMemory] }),
    dropped('RDMA WRITE whose length differs from its RETH', ['rdma_write_only @0 bytes=9 length=10']),
    dropped('RDMA WRITE without the right of the queue pair', ['rdma_write_only @0 bytes=9'], {
      setup: { without: ['remoteWrite'] },
    }),
    dropped('RDMA WRITE with an invalid key', ['rdma_write_only @0 to=closed bytes=9']),
    dropped('RDMA WRITE beyond its region', ['rdma_write_only @0 at=4090 bytes=9']),
    dropped('READ, which this service lacks', ['rdma_read_request @0 length=9']),
    {
      clause: '9.8.2.2',
      what: 'a message may begin with any PSN',
      service: 'UC',
      steps: [
        { receives: [100, 100], in: ['send_only @5 bytes=5'], received: ['0 success 5'] },
        { in: ['send_only @-3 bytes=5'], received: ['1 success 5'] },
      ],
      memory: ['inbox 0+5=@5', 'inbox 1024+5=@-3'],
    },
    {
      clause: '9.8.2, 9.9.3',
      what: 'SEND without a receive: dropped whole',
      service: 'UC',
      steps: [{ in: [first] }, { receives: [600], in: ['send_last @1 bytes=9'] }, whole],
      memory: [wholeMemory],
    },
    {
      clause: '9.9.3, class E',
      what: 'SEND beyond its receive: only the receive fails',
      service: 'UC',
      steps: [
        { receives: [300, 100], in: [first, 'send_last @1 bytes=45'], received: ['0 local_length_error'] },
        { in: ['send_only @2 bytes=5'], received: ['1 success 5'] },
      ],
      memory: ['inbox 0+256=@0', 'inbox 1024+5=@2'],
      linux: 'leaves the receive for the next message (class D), unless the queue is shared',
    },
  ],
};

/** Packets to a queue pair of unreliable datagram. */
export const unreliableDatagram: Section = {
  subject: 'unreliable datagram',
  role: 'responder',
  rows: [
    {
      clause: '9.8.3',
      what: 'a datagram, after 40 bytes for its GRH',
      service: 'UD',
      steps: [{ receives: [100], in: ['send_only @0 bytes=10'], received: ['0 success 50'] }],
      memory: ['inbox 0+40=route', 'inbox 40+10=@0'],
    },
    {
      clause: '9.8.3',
      what: 'a datagram with any PSN and immediate data',
      service: 'UD',
      steps: [
        {
          receives: [100],
          in: ['send_only_with_immediate @77 bytes=1 immediate=3'],
          received: ['0 success 41 immediate=3'],
        },
      ],
      memory: ['inbox 0+40=route', 'inbox 40+1=@77'],
    },
    {
      clause: '9.6.1, 9.8.3',
      what: 'another Q_Key: dropped',
      service: 'UD',
      steps: [{ receives: [100], in: ['send_only @0 bytes=10 qkey=2'] }],
    },
    {
      clause: '9.8.3, 9.9.3',
      what: 'no receive: dropped',
      service: 'UD',
      steps: [{ in: ['send_only @0 bytes=10'] }, { receives: [100] }],
    },
    {
      clause: '9.9.3, class E',
      what: 'beyond its receive: only the receive fails',
      service: 'UD',
      steps: [
        { receives: [49, 100], in: ['send_only @0 bytes=10'], received: ['0 local_length_error'] },
        { in: ['send_only @1 bytes=10'], received: ['1 success 50'] },
      ],
      memory: ['inbox 1024+40=route', 'inbox 1064+10=@1'],
      linux: 'leaves the receive for the next datagram (class D), unless the queue is shared',
    },
  ],
};

/** Work requests of an unreliable connection. */
export const unacknowledged: Section = {
  subject: 'unreliable connection',
  role: 'requester',
  rows: [
    {
      clause: '9.8.2.1',
      what: 'completes when sent, without requesting an acknowledgement',
      service: 'UC',
      steps: [
        {
          post: ['send bytes=521', 'rdma_write bytes=4'],
          out: [
            'send_first @0 bytes=256 from=local+0',
            'send_middle @1 bytes=256 from=local+256',
            'send_last @2 bytes=9 from=local+512',
            'rdma_write_only @3 to=peer at=0 length=4 bytes=4 from=local+1024',
          ],
          sent: ['0 success', '1 success'],
        },
        { wait: 'timeout' },
      ],
    },
    {
      clause: '9.8.2.1',
      what: 'acknowledgements do not belong to this service',
      service: 'UC',
      steps: [
        { post: ['send bytes=8'], out: ['send_only @0 bytes=8 from=local+0'], sent: ['0 success'] },
        { in: ['acknowledge @0 nak=access'] },
      ],
    },
  ],
};
