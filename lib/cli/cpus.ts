import { readFileSync } from 'node:fs';

import { VerbsError } from '../index.ts';

/**
 * Refuses a CPU that this process may not run on: the system would leave the thread where it is, and say nothing.
 * @param option the option that names it, for the message
 * @throws VerbsError EINVAL with the CPUs that there are
 */
export function refuseForbiddenCpu(option: string, cpu: number | undefined): void {
  const allowed = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  if (cpu === undefined || isListed(allowed, cpu)) return;
  throw new VerbsError(`CPU ${cpu} of ${option} is not one that this process may run on`, {
    code: 'EINVAL',
    verb: 'doorbell',
    attribute: option,
    expected: `one of ${allowed}`,
  });
}

/** Whether a list of the kernel's, `0-3,8`, has a number. */
export function isListed(list: string, number: number): boolean {
  return list.split(',').some((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return number >= first! && number <= last!;
  });
}
