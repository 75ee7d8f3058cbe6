import type { BoardFacts } from '../board/index.ts';
import { VerbsError } from '../index.ts';

/** Refuses a stepped board, which only a test advances. @throws VerbsError EINVAL */
export function refuseVirtualTime(command: string, { progress }: Pick<BoardFacts, 'progress'>): void {
  if (progress !== 'stepped') return;
  throw new VerbsError(
    'a stepped board has virtual time: there is no latency to measure, and it runs only when stepped',
    {
      code: 'EINVAL',
      verb: command,
      attribute: 'progress',
      expected: 'progress=own or progress=shared',
    },
  );
}
