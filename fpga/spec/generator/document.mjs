// The reference documents: every region, register, format, field, enum and parameter, with its description.
import { operationsTable } from './operations.mjs';
import { packetOpcodesTable } from './packet_opcodes.mjs';
import { queuePairTransitionsTable } from './queue_pair_transitions.mjs';
import { formatSentence, hex, namedFields, notice, writtenSentence } from './text.mjs';

const heading = (title) => `<!-- ${notice} -->\n\n# ${title}\n`;
const row = (cells) => `| ${cells.map((each) => String(each).replaceAll('|', '\\|')).join(' | ')} |\n`;
const table = (titles, rows) => row(titles) + row(titles.map(() => '---')) + rows.map(row).join('');
const enumLink = (name) => (name === undefined ? '' : `[${name}](formats.md#${name})`);

/** registers.md */
export function registersDocument({ blocks }) {
  return `${heading('Registers')}
The region table of [identity](#identity), at the start of BAR 0, locates all regions. Registers are little-endian and 4 bytes wide. A 64-bit
register occupies two words, low half first; reading the low half latches the high half. Access: ro read-only, rw read and write, wo
write-only, w1c write one to clear, ro_side_effect a read with a side effect. Element i of an array is at offset + i × stride.

${blocks.map(blockSection).join('\n')}`;
}

function blockSection({ name, bytes, doc, registers }) {
  const rows = registers.map((register) => [
    hex(register.offset, 4),
    register.fields.length > 0 ? `[${register.name}](#${name}${register.name})` : register.name,
    register.access,
    register.width,
    hex(register.reset),
    register.array ? `${register.count} × ${register.stride}` : '',
    register.unit ?? '',
    register.doc,
  ]);
  const titles = ['offset', 'register', 'access', 'bits', 'reset', 'count × stride', 'unit', ''];
  const details = registers
    .filter(({ fields }) => fields.length > 0)
    .map((register) => registerSection(name, register));
  return `## ${name}\n\n${doc} ${bytes} bytes.\n\n${table(titles, rows)}\n${details.join('\n')}`;
}

function registerSection(block, register) {
  return `### ${block}.${register.name}\n\n${register.doc}\n\n${fieldTable(register, (field) => bitRange(field.bit, field.width))}`;
}

/** formats.md */
export function formatsDocument(model) {
  const { parameters, enums, files } = model;
  return `${heading('Formats, enums and parameters')}
Each row of a diagram is a 32-bit word. Little-endian formats show the most significant byte on the left; big-endian formats show the bytes
in wire order. Brackets give the part of a field in a cell: bits of a number, or the index of a byte. Write reserved bits (–) as zero.

${files.map(fileSection).join('\n')}
## Enums

${enums.map(enumSection).join('\n')}
## Parameters

${table(
  ['parameter', 'value', 'unit', ''],
  parameters.map(({ name, value, unit, doc }) => [name, value, unit ?? '', doc]),
)}
${operationsTable(model)}
${packetOpcodesTable(model)}
${queuePairTransitionsTable(model)}`;
}

const fileSection = ({ subject, formats }) => `## ${subject}\n\n${formats.map(formatSection).join('\n')}`;

function formatSection(format) {
  const { name, bytes, order, kind } = format;
  const what = kind === undefined ? '' : `, ${kind.replaceAll('_', ' ')}`;
  const where = (field) =>
    field.shape === 'bytes'
      ? `bytes ${bitRange(field.bit / 8, field.count, 'up')}`
      : bitRange(field.bit, field.width * field.count, order === 'little' ? 'down' : 'up');
  return `### ${name}

${formatSentence(format)} ${bytes} bytes, ${order}-endian${what}.

${diagram(format)}
${fieldTable(format, where)}`;
}

function enumSection({ name, width, doc, values }) {
  const rows = values.map((each) => [each.value, each.name, each.doc]);
  return `### ${name}\n\n${doc} ${width} bits.\n\n${table(['value', 'name', ''], rows)}`;
}

function bitRange(first, count, direction = 'down') {
  if (count === 1) return String(first);
  const last = first + count - 1;
  return direction === 'down' ? `${last}:${first}` : `${first}:${last}`;
}

function fieldTable(container, where) {
  const rows = namedFields(container).map((field) => [
    where(field),
    field.name,
    field.array ? `${field.count} × ${field.width}` : field.width * field.count,
    enumLink(field.enum),
    field.unit ?? '',
    writtenSentence(field),
  ]);
  return table(['place', 'field', 'bits', 'enum', 'unit', ''], rows);
}

/** Rows of 32-bit words with four bytes each; words that look alike are one row. */
function diagram(format) {
  const little = format.order === 'little';
  const titles = little ? ['31:24', '23:16', '15:8', '7:0'] : ['0:7', '8:15', '16:23', '24:31'];
  const rows = [];
  for (let byte = 0; byte < format.bytes; byte += 4) {
    const cells = [0, 1, 2, 3].map((lane) => cell(format, (byte + lane) * 8));
    if (little) cells.reverse();
    const whole = soleByteArrayOrReserved(format, byte * 8);
    const previous = rows.at(-1);
    if (whole !== undefined && previous?.whole === whole) previous.last = byte;
    else rows.push({ first: byte, last: byte, whole, cells });
  }
  return table(
    ['byte', ...titles],
    rows.map(({ first, last, whole, cells }) =>
      first === last
        ? [hex(first, 2), ...cells]
        : [`${hex(first, 2)}…${hex(last, 2)}`, ...Array(4).fill(whole)],
    ),
  );
}

const endOf = ({ bit, width, count }) => bit + width * count;
const within = (start, end) => (field) => field.bit < end && endOf(field) > start;

/** The content of a whole word that is one byte array, or nothing but reserved bits. */
function soleByteArrayOrReserved({ fields }, start) {
  const here = fields.filter(within(start, start + 32));
  if (here.every(({ shape }) => shape === 'reserved')) return '–';
  return here.length === 1 && here[0].shape === 'bytes' ? here[0].name : undefined;
}

function cell({ fields, order }, start) {
  const parts = fields.filter(within(start, start + 8)).map((field) => part(field, order, start));
  return (order === 'little' ? parts.toReversed() : parts).join(' · ');
}

/** The part of a field that lies in the byte at bit `start`. */
function part({ name, bit, width, count, array, shape }, order, start) {
  if (shape === 'reserved') return '–';
  const first = Math.max(start, bit) - bit;
  const last = Math.min(start + 8, bit + width * count) - 1 - bit;
  if (shape === 'bytes' || (array && width === 8)) return `${name}[${first / 8}]`;
  if (array)
    return `${name}[${bitRange(Math.floor(first / width), Math.floor(last / width) - Math.floor(first / width) + 1)}]`;
  if (last - first + 1 === width) return name;
  const low = order === 'little' ? first : width - 1 - last;
  return `${name}[${bitRange(low, last - first + 1)}]`;
}
