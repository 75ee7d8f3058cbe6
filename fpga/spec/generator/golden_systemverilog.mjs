// A SystemVerilog bench that makes the golden structures by their members and reads them back.
import { systemVerilogMember, upperCase } from './names.mjs';
import { notice } from './text.mjs';

/** spec_golden_tb.sv */
export function systemVerilogGolden(golden) {
  return `// ${notice}
//
// Each golden structure is made member by member and compared with its bytes, and read from its bytes and compared
// member by member. Ends with the number of structures; a difference is fatal and names structure and member.
module spec_golden_tb;

${golden.map(svTask).join('\n')}
  initial begin
${golden.map(({ name }) => `    check_${name}();\n`).join('')}    $display("${golden.length} golden structures");
    $finish;
  end
endmodule
`;
}

const vector = (width, digits) => `${width}'h${digits}`;
const digitsOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A value as a literal of all its bits; arrays and byte arrays stand as they lie in the packed structure. */
function literal({ field, value, enumValue }, order) {
  const { shape, width, count, array } = field;
  if (enumValue !== undefined) return `hca_spec_pkg::${upperCase(`${field.enum}_${enumValue}`)}`;
  if (shape === 'bytes') {
    return vector(8 * count, digitsOf(order === 'little' ? value.toReversed() : value));
  }
  if (!array) return vector(width, value.toString(16));
  const elements = order === 'little' ? value.toReversed() : value;
  const whole = elements.reduce((sum, each) => (sum << BigInt(width)) | each, 0n);
  return vector(width * count, whole.toString(16));
}

function svTask({ name, format, bytes, fields }) {
  const { order } = format;
  const bits = vector(bytes.length * 8, digitsOf(order === 'little' ? bytes.toReversed() : bytes));
  const members = fields.map((each) => [
    systemVerilogMember(each.field.name),
    literal(each, order),
    each.field.name,
  ]);
  const read = members.map(
    ([member, value, field]) =>
      `    if (golden.${member} != ${value}) $fatal(1, "${name}.${field} is read wrongly");\n`,
  );
  return `  task automatic check_${name}();
    hca_spec_pkg::${format.name}_t golden;
    golden = '0;
${members.map(([member, value]) => `    golden.${member} = ${value};\n`).join('')}    if (golden != ${bits}) $fatal(1, "${name} is written wrongly: %h", golden);
    golden = ${bits};
${read.join('')}  endtask
`;
}
