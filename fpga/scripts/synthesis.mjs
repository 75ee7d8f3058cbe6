// Synthesizes the blocks of fpga/rtl with Yosys and writes what each needs to fpga/doc/synthesis.md.
//
// node fpga/scripts/synthesis.mjs [--check | --print | --full] [--family NAME]… [--beat-bytes N]… [BLOCK]…
//
// Without a block: all blocks, at all beat widths, two at a time; for UltraScale+ also at full size, if the block has one. --full: only the
// full sizes. --print leaves the document unchanged. --check only lets Yosys read the blocks and find undriven signals, signals with two
// drivers, and multipliers. Rows that are not measured stay in the document. Sizes and budgets are in fpga/rtl/blocks.json. Fails if a
// block at full size exceeds its budget.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { designsOf, fullDesignsOf } from './blocks.mjs';
import { delaysOf, orderInputs } from './input_order.mjs';
import { longestPath, worstEnds } from './longest_path.mjs';

process.chdir(path.join(import.meta.dirname, '../..'));
const document = 'fpga/doc/synthesis.md';
const atOnce = 2;
const minutes = 60; // enough on a machine with other work

// Reads only the usable cells of a library, because Yosys takes longer to read all of it than to synthesize a block. Shift registers stay
// flip-flops: a shift register in a look-up table is five times as late, and would not count as a level.
const xilinx = (family) => ({
  cells: 'read_verilog -lib -specify +/xilinx/cells_sim.v',
  memories: { library: 'xilinx/cells_xtra.v', modules: /^module (RAMB\d+E2|URAM288) [^]*?^endmodule$/gm },
  command: `synth_xilinx -family ${family} -flatten -noiopad -nosrl -run prepare:`,
});

/** How to address an FPGA family in Yosys. */
const families = {
  xc7: { name: 'Xilinx 7-series', ...xilinx('xc7') },
  xcup: { name: 'UltraScale+', ...xilinx('xcup') },
  ecp5: {
    name: 'ECP5',
    cells: 'read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v',
    // The steps of synth_ecp5, except that ABC does not restore the names of look-up tables (-dress) and no names are assigned afterwards:
    // that takes longer than all other steps and changes only names.
    command: [
      'synth_ecp5 -run coarse:map_luts',
      'techmap -map +/ecp5/latches_map.v',
      'abc -lut 4:7',
      'clean',
      'synth_ecp5 -run map_cells:check',
      'blackbox =A:whitebox', // JSON has no processes, so the cells that they describe become black boxes
    ].join('; '),
  },
};
const kinds = [
  ['LUTs', /^LUT\d$/],
  ['flip-flops', /^(FD[A-Z]+|TRELLIS_FF)$/],
  ['carries', /^(CARRY\d|CCU2C)$/],
  ['LUT memories', /^(RAM\d+[A-Z]+\d*|TRELLIS_DPR16X4)$/],
  ['block memories', /^(RAMB\w+|DP16KD|URAM\w*)$/],
];
// On an FPGA with small multipliers (ECP5: from two bits on), a product by a constant that is not a power of two becomes a multiplier
// unless a simpler cell fits. No block should need one.
const withoutMultipliers = [
  'opt_expr; opt_clean; wreduce; peepopt; opt_clean',
  'select -assert-none t:$mul r:A_WIDTH>=2 %i r:B_WIDTH>=2 %i',
];
const columns = ['block', 'BEAT_BYTES', 'family', ...kinds.map(([kind]) => kind), 'longest path'];
const fullColumns = [
  'block',
  'full size',
  ...kinds.map(([kind]) => kind),
  'longest path',
  'period, ns',
  'levels',
];
const pathColumns = ['of block', 'size', 'LUTs', 'to'];
const pathsTold = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    family: { type: 'string', multiple: true, default: Object.keys(families) },
    'beat-bytes': { type: 'string', multiple: true },
  },
});
for (const family of values.family)
  if (!(family in families))
    fail(`there is no family ${family}; there are ${Object.keys(families).join(', ')}`);
