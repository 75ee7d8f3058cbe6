// C++ header of the registers: offsets, and a structure for each register that has fields.
import { header, positionConstants } from './cpp.mjs';
import { pascalCase } from './names.mjs';
import { hex, namedFields, ones, sentence } from './text.mjs';

/** registers.h */
export function cppRegisters({ blocks }) {
  const body = blocks.map(cppBlock).join('\n');
  return header(['<cstdint>', '"spec/enums.h"'], body);
}

function cppBlock({ name, doc, bytes, registers }) {
  return `/// ${doc}
namespace fpga_verbs::spec::${name} {

inline constexpr uint32_t bytes = ${bytes};

${registers.map(cppRegister).join('\n')}
}  // namespace fpga_verbs::spec::${name}
`;
}

function cppRegister(register) {
  const { name, offset, access, reset, width, count, stride, array, fields } = register;
  const type = `uint${width}_t`;
  const copies = array
    ? `inline constexpr uint32_t ${name}_count = ${count}, ${name}_stride = ${stride};\n`
    : '';
  return `/// ${sentence(register)} ${width} bits, ${access}.
inline constexpr uint32_t ${name} = ${hex(offset)};
${copies}inline constexpr ${type} ${name}_reset = ${hex(reset)};
${fields.length === 0 ? '' : cppStructure(register, type)}`;
}

function cppStructure(register, type) {
  const fields = namedFields(register);
  const name = pascalCase(register.name);
  return `struct ${name} {
${fields.map(positionConstants).join('')}
  ${type} bits{};

${fields.map((field) => accessors(field, register.width)).join('\n')}
  constexpr bool operator==(const ${name}&) const = default;
};
`;
}

function accessors(field, registerWidth) {
  const { name, bit, width } = field;
  const suffix = registerWidth === 64 ? 'ull' : 'u';
  const plain = width > 32 ? 'uint64_t' : 'uint32_t';
  const type = field.enum === undefined ? plain : pascalCase(field.enum);
  const mask = `${hex(ones(width))}${suffix}`;
  const cleared = `${hex(ones(registerWidth) ^ (ones(width) << BigInt(bit)))}${suffix}`;
  const value =
    field.enum === undefined && registerWidth === 32 ? 'value' : `static_cast<uint${registerWidth}_t>(value)`;
  return `  /// ${sentence(field)}
  constexpr ${type} ${name}() const { return static_cast<${type}>((bits >> ${bit}) & ${mask}); }
  constexpr void set_${name}(${type} value) { bits = (bits & ${cleared}) | ((${value} & ${mask}) << ${bit}); }
`;
}
