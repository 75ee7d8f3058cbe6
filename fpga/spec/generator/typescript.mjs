// TypeScript: parameters, enums, and formats as flat constants and functions that the compiler can fold.
import { camelCase, pascalCase, upperCase } from './names.mjs';
import { formatSentence, hex, namedFields, notice, ones, position, sentence } from './text.mjs';

/** parameters.ts */
export function tsParameters({ parameters }) {
  const lines = parameters.map(
    (each) => `/** ${sentence(each)} */\nexport const ${upperCase(each.name)} = ${each.value};\n`,
  );
  return `// ${notice}\n\n${lines.join('\n')}`;
}

/** enums.ts */
export function tsEnums({ enums }) {
  const parts = enums.map(({ name, doc, values }) => {
    const type = pascalCase(name);
    const members = values
      .map((each) => `  /** ${each.doc} */\n  ${camelCase(each.name)}: ${each.value},\n`)
      .join('');
    return `/** ${doc} */
export const ${type} = {
${members}} as const;
export type ${type} = (typeof ${type})[keyof typeof ${type}];

/** Names of the values of {@link ${type}}, as code writes them. */
export const ${camelCase(name)}Names = namesOf(${type});
`;
  });
  return `// ${notice}\nimport { namesOf } from './enum_names.ts';\n\n${parts.join('\n')}`;
}

/** The module of one formats file: the sizes of all formats, and the fields of those in `flatFormats`. */
export function tsFormats({ subject, formats }, { flatFormats }) {
  const flat = formats.filter(({ name }) => flatFormats.has(name));
  const enums = new Set(
    flat.flatMap(namedFields).flatMap((field) => (field.enum === undefined ? [] : [pascalCase(field.enum)])),
  );
  const imports =
    enums.size === 0 ? '' : `import type { ${[...enums].toSorted().join(', ')} } from './enums.ts';\n`;
  return `// ${notice}
//
// ${subject}.${flat.length === 0 ? '' : fieldsSaid}
${imports}
${formats.map((format) => tsFormat(format, flatFormats)).join('\n')}`;
}

const fieldsSaid = ` For each field: _BYTE, where the aligned 32-bit word lies that holds it; _SHIFT in that word; _MASK before the shift.
// A field over 32 bits has a _LOW_BYTE and a _HIGH_BYTE. Functions take the view and the offset of the structure in
// it; setters truncate values to the field width and do not change neighboring fields.`;

function tsFormat(format, flatFormats) {
  const { name, bytes, order } = format;
  const fields = flatFormats.has(name)
    ? namedFields(format).map((field) => tsField(format, field, order))
    : [];
  return `/** Bytes of ${name}: ${formatSentence(format)} */
export const ${upperCase(name)}_BYTES = ${bytes};
${fields.join('')}`;
}

function tsField(format, field, order) {
  const names = {
    constant: upperCase(`${format.name}_${field.name}`),
    method: `${pascalCase(format.name)}${pascalCase(field.name)}`,
    little: order === 'little',
    comment: `/** ${format.name}.${field.name}: ${sentence(field)} */`,
  };
  if (field.shape === 'bytes') return tsBytes(field, names);
  if (field.array) return tsArray(field, names);
  return field.width > 32 ? tsWide(field, names, order) : tsWord(field, names, order);
}

function tsBytes({ bit, count }, { constant, method, comment }) {
  return `
${comment}
export const ${constant}_BYTE = ${bit / 8};
export const ${constant}_BYTES = ${count};
/** The bytes themselves, not a copy. */
export function get${method}(view: DataView, base: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + base + ${constant}_BYTE, ${constant}_BYTES);
}
export function set${method}(view: DataView, base: number, value: Uint8Array): void {
  if (value.length !== ${constant}_BYTES) {
    throw new RangeError(\`${constant.toLowerCase()} has \${${constant}_BYTES} bytes, not \${value.length}\`);
  }
  get${method}(view, base).set(value);
}
`;
}

const setterType = (field) => (field.enum === undefined ? 'number' : pascalCase(field.enum));

function tsWord(field, { constant, method, little, comment }, order) {
  const { word, shift } = position(field, order);
  const { width } = field;
  const at = `base + ${constant}_BYTE`;
  const load = `view.getUint32(${at}, ${little})`;
  const got = width === 32 ? load : `(${load} >>> ${constant}_SHIFT) & ${constant}_MASK`;
  const kept = `view.getUint32(at, ${little}) & ~(${constant}_MASK << ${constant}_SHIFT)`;
  const set =
    width === 32
      ? `  view.setUint32(${at}, value, ${little});`
      : `  const at = ${at};
  const kept = ${kept};
  view.setUint32(at, kept | ((value & ${constant}_MASK) << ${constant}_SHIFT), ${little});`;
  return `
${comment}
export const ${constant}_BYTE = ${word * 4};
export const ${constant}_SHIFT = ${shift};
export const ${constant}_MASK = ${hex(ones(width))};
export function get${method}(view: DataView, base: number): number {
  return ${got};
}
export function set${method}(view: DataView, base: number, value: ${setterType(field)}): void {
${set}
}
`;
}

