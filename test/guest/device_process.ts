import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

import { ProxyCommand, ProxyMessages, answerMessage } from '../helpers/pci_proxy/message.ts';

const program = fileURLToPath(new URL('device_process.mjs', import.meta.url));
const allOnes = 0xffff_ffff_ffff_ffffn;
const unanswered: readonly number[] = [ProxyCommand.synchronizeMemory, ProxyCommand.setInterrupt];

/**
 * A PCI function whose device is a separate process. Without the process, the machine reads all ones and its
 * writes are lost, as with a removed board.
 */
export class DeviceProcess {
  private readonly socket: string;
  private readonly words: readonly string[];
  private readonly server: Server;
  private readonly messages = new ProxyMessages();
  private machine: Duplex | undefined;
  private child: ChildProcess | undefined;
  private device: Socket | undefined;
  /** Messages that the device has not answered yet. */
  private pending = 0;

  /** @param host what hostFolder() gave. @param words arguments of the program, after its socket */
  constructor(host: string, words: readonly string[]) {
    this.socket = path.join(host, 'device');
    this.words = words;
    this.server = createServer().listen(this.socket);
    onTestFinished(async () => {
      await this.kill();
      this.server.close();
    });
  }

  /** Starts a device in the state after plugging it in. */
  async start(): Promise<void> {
    this.child = spawn(process.execPath, [program, this.socket, ...this.words], { stdio: 'inherit' });
    const [device] = (await once(this.server, 'connection')) as [Socket];
    this.device = device;
    device.on('error', () => {}); // the socket closes then
    const answers = new ProxyMessages();
    device.on('data', (part: Buffer) => {
      this.pending -= answers.take(part).length;
      this.machine?.write(part);
    });
    device.on('close', () => {
      this.device = undefined;
      for (; this.pending > 0; this.pending--) this.machine?.write(answerMessage(allOnes));
    });
  }

  /** Handles the messages of the machine until it ends. */
  async attend(machine: Duplex): Promise<void> {
    this.machine = machine;
    machine.on('error', () => machine.destroy());
    machine.on('data', (part: Buffer) => {
      const asked = this.messages.take(part).filter(({ command }) => !unanswered.includes(command)).length;
      if (this.device === undefined) {
        for (let answered = 0; answered < asked; answered++) machine.write(answerMessage(allOnes));
        return;
      }
      this.pending += asked;
      this.device.write(part);
    });
    await new Promise((resolve) => machine.on('close', resolve));
    this.device?.destroy();
  }

  /** Kills the device process, if there is one. */
  async kill(): Promise<void> {
    const { child, device } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    // The connection may fail while the machine is writing a message.
    const closed = device && new Promise((resolve) => device.once('close', resolve));
    child.kill('SIGKILL');
    await Promise.all([exited, closed]);
  }
}
