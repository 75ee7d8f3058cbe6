import { readFileSync } from 'node:fs';

import { VerbsError } from '../index.ts';

/**
 * Refuses a CPU that this process may not use, because the system would ignore the request silently.
 * @param option the command line option, for the message
 * @throws VerbsError EINVAL, with the CPUs that the process may use
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

/** Whether a CPU list of the kernel, such as `0-3,8`, contains a number. */
export function isListed(list: string, number: number): boolean {
  return list.split(',').some((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return number >= first! && number <= last!;
  });
}