function tsWide(field, { constant, method, little, comment }, order) {
  const { low, high } = position(field, order);
  const { width } = field;
  const [lowAt, highAt] = [`base + ${constant}_LOW_BYTE`, `base + ${constant}_HIGH_BYTE`];
  const whole = width === 64;
  const highMask = whole ? '' : `export const ${constant}_HIGH_MASK = ${hex(ones(width - 32))};\n`;
  const setHigh = whole
    ? `  view.setUint32(${highAt}, value, ${little});`
    : `  const at = ${highAt};
  const kept = view.getUint32(at, ${little}) & ~${constant}_HIGH_MASK;
  view.setUint32(at, kept | (value & ${constant}_HIGH_MASK), ${little});`;
  const getHigh = `view.getUint32(${highAt}, ${little})`;
  return `
${comment}
export const ${constant}_LOW_BYTE = ${low * 4};
export const ${constant}_HIGH_BYTE = ${high * 4};
${highMask}export function get${method}Low(view: DataView, base: number): number {
  return view.getUint32(${lowAt}, ${little});
}
export function set${method}Low(view: DataView, base: number, value: number): void {
  view.setUint32(${lowAt}, value, ${little});
}
export function get${method}High(view: DataView, base: number): number {
  return ${whole ? getHigh : `${getHigh} & ${constant}_HIGH_MASK`};
}
export function set${method}High(view: DataView, base: number, value: number): void {
${setHigh}
}
export function get${method}(view: DataView, base: number): bigint {
  return (BigInt(get${method}High(view, base)) << 32n) | BigInt(get${method}Low(view, base));
}
export function set${method}(view: DataView, base: number, value: bigint): void {
  set${method}Low(view, base, Number(value & 0xffffffffn));
  set${method}High(view, base, Number((value >> 32n) & 0xffffffffn));
}
`;
}

function tsArray(field, { constant, method, little, comment }) {
  const { bit, width, count } = field;
  const head = `
${comment.replace(' */', ` Index 0 to ${count - 1}, unchecked. */`)}
export const ${constant}_BIT = ${bit};
export const ${constant}_COUNT = ${count};
`;
  if (width === 64) {
    const at = `base + ${constant}_BIT / 8 + 8 * index`;
    return `${head}export function get${method}(view: DataView, base: number, index: number): bigint {
  return view.getBigUint64(${at}, ${little});
}
export function set${method}(view: DataView, base: number, index: number, value: bigint): void {
  view.setBigUint64(${at}, value, ${little});
}
`;
  }
  const place = `  const bit = ${constant}_BIT + ${width} * index;
  const at = base + (bit >>> 5) * 4;
  const shift = ${little ? 'bit & 31' : `${32 - width} - (bit & 31)`};
`;
  return `${head}export const ${constant}_MASK = ${hex(ones(width))};
export function get${method}(view: DataView, base: number, index: number): number {
${place}  return ((view.getUint32(at, ${little}) >>> shift) & ${constant}_MASK) >>> 0;
}
export function set${method}(view: DataView, base: number, index: number, value: number): void {
${place}  const kept = view.getUint32(at, ${little}) & ~(${constant}_MASK << shift);
  view.setUint32(at, kept | ((value & ${constant}_MASK) << shift), ${little});
}
`;
}

/** registers.ts */
export function tsRegisters({ blocks }) {
  const parts = blocks.map(({ name, doc, bytes, registers }) => {
    const lines = registers.map((register) => tsRegister(name, register));
    return `/** Bytes of ${name}: ${doc} */\nexport const ${upperCase(name)}_BYTES = ${bytes};\n${lines.join('')}`;
  });
  return `// ${notice}
//
// Registers: _OFFSET in the block, _COUNT and _STRIDE of arrays, _RESET. Each field has _SHIFT in its 32-bit word and _MASK
// before the shift; _WORD is the half of a 64-bit register (0 low, 1 high).

${parts.join('\n')}`;
}

function tsRegister(block, register) {
  const { offset, access, reset, width, count, stride, array } = register;
  const constant = upperCase(`${block}_${register.name}`);
  const copies = array
    ? `export const ${constant}_COUNT = ${count};\nexport const ${constant}_STRIDE = ${stride};\n`
    : '';
  const fields = namedFields(register).map((field) =>
    tsRegisterField(`${block}.${register.name}`, constant, field, width),
  );
  return `
/** ${block}.${register.name}: ${sentence(register)} ${width} bits, ${access}. */
export const ${constant}_OFFSET = ${hex(offset)};
${copies}export const ${constant}_RESET = ${hex(reset)}${width === 64 ? 'n' : ''};
${fields.join('')}`;
}

function tsRegisterField(register, constant, field, registerWidth) {
  const name = `${constant}_${upperCase(field.name)}`;
  const { word, shift } = position(field, 'little');
  const wordLine = registerWidth === 64 ? `export const ${name}_WORD = ${word};\n` : '';
  const mask = hex(ones(Math.min(field.width, 32)));
  return `/** ${register}.${field.name}: ${sentence(field)} */
${wordLine}export const ${name}_SHIFT = ${shift};
export const ${name}_MASK = ${mask};
`;
}
