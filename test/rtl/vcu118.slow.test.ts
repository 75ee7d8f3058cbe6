import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { EVENT_QUEUES_PER_FUNCTION, pciFunctions } from '../../lib/spec/index.ts';
import { requireTool } from '../helpers/tools.ts';
import { protocolSources, root, rtlSources } from './blocks.ts';
import { compiledAtOnce } from './verilator.ts';

const board = `${root}fpga/board/vcu118`;
const top = [...rtlSources('hca_front'), `${root}fpga/board/hca_board.sv`, `${board}/vcu118.sv`];
const patient = { timeout: 600_000 }; // a machine may have other work
const standIn = `${board}/stand_in/pcie_shell_wrapper.sv`;
const directory = mkdtempSync(path.join(tmpdir(), 'vcu118-'));
afterAll(() => rmSync(directory, { recursive: true }));

/**
 * Runs the build script by plain Tcl: each of Vivado's commands is recorded and returns its own words.
 * @param slack the timing slack that Vivado reports, in nanoseconds
 */
function dryRun(tclsh: string, slack: number): { commands: string; error: string; ok: boolean } {
  mkdirSync(`${directory}/project`, { recursive: true });
  writeFileSync(`${directory}/vcu118.bit`, '');
  writeFileSync(
    `${directory}/harness.tcl`,
    `proc unknown {args} { puts $args; return $args }
     proc get_property {name object} {
       return [dict get {PROGRESS 100% STATS.WNS ${slack} DIRECTORY ${directory}} $name]
     }
     set argv [list ${directory}/project]
     source ${board}/build.tcl`,
  );
  const { stdout, stderr, status } = spawnSync(tclsh, [`${directory}/harness.tcl`], { encoding: 'utf8' });
  return { commands: stdout, error: stderr, ok: status === 0 };
}

/** The ports of a module, read from its file, with their widths in bits. */
function portsOf(file: string): { port: string; bits: number | undefined }[] {
  const declarations = readFileSync(file, 'utf8').matchAll(
    /^ {4}(?:input|output) logic (?:\[(\d+):0\] )?(\w+),?$/gm,
  );
  return [...declarations].map(([, last, port]) => ({
    port: port!,
    bits: last === undefined ? undefined : Number(last) + 1,
  }));
}

/** The port bit and the pin of each placement line. */
function pinsOf(file: string): { pin: string; port: string }[] {
  const lines = readFileSync(file, 'utf8').matchAll(
    /PACKAGE_PIN (\w+).* \[get_ports \{?(\w+(?:\[\d+\])?)\}?\]$/gm,
  );
  return [...lines].map(([, pin, port]) => ({ pin: pin!, port: port! }));
}

