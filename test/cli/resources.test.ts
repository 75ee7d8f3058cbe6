import { describe, expect, it } from 'vitest';

import { openDevice, Resource, type ResourceShare } from '../../lib/index.ts';
import { formatLanes, parseResourceChange } from '../../lib/cli/resource_changes.ts';
import { closing } from '../helpers/backends.ts';
import { runHca } from '../helpers/run_hca.ts';

const small = 'queuePairs=64&pageTableEntries=1024&memoryKeys=256';

describe('hca resources', () => {
  it('prints help for changes and JSON', async () => {
    const { exitCode, out } = await runHca(['resources', '--help']);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/JSON: \{functions[^]*Examples:\n {2}hca resources show[^]*OWNER\.RESOURCE=AMOUNT/);
  });

  it('shows own and shared resources of functions, levels and lanes', async () => {
    const { exitCode, out } = await runHca(['resources', 'show', '--device', `emu:?${small}`]);
    expect(exitCode).toBe(0);
    const lines = out.split('\n').map((line) => line.split(/\s+/));
    expect(lines[1]).toEqual(['0', '0-31', '0', '0', '4', '0', '0', '72', '0-3']);
    expect(lines[9]).toEqual(['shared', '32', '32-63']);
    expect(lines[12]).toEqual(['0-63', '2', '16', '4', '64', '72']);
    expect(lines[16]).toEqual(['low', '8', '8', '0', '16', '16', '0']);
    expect(out).toContain('shared credits: 64 execution, 256 completion\n');
  });

  it('applies all changes or none', async () => {
    const device = ['--device', `emu:?${small}`, '--json'];
    const { exitCode, json } = await runHca(
      [
        'resources',
        'set',
        '1.pcbs=20',
        '1.high.pcbs=8',
        '1.tvls=lanes:4-6,40',
        '1.vcbs=30',
        'lane4.listSize=9',
      ].concat(device),
    );
    expect(exitCode).toBe(0);
    const [{ functions, lanes }] = json() as [{ functions: ResourceShare[][]; lanes: ResourceShare[][] }];
    const amounts = (resource: Resource): number[] =>
      functions[1]!.filter((share) => share.resource === resource).map(({ amount }) => amount);
    expect(amounts(Resource.physicalCollectBuffers)).toEqual([20, 0, 8]);
    expect(amounts(Resource.virtualCollectBuffers)).toEqual([30, 0, 0]);
    expect(functions[1]!.find(({ name }) => name === 'transmitVirtualLanes')!.lanes).toEqual([4, 5, 6, 40]);
    expect(lanes[4]!.find(({ resource }) => resource === Resource.listSize)).toMatchObject({
      amount: 9,
      lane: 4,
    });
    const failed = await runHca(['resources', 'set', '1.pcbs=20', '2.pcbs=34', ...device]);
    expect([failed.exitCode, failed.out]).toEqual([1, '']);
    expect(failed.error).toMatch(/physicalCollectBuffers: 34 asked for, 20 left.*at most 20/);
  });

  it('shows a guest its own resources', async () => {
    const name = `name=resources-of-a-guest&${small}`;
    closing(openDevice(`emu:0?${name}`));
    const { json } = await runHca(['resources', 'show', '--device', `emu:2?${name}`, '--json']);
    const [{ functions, lanes }] = json() as [{ functions: ResourceShare[][]; lanes: ResourceShare[][] }];
    expect(functions.map(([share]) => share!.underlyingFunction)).toEqual([2]);
    expect(lanes.map(([share]) => share!.lane)).toEqual([8, 9, 10, 11]);
    const refused = await runHca(['resources', 'set', 'pcbs=9', '--device', `emu:2?${name}`]);
    expect(refused.error).toContain('notPermitted');
  });

  it.each([
    [['show', '1.pcbs=1'], 2, /unexpected argument '1.pcbs=1' of show/],
    [['set'], 2, /missing argument 'changes'/],
    [['set', '1.pcbs'], 1, /change "1.pcbs": no amount; expected: OWNER.RESOURCE=AMOUNT/],
    [['set', '1.buffers=3'], 1, /no resource "buffers"; expected: one of vcbs, pcbs, tvls, virtual/],
    [['set', 'lane5.low.pcbs=3'], 1, /owner "lane5.low"; expected: a function/],
    [['set', '1.pcbs=3@4'], 1, /amount "3@4"; expected: a whole number$/m],
    [['set', '1.tvls=lanes:9-4'], 1, /lanes "9-4"; expected: lanes and ranges, such as 4-9,12/],
  ])('%j fails in one line', async (words, exitCode, error) => {
    const run = await runHca(['resources', ...words]);
    expect([run.exitCode, run.out]).toEqual([exitCode, '']);
    expect(run.error).toMatch(error);
    expect(run.error.trim().split('\n')).toHaveLength(1);
  });

  it('parses lanes in its own output format', () => {
    const lanes = [0, 1, 2, 5, 9, 10, 63];
    expect(formatLanes(lanes)).toBe('0-2,5,9-10,63');
    expect(parseResourceChange(`3.tvls=lanes:${formatLanes(lanes)}`)).toEqual({
      underlyingFunction: 3,
      resource: Resource.transmitVirtualLanes,
      lanes,
    });
  });
});