const wanted = wantedDesigns();
if (values.check) {
  for (const each of wanted) {
    await yosys([...reading(each), 'proc', 'check -assert', ...withoutMultipliers], `read ${each.block}`);
    console.log(`${nameOf(each).join(', ')}: nothing wrong`);
  }
  process.exit(0);
}
const small = values.full
  ? []
  : wanted.flatMap((each) => values.family.map((family) => ({ ...each, family })));
const full = values.family.includes('xcup')
  ? fullDesignsOf(positionals).map((each) => ({ ...each, family: 'xcup' }))
  : [];
const runs = [...small, ...full];
const passed = [];
await Promise.all(Array.from({ length: atOnce }, takeRuns));
if (passed.length > 0) fail(passed.join('\n'));

async function takeRuns() {
  for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
    const { counts, path: longest, paths, period } = await synthesize(run);
    const found = [...counts, `${longest.luts} LUTs, ${longest.carries} carries`];
    const row =
      run.size === undefined
        ? [...nameOf(run), families[run.family].name, ...found]
        : [run.block, run.size, ...found, period, levelsOf(longest).toFixed(1)];
    console.log(row.join(' | '));
    if (run.size !== undefined) hold(run, counts[0], levelsOf(longest), Number(period));
    if (values.print) continue;
    note(run.size === undefined ? columns : fullColumns, row.map(String));
    if (run.size === undefined) continue;
    forget(pathColumns, run);
    for (const { end, weight } of paths)
      note(pathColumns, [run.block, run.size, levelsOf({ weight }).toFixed(1), end], true);
  }
}

/** Weight of a path in look-up tables: a carry cell counts one tenth, a multiplexer behind look-up tables three tenths. */
function levelsOf({ weight }) {
  return weight / 10;
}

/** Remembers the budgets that a block exceeds. */
function hold({ block, size, budget }, luts, levels, period) {
  if (luts > budget.luts)
    passed.push(`${block}, ${size}: ${luts} LUTs, more than the ${budget.luts} of its budget`);
  if (levels > budget.levels)
    passed.push(`${block}, ${size}: ${levels} levels, more than the ${budget.levels} of its budget`);
  if (period > budget.period)
    passed.push(`${block}, ${size}: ${period} ns, more than the ${budget.period} of its budget`);
}

function nameOf({ block, beatBytes }) {
  return [block, beatBytes ?? '–'];
}

function wantedDesigns() {
  try {
    const widths = values['beat-bytes'];
    const found = designsOf(positionals).filter(
      ({ beatBytes }) => widths === undefined || widths.includes(String(beatBytes)),
    );
    if (found.length === 0) throw new Error(`no such block has beats of ${widths.join(' or ')} bytes`);
    return found;
  } catch (error) {
    return fail(error.message);
  }
}

