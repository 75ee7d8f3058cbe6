import { postedRead, postedSend, postedSends } from './posted.ts';
import type { Section } from './table.ts';

/** Acknowledgements to the requester of a reliable connection. */
export const acknowledgements: Section = {
  subject: 'acknowledgements',
  role: 'requester',
  rows: [
    {
      clause: '9.7.2',
      what: 'ACK of a SEND',
      steps: [postedSends(1), { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] }],
    },
    {
      clause: '9.7.2',
      what: 'an ACK of each packet: the last one completes the SEND',
      steps: [
        postedSend,
        { in: ['acknowledge @0 ack', 'acknowledge @1 ack'] },
        { in: ['acknowledge @2 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.2',
      what: 'one ACK for all packets of a message',
      steps: [postedSend, { in: ['acknowledge @2 ack msn=1'], sent: ['0 success'] }],
    },
    {
      clause: '9.7.2',
      what: 'one ACK for three messages',
      steps: [
        postedSends(3),
        { in: ['acknowledge @2 ack msn=3'], sent: ['0 success', '1 success', '2 success'] },
      ],
    },
    {
      clause: '9.7.2',
      what: 'an ACK between messages completes those before it',
      steps: [
        postedSends(3),
        { in: ['acknowledge @1 ack msn=2'], sent: ['0 success', '1 success'] },
        { in: ['acknowledge @2 ack msn=3'], sent: ['2 success'] },
      ],
    },
    {
      clause: '9.7.2',
      what: 'ACK of an RDMA WRITE with immediate, and of the unsignaled one before it',
      steps: [
        {
          post: ['rdma_write bytes=4 unsignaled', 'rdma_write_with_immediate bytes=4 at=64 immediate=5'],
          out: [
            'rdma_write_only @0 to=peer at=0 length=4 bytes=4 from=local+0 ack-request',
            'rdma_write_only_with_immediate @1 to=peer at=64 length=4 immediate=83886080 bytes=4 from=local+1024 ack-request',
          ],
        },
        { in: ['acknowledge @1 ack msn=2'], sent: ['1 success'] },
      ],
    },
    {
      clause: '9.7.6.1',
      what: 'duplicate ACK: dropped',
      steps: [
        postedSends(2),
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
        { in: ['acknowledge @0 ack msn=1', 'acknowledge @-1 ack msn=0'] },
        { in: ['acknowledge @1 ack msn=2'], sent: ['1 success'] },
      ],
    },
    {
      clause: '9.7.6.1',
      what: 'ACK when everything is acknowledged: dropped',
      steps: [
        postedSends(1),
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
        { in: ['acknowledge @0 ack msn=1', 'acknowledge @1 ack msn=2'] },
      ],
    },
    {
      clause: '9.7.6.1',
      what: 'ghost ACK, of a PSN that was not sent: dropped',
      steps: [
        postedSends(1),
        { in: ['acknowledge @1 ack msn=2', 'acknowledge @5 ack msn=2', 'acknowledge @8388607 ack msn=2'] },
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
      ],
      linux: 'treats it as an ACK of everything: it checks no upper bound',
    },
    {
      clause: '9.7.6.1',
      what: 'ghost ACK, half the PSN space behind: dropped',
      steps: [
        postedSends(1),
        { in: ['acknowledge @-8388608 ack msn=2', 'acknowledge @-2 ack msn=2'] },
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
      ],
    },
    {
      clause: '9.7.6.1',
      what: 'ghost NAKs: dropped',
      steps: [
        postedSends(1),
        {
          in: [
            'acknowledge @1 nak=access',
            'acknowledge @-1 nak=access',
            'acknowledge @1 nak=sequence',
            'acknowledge @-1 rnr=12',
          ],
        },
        { in: ['acknowledge @0 ack msn=1'], sent: ['0 success'] },
      ],
      linux: 'treats those ahead as ACKs of everything: it checks no upper bound',
    },
    {
      clause: '9.7.6.1',
      what: 'ghost responses: dropped',
      steps: [
        postedRead(100),
        {
          in: [
            'rdma_read_response_only @1 ack bytes=100',
            'rdma_read_response_only @-1 ack bytes=100',
            'atomic_acknowledge @-1 ack original=1',
          ],
        },
        { in: ['rdma_read_response_only @0 ack msn=1 bytes=100'], sent: ['0 success'] },
      ],
      memory: ['local 0+100=@0'],
      linux: 'treats the one ahead as an implied NAK, and retransmits',
    },
    {
      clause: '9.7.6.1',
      what: 'responses when nothing is outstanding: dropped',
      steps: [
        {
          in: [
            'acknowledge @0 ack msn=1',
            'acknowledge @0 nak=invalid',
            'rdma_read_response_only @0 ack bytes=8',
            'atomic_acknowledge @0 ack original=1',
          ],
        },
      ],
    },
    {
      clause: '9.7.7.2',
      what: 'an ACK with a credit count is like one without',
      steps: [postedSends(1), { in: ['acknowledge @0 syndrome=0 msn=1'], sent: ['0 success'] }],
    },
    {
      clause: '9.7.3.1',
      what: 'a READ response acknowledges the requests before it',
      steps: [
        {
          post: ['send bytes=10', 'rdma_read bytes=20'],
          out: [
            'send_only @0 bytes=10 from=local+0 ack-request',
            'rdma_read_request @1 to=peer at=0 length=20 ack-request',
          ],
        },
        { in: ['rdma_read_response_only @1 ack msn=2 bytes=20'], sent: ['0 success', '1 success'] },
      ],
      memory: ['local 1024+20=@1'],
    },
    {
      clause: '9.7.3.1',
      what: 'the first response of a READ acknowledges the requests before it',
      steps: [
        {
          post: ['send bytes=10', 'rdma_read bytes=300'],
          out: [
            'send_only @0 bytes=10 from=local+0 ack-request',
            'rdma_read_request @1 to=peer at=0 length=300 ack-request',
          ],
        },
        { in: ['rdma_read_response_first @1 ack msn=2 bytes=256'], sent: ['0 success'] },
        { in: ['rdma_read_response_last @2 ack msn=2 bytes=44'], sent: ['1 success'] },
      ],
      memory: ['local 1024+256=@1', 'local 1280+44=@2'],
    },
    {
      clause: '9.7.3.1',
      what: 'an atomic acknowledgement acknowledges the requests before it',
      steps: [
        {
          post: ['send bytes=10', 'compare_and_swap at=8 compare=1 swap=2'],
          out: [
            'send_only @0 bytes=10 from=local+0 ack-request',
            'compare_and_swap @1 to=peer at=8 compare=1 swap=2 ack-request',
          ],
        },
        { in: ['atomic_acknowledge @1 ack msn=2 original=7'], sent: ['0 success', '1 success'] },
      ],
      memory: ['local 1024+8=7'],
    },
    {
      clause: '9.7.3.1',
      what: 'a READ takes as many PSNs as it has responses',
      steps: [
        {
          post: ['rdma_read bytes=600', 'send bytes=8'],
          out: [
            'rdma_read_request @0 to=peer at=0 length=600 ack-request',
            'send_only @3 bytes=8 from=local+1024 ack-request',
          ],
        },
        {
          in: [
            'rdma_read_response_first @0 ack msn=1 bytes=256',
            'rdma_read_response_middle @1 bytes=256',
            'rdma_read_response_last @2 ack msn=1 bytes=88',
          ],
          sent: ['0 success'],
        },
        { in: ['acknowledge @3 ack msn=2'], sent: ['1 success'] },
      ],
      memory: ['local 0+256=@0', 'local 256+256=@1', 'local 512+88=@2'],
    },
    {
      clause: '9.7.3.1',
      what: 'outstanding READs are limited by the initiator depth',
      setup: { depth: 1 },
      steps: [
        {
          post: ['rdma_read bytes=8', 'rdma_read bytes=8 at=64'],
          out: ['rdma_read_request @0 to=peer at=0 length=8 ack-request'],
        },
        {
          in: ['rdma_read_response_only @0 ack msn=1 bytes=8'],
          sent: ['0 success'],
          out: ['rdma_read_request @1 to=peer at=64 length=8 ack-request'],
        },
        { in: ['rdma_read_response_only @1 ack msn=2 bytes=8'], sent: ['1 success'] },
      ],
      memory: ['local 0+8=@0', 'local 1024+8=@1'],
    },
    {
      clause: '10.8.3.3',
      what: 'a fenced work request waits for the READ before it',
      steps: [
        {
          post: ['rdma_read bytes=8', 'send bytes=8 fence'],
          out: ['rdma_read_request @0 to=peer at=0 length=8 ack-request'],
        },
        {
          in: ['rdma_read_response_only @0 ack msn=1 bytes=8'],
          sent: ['0 success'],
          out: ['send_only @1 bytes=8 from=local+1024 ack-request'],
        },
        { in: ['acknowledge @1 ack msn=2'], sent: ['1 success'] },
      ],
      memory: ['local 0+8=@0'],
    },
  ],
};
