import type { RegionFacts } from '../../board/index.ts';
import { AccessFlag } from '../../spec/index.ts';
import type { Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import type { Scope } from '../scope.ts';
import { observe } from './watching.ts';

const remoteRights = [
  ['r', AccessFlag.remoteRead],
  ['w', AccessFlag.remoteWrite],
  ['a', AccessFlag.remoteAtomic],
] as const;

const has = ({ accessFlags }: RegionFacts, flag: AccessFlag): boolean => (accessFlags & (1 << flag)) !== 0;

/**
 * `hca regions`: lists memory regions and windows of the observed function, or of all functions through the control function. JSON: [{key,
 * underlyingFunction, protectionDomain, access: […], base, length, inFlight, windows, isWindow, quiesced}].
 */
export function regions(output: Output, deviceString: string, scope: Scope): void {
  const expected = '--device serve:NAME, as hca list shows it';
  const found = observe(scope, deviceString, 'regions', expected).regions();
  output.value(
    found.map((facts) => {
      const { accessFlags: _, pageLog2, ...rest } = facts;
      const access = Object.entries(AccessFlag).flatMap(([name, flag]) => (has(facts, flag) ? [name] : []));
      return { ...rest, pageBytes: 2 ** pageLog2, access };
    }),
  );
  if (found.length === 0) {
    output.text('There are no memory regions.\n');
    return;
  }
  output.table(
    table(
      [
        { title: 'KEY' },
        { title: 'UF' },
        { title: 'PD' },
        { title: 'ADDRESS' },
        { title: 'BYTES', align: 'right' },
        { title: 'LOCAL' },
        { title: 'REMOTE' },
        { title: 'IN FLIGHT', align: 'right' },
        { title: 'KIND' },
      ],
      found.map((each) => [
        `0x${each.key.toString(16)}`,
        `${each.underlyingFunction}`,
        `${each.protectionDomain}`,
        `0x${each.base.toString(16)}`,
        `${each.length}`,
        has(each, AccessFlag.localWrite) ? 'rw' : 'r',
        remoteRights.map(([letter, flag]) => (has(each, flag) ? letter : '-')).join(''),
        `${each.inFlight}`,
        each.isWindow ? 'window' : each.windows === 0 ? 'region' : `region of ${each.windows}`,
      ]),
    ),
  );
}
