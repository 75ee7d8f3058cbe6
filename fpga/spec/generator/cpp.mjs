// C++ headers: parameters, enums and formats.
import { pascalCase } from './names.mjs';
import {
  formatSentence,
  hex,
  namedFields,
  notice,
  ones,
  position,
  reservedMasks,
  sentence,
} from './text.mjs';

const literal = (value) => `${hex(value)}u`;

/** A header of namespace fpga_verbs::spec with its includes. */
export const header = (includes, body) => `// ${notice}
// clang-format off
#pragma once
${includes.map((each) => `#include ${each}\n`).join('')}
${body}`;

/** Declarations of namespace fpga_verbs::spec. */
export const inNamespace = (body) => `namespace fpga_verbs::spec {

${body}
}  // namespace fpga_verbs::spec
`;

/** parameters.h */
export function cppParameters({ parameters }) {
  const lines = parameters.map(
    (parameter) =>
      `/// ${sentence(parameter)}\ninline constexpr uint32_t ${parameter.name} = ${parameter.value}u;\n`,
  );
  // Enumerators come first: gcc's -Wshadow warns where one repeats the name of a constant declared before it.
  return header(['<cstdint>', '"spec/enums.h"'], inNamespace(lines.join('\n')));
}

const underlyingType = (width) => (width <= 8 ? 'uint8_t' : width <= 16 ? 'uint16_t' : 'uint32_t');

/** enums.h */
export function cppEnums({ enums }) {
  const parts = enums.map(({ name, width, doc, values }) => {
    const type = pascalCase(name);
    const members = values.map((each) => `  ${each.name} = ${each.value},  ///< ${each.doc}\n`).join('');
    const cases = values.map((each) => `    case ${type}::${each.name}: return "${each.name}";\n`).join('');
    return `/// ${doc} ${width} bits.
enum class ${type} : ${underlyingType(width)} {
${members}};

/// Name of a value in the specification; "unknown" if it has none.
constexpr const char* name(${type} value) {
  switch (value) {
${cases}  }
  return "unknown";
}
`;
  });
  return header(['<cstdint>'], inNamespace(parts.join('\n')));
}

/** The header of one formats file. */
export function cppFormats({ subject, formats }) {
  const includes = ['<array>', '<cstddef>', '<cstdint>', '<cstring>', '<span>', '<type_traits>'];
  const own = ['"spec/byte_order.h"', '"spec/enums.h"'];
  return header([...includes, ...own], `// ${subject}.\n${inNamespace(formats.map(cppFormat).join('\n'))}`);
}

function cppFormat(format) {
  const { name, bytes, order } = format;
  const type = pascalCase(name);
  const fields = namedFields(format);
  return `/// ${formatSentence(format)}
/// ${order === 'little' ? 'Little-endian; bits count from the least significant one.' : 'Big-endian; bits count in wire order.'} Setters truncate values to the field width.
struct alignas(${bytes % 8 === 0 ? 8 : 4}) ${type} {
  static constexpr unsigned bytes = ${bytes};
${fields.map(positionConstants).join('')}
  std::array<uint32_t, ${bytes / 4}> dwords{};

${fields.map((field) => accessors(field, order)).join('\n')}
  /// Whether every reserved bit is zero.
  constexpr bool reserved_is_zero() const { return ${reservedCondition(format)}; }

  constexpr bool operator==(const ${type}&) const = default;
};
static_assert(sizeof(${type}) == ${type}::bytes && offsetof(${type}, dwords) == 0);
static_assert(std::is_trivially_copyable_v<${type}> && std::is_standard_layout_v<${type}>);
`;
}

/** Bit positions of a field. A byte array has its byte and its length. */
export function positionConstants({ name, bit, width, count, array, shape }) {
  if (shape === 'bytes')
    return `  static constexpr unsigned ${name}_byte = ${bit / 8}, ${name}_bytes = ${count};\n`;
  const elements = array ? `, ${name}_count = ${count}` : '';
  return `  static constexpr unsigned ${name}_bit = ${bit}, ${name}_width = ${width}${elements};\n`;
}

function accessors(field, order) {
  if (field.shape === 'bytes') return bytesAccessors(field);
  if (field.array) return arrayAccessors(field, order);
  return field.width > 32 ? wideAccessors(field, order) : wordAccessors(field, order);
}

function bytesAccessors(field) {
  const { name, bit, count } = field;
  const start = bit === 0 ? '' : ` + ${bit / 8}`;
  return `  /// ${sentence(field)}
  std::span<const uint8_t, ${count}> ${name}() const {
    return std::span<const uint8_t, ${count}>(reinterpret_cast<const uint8_t*>(dwords.data())${start}, ${count});
  }
  void set_${name}(std::span<const uint8_t, ${count}> value) {
    std::memcpy(reinterpret_cast<uint8_t*>(dwords.data())${start}, value.data(), ${count});
  }
`;
}

