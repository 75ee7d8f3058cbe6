import { Argument, type Command } from 'commander';

import type { Output } from './output/output.ts';
import type { AddCommand } from './performance/commands.ts';
import { setResources, showResources } from './resources.ts';

interface Words {
  readonly device?: string;
  readonly json?: boolean;
}

const json = `{functions: [[share]], shared: [share], lanes: [[share]]}; a share: {resource, name, underlyingFunction or lane,
  level, amount, first, lanes}; a level's share is what it alone has, a function's is all`;

const changes = `
Changes: OWNER.RESOURCE=AMOUNT, all of them or none, whatever their order.
  OWNER     a function (1), a level of it (1.low, 1.high), a transmit virtual lane (lane5); none: this function
  RESOURCE  vcbs, pcbs, tvls, execution_credits, completion_credits, execution_credits_cap, completion_credits_cap,
            list_size, entry_credits
  AMOUNT    a whole number; vcbs: 30@64 begins at 64; tvls: lanes:4-9,12 says which
The control function (0) changes everything; another one divides what it has among its levels and lanes.`;

/** Adds the commands that show and divide resources. */
export function addResourceCommands(
  add: AddCommand,
  outputOf: (options: { readonly json?: boolean }) => Output,
  deviceStringOf: (given?: string) => string,
): void {
  add('resources', 'show how resources are divided among functions, levels and lanes, or divide them', json, [
    'hca resources show',
    'hca resources set 1.pcbs=20 1.high.pcbs=8 1.tvls=20',
    'hca resources set 2.vcbs=0 1.vcbs=64@128 lane5.execution_credits=4 --json',
  ])
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
}
