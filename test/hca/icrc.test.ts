import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  crcCompute,
  crcImplementations,
  crcInUse,
  icrcOfHeaders,
  type CrcKind,
  type Framing,
} from '../helpers/icrc_port.ts';
import { bitwise, onWire } from '../helpers/icrc_reference.ts';
import { Random } from '../helpers/random.mjs';

const kinds: readonly CrcKind[] = ['icrc', 'vcrc'];
const start = (kind: CrcKind): number => (kind === 'vcrc' ? 0xffff : 0xffffffff);
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

const lineBytes = 64;
const longest = 4200;

const random = new Random(1);
const noise = Uint8Array.from({ length: longest + lineBytes }, () => random.below(256));

/** An area of `length` bytes whose address is `alignment` above a multiple of 64. */
function aligned(length: number, alignment: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(length + lineBytes)).subarray(alignment, alignment + length);
}

const implementations = crcImplementations().map((each, index) => ({ ...each, index }));
const supported = implementations.filter(({ isSupported }) => isSupported);

describe.each(supported)('CRC by $name', ({ index }) => {
  it.each(kinds)('%s: all lengths to 300 B at all alignments', (kind) => {
    const source = noise.slice(0, 300 + lineBytes);
    for (let alignment = 0; alignment < lineBytes; alignment++) {
      let expected = start(kind);
      for (let length = 0; length <= 300; length++) {
        const data = source.subarray(alignment, alignment + length);
        const crc = crcCompute(index, kind, start(kind), data);
        if (crc !== expected) expect(crc, `${length} B at ${alignment}`).toBe(expected);
        expected = bitwise(kind, expected, source.subarray(alignment + length, alignment + length + 1));
      }
    }
  });

  it.each(kinds)('%s: all lengths to 4200 B', (kind) => {
    let expected = start(kind);
    for (let length = 0; length <= longest; length++) {
      const crc = crcCompute(index, kind, start(kind), noise.subarray(0, length));
      if (crc !== expected) expect(crc, `${length} B`).toBe(expected);
      expected = bitwise(kind, expected, noise.subarray(length, length + 1));
    }
  });

  it('any bytes, any register, any alignment, in pieces', () => {
    const data = fc.uint8Array({ maxLength: longest, size: 'max' });
    const alignment = fc.nat(lineBytes - 1);
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        data,
        fc.nat(longest),
        fc.nat(0xffffffff),
        alignment,
        (kind, given, cut, register, from) => {
          const source = aligned(given.length, from);
          source.set(given);
          const begin = kind === 'vcrc' ? register & 0xffff : register;
          const first = crcCompute(index, kind, begin, source.subarray(0, cut));
          const crc = crcCompute(index, kind, first, source.subarray(cut));
          expect(crc).toBe(bitwise(kind, begin, given));
        },
      ),
    );
  });

  it('gives the published check value of CRC-32, CBF43926h for "123456789"', () => {
    const crc = crcCompute(index, 'icrc', 0xffffffff, Buffer.from('123456789'));
    expect(~crc >>> 0).toBe(0xcbf43926);
  });
});

describe('choice of the implementation', () => {
  it('selects the first implementation that the CPU supports', () => {
    expect(crcInUse()).toBe(supported[0]!.name);
  });

  it('always has one', () => {
    expect(implementations.at(-1)).toMatchObject({ name: 'slicing-by-8', isSupported: true });
  });
});

// Packets built by other implementations, from the first byte that the ICRC covers to the ICRC.
const published: readonly {
  what: string;
  framing: Framing;
  headers: Uint8Array;
  payload: Uint8Array;
  icrc: string;
}[] = [
  {
    what: 'the sample local packet of InfiniBand volume 1, 7.8.3',
    framing: 'infiniband_local',
    headers: bytes('7012375c 000e17d2 0a202487 0087b1b3 000dec2a 01710a1c 015d4002 38f27a05 0000000e'),
    payload: bytes('bb884d85 fd5cfba4 728bc069 0ed40000'),
    icrc: '9625b75a',
  },
  {
    what: 'a congestion notification by a ConnectX-4 Lx, captured for the RoCE tests of Scapy',
    framing: 'ethernet_ipv4',
    headers: bytes(
      '45c2003c 718c4000 40119161 0a001101 0a001201 000012b7 00280000 8100ffff 40000118 00000000',
    ),
    payload: new Uint8Array(16),
    icrc: '82fd002a',
  },
  {
    what: 'an unreliable SEND Only in the RoCE tests of Scapy',
    framing: 'ethernet_ipv4',
    headers: bytes(
      '45010040 04784000 4011b4d5 c0a80007 c0a80007 c00012b7 002caca2 2460ffff 000000d3 00cf1710',
    ),
    payload: bytes('4630818b e28935d9 0e9a9550 5401be88 5e500000'),
    icrc: '78f353f3',
  },
];

describe('ICRC of packets built by other implementations', () => {
  it.each(published)('$what', ({ framing, headers, payload, icrc }) => {
    const crc = crcCompute(0, 'icrc', icrcOfHeaders(framing, headers), payload);
    expect(Buffer.from(onWire('icrc', crc)).toString('hex')).toBe(icrc);
  });
});

// The header bits that change on the way: InfiniBand volume 1, 7.8.1; annex A17.
const udp = '0000ffff'; // the checksum
const transport = '00000000 ff000000 00000000'; // FECN, BECN and the reserved bits next to them
const variant: readonly (readonly [framing: Framing, bits: string])[] = [
  ['ethernet_ipv4', `00ff0000 00000000 ff00ffff 00000000 00000000 00000000 ${udp} ${transport}`],
  ['ethernet_ipv6', `0fffffff 000000ff ${'00'.repeat(32)} 00000000 ${udp} ${transport}`],
  ['infiniband_local', `f0000000 00000000 ${transport}`],
  ['infiniband_global', `ffffffff ffffffff 0fffffff 000000ff ${'00'.repeat(32)} ${transport}`],
];

describe('ICRC of headers', () => {
  it.each(variant)('%s: covers exactly the bits that do not change on the way', (framing, bits) => {
    const mask = bytes(bits);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: mask.length, maxLength: mask.length + 40 }), (headers) => {
        const masked = headers.map((byte, index) => byte | (mask[index] ?? 0));
        const before = framing.startsWith('ethernet') ? Array.from({ length: 8 }, () => 0xff) : [];
        const expected = bitwise('icrc', 0xffffffff, [...before, ...masked]);
        expect(icrcOfHeaders(framing, headers)).toBe(expected);
      }),
    );
  });
});
