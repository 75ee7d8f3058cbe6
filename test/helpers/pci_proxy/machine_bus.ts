import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/**
 * The bus of a virtual machine, over the socket of QEMU's `-qtest` (its file docs/devel/qtest): a line for each access, and one that
 * answers it. The accesses are those of the machine's processor, to registers and memory alike.
 */
export class MachineBus {
  private readonly path: string;
  private connection: Promise<Socket> | undefined;
  private readonly waiting: { resolve: (words: string[]) => void; reject: (error: Error) => void }[] = [];

  /** @param path connected to at the first access, as the machine may only be starting */
  constructor(path: string) {
    this.path = path;
  }

  async read32(address: number): Promise<number> {
    const [, value] = await this.ask(`readl ${hexadecimal(address)}`);
    return Number(value);
  }

  async write32(address: number, value: number): Promise<void> {
    await this.ask(`writel ${hexadecimal(address)} ${hexadecimal(value)}`);
  }

  close(): void {
    this.connection?.then(
      (socket) => socket.destroy(),
      () => {}, // it was told to those who asked
    );
  }

  private async ask(line: string): Promise<string[]> {
    const socket = await (this.connection ??= this.connect());
    if (socket.destroyed) throw new Error(`${this.path}: the machine is gone`);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      socket.write(`${line}\n`);
    });
  }

  private async connect(): Promise<Socket> {
    const socket = connect(this.path).setEncoding('latin1');
    await once(socket, 'connect');
    let rest = '';
    socket.on('data', (part: string) => {
      const lines = (rest + part).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.answered(line);
    });
    socket.on('error', () => {}); // it closes then
    socket.on('close', () => {
      for (const { reject } of this.waiting.splice(0)) reject(new Error(`${this.path}: the machine is gone`));
    });
    return socket;
  }

  private answered(line: string): void {
    const words = line.split(' ');
    if (words[0] === 'OK') this.waiting.shift()?.resolve(words);
    else if (words[0] !== 'IRQ') this.waiting.shift()?.reject(new Error(`${this.path}: ${line}`));
  }
}

const hexadecimal = (value: number): string => `0x${value.toString(16)}`;