/** Cells of each kind, and the longest path. */
async function synthesize({ block, parameters, sources, family, size }) {
  const isFull = size !== undefined;
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-synthesis-'));
  try {
    const commands = [
      families[family].cells,
      ...memoriesOf(families[family], `${directory}/memories.v`),
      ...reading({ block, parameters, sources }),
      families[family].command,
      `write_json ${directory}/netlist.json`,
    ];
    await yosys(commands, `synthesize ${block} for ${families[family].name}`);
    const netlist = JSON.parse(readFileSync(`${directory}/netlist.json`, 'utf8'));
    const { modules } = netlist;
    const cells = Object.values(modules[block].cells);
    return {
      period: isFull ? ((await latestArrival(directory, netlist, block)) / 1000).toFixed(2) : '–',
      paths: worstEnds(cells, modules[block].netnames, pathsTold),
      counts: kinds.map(([, kind]) => cells.filter(({ type }) => kind.test(type)).length),
      path: longestPath(cells),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The latest arrival time from Yosys' static timing, in picoseconds. The document explains its delays. */
async function latestArrival(directory, netlist, block) {
  const library = readFileSync(path.join(shareOfYosys(), 'xilinx/cells_sim.v'), 'utf8');
  orderInputs(Object.values(netlist.modules[block].cells), delaysOf(library));
  writeFileSync(`${directory}/ordered.json`, JSON.stringify(netlist));
  const commands = [
    `read_json ${directory}/ordered.json`,
    // synth_xilinx has removed the contents of known cells, including their delays.
    'delete =A:whitebox =A:blackbox',
    families.xcup.cells,
    ...memoriesOf(families.xcup, `${directory}/memories.v`),
    `hierarchy -top ${block}`,
    `tee -q -o ${directory}/arrival sta`,
  ];
  await yosys(commands, `time ${block}`);
  return Number(readFileSync(`${directory}/arrival`, 'utf8').match(/Latest arrival time .* is (\d+)/)[1]);
}

/** The folder of Yosys' libraries. */
function shareOfYosys() {
  const program = execFileSync('sh', ['-c', 'command -v yosys'], { encoding: 'utf8' }).trim();
  return path.join(path.dirname(program), '../share/yosys');
}

/** The commands that read a block with its sizes. */
function reading({ block, parameters, sources }) {
  return [
    `read_verilog -defer -sv ${sources.join(' ')}`,
    // Sets all parameters at once: with only some set, Yosys would first build the others at their default sizes.
    `chparam ${Object.entries(parameters)
      .map(([name, value]) => `-set ${name} ${value} `)
      .join('')}${block}`,
    `hierarchy -check -top ${block}`,
  ];
}

/** Runs Yosys commands; throws its error message if it fails. */
async function yosys(commands, what) {
  const options = { timeout: minutes * 60_000, killSignal: 'SIGKILL', maxBuffer: 1 << 28 };
  try {
    await promisify(execFile)('yosys', ['-q', '-p', commands.join('; ')], options);
  } catch (error) {
    fail(
      `Yosys could not ${what}: ${error.killed ? `it took more than ${minutes} minutes` : error.stderr || error.message}`,
    );
  }
}

/** The commands that read a family's memories from a library that is too large to be read whole. */
function memoriesOf({ memories }, copy) {
  if (memories === undefined) return [];
  const library = readFileSync(path.join(shareOfYosys(), memories.library), 'utf8');
  writeFileSync(copy, library.match(memories.modules).join('\n'));
  return [`read_verilog -lib ${copy}`];
}

/** Writes a row to a table of the document in place of the row with the same names, which are all columns before the one of LUTs. */
function note(header, row, isList = false) {
  const text = readFileSync(document, 'utf8');
  const begin = text.indexOf(`| ${header.slice(0, 2).join(' | ')}`);
  const end = text.indexOf('\n\n', begin);
  const lines = text.slice(begin, end < 0 ? undefined : end).split('\n');
  const rows = lines
    .slice(2)
    .filter((line) => line !== '')
    .map((line) => line.slice(2, -2).split(' | '));
  const names = header.indexOf('LUTs');
  const at = isList
    ? -1
    : rows.findIndex((other) => other.slice(0, names).join() === row.slice(0, names).join());
  if (at < 0) rows.push(row);
  else rows[at] = row;
  if (header === columns)
    rows.sort((a, b) => a[0].localeCompare(b[0]) || a[2].localeCompare(b[2]) || Number(a[1]) - Number(b[1]));
  const table = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  writeFileSync(document, `${text.slice(0, begin)}${table.join('\n')}${end < 0 ? '\n' : text.slice(end)}`);
}

/** Removes the rows of a block at a size from a table. */
function forget(header, { block, size }) {
  const text = readFileSync(document, 'utf8');
  const begin = text.indexOf(`| ${header.slice(0, 2).join(' | ')}`);
  const kept = text
    .slice(begin)
    .split('\n')
    .filter((line) => !line.startsWith(`| ${block} | ${size} | `));
  writeFileSync(document, text.slice(0, begin) + kept.join('\n'));
}

function fail(message) {
  console.error(`synthesis: ${message}`);
  process.exit(1);
}
