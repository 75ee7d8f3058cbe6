import { read } from './documents.ts';

export interface Link {
  readonly name: string;
  readonly unit: string;
  readonly depth: string;
  readonly producer: string;
  readonly consumer: string;
}

interface Wake {
  readonly part: string;
  readonly block: string;
  readonly event: string;
}

const table = read('native/hca/base/wiring.h').replaceAll(/\s*\\\n\s*/g, ' ');

/** Arguments of each row of `macro`. */
const rows = (macro: string): string[][] =>
  [...table.matchAll(new RegExp(String.raw`(?<=[ )])${macro}\(([^()]*(?:\([^()]*\)[^()]*)*)\)`, 'g'))].map(
    ([, row]) => row!.split(',').map((cell) => cell.trim()),
  );

/** The links of the device model, in the order of its wiring table. */
export const links: readonly Link[] = rows('LINK').map(([name, unit, depth, producer, consumer]) => ({
  name: name!,
  unit: unit!,
  depth: depth!,
  producer: producer!,
  consumer: consumer!,
}));

const { formats } = JSON.parse(read('fpga/spec/formats/data_units.json')) as {
  formats: readonly { readonly name: string; readonly bytes: number }[];
};

/** Bytes of the data units of a link. */
export function bytesOf({ unit }: Link): number {
  const name = unit.replaceAll(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return formats.find((format) => format.name === name)!.bytes;
}

/** Wakings beside the links. */
export const wakes: readonly Wake[] = rows('WAKE').map(([part, block, event]) => ({
  part: part!,
  block: block!,
  event: event!.replace(/^on_free<PacketUse::(\w+)>$/, 'on_$1 buffer free').replace(/^on_/, ''),
}));

/** Blocks, in the order of their turns, and parts that blocks share. */
export const blocks = [...table.matchAll(/ (?:RTL_)?BLOCK\((\w+), \w+,/g)].map(([, name]) => name!);
export const parts = [...table.matchAll(/ PART\((\w+), \w+/g)].map(([, name]) => name!);

/** The drawing of docs/architecture.md: from each block its links with their depths, and the blocks that it wakes besides. */
export function drawing(): string {
  const edges = new Map<string, string[]>();
  const add = (from: string, edge: string): unknown => edges.set(from, [...(edges.get(from) ?? []), edge]);
  for (const { name, depth, producer, consumer } of links)
    add(producer, `─ ${name} (${depth}) → ${consumer}`);
  for (const { part, block, event } of wakes) add(part, `┄ ${event} ┄→ ${block}`);
  const width = Math.max(...[...edges.keys()].map((name) => name.length));
  const lines = [...blocks, ...parts].flatMap((from) => {
    const all = edges.get(from) ?? [];
    return all.map((edge, index) => {
      const isLast = index === all.length - 1;
      const corner = index === 0 ? (isLast ? '─' : '┬') : isLast ? '└' : '├';
      const begin = index === 0 ? `${from} `.padEnd(width + 2, '─') : ' '.repeat(width + 2);
      return `${begin}${corner}${edge}`;
    });
  });
  return lines.join('\n');
}
