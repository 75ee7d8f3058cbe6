import { describe, expect, it } from 'vitest';

import { ManagementOpcode, ManagementStatus, ServiceType, decode, encode } from '../../lib/spec/index.ts';
import { holdings, makeHost } from './managed_function.ts';
import { bitOf, createInput } from './management_inputs.ts';

const { success, badParameter, mailboxFault } = ManagementStatus;
const { createQueuePair } = ManagementOpcode;

describe('mailboxes', () => {
  it('reads a chain of pages', () => {
    const { device, host, domain } = makeHost({ pageTableEntries: 4096 });
    const pages = { send_entry_pages: 700, receive_entry_pages: 600 };
    const number = host.createQueuePair(domain, ServiceType.unreliableDatagram, pages);
    const control = decode('queue_pair_control', device.port.find(1, number).control!);
    const first = 0x1000 + 1 + 700 + 1; // the lists follow each other
    for (const at of [0, 1, 253, 254, 599])
      expect(device.port.translate(Number(control['receive_entry_pages']), BigInt(at) * 4096n)).toBe(
        BigInt(first + at) * 4096n,
      );
    expect(control).toMatchObject({ send_entry_bytes: 700 * 4096, receive_entry_bytes: 600 * 4096 });
  });

  it('reads pages that are not full', () => {
    const { device, host, domain } = makeHost();
    const input = createInput(domain, ServiceType.unreliableDatagram);
    host.post(createQueuePair, {}, input);
    const at = host.input + 16;
    const all = device.bytes.slice(at, at + 96 + 8 * 6);
    for (const [page, first, length] of [
      [0, 0, 40],
      [1, 40, 60],
      [2, 100, 44],
    ] as const) {
      const next = page < 2 ? device.address(host.input + (page + 1) * 4096) : 0n;
      device.bytes.set(encode('mailbox_header', { next, length }), host.input + page * 4096);
      device.bytes.set(all.subarray(first, first + length), at + page * 4096);
    }
    host.ring();
    device.runUntilIdle();
    const [answer] = host.takeAnswers();
    expect(answer!.status).toBe(success);
    const control = decode('queue_pair_control', device.port.find(1, Number(answer!.output)).control!);
    expect(device.port.translate(Number(control['receive_entry_pages']), 4096n)).toBe(0x1005n * 4096n);
  });

  it.each([
    ['a page that is missing', 0n, 4080, 0],
    ['a page that is not aligned', 512n, 4080, 0],
    ['a page with more than fits', 4096n, 4088, 0],
    ['an empty page', 4096n, 0, 0],
    ['a page with a reserved field', 4096n, 4080, 1],
  ])('refuses a chain with %s, and allocates nothing', (_, next, length, reserved) => {
    const { device, host, domain } = makeHost({ pageTableEntries: 4096 });
    const before = holdings(device);
    const input = createInput(domain, ServiceType.unreliableDatagram, { send_entry_pages: 700 });
    host.post(createQueuePair, {}, input);
    const header = encode('mailbox_header', {
      next: next === 0n ? 0n : device.address(host.input) + next,
      length,
    });
    header[12] = reserved;
    device.bytes.set(header, host.input);
    host.ring();
    device.runUntilIdle();
    expect(host.takeAnswers()).toMatchObject([{ status: mailboxFault }]);
    expect(holdings(device)).toEqual(before);
  });

  it('reports a fault of every access to a mailbox, and allocates nothing', () => {
    const { device, host, domain } = makeHost({ pageTableEntries: 4096 });
    const before = holdings(device);
    const input = createInput(domain, ServiceType.unreliableDatagram, { send_entry_pages: 600 });
    const begin = device.address(host.input);
    for (const page of [0n, 1n]) {
      device.port.setFaults([
        { underlyingFunction: 1, begin: begin + page * 4096n, end: begin + (page + 1n) * 4096n },
      ]);
      expect(host.execute(createQueuePair, {}, input).status).toBe(mailboxFault);
      expect(holdings(device)).toEqual(before);
    }
    const output = device.address(host.output);
    device.port.setFaults([{ underlyingFunction: 1, begin: output, end: output + 4096n }]);
    expect(host.execute(ManagementOpcode.queryFunction).status).toBe(mailboxFault);
  });

  it.each([
    ['input_mailbox', createQueuePair, { input_mailbox: 0n }],
    ['input_mailbox', createQueuePair, { input_mailbox: 64n }],
    ['input_length', createQueuePair, { input_length: 95 }],
    ['input_length', createQueuePair, { input_length: 96 + 8 * 7 }],
    ['output_mailbox', ManagementOpcode.queryFunction, { output_mailbox: 0n }],
    ['output_length', ManagementOpcode.queryFunction, { output_length: 63 }],
  ])('names %s', (field, opcode, wrong) => {
    const { host, domain } = makeHost();
    const input = createInput(domain, ServiceType.unreliableDatagram);
    expect(host.execute(opcode, wrong, input)).toMatchObject({
      status: badParameter,
      inMailbox: 0,
      output: bitOf('management_command', field),
    });
  });
});
