import { once } from 'node:events';

import { parseDeviceString, type DeviceName } from '../../board/index.ts';
import { DeviceFunction } from '../../driver/device_function.ts';
import { Observer } from '../../driver/observer.ts';
import { PageServer } from '../../watch/page_server.ts';
import { Sight } from '../../watch/sight.ts';
import { Watching } from '../../watch/watching.ts';
import { observedFunctions } from '../observe/functions.ts';
import { observe } from '../observe/watching.ts';
import type { Output } from '../output/output.ts';
import type { Scope } from '../scope.ts';
import { OwnBoard } from './own_board.ts';

/** Options of `hca watch`. */
export interface WatchOptions {
  /** TCP port of the page; 0: any free port. */
  readonly port: number;
}

/** Steps per second of a stepped board, until a page changes it. */
const firstStepsPerSecond = 25;

/**
 * `hca watch`: serves a page that shows a board live, to browsers of this machine, until it is interrupted. A board of this command itself runs a
 * ping-pong; if stepped, at the pace that the page selects. Without an open page it costs the board nothing. JSON: {address}.
 */
export async function watch(
  output: Output,
  deviceString: string,
  { port }: WatchOptions,
  scope: Scope,
): Promise<void> {
  const { signal } = scope;
  const watching = watchingOf(deviceString, scope);
  const server = scope.hold(await PageServer.listen(port, watching), (held) => held.close());
  scope.hold(watching, () => watching.close());
  output.value({ address: server.address });
  output.text(`${deviceString}: ${server.address}\nOpen it in a browser of this machine; Ctrl+C ends it\n`);
  if (signal.aborted) return;
  await Promise.race([once(signal, 'abort'), watching.failed]);
}

function watchingOf(deviceString: string, scope: Scope): Watching {
  const name = parseDeviceString(deviceString);
  if (name.backend === 'emu' && name.options.name === undefined)
    return watchingOwn(deviceString, name, scope);
  const expected =
    '--device serve:NAME, as hca list shows it; or --device emu:, a board with a ping-pong of its own';
  const observer = observe(scope, deviceString, 'commands', expected);
  return new Watching(deviceString, new Sight(observer, observedFunctions(scope, deviceString)), undefined);
}

function watchingOwn(
  deviceString: string,
  { options, underlyingFunction }: Extract<DeviceName, { backend: 'emu' | 'rtl' }>,
  scope: Scope,
): Watching {
  const own = new OwnBoard(options, scope, firstStepsPerSecond);
  const observer = scope.use(new Observer(own.board.observe(underlyingFunction)));
  const { underlyingFunctions } = observer.device.identity;
  const all = Array.from({ length: underlyingFunctions }, (_, number) => number);
  const functions = (underlyingFunction === 0 ? all : [underlyingFunction]).map((number) => {
    const device = new DeviceFunction(own.board.observe(number));
    return scope.hold(device, () => device.close());
  });
  return new Watching(deviceString, new Sight(observer, functions), own);
}