/** An aligned word of the format as a number, and the statement that stores one. */
const wordAccess = {
  little: { load: (word) => `dwords[${word}]`, store: (word, value) => `dwords[${word}] = ${value};` },
  big: {
    load: (word) => `big_endian(dwords[${word}])`,
    store: (word, value) => `dwords[${word}] = big_endian(${value});`,
  },
};

function extract(word, shift, width) {
  const shifted = shift === 0 ? word : `${word} >> ${shift}`;
  if (shift + width === 32) return shifted;
  return shift === 0 ? `${shifted} & ${literal(ones(width))}` : `(${shifted}) & ${literal(ones(width))}`;
}

function insert(word, shift, width, value) {
  if (width === 32) return value;
  const kept = `(${word} & ${literal(ones(32) ^ (ones(width) << BigInt(shift)))})`;
  const masked = `(${value} & ${literal(ones(width))})`;
  return `${kept} | ${shift === 0 ? masked : `(${masked} << ${shift})`}`;
}

function wordAccessors(field, order) {
  const { name, width } = field;
  const { word, shift } = position(field, order);
  const { load, store } = wordAccess[order];
  const type = field.enum === undefined ? 'uint32_t' : pascalCase(field.enum);
  const value = field.enum === undefined ? 'value' : 'static_cast<uint32_t>(value)';
  const got = extract(load(word), shift, width);
  return `  /// ${sentence(field)}
  constexpr ${type} ${name}() const { return ${field.enum === undefined ? got : `static_cast<${type}>(${got})`}; }
  constexpr void set_${name}(${type} value) { ${store(word, insert(load(word), shift, width, value))} }
`;
}

function wideAccessors(field, order) {
  const { name, width } = field;
  const { low, high } = position(field, order);
  const { load, store } = wordAccess[order];
  const got = `uint64_t{${load(high)}} << 32 | ${load(low)}`;
  const highValue = insert(load(high), 0, width - 32, 'static_cast<uint32_t>(value >> 32)');
  return `  /// ${sentence(field)}
  constexpr uint64_t ${name}() const { return ${width === 64 ? got : `(${got}) & ${hex(ones(width))}u`}; }
  constexpr void set_${name}(uint64_t value) {
    ${store(low, 'static_cast<uint32_t>(value)')}
    ${store(high, highValue)}
  }
`;
}

function arrayAccessors(field, order) {
  const { name, width, bit, count } = field;
  const { load, store } = wordAccess[order];
  const comment = `  /// ${sentence(field)} Index 0 to ${count - 1}, unchecked.\n`;
  if (width === 64) {
    const [low, high] = ['2 * index', '2 * index + 1'].map((word) => `${bit / 32} + ${word}`);
    const [lowWord, highWord] = order === 'little' ? [low, high] : [high, low];
    return `${comment}  constexpr uint64_t ${name}(unsigned index) const { return uint64_t{${load(highWord)}} << 32 | ${load(lowWord)}; }
  constexpr void set_${name}(unsigned index, uint64_t value) {
    ${store(lowWord, 'static_cast<uint32_t>(value)')}
    ${store(highWord, 'static_cast<uint32_t>(value >> 32)')}
  }
`;
  }
  const place = `const unsigned bit = ${bit} + ${width} * index, shift = ${order === 'little' ? 'bit % 32' : `${32 - width} - bit % 32`};`;
  const mask = literal(ones(width));
  const got = `(${load('bit / 32')} >> shift) & ${mask}`;
  return `${comment}  constexpr uint32_t ${name}(unsigned index) const {
    ${place}
    return ${got};
  }
  constexpr void set_${name}(unsigned index, uint32_t value) {
    ${place}
    ${store('bit / 32', `(${load('bit / 32')} & ~(${mask} << shift)) | ((value & ${mask}) << shift)`)}
  }
`;
}

const byteSwapped = (value) =>
  BigInt(`0x${value.toString(16).padStart(8, '0').match(/../g).toReversed().join('')}`);

function reservedCondition(format) {
  const parts = reservedMasks(format).flatMap((mask, word) => {
    if (mask === 0n) return [];
    if (mask === ones(32)) return [`dwords[${word}]`];
    return [`(dwords[${word}] & ${literal(format.order === 'little' ? mask : byteSwapped(mask))})`];
  });
  if (parts.length === 0) return 'true';
  return parts.length === 1 ? `${parts[0]} == 0` : `(${parts.join(' | ')}) == 0`;
}
