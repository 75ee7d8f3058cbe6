import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type * as codec from '../../lib/spec/codec.ts';
import { addArraySample, arrayBytes, arrays } from './array_sample.ts';
import { SpecificationCopy, allOfSpecification } from './specification_copy.ts';

type Element = number | bigint;

const orders = ['little', 'big'] as const;
const title = { little: 'Little', big: 'Big' } as const;
const names = { nibbles: 'Nibbles', shorts: 'Shorts', words: 'Words', longs: 'Longs' } as const;
const fields = ['nibbles', 'shorts', 'words', 'longs'] as const;

function arrayCopy(): SpecificationCopy {
  const copy = new SpecificationCopy(...allOfSpecification);
  addArraySample(copy);
  expect(copy.generate()).toMatchObject({ status: 0, stderr: '' });
  return copy;
}

const bytesOf = (digits: string): Uint8Array =>
  Uint8Array.from(Buffer.from(digits.replaceAll(' ', ''), 'hex'));

// No format of the device has an array yet, so a copy of the specification gets two.
describe('arrays', () => {
  it('encode, decode and flat functions', async () => {
    const copy = arrayCopy();
    const { encode, decode } = (await import(copy.path('lib/spec/codec.ts'))) as typeof codec;
    const flat = (await import(copy.path('lib/spec/arrays.ts'))) as Record<string, unknown>;
    for (const order of orders) {
      const bytes = bytesOf(arrayBytes[order]);
      expect(encode(`${order}_arrays`, arrays)).toEqual(bytes);
      expect(decode(`${order}_arrays`, bytes)).toEqual(arrays);
      const view = new DataView(new Uint8Array(32).fill(0xff).buffer);
      for (const field of fields) {
        const name = `${title[order]}Arrays${names[field]}`;
        const get = flat[`get${name}`] as (view: DataView, base: number, index: number) => Element;
        const set = flat[`set${name}`] as (
          view: DataView,
          base: number,
          index: number,
          value: Element,
        ) => void;
        for (const [index, value] of arrays[field].entries()) {
          set(view, 0, index, value);
          expect(get(view, 0, index)).toBe(value);
        }
      }
      expect(new Uint8Array(view.buffer)).toEqual(bytes);
    }
    expect(() => encode('little_arrays', { shorts: [1] })).toThrow(
      'little_arrays.shorts has 2 elements, not 1',
    );
    expect(() => encode('little_arrays', { shorts: 1 })).toThrow('little_arrays.shorts takes a list of 2');
  });

  it('setters and getters in C++', () => {
    const copy = arrayCopy();
    const program = copy.path('arrays');
    const elements = fields.flatMap((field) => [...arrays[field]]).map((each) => `${each}ull`);
    const checks = orders.map((order) => {
      const list = [...bytesOf(arrayBytes[order])].join(', ');
      return `  const std::vector<uint8_t> ${order}{${list}};
  const SpecFormat& ${order}_format = spec_formats().at("${order}_arrays");
  if (${order}_format.encode(elements) != ${order} || ${order}_format.decode(${order}) != elements) return 1;\n`;
    });
    writeFileSync(
      `${program}.cpp`,
      `#include "test/spec_format.h"
int main() {
  using namespace fpga_verbs::test;
  const std::vector<uint64_t> elements{${elements.join(', ')}};
${checks.join('')}  return 0;
}
`,
    );
    const sources = [`${program}.cpp`, copy.path('native/test/spec_formats.cpp')];
    const flags = [
      '-std=c++20',
      '-O0',
      '-Wall',
      '-Wextra',
      '-Wpedantic',
      '-Wshadow',
      '-Wconversion',
      '-Werror',
    ];
    execFileSync(process.env['CXX'] ?? 'g++', [
      ...flags,
      '-I',
      copy.path('native'),
      '-o',
      program,
      ...sources,
    ]);
    expect(execFileSync(program).length).toBe(0);
  });
});
