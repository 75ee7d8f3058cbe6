import type { Section } from './table.ts';

/** Requests to the responder of a reliable connection at PSNs that it does not expect. */
export const outOfOrder: Section = {
  subject: 'duplicates and gaps',
  role: 'responder',
  rows: [
    {
      clause: '9.7.5.1.1',
      what: 'duplicate SEND is acknowledged again, and not executed',
      steps: [
        {
          receives: [100, 100],
          in: ['send_only @0 bytes=10'],
          out: ['acknowledge @0 ack msn=1'],
          received: ['0 success 10'],
        },
        { in: ['send_only @0 bytes=10 data=2'], out: ['acknowledge @0 ack msn=1'] },
      ],
      memory: ['inbox 0+10=@0'],
    },
    {
      clause: '9.7.5.1.1',
      what: 'duplicate SEND is acknowledged up to the newest PSN',
      steps: [
        {
          receives: [100],
          in: ['send_only @0 bytes=1', 'rdma_write_only @1 bytes=1', 'rdma_write_only @2 at=1 bytes=1'],
          out: ['acknowledge @0 ack msn=1', 'acknowledge @1 ack msn=2', 'acknowledge @2 ack msn=3'],
          received: ['0 success 1'],
        },
        { in: ['send_only @0 bytes=1'], out: ['acknowledge @2 ack msn=3'] },
      ],
      memory: ['inbox 0+1=@0', 'target 0+1=@1', 'target 1+1=@2'],
    },
    {
      clause: '9.7.5.1.1',
      what: 'duplicate RDMA WRITE is acknowledged again, and not executed',
      steps: [
        { in: ['rdma_write_only @0 bytes=10'], out: ['acknowledge @0 ack msn=1'] },
        { in: ['rdma_write_only @0 bytes=10 data=2'], out: ['acknowledge @0 ack msn=1'] },
      ],
      memory: ['target 0+10=@0'],
    },
    {
      clause: '9.7.5.1.1',
      what: 'duplicate of a first packet while its message continues',
      steps: [
        { receives: [600], in: ['send_first @0 bytes=256'], out: ['acknowledge @0 ack msn=0'] },
        { in: ['send_first @0 bytes=256 data=2'], out: ['acknowledge @0 ack msn=0'] },
        { in: ['send_last @1 bytes=5'], out: ['acknowledge @1 ack msn=1'], received: ['0 success 261'] },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+5=@1'],
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ is executed again',
      steps: [
        {
          in: ['rdma_read_request @0 length=300'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_last @1 ack msn=1 bytes=44 from=target+256',
          ],
        },
        {
          in: ['rdma_read_request @0 length=300'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_last @1 ack msn=1 bytes=44 from=target+256',
          ],
        },
      ],
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ that resumes where it was interrupted',
      steps: [
        {
          in: ['rdma_read_request @0 length=600'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_middle @1 bytes=256 from=target+256',
            'rdma_read_response_last @2 ack msn=1 bytes=88 from=target+512',
          ],
        },
        {
          in: ['rdma_read_request @1 at=256 length=344'],
          out: [
            'rdma_read_response_first @1 ack msn=1 bytes=256 from=target+256',
            'rdma_read_response_last @2 ack msn=1 bytes=88 from=target+512',
          ],
        },
        {
          in: ['rdma_read_request @0 length=600'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_middle @1 bytes=256 from=target+256',
            'rdma_read_response_last @2 ack msn=1 bytes=88 from=target+512',
          ],
        },
      ],
      linux: 'drops the third: it keeps the range of the second as that of the READ',
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ of only the last response',
      steps: [
        {
          in: ['rdma_read_request @0 length=300'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_last @1 ack msn=1 bytes=44 from=target+256',
          ],
        },
        {
          in: ['rdma_read_request @1 at=256 length=44'],
          out: ['rdma_read_response_only @1 ack msn=1 bytes=44 from=target+256'],
        },
      ],
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ of more bytes: dropped',
      steps: [
        {
          in: ['rdma_read_request @0 length=100'],
          out: ['rdma_read_response_only @0 ack msn=1 bytes=100 from=target+0'],
        },
        { in: ['rdma_read_request @0 length=101'] },
      ],
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ of other bytes: dropped',
      steps: [
        {
          in: ['rdma_read_request @0 at=8 length=100'],
          out: ['rdma_read_response_only @0 ack msn=1 bytes=100 from=target+8'],
        },
        { in: ['rdma_read_request @0 at=0 length=100', 'rdma_read_request @0 at=1008 length=50'] },
      ],
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ whose responses would take more PSNs than are left: dropped',
      steps: [
        {
          in: ['rdma_read_request @0 length=300'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_last @1 ack msn=1 bytes=44 from=target+256',
          ],
        },
        { in: ['rdma_read_request @1 length=300'] },
      ],
      linux: 'answers it',
    },
    {
      clause: '9.7.5.1',
      what: 'reserved opcode at the PSN of an atomic: dropped',
      setup: { word: 5 },
      steps: [
        { in: ['fetch_and_add @0 add=3'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
        { in: ['reserved_24 @0'] },
      ],
      memory: ['target 0+8=8'],
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ with another key: dropped',
      steps: [
        {
          in: ['rdma_read_request @0 length=100'],
          out: ['rdma_read_response_only @0 ack msn=1 bytes=100 from=target+0'],
        },
        { in: ['rdma_read_request @0 to=readable length=100'] },
      ],
    },
    {
      clause: '9.7.5.1.3',
      what: 'READ at the PSN of an RDMA WRITE: dropped',
      steps: [
        { in: ['rdma_write_only @0 bytes=10'], out: ['acknowledge @0 ack msn=1'] },
        { in: ['rdma_read_request @0 length=10'] },
      ],
      memory: ['target 0+10=@0'],
    },
    {
      clause: '9.7.5.1.3',
      what: 'READ at the PSN of a SEND, followed by a READ: dropped',
      steps: [
        {
          receives: [100],
          in: ['send_only @0 bytes=1'],
          out: ['acknowledge @0 ack msn=1'],
          received: ['0 success 1'],
        },
        {
          in: ['rdma_read_request @1 length=10'],
          out: ['rdma_read_response_only @1 ack msn=2 bytes=10 from=target+0'],
        },
        { in: ['rdma_read_request @0 length=10'] },
      ],
      memory: ['inbox 0+1=@0'],
    },
    {
      clause: '9.7.5.1.3',
      what: 'READ at the PSN of an atomic: dropped',
      setup: { word: 5 },
      steps: [
        { in: ['fetch_and_add @0 add=3'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
        { in: ['rdma_read_request @0 length=8'] },
      ],
      memory: ['target 0+8=8'],
      linux: 'compares it with the content of its resource for that PSN',
    },
    {
      clause: '9.7.5.1.3',
      what: 'READ of no bytes at the PSN of an atomic: dropped',
      setup: { word: 5 },
      steps: [
        { in: ['fetch_and_add @0 add=3'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
        { in: ['rdma_read_request @0 length=0'] },
      ],
      memory: ['target 0+8=8'],
      linux: 'compares it with the content of its resource for that PSN',
    },
    {
      clause: '9.7.5.1.3, 10.3.1',
      what: 'READ and atomic at PSNs of such requests before a reset: dropped',
      setup: { word: 5 },
      steps: [
        {
          in: ['rdma_read_request @0 at=16 length=10', 'fetch_and_add @1 add=1'],
          out: [
            'rdma_read_response_only @0 ack msn=1 bytes=10 from=target+16',
            'atomic_acknowledge @1 ack msn=2 original=5',
          ],
        },
        {
          reconnect: true,
          in: ['rdma_write_only @0 at=64 bytes=1', 'rdma_write_only @1 at=65 bytes=1'],
          out: ['acknowledge @0 ack msn=1', 'acknowledge @1 ack msn=2'],
        },
        { in: ['rdma_read_request @0 at=16 length=10', 'fetch_and_add @1 add=1'] },
      ],
      memory: ['target 0+8=6', 'target 64+1=@0', 'target 65+1=@1'],
    },
    {
      clause: '9.7.5.1.3',
      what: 'READ at a PSN that was never used: dropped',
      steps: [{ in: ['rdma_read_request @-5 length=10'] }],
    },
    {
      clause: '9.7.5.1.3',
      what: 'duplicate READ older than the responder resources: dropped',
      setup: { resources: 2 },
      steps: [
        {
          in: ['rdma_read_request @0 at=0 length=1'],
          out: ['rdma_read_response_only @0 ack msn=1 bytes=1 from=target+0'],
        },
        {
          in: ['rdma_read_request @1 at=100 length=100'],
          out: ['rdma_read_response_only @1 ack msn=2 bytes=100 from=target+100'],
        },
        {
          in: ['rdma_read_request @2 at=200 length=100'],
          out: ['rdma_read_response_only @2 ack msn=3 bytes=100 from=target+200'],
        },
        { in: ['rdma_read_request @0 at=0 length=1'] },
        {
          in: ['rdma_read_request @1 at=100 length=100'],
          out: ['rdma_read_response_only @1 ack msn=3 bytes=100 from=target+100'],
        },
      ],
    },
    {
      clause: '9.7.5.1.4',
      what: 'duplicate atomic is answered with the original value',
      setup: { word: 5 },
      steps: [
        {
          in: ['fetch_and_add @0 add=3', 'fetch_and_add @1 add=3'],
          out: ['atomic_acknowledge @0 ack msn=1 original=5', 'atomic_acknowledge @1 ack msn=2 original=8'],
        },
        { in: ['fetch_and_add @0 add=3'], out: ['atomic_acknowledge @0 ack msn=2 original=5'] },
      ],
      memory: ['target 0+8=11'],
    },
    {
      clause: '9.7.5.1.4',
      what: 'atomic at the PSN of an RDMA WRITE: dropped',
      steps: [
        { in: ['rdma_write_only @0 bytes=8'], out: ['acknowledge @0 ack msn=1'] },
        { in: ['fetch_and_add @0 add=3'] },
      ],
      memory: ['target 0+8=@0'],
    },
    {
      clause: '9.7.5.1.4',
      what: 'atomic at the PSN of a READ: dropped',
      setup: { word: 5 },
      steps: [
        {
          in: ['rdma_read_request @0 length=300'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_last @1 ack msn=1 bytes=44 from=target+256',
          ],
        },
        { in: ['fetch_and_add @1 add=3'] },
      ],
      linux: 'answers with the content of its resource',
    },
    {
      clause: '9.7.5.1.4',
      what: 'duplicate atomic older than the responder resources: dropped',
      setup: { resources: 1, word: 5 },
      steps: [
        { in: ['fetch_and_add @0 add=1'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
        { in: ['fetch_and_add @1 add=1'], out: ['atomic_acknowledge @1 ack msn=2 original=6'] },
        { in: ['fetch_and_add @0 add=1'] },
        { in: ['fetch_and_add @1 add=1'], out: ['atomic_acknowledge @1 ack msn=2 original=6'] },
      ],
      memory: ['target 0+8=7'],
    },
    {
      clause: '9.7.4.1.2, 9.7.5.2.8',
      what: 'a gap: one NAK with the missing PSN, then no answer until it arrives',
      steps: [
        { in: ['rdma_write_only @1 at=1 bytes=1'], out: ['acknowledge @0 nak=sequence msn=0'] },
        { in: ['rdma_write_only @2 at=2 bytes=1', 'rdma_write_only @1 at=1 bytes=1'] },
        { in: ['rdma_write_only @0 bytes=1'], out: ['acknowledge @0 ack msn=1'] },
        { in: ['rdma_write_only @2 at=2 bytes=1'], out: ['acknowledge @1 nak=sequence msn=1'] },
      ],
      memory: ['target 0+1=@0'],
    },
    {
      clause: '9.7.5.1',
      what: 'duplicates are answered while a gap is open',
      setup: { word: 5 },
      steps: [
        { in: ['fetch_and_add @0 add=1'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
        { in: ['rdma_write_only @2 at=64 bytes=1'], out: ['acknowledge @1 nak=sequence msn=1'] },
        { in: ['fetch_and_add @0 add=1'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
        { in: ['rdma_write_only @2 at=64 bytes=1'] },
      ],
      memory: ['target 0+8=6'],
    },
    {
      clause: '9.7.4.1.2',
      what: 'a READ ahead of the expected PSN is a gap',
      steps: [{ in: ['rdma_read_request @1 length=1'], out: ['acknowledge @0 nak=sequence msn=0'] }],
    },
    {
      clause: '9.7.1',
      what: 'the farthest PSN behind is a duplicate, the farthest ahead a gap',
      steps: [
        { in: ['rdma_write_only @-8388608 bytes=1'], out: ['acknowledge @-1 ack msn=0'] },
        { in: ['rdma_write_only @8388607 bytes=1'], out: ['acknowledge @0 nak=sequence msn=0'] },
      ],
    },
    {
      clause: '9.7.5.2.8',
      what: 'SEND without a receive: RNR NAK, then executed when retransmitted',
      steps: [
        { in: ['send_only @0 bytes=10'], out: ['acknowledge @0 rnr=12 msn=0'] },
        { in: ['send_only @0 bytes=10'], out: ['acknowledge @0 rnr=12 msn=0'] },
        {
          receives: [100],
          in: ['send_only @0 bytes=10'],
          out: ['acknowledge @0 ack msn=1'],
          received: ['0 success 10'],
        },
      ],
      memory: ['inbox 0+10=@0'],
    },
    {
      clause: '9.7.5.2.8',
      what: 'packets after an RNR NAK: dropped without an answer',
      steps: [
        { in: ['send_only @0 bytes=10', 'rdma_write_only @1 bytes=1'], out: ['acknowledge @0 rnr=12 msn=0'] },
      ],
      linux: 'answers with a NAK (PSN sequence error)',
    },
    {
      clause: '9.7.5.2.8',
      what: 'RDMA WRITE with immediate without a receive: RNR NAK for its last packet only',
      steps: [
        {
          in: [
            'rdma_write_first @0 bytes=256 length=300',
            'rdma_write_last_with_immediate @1 bytes=44 immediate=9',
          ],
          out: ['acknowledge @0 ack msn=0', 'acknowledge @1 rnr=12 msn=0'],
        },
        {
          receives: [0],
          in: ['rdma_write_last_with_immediate @1 bytes=44 immediate=9'],
          out: ['acknowledge @1 ack msn=1'],
          received: ['0 success 300 immediate=9'],
        },
      ],
      memory: ['target 0+256=@0', 'target 256+44=@1'],
    },
  ],
};
