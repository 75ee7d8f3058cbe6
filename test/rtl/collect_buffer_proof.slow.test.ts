import { describe, expect, it } from 'vitest';

import { root, rtlSources } from './blocks.ts';
import { holds, type Proof } from './proof.ts';

const patient = { timeout: 1_200_000 };

/** fpga/formal/collect_buffer_ports with the properties `ABOUT`, for at most `beats` beats of the host. */
function ports(about: number, beats: number, stalls = 0): Proof {
  const cut = ['doorbell_checksum', 'command_memory'];
  return {
    sources: [
      ...rtlSources('collect_buffer').filter((source) => !cut.some((name) => source.includes(name))),
      ...['doorbell_checksum', 'command_memory', 'collect_buffer_ports'].map(
        (name) => `${root}fpga/formal/${name}.sv`,
      ),
    ],
    top: 'collect_buffer_ports',
    parameters: { BEAT_BYTES: 64, ABOUT: about, BEATS: beats, STALLS: stalls },
    gates: true,
  };
}

/** Properties proved for `clocks` clocks from a reset; the first twelve sweep the memories. */
const shown = [
  {
    name: 'a beat completes in time, also with checksums or without credits',
    proof: ports(0, 4, 1),
    clocks: 30,
  },
  {
    name: 'a command is kicked if and only if it is complete, unless it is refused',
    proof: ports(1, 3),
    clocks: 24,
  },
  {
    name: 'the kick, the post notice and the event of a refusal carry the right values',
    proof: ports(2, 3),
    clocks: 24,
  },
  { name: 'a PCB has one owner, and an available one is taken', proof: ports(3, 5), clocks: 25 },
  { name: 'a returned PCB is taken again', proof: ports(3, 3), clocks: 35 },
  { name: 'the buffers hold the written data', proof: ports(4, 3), clocks: 26 },
] as const;
type Shown = (typeof shown)[number]['name'];
const of = (name: Shown) => shown.find((each) => each.name === name)!;
const whole = of('a command is kicked if and only if it is complete, unless it is refused');
const reached = of('a PCB has one owner, and an available one is taken');

/** The cases that the proof must reach, by their number in `ABOUT`; those of checksums and credits need stalls. */
const met = [
  [10, 'a command is kicked'],
  [12, 'a command is complete in send queue mode'],
  [13, 'segment 0 differs'],
  [14, 'a segment lies beyond the length'],
  [15, 'a half-written command is canceled'],
  [16, 'no PCB is available'],
  [17, 'a PCB is available, shortly after one returned'],
  [18, 'a DWORD is read back'],
  [19, 'a command is half written, with its length'],
  [20, "a beat is for another function's page"],
  [21, 'a VCB in error is canceled'],
  [23, 'one beat is a whole command'],
  [24, 'the last PCB is kicked'],
  [11, 'a checksum does not match', 1],
  [22, 'units arrive while there is no room', 1],
] as const;

describe('proofs of collect_buffer over its ports', () => {
  it.for(shown)('$name', patient, ({ proof, clocks }, context) => {
    expect(holds(proof, 'from reset', clocks, context)).toBe(true);
  });

  it.for(met)('reaches %i: %s', patient, ([about, , stalls = 0], context) => {
    expect(holds(ports(about, 4, stalls), 'from reset', 40, context)).toBe(false);
  });

  it.for([
    {
      name: 'every command is refused',
      by: whole,
      source: 'collect_buffer',
      from: 'assign x_refuses = x_is_beyond',
      to: 'assign x_refuses = x_is_beyond || x_is_command',
    },
    {
      name: 'no command is kicked',
      by: whole,
      source: 'collect_buffer',
      from: 'assign x_ends = x_is_command && x_has_length && x_is_whole;',
      to: "assign x_ends = 1'b0;",
    },
    {
      name: 'a missing DWORD counts as written',
      by: whole,
      source: 'collect_buffer',
      from: "assign b_brought = BEAT_DWORDS'(b_dwords >> b_offset[5:2]);",
      to: "assign b_brought = BEAT_DWORDS'(b_dwords >> b_offset[5:2]) | BEAT_DWORDS'(4);",
    },
    {
      name: 'a written DWORD does not count',
      by: whole,
      source: 'collect_buffer',
      from: "assign b_brought = BEAT_DWORDS'(b_dwords >> b_offset[5:2]);",
      to: "assign b_brought = BEAT_DWORDS'(b_dwords >> b_offset[5:2]) & ~(BEAT_DWORDS'(4));",
    },
    {
      name: 'a function is denied its own PCBs',
      by: reached,
      source: 'collect_group_table',
      from: 'rests_function[3*number+:3] <= few(total_shared, beyond_levels);',
      to: "rests_function[3*number+:3] <= '0;",
    },
  ])('fails if $name', patient, ({ by, source, from, to }, context) => {
    const proof = { ...by.proof, fault: { source, from, to } };
    expect(holds(proof, 'from reset', by.clocks, context)).toBe(false);
  });
});

describe('the memory of the owners of PCBs', () => {
  const voted: Proof = {
    sources: [
      ...rtlSources('collect_buffer').filter((source) => /(lut|voted)_memory/.test(source)),
      `${root}fpga/formal/voted_memory_formal.sv`,
    ],
    top: 'voted_memory_formal',
    gates: true,
  };

  it('reads the written data, with one stored bit of each word wrong', patient, (context) => {
    expect(holds(voted, 'from reset', 12, context)).toBe(true);
  });

  it.for(['one', 'one & two | two & three'])('does not if a reader takes %s', patient, (to, context) => {
    const from = 'one & two | two & three | one & three';
    expect(holds({ ...voted, fault: { source: 'voted_memory', from, to } }, 'from reset', 12, context)).toBe(
      false,
    );
  });
});
