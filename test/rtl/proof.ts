import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { root } from './blocks.ts';

/** The task of a proof: assertions in these sources (absolute), of the module `top` with these parameters. */
export interface Proof {
  readonly sources: readonly string[];
  readonly top: string;
  readonly parameters?: Readonly<Record<string, number>>;
  readonly defines?: readonly string[];
  /**
   * Memories become registers, and the solver gets each question whole and solves it bit by bit: for a block
   * that does much in one clock with small memories.
   */
  readonly bitwise?: boolean;
  /**
   * ABC searches gates instead of z3, from reset only: for a block that does much in one clock with small
   * memories, and for exclusive ors of many bits.
   */
  readonly gates?: boolean;
  /** A fault to build in: a text that occurs once in a source, and its replacement. */
  readonly fault?: { readonly source: string; readonly from: string; readonly to: string };
}

/**
 * Whether the assertions hold in the first `clocks` clocks after reset, or, by induction, in every clock: from any state in which
 * they have held for `clocks` clocks. 0: of a block without registers.
 * @param mutant name of a fault to build in
 */
export function holds(
  proof: Proof,
  way: 'from reset' | 'by induction',
  clocks: number,
  context: TestContext,
  mutant?: string,
): boolean {
  return solve(proof, way === 'by induction' ? ['-i'] : [], clocks, context, mutant);
}

function solve(
  { sources: named, top, parameters = {}, defines = [], bitwise = false, gates = false, fault }: Proof,
  way: readonly string[],
  clocks: number,
  context: TestContext,
  mutant?: string,
): boolean {
  const yosys = requireTool('yosys', context);
  const faulty = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-fault-'));
  try {
    const sources = named.map((source) => withFault(source, fault, faulty));
    return gates
      ? search({ sources, top, parameters, defines }, clocks, yosys, mutant)
      : ask({ sources, top, parameters, defines, bitwise }, way, clocks, context, yosys, mutant);
  } finally {
    rmSync(faulty, { recursive: true });
  }
}

/** The source, or a copy of it with the fault. */
function withFault(source: string, fault: Proof['fault'], directory: string): string {
  if (fault === undefined || path.basename(source, '.sv') !== fault.source) return source;
  const text = readFileSync(source, 'utf8');
  if (text.split(fault.from).length !== 2) throw new Error(`'${fault.from}' is not once in ${source}`);
  const copy = path.join(directory, path.basename(source));
  writeFileSync(
    copy,
    text.replace(fault.from, () => fault.to),
  );
  return copy;
}

function ask(
  { sources, top, parameters = {}, defines = [], bitwise = false }: Proof,
  way: readonly string[],
  clocks: number,
  context: TestContext,
  yosys: string,
  mutant?: string,
): boolean {
  const solver = requireTool('z3', context);
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-proof-'));
  try {
    const problem = path.join(directory, 'problem.smt2');
    const script = [
      ...read({ sources, top, parameters, defines }, mutant),
      `proc; flatten; opt -full; memory -nordff; ${bitwise ? 'memory_map; ' : ''}opt`,
      'setundef -undriven -anyseq; dffunmap; opt_clean; check',
      `write_smt2 -wires ${problem}`,
    ].join('\n');
    execFileSync(yosys, ['-q', '-p', script], { stdio: 'pipe' });
    const { stdout, status } = spawnSync(
      'yosys-smtbmc',
      [
        '--noprogress',
        '--unroll',
        ...(bitwise ? ['--noincr'] : []),
        '-s',
        solver,
        ...way,
        '-t',
        String(clocks),
        problem,
      ],
      { encoding: 'utf8' },
    );
    if (!/Status: (PASSED|FAILED)/.test(stdout)) throw new Error(`yosys-smtbmc gave no answer: ${stdout}`);
    return status === 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Like solve, from reset, bit by bit; without unrolling for a block without registers. */
function search(proof: Proof, clocks: number, yosys: string, mutant?: string): boolean {
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-proof-'));
  try {
    const problem = path.join(directory, 'problem.aig');
    const script = [
      ...read(proof, mutant),
      'proc; flatten; opt -full; memory -nordff; memory_map; opt',
      'setundef -undriven -anyseq; dffunmap; opt_clean; check; delete -output',
      'opt -full; techmap; dffunmap; abc -g AND -fast; opt_clean',
      `write_aiger -zinit ${problem}`,
    ].join('\n');
    execFileSync(yosys, ['-q', '-p', script], { stdio: 'pipe' });
    const commands = clocks === 0 ? 'fraig; orpos; iprove' : `dc2; bmc3 -F ${clocks}`;
    // Comes with Yosys.
    const { stdout } = spawnSync('yosys-abc', ['-c', `read_aiger ${problem}; fold; strash; ${commands}`], {
      encoding: 'utf8',
    });
    if (/No output asserted in \d+ frames|^UNSATISFIABLE/m.test(stdout)) return true;
    if (/was asserted in frame|^SATISFIABLE/m.test(stdout)) return false;
    throw new Error(`yosys-abc gave no answer: ${stdout}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Yosys commands that read the sources of the proof. */
function read({ sources, top, parameters = {}, defines = [] }: Proof, mutant?: string): string[] {
  const all = [...defines, ...(mutant === undefined ? [] : [`FPGA_VERBS_MUTANT_${mutant.toUpperCase()}`])];
  return [
    `read_verilog -defer -sv -formal -DFORMAL ${all.map((name) => `-D${name} `).join('')}-I ${root}fpga/formal ${sources.join(' ')}`,
    // One command for all sources: otherwise Yosys would elaborate some modules at their default sizes first.
    ...(Object.keys(parameters).length === 0
      ? []
      : [
          `chparam ${Object.entries(parameters)
            .map(([name, value]) => `-set ${name} ${value} `)
            .join('')}${top}`,
        ]),
    `hierarchy -check -top ${top}`,
  ];
}
