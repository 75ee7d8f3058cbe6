import { readFileSync, writeFileSync } from 'node:fs';
import type { SpecificationCopy } from './specification_copy.ts';

const doc = 'Elements.';

/** Elements of the arrays of both formats. */
export const arrays = {
  nibbles: [1, 2, 3, 4, 5, 6, 7, 8],
  shorts: [0x1122, 0x3344],
  words: [0x01020304, 0xfffefdfc],
  longs: [0x0102030405060708n, 0x8000000000000001n],
} as const;

/** Bytes of the arrays, by byte order. */
export const arrayBytes = {
  little: '21436587 22114433 04030201 fcfdfeff 08070605 04030201 01000000 00000080',
  big: '12345678 11223344 01020304 fffefdfc 01020304 05060708 80000000 00000001',
} as const;

const format = (byteOrder: 'little' | 'big'): object => ({
  name: `${byteOrder}_arrays`,
  bytes: 32,
  byte_order: byteOrder,
  doc,
  fields: [
    { name: 'nibbles', width: 4, count: 8, doc },
    { name: 'shorts', width: 16, count: 2, doc },
    { name: 'words', width: 32, count: 2, doc },
    { name: 'longs', width: 64, count: 2, doc },
  ],
});

const goldenEntry = (byteOrder: 'little' | 'big'): object => ({
  name: `${byteOrder}_arrays`,
  format: `${byteOrder}_arrays`,
  fields: { ...arrays, longs: arrays.longs.map((each) => `0x${each.toString(16)}`) },
  hex: [arrayBytes[byteOrder]],
});

/** Adds a format of arrays in each byte order to a copy of the specification, with golden bytes. */
export function addArraySample(copy: SpecificationCopy): void {
  copy.write('fpga/spec/formats/arrays.json', {
    subject: 'Arrays',
    formats: [format('little'), format('big')],
  });
  copy.replace(
    'fpga/spec/consumers.json',
    '"command_header",',
    '"command_header", "little_arrays", "big_arrays",',
  );
  const golden = copy.path('fpga/spec/golden.json');
  const entries = JSON.parse(readFileSync(golden, 'utf8')) as object[];
  writeFileSync(golden, JSON.stringify([...entries, goldenEntry('little'), goldenEntry('big')]));
}
