// Has slang read designs, in the Yosys that is built with it: node read.mjs DESIGNS, which is JSON, a list of { name, top, parameters,
// sources }. Needs a Node that knows WebAssembly's exceptions by reference, 24 or newer.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { Exit, runYosys } from '@yowasp/yosys';

const designs = JSON.parse(process.argv[2]);
const files = {};
const commands = designs.flatMap(({ name, top, parameters, sources }) => {
  for (const source of sources) files[path.basename(source)] = readFileSync(source, 'utf8');
  const sizes = Object.entries(parameters).map(([parameter, value]) => `-G ${parameter}=${value}`);
  // In WebAssembly there are no threads.
  const read = ['read_slang -j 1', '--top', top, ...sizes, ...sources.map((each) => path.basename(each))];
  return [read.join(' '), 'check -assert', `log ${name}: nothing wrong`, 'design -reset'];
});
let said = '';
const stdout = (bytes) => (said += Buffer.from(bytes ?? []).toString());
try {
  await runYosys(['-p', commands.join('\n')], files, { stdout, stderr: stdout, fetchProgress: () => {} });
} catch (error) {
  if (!(error instanceof Exit)) throw error;
  process.exitCode = 1;
}
const told = /^(?!log |.*Running command).*(: nothing wrong$|error: |warning: )/i;
const lines = stripVTControlCharacters(said).split('\n');
console.log(lines.filter((line) => told.test(line)).join('\n'));
