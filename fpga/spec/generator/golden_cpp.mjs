// C++ that has all formats by name, for the golden structures to be made with setters and read with getters.
import { pascalCase } from './names.mjs';
import { namedFields, notice } from './text.mjs';

/** spec_formats.cpp */
export function cppFormatTable({ files }) {
  const formats = files.flatMap((file) => file.formats);
  return `// ${notice}
// clang-format off
#include "test/spec_format.h"
${files.map(({ stem }) => `#include "spec/${stem}.h"\n`).join('')}
namespace fpga_verbs::test {

namespace {

using namespace fpga_verbs::spec;

${formats.map(cppMove).join('\n')}
}  // namespace

const std::map<std::string_view, SpecFormat>& spec_formats() {
  static const std::map<std::string_view, SpecFormat> formats{
${formats.map(({ name }) => `      {"${name}", spec_format<${pascalCase(name)}, move_${name}>()},\n`).join('')}  };
  return formats;
}

}  // namespace fpga_verbs::test
`;
}

function cppMove(format) {
  const fields = namedFields(format).map(({ name, shape, array, count }) => {
    if (shape === 'bytes') return `  SPEC_BYTES(${name}, ${count})\n`;
    return array ? `  SPEC_ARRAY(${name}, ${count})\n` : `  SPEC_NUMBER(${name})\n`;
  });
  return `void move_${format.name}(SpecMove& move, ${pascalCase(format.name)}& format) {\n${fields.join('')}}\n`;
}
