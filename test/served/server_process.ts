import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { ServedBoardOptions, ServedWork } from '../../lib/board/serving.ts';

/** The resources that a server uses. */
export interface Footprint {
  readonly descriptors: number;
  readonly threads: number;
  /** Mappings of memory that it shares with clients. */
  readonly mappings: number;
  /** MiB of such memory that it has touched, rounded up. */
  readonly shared: number;
}

/** A server of a board in a child process. */
export class ServerProcess {
  readonly path: string;
  private readonly child: ChildProcess;

  private constructor(path: string, child: ChildProcess) {
    this.path = path;
    this.child = child;
  }

  static async start(path: string, options: Omit<ServedBoardOptions, 'path'> = {}): Promise<ServerProcess> {
    const program = fileURLToPath(new URL('server_program.mjs', import.meta.url));
    const child = fork(program, [path, JSON.stringify(options)], { execArgv: [] });
    const server = new ServerProcess(path, child);
    await server.next();
    return server;
  }

  async work(): Promise<ServedWork> {
    this.child.send('work');
    return (await this.next()) as ServedWork;
  }

  /** Stops serving, and waits until the process has ended. */
  async end(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.send('end');
    await this.next();
    await exited;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  footprint(): Footprint {
    const of = (file: string): string => `/proc/${this.child.pid}/${file}`;
    const maps = readFileSync(of('maps'), 'utf8').split('\n');
    const shared = /^RssShmem:\s+(\d+)/m.exec(readFileSync(of('status'), 'utf8'))?.[1];
    return {
      descriptors: readdirSync(of('fd')).length,
      threads: readdirSync(of('task')).length,
      mappings: maps.filter((line) => line.includes('memfd:fpga-verbs')).length,
      shared: Math.ceil(Number(shared) / 1024),
    };
  }

  private async next(): Promise<unknown> {
    const gone = once(this.child, 'exit').then(() => {
      throw new Error('the server has ended');
    });
    const [message] = (await Promise.race([once(this.child, 'message'), gone])) as [unknown];
    gone.catch(() => undefined);
    return message;
  }
}