describe("the VCU118 design, without the vendor's tool,", () => {
  it('has a top level that passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    const { stdout, stderr, status } = spawnSync(
      verilator,
      ['--lint-only', '-Wall', '--top-module', 'vcu118', ...top, standIn],
      { encoding: 'utf8' },
    );
    expect(stdout + stderr).toBe('');
    expect(status).toBe(0);
  });

  // Small enough to compile in seconds, with fewer PCBs and credits than commands.
  it('completes every written command, and frees its resources', patient, (context) => {
    const shape = {
      BEAT_BYTES: 8,
      UNDERLYING_FUNCTIONS: 2,
      VIRTUAL_COLLECT_BUFFERS: 4,
      PHYSICAL_COLLECT_BUFFERS: 2,
      DEDICATED_PHYSICAL_COLLECT_BUFFERS: 2,
      MANAGEMENT_PHYSICAL_COLLECT_BUFFERS: 1,
      TRANSMIT_VIRTUAL_LANES: 2,
      QUEUE_PAIRS: 4,
    };
    const entries = Object.entries(shape);
    const bench = `${directory}/bench`;
    const flags = [
      `-std=c++20 -I${root}native -I${root}fpga/tb`,
      ...entries.map(([name, value]) => `-D${name}=${value}`),
    ];
    const options = ['--cc', '--exe', '--assert', '-Wall', '--Mdir', bench, '--top-module', 'hca_board'];
    execFileSync(
      requireTool('verilator', context),
      [
        ...options,
        '-CFLAGS',
        flags.join(' '),
        ...entries.map(([name, value]) => `-G${name}=${value}`),
        ...top.slice(0, -1),
        ...protocolSources('hca_front'), // Its ports are those of hca_front.
        `${root}fpga/tb/hca_board_tb.cpp`,
      ],
      { stdio: 'pipe' },
    );
    execFileSync('make', ['-s', '-C', bench, '-f', 'Vhca_board.mk', ...compiledAtOnce], { stdio: 'pipe' });
    const { stdout } = spawnSync(`${bench}/Vhca_board`, ['1', '400'], { encoding: 'utf8' });
    expect(stdout).toBe('400 commands\n');
  });

  it('is built from the sources of the top level, with the PCI IDs that the driver looks for', (context) => {
    const { commands, error, ok } = dryRun(requireTool('tclsh', context), 0.1);
    expect(error).toBe('');
    expect(ok).toBe(true);
    const added = commands.match(/[^\s{}]+\.(?:sv|xdc)\b/g)!.map((file) => path.normalize(file));
    expect(added).toEqual([...top, `${board}/vcu118.xdc`]);
    expect(added.filter((file) => !existsSync(file))).toEqual([]);
    const shell = pciFunctions.find(({ name }) => name === 'xilinx_shell')!;
    const setting = (name: string): string => new RegExp(`CONFIG\\.${name} ([^\\s}]+)`).exec(commands)![1]!;
    expect(setting('vendor_id')).toBe(shell.vendor.toString(16));
    expect(setting('pf0_device_id')).toBe(shell.device.toString(16));
    expect(setting('pf0_bar0_prefetchable')).toBe('false');
    expect(setting('pf0_bar2_prefetchable')).toBe('true');
    expect(setting('xdma_num_usr_irq')).toBe(String(EVENT_QUEUES_PER_FUNCTION));
    // The interconnect answers as many accesses at a time as the port to host memory issues.
    const port = readFileSync(`${root}fpga/rtl/memory/host_memory.sv`, 'utf8');
    const outstanding = / OUTSTANDING = (\d+),/.exec(port)![1]!;
    expect(setting('NUM_READ_OUTSTANDING')).toBe(outstanding);
    expect(setting('NUM_WRITE_OUTSTANDING')).toBe(outstanding);
  });

  it('is not built if its timing is not met', (context) => {
    const { error, ok } = dryRun(requireTool('tclsh', context), -0.25);
    expect(ok).toBe(false);
    expect(error).toContain('timing is not met by 0.25 ns');
  });

  it('has a shell with the same ports as its stand-in', () => {
    const made = [
      ...readFileSync(`${board}/pcie_shell.tcl`, 'utf8').matchAll(/^create_bd_(?:intf_)?port .* (\w+)$/gm),
    ].map(([, name]) => name!);
    const ports = portsOf(standIn).map(({ port }) => port);
    expect(made.filter((name) => !ports.some((port) => port.startsWith(name)))).toEqual([]);
    expect(ports.filter((port) => !made.some((name) => port.startsWith(name)))).toEqual([]);
  });

  it('has one pin per port, and one port per pin', () => {
    const placed = pinsOf(`${board}/vcu118.xdc`);
    const pins = [...placed, ...pinsOf(`${board}/ethernet.xdc`)].map(({ pin }) => pin);
    expect(pins).toHaveLength(new Set(pins).size);
    // The vendor's tool places the other half of a transceiver pair.
    const ports = portsOf(`${board}/vcu118.sv`)
      .filter(({ port }) => !port.endsWith('_n') || port === 'pcie_reset_n')
      .flatMap(({ port, bits }) =>
        bits === undefined ? [port] : Array.from({ length: bits }, (_, bit) => `${port}[${bit}]`),
      );
    expect(placed.map(({ port }) => port).sort()).toEqual(ports.sort());
  });
});
