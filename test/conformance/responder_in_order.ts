import type { Section } from './table.ts';

/** Requests to the responder of a reliable connection at the PSN that it expects. */
export const inOrder: Section = {
  subject: 'requests in order',
  role: 'responder',
  rows: [
    {
      clause: '9.7.4.1, 9.7.7.1',
      what: 'SEND only',
      steps: [
        {
          receives: [100],
          in: ['send_only @0 bytes=10'],
          out: ['acknowledge @0 ack msn=1'],
          received: ['0 success 10'],
        },
      ],
      memory: ['inbox 0+10=@0'],
      linux: 'acknowledges only requests with AckReq (BTH:A)',
    },
    {
      clause: '9.7.4.1',
      what: 'SEND only of no bytes',
      steps: [
        { receives: [0], in: ['send_only @0'], out: ['acknowledge @0 ack msn=1'], received: ['0 success 0'] },
      ],
    },
    {
      clause: '9.7.4.1, 9.7.7.1',
      what: 'SEND of three packets increments the MSN once, with its last packet',
      steps: [
        { receives: [600], in: ['send_first @0 bytes=256'], out: ['acknowledge @0 ack msn=0'] },
        { in: ['send_middle @1 bytes=256'], out: ['acknowledge @1 ack msn=0'] },
        { in: ['send_last @2 bytes=1'], out: ['acknowledge @2 ack msn=1'], received: ['0 success 513'] },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+256=@1', 'inbox 512+1=@2'],
    },
    {
      clause: '9.7.5.1',
      what: 'SEND of three packets, acknowledgements coalesced',
      setup: { coalescing: true },
      steps: [
        {
          receives: [600],
          in: ['send_first @0 bytes=256', 'send_middle @1 bytes=256', 'send_last @2 bytes=1 ack-request'],
          out: ['acknowledge @2 ack msn=1'],
          received: ['0 success 513'],
        },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+256=@1', 'inbox 512+1=@2'],
    },
    {
      clause: '9.7.5.1',
      what: 'a packet with BTH:A is acknowledged in the middle of a message, acknowledgements coalesced',
      setup: { coalescing: true },
      steps: [
        { receives: [600], in: ['send_first @0 bytes=256'] },
        { in: ['send_middle @1 bytes=256 ack-request'], out: ['acknowledge @1 ack msn=0'] },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+256=@1'],
    },
    {
      clause: '9.4.1',
      what: 'SEND with immediate and solicited event',
      steps: [
        {
          receives: [100],
          in: ['send_only_with_immediate @0 bytes=3 immediate=305419896 solicited'],
          out: ['acknowledge @0 ack msn=1'],
          received: ['0 success 3 immediate=305419896 solicited'],
        },
      ],
      memory: ['inbox 0+3=@0'],
    },
    {
      clause: '9.4.1',
      what: 'SEND whose last packet has immediate data',
      steps: [
        {
          receives: [600],
          in: ['send_first @0 bytes=256', 'send_last_with_immediate @1 bytes=4 immediate=7'],
          out: ['acknowledge @0 ack msn=0', 'acknowledge @1 ack msn=1'],
          received: ['0 success 260 immediate=7'],
        },
      ],
      memory: ['inbox 0+256=@0', 'inbox 256+4=@1'],
    },
    {
      clause: '9.4.1.1',
      what: 'SEND with invalidate invalidates the window',
      setup: { window: true },
      steps: [
        {
          receives: [100],
          in: ['send_only_with_invalidate @0 bytes=3 to=window'],
          out: ['acknowledge @0 ack msn=1'],
          received: ['0 success 3 invalidated'],
        },
        { in: ['rdma_write_only @1 to=window bytes=4'], out: ['acknowledge @1 nak=access msn=1'] },
      ],
      state: 'ERR',
      memory: ['inbox 0+3=@0'],
    },
    {
      clause: '9.9.3, class J',
      what: 'SEND with invalidate of an invalid key: acknowledged, and the receive fails',
      steps: [
        {
          receives: [100],
          in: ['send_only_with_invalidate @0 bytes=3 to=closed'],
          out: ['acknowledge @0 ack msn=1'],
          received: ['0 remote_invalid_request_error'],
        },
      ],
      state: 'ERR',
      memory: ['inbox 0+3=@0'],
    },
    {
      clause: '9.7.4.1',
      what: 'RDMA WRITE only, without a receive',
      steps: [{ in: ['rdma_write_only @0 at=16 bytes=10'], out: ['acknowledge @0 ack msn=1'] }],
      memory: ['target 16+10=@0'],
    },
    {
      clause: '9.7.4.1, 9.7.7.1',
      what: 'RDMA WRITE of three packets',
      steps: [
        {
          in: [
            'rdma_write_first @0 bytes=256 length=600',
            'rdma_write_middle @1 bytes=256',
            'rdma_write_last @2 bytes=88',
          ],
          out: ['acknowledge @0 ack msn=0', 'acknowledge @1 ack msn=0', 'acknowledge @2 ack msn=1'],
        },
      ],
      memory: ['target 0+256=@0', 'target 256+256=@1', 'target 512+88=@2'],
    },
    {
      clause: '9.4.3',
      what: 'RDMA WRITE with immediate completes a receive with the length of the message',
      steps: [
        {
          receives: [0],
          in: [
            'rdma_write_first @0 bytes=256 length=300',
            'rdma_write_last_with_immediate @1 bytes=44 immediate=9',
          ],
          out: ['acknowledge @0 ack msn=0', 'acknowledge @1 ack msn=1'],
          received: ['0 success 300 immediate=9'],
        },
      ],
      memory: ['target 0+256=@0', 'target 256+44=@1'],
    },
    {
      clause: '9.7.4.1.5',
      what: 'RDMA WRITE of no bytes checks no key',
      steps: [{ in: ['rdma_write_only @0 to=closed'], out: ['acknowledge @0 ack msn=1'] }],
    },
    {
      clause: '9.7.5.1, 9.7.7.1',
      what: 'READ of one response',
      steps: [
        {
          in: ['rdma_read_request @0 at=32 length=100'],
          out: ['rdma_read_response_only @0 ack msn=1 bytes=100 from=target+32'],
        },
      ],
    },
    {
      clause: '9.7.5.1, 9.7.1',
      what: 'READ of three responses takes three PSNs, and increments the MSN with its first',
      steps: [
        {
          in: ['rdma_read_request @0 length=600'],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+0',
            'rdma_read_response_middle @1 bytes=256 from=target+256',
            'rdma_read_response_last @2 ack msn=1 bytes=88 from=target+512',
          ],
        },
        { in: ['rdma_write_only @3 bytes=1'], out: ['acknowledge @3 ack msn=2'] },
      ],
      memory: ['target 0+1=@3'],
    },
    {
      clause: '9.7.4.1.5',
      what: 'READ of no bytes checks no key',
      steps: [{ in: ['rdma_read_request @0 to=closed'], out: ['rdma_read_response_only @0 ack msn=1'] }],
    },
    {
      clause: '9.4.5',
      what: 'fetch and add',
      setup: { word: 5 },
      steps: [{ in: ['fetch_and_add @0 add=3'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] }],
      memory: ['target 0+8=8'],
    },
    {
      clause: '9.4.5',
      what: 'compare and swap with equal values',
      setup: { word: 5 },
      steps: [
        { in: ['compare_and_swap @0 compare=5 swap=9'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
      ],
      memory: ['target 0+8=9'],
    },
    {
      clause: '9.4.5',
      what: 'compare and swap with different values',
      setup: { word: 5 },
      steps: [
        { in: ['compare_and_swap @0 compare=6 swap=9'], out: ['atomic_acknowledge @0 ack msn=1 original=5'] },
      ],
    },
    {
      clause: '9.7.5.1',
      what: 'answers leave in the order of their requests: no acknowledgement overtakes a READ response',
      setup: { word: 5 },
      steps: [
        {
          receives: [100],
          in: [
            'rdma_read_request @0 at=8 length=300',
            'send_only @2 bytes=1',
            'fetch_and_add @3 add=1',
            'rdma_write_only @4 at=2000 bytes=1',
          ],
          out: [
            'rdma_read_response_first @0 ack msn=1 bytes=256 from=target+8',
            'rdma_read_response_last @1 ack msn=1 bytes=44 from=target+264',
            'acknowledge @2 ack msn=2',
            'atomic_acknowledge @3 ack msn=3 original=5',
            'acknowledge @4 ack msn=4',
          ],
          received: ['0 success 1'],
        },
      ],
      memory: ['inbox 0+1=@2', 'target 0+8=6', 'target 2000+1=@4'],
    },
  ],
};
