import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { AddressAllocatorPort } from './pci_port.ts';

const page = 4096n;
/** Address ranges that an IOMMU of a PC accepts: all but the interrupt range. */
const ranges = [
  [0n, 0xfedf_ffffn],
  [0xfef0_0000n, 0x7f_ffff_ffffn],
] as const;

describe('an I/O virtual address', () => {
  it('can be taken by value, within the ranges and only once', () => {
    const addresses = new AddressAllocatorPort(ranges, 4096);
    expect(addresses.take(0x10000n, 2n * page)).toBe(true);
    expect(addresses.take(0x11000n, page)).toBe(false);
    expect(addresses.take(0xf000n, 2n * page)).toBe(false);
    expect(addresses.take(0xf000n, page)).toBe(true);
    expect(addresses.take(0xfedf_f000n, 2n * page)).toBe(false);
    expect(addresses.take(0x80_0000_0000n, page)).toBe(false);
    expect(addresses.take(0n, page)).toBe(false);
    expect(addresses.giveBack(0x11000n)).toBe(0n);
    expect(addresses.giveBack(0x10000n)).toBe(2n * page);
    expect(addresses.take(0x11000n, page)).toBe(true);
  });

  it('is not reused before all other addresses have been used', () => {
    const addresses = new AddressAllocatorPort([[0n, 16n * page - 1n]], 4096);
    const seen = Array.from({ length: 15 }, () => {
      const address = addresses.takeAny(page)!;
      addresses.giveBack(address);
      return address;
    });
    expect(new Set(seen).size).toBe(15);
    expect(addresses.takeAny(page)).toBe(seen[0]);
  });

  it('lies within the ranges, overlaps no other, and is found as long as there is room', () => {
    const small = [
      [0n, 9n * page - 1n],
      [12n * page, 20n * page - 1n],
    ] as const;
    const step = fc.record({ take: fc.boolean(), pages: fc.integer({ min: 1, max: 5 }), which: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const addresses = new AddressAllocatorPort(small, 4096);
        const taken = new Map<bigint, number>();
        const used = (): Set<number> =>
          new Set(
            [...taken].flatMap(([at, pages]) =>
              Array.from({ length: pages }, (_, i) => Number(at / page) + i),
            ),
          );
        for (const { take, pages, which } of steps) {
          if (take) {
            const before = used();
            const address = addresses.takeAny(BigInt(pages) * page);
            const isFree = (at: number): boolean =>
              Array.from({ length: pages }, (_, i) => at + i).every(
                (each) => !before.has(each) && ((each >= 1 && each < 9) || (each >= 12 && each < 20)),
              );
            const fits = Array.from({ length: 20 }, (_, at) => at).some(isFree);
            expect(address !== undefined).toBe(fits);
            if (address === undefined) continue;
            expect(isFree(Number(address / page))).toBe(true);
            taken.set(address, pages);
          } else if (taken.size > 0) {
            const [address, of] = [...taken][which % taken.size]!;
            expect(addresses.giveBack(address)).toBe(BigInt(of) * page);
            taken.delete(address);
          }
        }
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});
