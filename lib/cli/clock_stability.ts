import { readFileSync } from 'node:fs';

const clocksource = '/sys/devices/system/clocksource/clocksource0/current_clocksource';

/** Reasons to distrust the clock of the measurement; empty: none. */
export function clockWarnings(): string[] {
  const flags = new Set((/^flags\s*:(.*)$/m.exec(textOf('/proc/cpuinfo'))?.[1] ?? '').trim().split(' '));
  const missing = ['constant_tsc', 'nonstop_tsc'].filter((flag) => !flags.has(flag));
  const source = textOf(clocksource).trim();
  return [
    ...(missing.length > 0
      ? [`the time stamp counter may change its rate: the CPU lacks ${missing.join(', ')}`]
      : []),
    ...(source !== '' && !['tsc', 'arch_sys_counter', 'kvm-clock'].includes(source)
      ? [`the kernel does not trust the time stamp counter: its clock source is ${source}`]
      : []),
  ];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // unknown on this machine
  }
}
