import type { Step } from './table.ts';

/** A SEND of three packets, 521 bytes. */
export const postedSend: Step = {
  post: ['send bytes=521'],
  out: [
    'send_first @0 bytes=256 from=local+0',
    'send_middle @1 bytes=256 from=local+256',
    'send_last @2 bytes=9 from=local+512 ack-request',
  ],
};

/** SENDs of one packet each, numbered from 0. */
export function postedSends(count: number): Step {
  const numbers = Array.from({ length: count }, (_, at) => at);
  return {
    post: numbers.map(() => 'send bytes=10'),
    out: numbers.map((at) => `send_only @${at} bytes=10 from=local+${at * 1024} ack-request`),
  };
}

/** A READ of `bytes` bytes, number 0. */
export function postedRead(bytes: number): Step {
  return {
    post: [`rdma_read bytes=${bytes}`],
    out: [`rdma_read_request @0 to=peer at=0 length=${bytes} ack-request`],
  };
}

/** A fetch and add, number 0. */
export const postedAtomic: Step = {
  post: ['fetch_and_add add=1'],
  out: ['fetch_and_add @0 to=peer at=0 add=1 ack-request'],
};
