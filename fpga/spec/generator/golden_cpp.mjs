// C++ that makes the golden structures with the setters and reads them with the getters.
import { pascalCase } from './names.mjs';
import { hex, notice } from './text.mjs';

const byteList = (bytes) => [...bytes].map((byte) => hex(byte, 2)).join(', ');

/** spec_golden.cpp */
export function cppGolden(golden, { files }) {
  const headers = files.map(({ stem }) => `#include "spec/${stem}.h"\n`).join('');
  return `// ${notice}
// clang-format off
#include "test/spec_golden.h"
${headers}
#include <algorithm>
#include <array>
#include <cstring>

namespace fpga_verbs::test {
namespace {

using namespace fpga_verbs::spec;

${golden.map(cppEntry).join('\n')}
template <class Format>
std::vector<uint8_t> bytes_of(const Format& format) {
  std::vector<uint8_t> bytes(Format::bytes);
  std::memcpy(bytes.data(), format.dwords.data(), bytes.size());
  return bytes;
}

template <class Format>
Format format_of(std::span<const uint8_t> bytes) {
  Format format;
  std::memcpy(format.dwords.data(), bytes.data(), std::min<size_t>(bytes.size(), Format::bytes));
  return format;
}

}  // namespace

std::vector<uint8_t> encode_golden(std::string_view name) {
${golden.map(({ name }) => `  if (name == "${name}") return bytes_of(make_${name}());\n`).join('')}  return {};
}

std::string_view golden_mismatch(std::string_view name, std::span<const uint8_t> bytes) {
${golden
  .map(
    ({ name, format }) =>
      `  if (name == "${name}") return mismatch_${name}(format_of<${pascalCase(format.name)}>(bytes));\n`,
  )
  .join('')}  return "name";
}

}  // namespace fpga_verbs::test
`;
}

function cppEntry({ name, format, fields }) {
  const type = pascalCase(format.name);
  const statements = fields.map((each) => cppField(each));
  return `${type} make_${name}() {
  ${type} golden;
${statements.map(({ set }) => set).join('')}  return golden;
}

std::string_view mismatch_${name}(const ${type}& golden) {
${statements.map(({ compare }) => compare).join('')}  return golden.reserved_is_zero() ? "" : "reserved";
}
`;
}

function cppField({ field, value, enumValue }) {
  const { name, shape, array, width } = field;
  if (shape === 'bytes') {
    const constant = `constexpr std::array<uint8_t, ${field.count}> bytes{${byteList(value)}};`;
    return {
      set: `  {\n    ${constant}\n    golden.set_${name}(bytes);\n  }\n`,
      compare: `  {\n    ${constant}\n    if (!std::ranges::equal(golden.${name}(), bytes)) return "${name}";\n  }\n`,
    };
  }
  const literal = (each) => `${hex(each)}${width > 32 ? 'ull' : 'u'}`;
  if (array) {
    const lines = value.map((each, index) => ({
      set: `  golden.set_${name}(${index}, ${literal(each)});\n`,
      compare: `  if (golden.${name}(${index}) != ${literal(each)}) return "${name}";\n`,
    }));
    return {
      set: lines.map(({ set }) => set).join(''),
      compare: lines.map(({ compare }) => compare).join(''),
    };
  }
  const text = enumValue === undefined ? literal(value) : `${pascalCase(field.enum)}::${enumValue}`;
  return {
    set: `  golden.set_${name}(${text});\n`,
    compare: `  if (golden.${name}() != ${text}) return "${name}";\n`,
  };
}
