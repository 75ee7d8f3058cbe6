import { describe, expect, it } from 'vitest';

import {
  agreeOnLink,
  checkReach,
  offerOf,
  readOffer,
  withLink,
  type Offer,
} from '../../lib/cli/link_agreement.ts';

const here = { local: '127.0.0.1', remote: '127.0.0.1' };

/** The offer of an end of this process, with changes. */
function offer(device: string, changes: Partial<Offer> = {}): Offer {
  return { ...offerOf(device, 1, here), ...changes };
}

/** The device strings on which both ends agree. */
function agreed(waiting: Offer, looking: Offer): [string, string] {
  const linkOf = (own: Offer, other: Offer, waits: boolean): string => {
    const link = agreeOnLink(own, other, waits);
    return link === undefined ? own.device : withLink(own.device, link);
  };
  return [linkOf(waiting, looking, true), linkOf(looking, waiting, false)];
}

/** The error of each of both ends. */
function refused(waiting: Offer, looking: Offer): string[] {
  const said = [
    [waiting, looking],
    [looking, waiting],
  ].map(([own, other], index) => {
    try {
      agreeOnLink(own!, other!, index === 0);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  });
  const [first, second] = said.map((text) => text.replace(/^no link joins .* at the other end; /, ''));
  expect(said[0]).toContain(`no link joins ${waiting.device} here and ${looking.device} at the other end; `);
  expect(said[1]).toContain(`no link joins ${looking.device} here and ${waiting.device} at the other end; `);
  return [first!, second!];
}

const elsewhere = { network: 'another machine', memory: 'another machine and user' };
const far = {
  waiting: { ownAddress: '10.0.0.1', otherAddress: '10.0.0.2' },
  looking: { ...elsewhere, ownAddress: '10.0.0.2', otherAddress: '10.0.0.1' },
};
const otherUser = { memory: 'another user' };
const eachItsAddress =
  "give each end --device 'emu:?link=udp:ADDRESS', with an address of its own machine that the other reaches";

describe('two ends agree on', () => {
  it('shared memory, under a name that the waiting end chooses', () => {
    const [waiting, looking] = [offer('emu:?seed=3'), offer('emu:')];
    expect(agreed(waiting, looking)).toEqual([
      `emu:?seed=3&link=shm:hca-${waiting.token}`,
      `emu:?link=shm:hca-${waiting.token}`,
    ]);
    expect(waiting.token).not.toBe(looking.token);
  });

  it('shared memory for InfiniBand boards too', () => {
    const device = 'emu:?linkLayer=infiniband';
    const waiting = offer(device);
    expect(agreed(waiting, offer(device))).toEqual(Array(2).fill(`${device}&link=shm:hca-${waiting.token}`));
  });

  it('UDP between the addresses of their TCP connection, on two machines', () => {
    expect(agreed(offer('emu:', far.waiting), offer('emu:', far.looking))).toEqual([
      'emu:?link=udp:10.0.0.1',
      'emu:?link=udp:10.0.0.2',
    ]);
  });

  it('UDP between two loopback addresses, under two users', () => {
    const waiting = offer('emu:', { token: '0102aaaaaaaa' });
    expect(agreed(waiting, offer('emu:', otherUser))).toEqual([
      'emu:?link=udp:127.2.3.1',
      'emu:?link=udp:127.2.3.2',
    ]);
  });

  it('the link of the end that has one', () => {
    const token = '0102aaaaaaaa';
    const shared = 'emu:?link=shm:lab';
    expect(agreed(offer(shared), offer('emu:'))).toEqual([shared, shared]);
    expect(agreed(offer('emu:'), offer(shared))).toEqual([shared, shared]);
    const near = 'emu:?link=udp:127.0.0.1';
    expect(agreed(offer('emu:', { token }), offer(near))).toEqual(['emu:?link=udp:127.2.3.2', near]);
    const own = 'emu:?link=udp:10.0.0.1';
    expect(agreed(offer(own, far.waiting), offer('emu:', far.looking))).toEqual([
      own,
      'emu:?link=udp:10.0.0.2',
    ]);
  });

  it('the links of both ends', () => {
    for (const [one, other] of [
      ['emu:?link=udp:127.0.0.1', 'emu:?link=udp:127.0.0.2'],
      ['emu:?link=shm:lab', 'emu:?link=shm:lab'],
      ['serve:lab/1', 'serve:lab/2'],
      ['serve:lab/1', 'emu:?link=udp:127.0.0.2'],
      ['pci:0000:01:00.0', 'emu:?link=ethernet:/a,/b'],
    ] as const) {
      expect(agreed(offer(one), offer(other))).toEqual([one, other]);
    }
  });
});

describe('both ends print a usable device', () => {
  const serve = "give --device 'serve:lab'";
  it.each([
    ['emu:', 'serve:lab/1', `${serve} here`, `${serve} at the other end`],
    [
      'emu:?seed=3',
      'emu:?link=ethernet:/a,/b',
      "give --device 'emu:?seed=3&link=ethernet:/b,/a' here",
      "give --device 'emu:?seed=3&link=ethernet:/b,/a' at the other end",
    ],
    [
      'emu:?link=shm:lab',
      'serve:lab/1',
      "give both ends --device 'serve:lab'",
      "give both ends --device 'serve:lab'",
    ],
    [
      'emu:?link=shm:lab',
      'emu:?link=shm:other',
      "give both ends --device 'emu:?link=shm:lab'",
      "give both ends --device 'emu:?link=shm:other'",
    ],
    [
      'emu:?link=shm:lab',
      'emu:?link=udp:127.0.0.1',
      "give both ends --device 'emu:?link=shm:lab'",
      "give both ends --device 'emu:?link=shm:lab'",
    ],
    [
      'emu:',
      'pci:0000:01:00.0',
      'give both ends devices of one network',
      'give both ends devices of one network',
    ],
    [
      'emu:?linkLayer=infiniband',
      'emu:',
      'give both ends the same linkLayer',
      'give both ends the same linkLayer',
    ],
  ])('%s and %s', (one, other, first, second) => {
    expect(refused(offer(one), offer(other))).toEqual([first, second]);
  });

  it.each([
    ['emu:?fabric=x', 'emu:'],
    ['emu:?fabric=x', 'emu:?link=shm:lab'],
    ['emu:?fabric=x', 'emu:?fabric=x'],
  ])('%s and %s: a fabric stays within one process', (one, other) => {
    const said = 'leave out fabric: it joins boards of one process; both ends find a link without it';
    expect(refused(offer(one), offer(other))).toEqual([said, said]);
  });

  it('if the memory is not shared', () => {
    const said = `run both ends on one machine as one user, or ${eachItsAddress}`;
    for (const other of ['emu:', 'emu:?link=shm:lab']) {
      expect(refused(offer('emu:?link=shm:lab'), offer(other, otherUser))).toEqual([said, said]);
    }
  });

  it('if the ends connected through a tunnel, or see different addresses', () => {
    expect(refused(offer('emu:'), offer('emu:', elsewhere))).toEqual([eachItsAddress, eachItsAddress]);
    const translated = { ...far.looking, otherAddress: '192.0.2.1' };
    expect(refused(offer('emu:', far.waiting), offer('emu:', translated))).toEqual([
      eachItsAddress,
      eachItsAddress,
    ]);
  });

  it('if InfiniBand boards are on two machines', () => {
    const device = 'emu:?linkLayer=infiniband';
    const said = 'run both ends on one machine, as one user: InfiniBand boards share memory';
    expect(refused(offer(device, far.waiting), offer(device, far.looking))).toEqual([said, said]);
  });

  it('if the only address is in use', () => {
    const said = "give --device 'emu:?link=udp:ADDRESS'";
    const reached = ', with an address that ::1 reaches';
    expect(refused(offer('emu:?link=udp:::1'), offer('emu:'))).toEqual([
      `${said} at the other end${reached}`,
      `${said} here${reached}`,
    ]);
  });

  it('if a served board has no link: a UDP link, by their addresses', () => {
    const [udp, served] = [offer('emu:?link=udp:127.0.0.1'), offer('serve:lab/1')];
    const ipv4 = '00000000000000000000ffff7f000001';
    const local = 'fe8000000000000000f00afffe000001';
    for (const [one, gid, other, otherGid] of [
      [udp, ipv4, served, local],
      [served, local, udp, ipv4],
    ] as const) {
      expect(() => checkReach(one, gid, other, otherGid)).toThrow("give both ends --device 'serve:lab'");
    }
    checkReach(udp, ipv4, served, ipv4);
    checkReach(offer('serve:lab/1'), local, served, local);
  });
});

describe('an offer', () => {
  it('covers the first port, the only one with a link', () => {
    expect(() => offerOf('emu:?ports=2', 2, here)).toThrow(
      'port 2 of an emulated board has no link to another process; use --ib-port 1',
    );
    expect(offerOf('serve:lab', 2, here).kind).toBe('serve');
  });

  it.each([undefined, null, 7, {}, { ...offer('emu:'), token: 7 }])('is not %j', (said) => {
    expect(() => readOffer(said)).toThrow('the other end did not send its device');
  });

  it('has IPv4 addresses in their own notation', () => {
    const { ownAddress, otherAddress } = offerOf('emu:', 1, { local: '::ffff:10.0.0.1', remote: '::1' });
    expect([ownAddress, otherAddress]).toEqual(['10.0.0.1', '::1']);
  });
});
