import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import { VerbsError } from '../../driver/errors.ts';
import type { Output } from '../output/output.ts';
import type { Scope } from '../scope.ts';
import { Losses, observe, repeat } from './watching.ts';

/** Polling interval in milliseconds: packets of full size fill the ring in a tenth of a second. */
const packetPace = 10;
/** The file name that stands for the standard output. */
const standardOutput = '-';

/**
 * `hca capture`: the packets at the ports of a running board, as a file or a pipe that Wireshark reads (pcapng), until it is interrupted or the
 * reader has seen enough. The board does not wait for the reader. JSON, but to the standard output: {bytes, lost}.
 */
export async function capture(
  output: Output,
  deviceString: string,
  file: string,
  scope: Scope,
): Promise<void> {
  const expected = '--device serve:NAME, as hca list shows it';
  const observer = observe(scope, deviceString, 'packets', expected);
  if (observer.device.controlPage === undefined) {
    throw new VerbsError(`${deviceString} is one function; packets belong to the board`, {
      code: 'EPERM',
      verb: 'openDevice',
      attribute: '--device',
      expected: 'the control function, as serve:NAME',
    });
  }
  const stream = file === standardOutput ? process.stdout : await openFile(scope, file);
  const broken = new AbortController();
  // main.ts handles errors of standard output.
  if (stream !== process.stdout) stream.on('error', (error) => broken.abort(error));
  const signal = AbortSignal.any([scope.signal, broken.signal]);
  const watch = observer.watchPackets();
  const losses = new Losses();
  let bytes = 0;
  const write = async (data: Uint8Array): Promise<void> => {
    bytes += data.length;
    if (stream.write(Buffer.from(data)))
      await setImmediate(); // lets a signal end the command under a constant stream of packets
    else if (!signal.aborted) {
      await once(stream, 'drain', { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  };
  await write(watch.head);
  if (file !== standardOutput) output.text(`${deviceString}: writing packets to ${file}; Ctrl+C ends it\n`);
  await repeat(
    signal,
    async () => {
      if (broken.signal.aborted) return;
      for (let data = watch.take(); data.length > 0; data = watch.take()) {
        await write(data);
        if (signal.aborted) return;
      }
      const lost = losses.since(watch.lost);
      if (lost > 0) output.warn(`${lost} packets lost: they arrive faster than they can be written`);
    },
    packetPace,
  );
  const failure = broken.signal.reason as NodeJS.ErrnoException | undefined;
  // A reader that closes the pipe is not an error.
  if (failure !== undefined && failure.code !== 'EPIPE') throw refusal(file, failure);
  if (file === standardOutput) return;
  output.value({ bytes, lost: watch.lost });
  output.text(`${bytes} B, ${watch.lost} packets lost\n`);
}

/** @throws VerbsError EIO: the file cannot be written */
async function openFile(scope: Scope, file: string): Promise<Writable> {
  const stream = createWriteStream(file);
  try {
    await once(stream, 'open', { signal: scope.signal });
  } catch (error) {
    throw refusal(file, error);
  }
  return scope.hold(stream, async () => {
    stream.end();
    if (!stream.closed) await once(stream, 'close');
  });
}

function refusal(file: string, error: unknown): VerbsError {
  return new VerbsError(`the capture file ${file} cannot be written: ${(error as Error).message}`, {
    code: 'EIO',
    verb: 'capture',
    attribute: 'file',
    expected: 'a file that can be created, or - for standard output',
  });
}
