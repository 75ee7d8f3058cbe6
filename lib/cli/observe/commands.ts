import { Argument, InvalidArgumentError, type Command } from 'commander';

import { wholeNumber } from '../option_values.ts';
import type { Scope } from '../scope.ts';
import type { Output } from '../output/output.ts';
import type { AddCommand } from '../performance/commands.ts';
import { setResources, showResources } from '../resources.ts';
import { capture } from './capture.ts';
import { counters } from './counters.ts';
import { events } from './events.ts';
import { kicks } from './kicks.ts';
import { queuePairs } from './queue_pairs.ts';
import { regions } from './regions.ts';
import { share } from './share.ts';
import { top } from './top.ts';
import { why } from './why.ts';

interface Words {
  readonly device?: string;
  readonly json?: boolean;
}

const jsonShapes = {
  resources: `{functions: [[share]], shared: [share], lanes: [[share]]}; a share: {resource, name, underlyingFunction or lane,
  level, amount, first, lanes}; a level's share is its own, a function's is the total`,
  why: '{queuePair, reasons}; enums as in fpga/doc/formats.md',
  top: `a line for each look: {functions, ports}; functions: [{underlyingFunction, virtualCollectBuffers, virtualCollectBuffersInUse,
  collecting, sendQueueMode, error, physicalCollectBuffers, ownPhysicalCollectBuffers, dedicatedPhysicalCollectBuffers, lanes,
  lanesWaiting, commandsListed, executionCredits, sharedExecutionCredits, completionCredits, sharedCompletionCredits, levels,
  perSecond: {kicks, sent, failed, stalls}}], without underlyingFunction: lanes that all functions share, and through another function
  than 0 what it sees of itself; ports: [{port, packetsOut, bytesOut, packetsIn, bytesIn}], a second; numbersInTimeWait of the board`,
  kicks: `a line for each: {kickNumber, underlyingFunction, qualityOfServiceLevel, origin, virtualCollectBuffer,
  physicalCollectBuffer, opcode, queuePairNumber, sendQueueSequenceNumber, length, firstWrite, kicked, sent:
  {transmitVirtualLane, status, begin, end}}; times in device clock ticks, enums as in fpga/doc/formats.md;
  without sent: handed back to the send queue; {lost}: records that arrived faster than this command reads them`,
  qps: `[{number, virtualQueuePair, underlyingFunction, type, state, level, hold, peer: {queuePair, address}, waiting, unacknowledged, receives,
  next, posted, acknowledged, nextPsn, expectedPsn, port, protectionDomain, sendCompletionQueue, receiveCompletionQueue,
  sharedReceiveQueue}]; without receives: they are those of the shared queue; then numbers in
  time-wait: {number, virtualQueuePair, underlyingFunction, state: 'timeWait', timeWaitLeft}, in microseconds`,
  regions: `[{key, underlyingFunction, protectionDomain, access, base, length, pageBytes, inFlight, windows, isWindow, quiesced}]`,
  events: `a line for each: {underlyingFunction, type, reason, offset, object, detail, timestamp}; time in device clock ticks; {lost}:
  events that arrived faster than this command reads them`,
  counters: '[{underlyingFunction, name, unit, value, perSecond}]; without underlyingFunction: of the device',
  watch: '{address}',
  share: '{shared, underlyingFunction}',
  capture: '{bytes, lost}, when it has ended; nothing where the packets go to the standard output',
} as const;

const changes = `
Changes: OWNER.RESOURCE=AMOUNT, all of them or none, whatever their order.
  OWNER     a function (1), a level of it (1.low, 1.high), a transmit virtual lane (lane5); none: this function
  RESOURCE  vcbs, pcbs, tvls, executionCredits, completionCredits, executionCreditsCap, completionCreditsCap,
            listSize, entryCredits
  AMOUNT    a whole number; vcbs: 30@64 begins at 64; tvls: lanes:4-9,12 says which
The control function (0) changes everything; another one divides what it has among its levels and lanes.`;

const topColumns = `
Columns: KICKS/S commands kicked, SENT/S commands whose last packet left; VCBS virtual collect buffers in use of those that the function has, SQM
in send queue mode, ERR refused; PCBS physical collect buffers held of its own; LISTED commands on lists of its lanes; EXEC and COMPL
its credits that are free + shared ones held; STALLS/S commands that had to wait, by cause below. The row "any": lanes of all functions.`;

const kicksColumns = `
Columns: ORIGIN pcb: collected in a physical collect buffer, sqm: send queue mode, sched: fetched by the scheduler; COLLECT from the first write to
the kick; TO SENT from the kick to the last packet out; STATUS back: handed back to the send queue.`;

const watchWords = `
A served board is shown as applications use it. A board of this command alone, as emu:, has a ping-pong of its own, and with
progress=stepped goes as slowly as the page says. The address has a random token: only those who know it see the page.`;

const largestQueuePairNumber = 0xff_ffff;

/** Parses a queue pair number: 0x12, or 18. */
function queuePairNumber(text: string): number {
  const value = Number(text);
  if (/^(0x[0-9a-f]+|\d+)$/i.test(text) && value <= largestQueuePairNumber) return value;
  throw new InvalidArgumentError('It must be a 24-bit number, such as 0x12 or 18.');
}

