import type { BoardOptions, EmulatedBoard } from '../../lib/board/addon.ts';
import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { openDevice, type DeviceEvent } from '../../lib/index.ts';
import { makeBoard, type Backend } from './backends.ts';
import { stepped, type Verbs } from './make_verbs.ts';

/** Opens functions of a board, each as its own device. The first one must be the control function, 0. */
export function openFunctions(board: EmulatedBoard, functions: readonly number[]): Verbs[] {
  return functions.map((underlyingFunction) => {
    const context = openDevice(board.open(underlyingFunction));
    return {
      board,
      context,
      protectionDomain: context.createProtectionDomain(),
      completionQueue: context.createCompletionQueue({ entries: 64 }),
    };
  });
}

/** A board whose first `count` functions are open. */
export function makeFunctions(
  count: number,
  options: BoardOptions = {},
  backend: Backend = stepped,
): Verbs[] {
  return openFunctions(
    makeBoard(backend, options),
    Array.from({ length: count }, (_, index) => index),
  );
}

/** A register of the function's own page. */
export function functionRegister({ context }: Verbs, name: string): readonly bigint[] {
  return readNamed(context.driver.device.page, registerNamed(blockNamed('underlying_function'), name)).values;
}

/** A control register, through the control function. */
export function controlRegister({ context }: Verbs, name: string): readonly bigint[] {
  return readNamed(context.driver.device.controlPage!, registerNamed(blockNamed('control'), name)).values;
}

/** Asynchronous events of a function since the last call. */
export function eventsOf({ context }: Verbs): DeviceEvent[] {
  const events: DeviceEvent[] = [];
  for (let event = context.pollEvent(); event !== undefined; event = context.pollEvent()) events.push(event);
  return events;
}
