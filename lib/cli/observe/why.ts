import { openBeside, parseDeviceString } from '../../board/index.ts';
import { DeviceFunction } from '../../driver/device_function.ts';
import { VerbsError } from '../../driver/errors.ts';
import type { ObservedQueuePair } from '../../driver/observed.ts';
import { whyStalled } from '../../driver/why.ts';
import {
  qualityOfServiceLevelNames,
  queuePairStateNames,
  roomWaitNames,
  sendHoldNames,
} from '../../spec/index.ts';
import type { Output } from '../output/output.ts';

/** The number in commands and completions, and the number that peers know if it differs. */
function numbersOf({ number, virtualNumber }: ObservedQueuePair): string {
  const known = virtualNumber === number ? '' : `, which peers know as 0x${virtualNumber.toString(16)},`;
  return `0x${number.toString(16)}${known}`;
}

/**
 * `hca why QPN`: explains in words why a queue pair waits: of any function through the control function, otherwise of the observed function.
 * It reads registers while a driver may be using the board. JSON: {queuePair, reasons}.
 */
export function why(output: Output, deviceString: string, number: number): void {
  const device = new DeviceFunction(openBeside(parseDeviceString(deviceString)));
  try {
    const found = whyStalled(device, number);
    if (found === undefined) {
      throw new VerbsError(`${deviceString} has no queue pair 0x${number.toString(16)}`, {
        code: 'EINVAL',
        verb: 'queryQueuePair',
        attribute: 'queue pair number',
        expected: 'the number of an existing queue pair, as hca qps or the application prints it',
      });
    }
    const { queuePair, reasons } = found;
    const { state, level, hold, roomWait, next, posted, acknowledged, underlyingFunction } = queuePair;
    output.value({
      queuePair: {
        ...queuePair,
        state: queuePairStateNames[state],
        level: qualityOfServiceLevelNames[level],
        hold: sendHoldNames[hold],
        roomWait: roomWaitNames[roomWait],
      },
      reasons,
    });
    output.text(
      `queue pair ${numbersOf(queuePair)} of function ${underlyingFunction}: ${queuePairStateNames[state]}, level ${qualityOfServiceLevelNames[level]}; next ${next}, posted ${posted}, acknowledged ${acknowledged}\n`,
    );
    for (const reason of reasons) output.text(`- ${reason}\n`);
  } finally {
    device.close();
  }
}
