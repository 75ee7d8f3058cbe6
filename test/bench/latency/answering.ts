// The far end of a setting, in a worker or in a separate process: a board that is polled continuously until
// it is told to close.
import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { End, type EndAddress } from '../../../lib/cli/performance/end.ts';
import { answeringSide } from '../../../lib/cli/performance/latency_sides.ts';
import { openDevice } from '../../../lib/index.ts';
import { endOptions, run } from './setting.ts';

const turnsBetweenMessages = 4096;

const context = openDevice(parentPort === null ? process.argv[2] : (workerData as string));
const end = new End(context, endOptions);
const closing = new AbortController();
tell(end.address);
hear((peer) => {
  end.connect(peer as EndAddress);
  hear(() => closing.abort());
  tell('connected');
  void answer();
});

async function answer(): Promise<void> {
  const side = answeringSide(end, run);
  while (!closing.signal.aborted) {
    for (let turn = 0; turn < turnsBetweenMessages; turn++) side.advance();
    await setImmediate();
  }
  context[Symbol.dispose]();
  if (parentPort === null) process.disconnect();
}

function tell(message: unknown): void {
  if (parentPort === null) process.send!(message);
  else parentPort.postMessage(message);
}

function hear(heard: (message: unknown) => void): void {
  if (parentPort === null) process.once('message', heard);
  else parentPort.once('message', heard);
}
