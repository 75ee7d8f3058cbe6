// The SystemVerilog package, in the subset that Verilator 5.006 and Yosys 0.23 both read.
import { systemVerilogMember, upperCase } from './names.mjs';
import { svOperations } from './operations.mjs';
import { svPacketOpcodes } from './packet_opcodes.mjs';
import { formatSentence, namedFields, notice, ones, sentence } from './text.mjs';

/** hca_spec_pkg.sv */
export function systemVerilogPackage({ parameters, enums, files, blocks, operations, packetOpcodes }) {
  const sections = [
    `  // Parameters.\n${parameters.map(svParameter).join('')}`,
    ...enums.map(svEnum),
    svOperations({ enums, operations }),
    svPacketOpcodes({ enums, packetOpcodes }),
    ...files.map(({ subject, formats }) => `  // ${subject}.\n\n${formats.map(svFormat).join('\n')}`),
    ...blocks.map(svBlock),
  ];
  return `// ${notice}
//
// Packed structures: in little-endian formats bit 0 of the vector is the least significant bit of the first byte, so
// fields are listed last to first. Big-endian formats are in wire order, the first byte in the highest bits. _LSB is the
// lowest bit of a field in the vector. A byte array of a little-endian format has its first byte in its lowest bits. A
// field named like a keyword ends in "_".
package hca_spec_pkg;

  // A design uses some of the constants.
  /* verilator lint_off UNUSEDPARAM */

${sections.join('\n')}
  /* verilator lint_on UNUSEDPARAM */
endpackage
`;
}

const comment = (text) => `  // ${text}\n`;
const constant = (name, value) => `  localparam int unsigned ${name} = ${value};\n`;

const svParameter = (parameter) =>
  comment(sentence(parameter)) + constant(upperCase(parameter.name), `32'd${parameter.value}`);

function svEnum({ name, width, doc, values }) {
  const members = values.map((each, index) => {
    const comma = index + 1 < values.length ? ',' : '';
    return `    ${upperCase(`${name}_${each.name}`)} = ${width}'d${each.value}${comma}  // ${each.doc}\n`;
  });
  return `${comment(doc)}  typedef enum logic [${width - 1}:0] {\n${members.join('')}  } ${name}_t;\n`;
}

/** Bits of a field, all its elements together. */
const bitsOf = ({ width, count }) => width * count;

function svType(field) {
  if (field.enum !== undefined) return `${field.enum}_t`;
  return bitsOf(field) === 1 ? 'logic' : `logic [${bitsOf(field) - 1}:0]`;
}

/** A packed structure, whose last member is at bit 0. */
function svStructure(name, fields, order) {
  const members = fields.map((field, index) => {
    const member = field.shape === 'reserved' ? `reserved_${index}` : systemVerilogMember(field.name);
    const note = field.shape === 'reserved' ? '' : `  // ${sentence(field)}`;
    return `    ${svType(field)} ${member};${note}\n`;
  });
  const ordered = order === 'little' ? members.toReversed() : members;
  return `  typedef struct packed {\n${ordered.join('')}  } ${name}_t;\n`;
}

function svFormat(format) {
  const { name, bytes, order, fields } = format;
  const positions = namedFields(format).map((field) => {
    const lsb = order === 'little' ? field.bit : bytes * 8 - field.bit - bitsOf(field);
    const fieldName = upperCase(`${name}_${field.name}`);
    return constant(`${fieldName}_LSB`, lsb) + constant(`${fieldName}_WIDTH`, field.width);
  });
  return (
    comment(formatSentence(format)) +
    constant(`${upperCase(name)}_BYTES`, bytes) +
    positions.join('') +
    svWriters(format) +
    svStructure(name, fields, order)
  );
}

/** For each block that writes fields of a format, the bits of these. */
function svWriters(format) {
  if (format.writer === undefined) return '';
  const bits = new Map();
  for (const { bit, width, count, writer = format.writer } of namedFields(format))
    bits.set(writer, (bits.get(writer) ?? 0n) | (ones(width * count) << BigInt(bit)));
  return [...bits]
    .map(([writer, mask]) => {
      const name = upperCase(`${format.name}_of_${writer}`);
      return `  localparam logic [${format.bytes * 8 - 1}:0] ${name} = ${format.bytes * 8}'h${mask.toString(16)};\n`;
    })
    .join('');
}

function svBlock({ name, doc, bytes, registers }) {
  return (
    comment(doc) +
    constant(`${upperCase(name)}_BYTES`, bytes) +
    registers.map((each) => svRegister(name, each)).join('')
  );
}

function svRegister(block, register) {
  const { offset, access, reset, width, count, stride, array, fields } = register;
  const name = upperCase(`${block}_${register.name}`);
  const copies = array ? constant(`${name}_COUNT`, count) + constant(`${name}_STRIDE`, stride) : '';
  return (
    comment(`${sentence(register)} ${width} bits, ${access}.`) +
    constant(`${name}_OFFSET`, `32'h${offset.toString(16)}`) +
    copies +
    `  localparam logic [${width - 1}:0] ${name}_RESET = ${width}'h${reset.toString(16)};\n` +
    (fields.length === 0 ? '' : svStructure(`${block}_${register.name}`, fields, 'little'))
  );
}
