import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** Result of a command in the guest. */
export interface CommandRun {
  readonly status: number;
  /** Its output, on both streams. */
  readonly out: string;
}

/** Runs commands in a guest, one at a time, over a second serial line. */
export class GuestShell {
  /** The script that the guest runs. */
  static readonly script = `
    stty -F /dev/ttyS1 raw -echo
    exec 3<> /dev/ttyS1
    echo ready >&3
    while read -r line <&3 && [ "$line" != end ]; do
      sh -c "$line" > /host/out 2>&1
      echo $? >&3
    done`;

  /** Arguments of the emulator. */
  readonly machine: readonly string[];
  private readonly host: string;
  private readonly connected: Promise<Socket>;
  private lines: AsyncIterator<string> | undefined;
  private failed!: (error: Error) => void;
  private readonly failure = new Promise<never>((_, reject) => (this.failed = reject));

  /** @param host the folder that the guest sees as /host */
  constructor(host: string) {
    const file = path.join(host, 'shell');
    this.host = host;
    this.machine = ['-chardev', `socket,id=shell,path=${file}`, '-serial', 'chardev:shell'];
    const server = createServer().listen(file);
    onTestFinished(() => void server.close());
    this.connected = once(server, 'connection').then(([socket]: Socket[]) => socket!);
    this.failure.catch(() => {});
  }

  /** The guest has ended: pending and later commands throw. */
  fail(message: string): void {
    this.failed(new Error(message));
  }

  /** Runs a line of shell. */
  async run(command: string): Promise<CommandRun> {
    const socket = await Promise.race([this.connected, this.failure]);
    if (this.lines === undefined) {
      this.lines = createInterface(socket)[Symbol.asyncIterator]();
      await this.next(); // ready
    }
    socket.write(`${command.replaceAll(/\s*\n\s*/g, ' ').trim()}\n`);
    const status = Number(await this.next());
    return { status, out: readFileSync(path.join(this.host, 'out'), 'utf8') };
  }

  /** Shuts the guest down. */
  async end(): Promise<void> {
    (await this.connected).write('end\n');
  }

  private async next(): Promise<string> {
    const line = await this.lines!.next();
    return line.done === true ? this.failure : line.value;
  }
}
