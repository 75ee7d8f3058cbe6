// npm run fpga:drawings: draws each block of fpga/rtl into fpga/doc/figures, from its source: ports, parts, memories, registers.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { blocks, sourcesOf } from './blocks.mjs';

const root = path.join(import.meta.dirname, '../..');
const [row, column, box, gap] = [15, 420, 460, 10];
const textWidth = 60;

/** The path of a block's drawing. */
export function drawingOf(block) {
  return path.join(root, `fpga/doc/figures/${block}_block.svg`);
}

/**
 * The parts of a block.
 * @returns groups of ports with their comments; parts, which are other sources by name, with the number of instances and their
 * memories; memories and registers of its own
 */
export function structureOf(block) {
  const source = sourceOf(block);
  const memories = memoriesOf(source);
  const own = new Set(memories.map(({ name }) => name));
  return {
    groups: portGroups(/^\) \(\n([^]*?)^\);$/m.exec(source)[1]),
    parts: partsOf(source),
    memories,
    registers: registersOf(source).filter((name) => !own.has(name)),
  };
}

/** The path of each source, by the name of its module. */
const files = new Map(
  Object.keys(blocks)
    .flatMap(sourcesOf)
    .map((file) => [path.basename(file, '.sv'), file]),
);
const sourceOf = (name) => readFileSync(path.join(root, files.get(name)), 'utf8');

function portGroups(text) {
  return text.split('\n\n').map((group) => {
    const lines = group.split('\n').map((line) => line.trim());
    const ports = lines
      .map((line) => /^(input|output) (.*?)(\w+),?(?:\s*\/\/.*)?$/.exec(line))
      .filter((found) => found !== null)
      .map(([, direction, type, name]) => ({ direction, name, width: widthOf(type) }));
    const said = lines.filter((line) => line.startsWith('//')).map((line) => line.slice(3));
    return { said: said.join(' '), ports };
  });
}

/** The bits of a port; empty for one bit, and for a data unit, whose name shows it. */
function widthOf(type) {
  return type.startsWith('logic') ? type.slice(5).replace(/\w+::/g, '').trim() : '';
}

function memoriesOf(source) {
  const declarations = source.matchAll(/^ +logic ?(\[.*?\])? ((?:\w+\[[^\]]+\](?:, )?)+);/gm);
  return [...declarations].flatMap(([, width, names]) =>
    [...names.matchAll(/(\w+)\[([^\]]+)\]/g)].map(([, name, words]) => ({ name, words, width: width ?? '' })),
  );
}

function partsOf(source) {
  const instances = [...source.matchAll(/^ +(\w+) (?:#\(|i_\w+ \()/gm)].map(([, name]) => name);
  return [...new Set(instances)]
    .filter((name) => files.has(name))
    .map((name) => ({
      name,
      times: instances.filter((each) => each === name).length,
      // A block has a drawing of its own.
      memories: name in blocks ? [] : memoriesOf(sourceOf(name)),
    }));
}

function registersOf(source) {
  const clocked = [...source.matchAll(/^( +)always_ff @\(posedge clock\) begin\n[^]*?\n\1end$/gm)];
  const names = clocked.flatMap(([text]) =>
    [...text.matchAll(/(?:^ *|else |\) )(\w+)(?:\[[^=;\n]*?\])*(?:\.\w+)? <= [^;]*;/gm)].map(
      ([, name]) => name,
    ),
  );
  return [...new Set(names)];
}

/** The drawing of a block, dark on white on any page. */
export function draw(block) {
  const { groups, parts, memories, registers } = structureOf(block);
  const marks = [];
  const left = column;
  const text = (x, y, words, more = '') =>
    marks.push(`<text x="${x}" y="${y}"${more}>${escaped(words)}</text>`);
  let y = 46;
  for (const { said, ports } of groups) {
    const sides = ['input', 'output'].map((wanted) => ports.filter(({ direction }) => direction === wanted));
    const lines = wrapped(said);
    sides.forEach((side, isOutput) =>
      side.forEach(({ name, width }, index) => {
        const at = y + index * row + row - 4;
        const [from, to] = isOutput ? [left + box, left + box + 22] : [left - 22, left];
        marks.push(
          `<path d="M${from} ${at - 4}H${to - 5}" class="wire"/><path d="M${to} ${at - 4}l-6 -3v6z"/>`,
        );
        const label = [name, width].filter((word) => word !== '').join(' ');
        text(isOutput ? to + 6 : from - 6, at, label, isOutput ? '' : ' text-anchor="end"');
      }),
    );
    lines.forEach((line, index) => text(left + 8, y + index * row + row - 4, line, ' class="said"'));
    y += Math.max(lines.length, sides[0].length, sides[1].length) * row + gap;
  }
  for (const { name, times, memories: inside } of parts) {
    const height = row * (1 + inside.length) + 6;
    marks.push(`<rect x="${left + 8}" y="${y}" width="${box - 16}" height="${height}" class="part"/>`);
    text(left + 14, y + row - 2, times === 1 ? name : `${times} × ${name}`);
    inside.forEach((memory, index) => text(left + 28, y + row * (index + 2) - 2, memoryText(memory)));
    y += height + 6;
  }
  y += gap;
  for (const [title, lines] of [
    ['memories', memories.map(memoryText)],
    ['registers', wrapped(registers.join(', '))],
  ]) {
    if (lines.length === 0 || lines[0] === '') continue;
    text(left + 8, y + row - 4, title, ' class="said"');
    lines.forEach((line, index) => text(left + 22, y + row * (index + 2) - 4, line));
    y += row * (lines.length + 1) + gap;
  }
  const [width, height] = [box + 2 * column, y + 12];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="11">`,
    '<style>.wire,.box{stroke:#1f4e9c;fill:none}.part{stroke:#888;fill:#f2f5fa}.said{fill:#666;font-style:italic}</style>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<rect x="${left}" y="34" width="${box}" height="${y - 34}" class="box"/>`,
    `<text x="${left + box / 2}" y="24" text-anchor="middle" font-size="15">${block}</text>`,
    ...marks,
    '</svg>\n',
  ].join('\n');
}

const memoryText = ({ name, words, width }) => [`${name}: ${words} words`, width].join(' ').trim();

function wrapped(words) {
  const lines = [''];
  for (const word of words.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > textWidth) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

const escaped = (words) => words.replace(/&/g, '&amp;').replace(/</g, '&lt;');

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const block of Object.keys(blocks)) writeFileSync(drawingOf(block), draw(block));
