// A SystemVerilog bench that makes the golden structures by their members and reads them back.
import { systemVerilogMember } from './names.mjs';
import { namedFields, notice } from './text.mjs';

/** spec_golden_tb.sv */
export function systemVerilogFormatTable({ files }) {
  const formats = files.flatMap((file) => file.formats);
  return `// ${notice}
//
// Golden structures come from a file, +GOLDEN=NAME: a line each with the format, the name of the structure, its bits and
// the bits of its fields in order. Each structure is made member by member and compared with its bits, and read from its
// bits and compared member by member. Ends with the number of structures; a difference is fatal and names structure and
// member.
module spec_golden_tb;

  localparam int unsigned MOST_BITS = ${8 * Math.max(...formats.map(({ bytes }) => bytes))};

  int file;
  int structures = 0;
  string format, name;
  logic [MOST_BITS-1:0] bits, value;

  // The next field of the file into a member that is made, and compared with the same member that is read.
  \`define MEMBER(MEMBER) \\
    if ($fscanf(file, " %h", value) != 1) $fatal(1, "%s has too few fields", name); \\
    {made.MEMBER} = value[$bits(made.MEMBER)-1:0]; \\
    if ({read.MEMBER} !== value[$bits(read.MEMBER)-1:0]) $fatal(1, "%s.MEMBER is read wrongly", name);

${formats.map(svTask).join('\n')}
  initial begin
    string path;
    if ($value$plusargs("GOLDEN=%s", path) == 0) $fatal(1, "+GOLDEN names no file");
    file = $fopen(path, "r");
    if (file == 0) $fatal(1, "%s cannot be read", path);
    while ($fscanf(file, " %s %s %h", format, name, bits) == 3) begin
      case (format)
${formats.map((format) => `        "${format.name}": check_${format.name}();\n`).join('')}        default: $fatal(1, "%s has an unknown format", name);
      endcase
      structures++;
    end
    $display("%0d golden structures", structures);
    $finish;
  end
endmodule
`;
}

function svTask(format) {
  const members = namedFields(format).map(({ name }) => systemVerilogMember(name));
  return `  task automatic check_${format.name}();
    hca_spec_pkg::${format.name}_t made, read;
    made = '0;
    read = bits[$bits(read)-1:0];
${members.map((member) => `    \`MEMBER(${member})\n`).join('')}    if (made !== bits[$bits(made)-1:0]) $fatal(1, "%s is written wrongly: %h", name, made);
  endtask
`;
}

const digitsOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The bits of a field in hexadecimal; arrays and byte arrays stand as they lie in the packed structure. */
function bitsOf({ field, value }, order) {
  const { shape, width, array } = field;
  if (shape === 'bytes') return digitsOf(order === 'little' ? value.toReversed() : value);
  if (!array) return value.toString(16);
  const elements = order === 'little' ? value.toReversed() : value;
  return elements.reduce((sum, each) => (sum << BigInt(width)) | each, 0n).toString(16);
}

/**
 * The file that the bench reads.
 * @param {import('./golden.mjs').GoldenEntry[]} golden
 */
export function systemVerilogGolden(golden) {
  const lines = golden.map(({ name, format, bytes, fields }) => {
    const { order } = format;
    const bits = digitsOf(order === 'little' ? bytes.toReversed() : bytes);
    return [format.name, name, bits, ...fields.map((field) => bitsOf(field, order))].join(' ');
  });
  return `${lines.join('\n')}\n`;
}
