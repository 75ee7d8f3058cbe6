// npm run fpga:waveform: simulates one command in hca_front, and draws the waveform to fpga/doc/figures/hca_front.svg.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const build = path.join(root, 'build/rtl/waveform');
const shape = {
  BEAT_BYTES: 16,
  UNDERLYING_FUNCTIONS: 2,
  VIRTUAL_COLLECT_BUFFERS: 4,
  PHYSICAL_COLLECT_BUFFERS: 2,
  DEDICATED_PHYSICAL_COLLECT_BUFFERS: 2,
  MANAGEMENT_PHYSICAL_COLLECT_BUFFERS: 1,
  TRANSMIT_VIRTUAL_LANES: 2,
  QUEUE_PAIRS: 4,
  FINISHES: 1,
};
export const signals = [
  'collect_awvalid',
  'collect_wvalid',
  'collect_wready',
  'collect_wlast',
  'kick',
  'kick_started',
  'command_tvalid',
  'command_tlast',
];

/** Runs the simulation. Returns its value change dump. */
export function simulate() {
  const { rtl } = JSON.parse(readFileSync(path.join(root, 'fpga/rtl/blocks.json'), 'utf8')).hca_front;
  const parameters = Object.entries(shape);
  const flags = [`-std=c++20 -I${root}native`, ...parameters.map(([name, value]) => `-D${name}=${value}`)];
  mkdirSync(build, { recursive: true });
  const options = ['--cc', '--exe', '--trace', '--trace-depth', '1', '-Wall', '--Mdir', build];
  execFileSync('verilator', [
    ...options,
    '--top-module',
    'hca_front',
    '-CFLAGS',
    flags.join(' '),
    ...parameters.map(([name, value]) => `-G${name}=${value}`),
    ...rtl.map((name) => path.join(root, `fpga/rtl/${name}.sv`)),
    path.join(root, 'fpga/tb/hca_front_waveform.cpp'),
  ]);
  const unoptimized = ['OPT_FAST=-O0', 'OPT_SLOW=-O0', 'OPT_GLOBAL=-O0', 'VM_PARALLEL_BUILDS=0'];
  execFileSync('make', ['-s', '-C', build, '-f', 'Vhca_front.mk', ...unoptimized]);
  execFileSync(path.join(build, 'Vhca_front'), { cwd: build });
  return readFileSync(path.join(build, 'waveform.vcd'), 'utf8');
}

/**
 * Values of the signals of one bit.
 * @param {string} dump with one time step for each clock
 * @returns {Map<string, boolean[]>} by name, then by clock
 */
export function wavesOf(dump) {
  const codes = new Map(
    [...dump.matchAll(/\$var wire +1 (\S+) (\w+) \$end/g)].map(([, code, name]) => [name, code]),
  );
  const values = new Map();
  const waves = new Map(signals.map((name) => [name, []]));
  for (const moment of dump.split(/^#\d+$/m).slice(1)) {
    for (const [, value, code] of moment.matchAll(/^([01])(\S+)$/gm)) values.set(code, value === '1');
    for (const [name, wave] of waves) {
      const code = codes.get(name);
      if (code === undefined) throw new Error(`the simulation has no signal ${name}`);
      wave.push(values.get(code) === true);
    }
  }
  return waves;
}

const [left, top, clockWidth, rowHeight, swing] = [140, 40, 26, 28, 16];

/** Draws waves. @param {Map<string, boolean[]>} waves */
export function draw(waves) {
  const clocks = Math.max(...[...waves.values()].map((wave) => wave.length));
  const [width, height] = [left + clocks * clockWidth + 10, top + waves.size * rowHeight + 10];
  const begin = (clock) => left + clock * clockWidth;
  const grid = Array.from({ length: clocks }, (_, clock) => [
    `<line x1="${begin(clock)}" y1="${top - 8}" x2="${begin(clock)}" y2="${height - 8}" stroke="#ddd"/>`,
    `<text x="${begin(clock) + clockWidth / 2}" y="${top - 14}" text-anchor="middle">${clock}</text>`,
  ]);
  const rows = [...waves].map(([name, wave], row) => {
    const low = top + row * rowHeight + swing;
    const points = wave.flatMap((is, clock) => {
      const y = is ? low - swing : low;
      return [`${begin(clock)},${y}`, `${begin(clock + 1)},${y}`];
    });
    return [
      `<text x="8" y="${low}">${name}</text>`,
      `<polyline points="${points.join(' ')}" fill="none" stroke="#1f4e9c" stroke-width="1.5"/>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    '<text x="8" y="26">clock</text>',
    ...grid.flat(),
    ...rows.flat(),
    '</svg>\n',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.join(root, 'fpga/doc/figures/hca_front.svg');
  writeFileSync(file, draw(wavesOf(simulate())));
  console.log(`drawn: ${file}`);
}