/** Adds the commands that observe functions and divide resources. */
export function addObservationCommands(
  add: AddCommand,
  outputOf: (options: { readonly json?: boolean }) => Output,
  deviceStringOf: (given?: string) => string,
  scope: Scope,
): void {
  add(
    'resources',
    'show or change the division of resources among functions, levels and lanes',
    jsonShapes.resources,
    [
      'hca resources show',
      'hca resources set 1.pcbs=20 1.high.pcbs=8 1.tvls=20',
      'hca resources set 2.vcbs=0 1.vcbs=64@128 lane5.executionCredits=4 --json',
    ],
  )
    .addArgument(new Argument('<action>', 'what to do').choices(['show', 'set']))
    .argument('[changes...]', 'set: changes')
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
  add('why', 'explain in words why a queue pair waits', jsonShapes.why, [
    "hca why 0x12 --device 'emu:0?name=board'",
    'hca why 0x12 --device serve:lab/0 --json',
  ])
    .argument('<qpn>', 'queue pair number, its own or the one that peers use', queuePairNumber)
    .action((number: number, options: Words) =>
      why(outputOf(options), deviceStringOf(options.device), number),
    );
  add('top', 'show rates of each function, and its resources in use', jsonShapes.top, [
    'hca top --device serve:lab',
    'hca top --count 2 --json --device serve:lab/1',
  ])
    .addHelpText('after', topColumns)
    .option('--count <looks>', 'number of samples; 0: until interrupted', wholeNumber(0), 0)
    .option('--interval <milliseconds>', 'time between two samples', wholeNumber(10), 1000)
    .action((options: Words & { count: number; interval: number }) =>
      top(outputOf(options), deviceStringOf(options.device), options, scope),
    );
  add('kicks', 'show commands as the device kicks and sends them', jsonShapes.kicks, [
    'hca kicks --device serve:lab',
    'hca kicks --device serve:lab/2 --json',
    'hca kicks --device vfio:0000:01:00.0',
    'hca kicks --count 8',
  ])
    .addHelpText('after', kicksColumns)
    .option(
      '--count <kicks>',
      'post this number of sends on a separate function, and show them',
      wholeNumber(1),
    )
    .action((options: Words & { count?: number }) =>
      kicks(outputOf(options), deviceStringOf(options.device), { count: options.count }, scope),
    );
  add('qps', 'list queue pairs: number, state, peer, outstanding work', jsonShapes.qps, [
    'hca qps --device serve:lab',
    'hca qps --device serve:lab/2 --json',
  ]).action((options: Words) => queuePairs(outputOf(options), deviceStringOf(options.device), scope));
  add('regions', 'list registered memory regions and windows', jsonShapes.regions, [
    'hca regions --device serve:lab',
    'hca regions --device serve:lab/2 --json',
  ]).action((options: Words) => regions(outputOf(options), deviceStringOf(options.device), scope));
  add('events', 'show asynchronous events, like ibv_asyncwatch', jsonShapes.events, [
    'hca events --device serve:lab',
    'hca events --device serve:lab/2 --json',
  ]).action((options: Words) => events(outputOf(options), deviceStringOf(options.device), scope));
  add('counters', 'show counters by name, and their rates', jsonShapes.counters, [
    'hca counters --device serve:lab',
    'hca counters --rates --device serve:lab/2',
    'hca counters kicks send_holds port_bytes_out.1 --device serve:lab --json',
  ])
    .argument(
      '[names...]',
      'counters, such as kicks, send_holds or send_holds.fence; default: all nonzero counters',
    )
    .option('--all', 'include counters that are 0')
    .option('--rates', 'read twice and print the increase per second')
    .option('--interval <milliseconds>', '--rates: time between the two reads', wholeNumber(10), 1000)
    .action((names: string[], options: Words & { all?: boolean; rates?: boolean; interval: number }) =>
      counters(
        outputOf(options),
        deviceStringOf(options.device),
        {
          names,
          all: options.all === true,
          interval: options.rates === true ? options.interval : undefined,
        },
        scope,
      ),
    );
  add(
    'capture',
    'capture packets at the ports of a running board for Wireshark (pcapng)',
    jsonShapes.capture,
    ['hca capture packets.pcapng --device serve:lab', 'hca capture - --device serve:lab | wireshark -k -i -'],
  )
    .argument('<file>', 'output file, overwritten; -: standard output')
    .action((file: string, options: Words) =>
      capture(outputOf(options), deviceStringOf(options.device), file, scope),
    );
  add('share', 'open a function and let other processes observe it', jsonShapes.share, [
    'hca share lab --device vfio:0000:01:00.0',
    'hca top --device serve:lab',
  ])
    .argument('[name]', 'name for observers (serve:NAME), or path of a socket, with a slash', 'board')
    .action((name: string, options: Words) =>
      share(outputOf(options), deviceStringOf(options.device), name, scope),
    );
  add('watch', 'serve a live page of a board for a browser on this machine', jsonShapes.watch, [
    'hca watch --device serve:lab',
    "hca watch --device 'emu:?progress=stepped'",
  ])
    .addHelpText('after', watchWords)
    .option('--port <port>', 'TCP port of the page; 0: any free port', wholeNumber(0, 65_535), 0)
    .action(async (options: Words & { port: number }) => {
      const { watch } = await import('../watch/watch.ts'); // other commands do not load its server
      await watch(outputOf(options), deviceStringOf(options.device), options, scope);
    });
}
