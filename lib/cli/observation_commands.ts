import { Argument, InvalidArgumentError, type Command } from 'commander';

import { wholeNumber } from './option_values.ts';
import type { Output } from './output/output.ts';
import type { AddCommand } from './performance/commands.ts';
import { setResources, showResources } from './resources.ts';
import { top } from './top.ts';
import { why } from './why.ts';

interface Words {
  readonly device?: string;
  readonly json?: boolean;
}

const jsonShapes = {
  resources: `{functions: [[share]], shared: [share], lanes: [[share]]}; a share: {resource, name, underlyingFunction or lane,
  level, amount, first, lanes}; a level's share is what it alone has, a function's is all`,
  why: '{queuePair, reasons}; enums as in fpga/doc/formats.md',
  top: `[{underlyingFunction, virtualCollectBuffers, virtualCollectBuffersInUse, collecting, sendQueueMode, error, physicalCollectBuffers,
  ownPhysicalCollectBuffers, dedicatedPhysicalCollectBuffers, lanes, lanesWaiting, commandsListed, executionCredits,
  sharedExecutionCredits, completionCredits, sharedCompletionCredits}], a line for each look; without underlyingFunction: lanes
  that all functions share; through another function than 0 what it sees of itself`,
} as const;

const changes = `
Changes: OWNER.RESOURCE=AMOUNT, all of them or none, whatever their order.
  OWNER     a function (1), a level of it (1.low, 1.high), a transmit virtual lane (lane5); none: this function
  RESOURCE  vcbs, pcbs, tvls, executionCredits, completionCredits, executionCreditsCap, completionCreditsCap,
            listSize, entryCredits
  AMOUNT    a whole number; vcbs: 30@64 begins at 64; tvls: lanes:4-9,12 says which
The control function (0) changes everything; another one divides what it has among its levels and lanes.`;

const largestQueuePairNumber = 0xff_ffff;

/** A queue pair number as it is printed: 0x12, or 18. */
function queuePairNumber(text: string): number {
  const value = Number(text);
  if (/^(0x[0-9a-f]+|\d+)$/i.test(text) && value <= largestQueuePairNumber) return value;
  throw new InvalidArgumentError('It must be a number of 24 bits, as 0x12 or 18.');
}

/** Adds the commands that show what functions have and wait for, and that divide resources. */
export function addObservationCommands(
  add: AddCommand,
  outputOf: (options: { readonly json?: boolean }) => Output,
  deviceStringOf: (given?: string) => string,
  signal: AbortSignal,
): void {
  add(
    'resources',
    'show how resources are divided among functions, levels and lanes, or divide them',
    jsonShapes.resources,
    [
      'hca resources show',
      'hca resources set 1.pcbs=20 1.high.pcbs=8 1.tvls=20',
      'hca resources set 2.vcbs=0 1.vcbs=64@128 lane5.executionCredits=4 --json',
    ],
  )
    .addArgument(new Argument('<action>', 'what to do').choices(['show', 'set']))
    .argument('[changes...]', 'set: what changes')
    .addHelpText('after', changes)
    .action((action: string, words: string[], options: Words, command: Command) => {
      if ((action === 'set') !== words.length > 0) {
        command.error(
          action === 'set'
            ? "error: missing argument 'changes'"
            : `error: unexpected argument '${words[0]!}' of show`,
        );
      }
      const device = deviceStringOf(options.device);
      if (action === 'set') setResources(outputOf(options), device, words);
      else showResources(outputOf(options), device);
    });
  add('why', 'why a queue pair does not go on, in words', jsonShapes.why, [
    "hca why 0x12 --device 'emu:0?name=board'",
    'hca why 0x12 --device serve:lab/0 --json',
  ])
    .argument('<qpn>', 'queue pair number', queuePairNumber)
    .action((number: number, options: Words) =>
      why(outputOf(options), deviceStringOf(options.device), number),
    );
  add('top', 'what each function has in use: buffers, lanes, lists and credits', jsonShapes.top, [
    "hca top --device 'emu:0?name=board'",
    'hca top --count 1 --json --device serve:lab/0',
  ])
    .option('--count <looks>', 'how often; 0: until it is interrupted', wholeNumber(0), 0)
    .option('--interval <milliseconds>', 'time between two looks', wholeNumber(10), 1000)
    .action((options: Words & { count: number; interval: number }) =>
      top(outputOf(options), deviceStringOf(options.device), { ...options, signal }),
    );
}
