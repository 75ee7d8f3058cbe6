// A headless browser, driven by its DevTools protocol over a pipe (https://chromedevtools.github.io/devtools-protocol/).
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** The browser, from Debian's package of the same name. */
export const browserTool = 'chromium-headless-shell';

/** Milliseconds; every wait is much shorter, even on a busy machine. */
const timeLimit = 60_000;

type Values = Readonly<Record<string, unknown>>;
interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Values;
  readonly result?: Values;
  readonly error?: { readonly message: string };
}

/** A node of the accessibility tree that a screen reader uses. */
export interface AccessibleNode {
  readonly role: string;
  readonly name: string;
}

/** A browser with one tab, which ends with {@link close}. */
export class Browser {
  /** Errors of the page: exceptions, console errors and failed loads. */
  readonly complaints: string[] = [];
  private readonly child: ChildProcess;
  private readonly profile: string;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly input: Writable;
  private session = '';
  private nextId = 1;
  private unread = '';

  static async start(): Promise<Browser> {
    const browser = new Browser();
    const { targetId } = await browser.ask('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.ask('Target.attachToTarget', { targetId, flatten: true });
    browser.session = sessionId as string;
    for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Accessibility'])
      await browser.ask(`${domain}.enable`);
    return browser;
  }

  private constructor() {
    this.profile = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-browser-'));
    const words = [
      '--no-sandbox', // tests may run as root, in a container
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--remote-debugging-pipe',
      `--user-data-dir=${this.profile}`,
    ];
    this.child = spawn(browserTool, words, {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { ...process.env, LD_PRELOAD: '' },
      detached: true, // Debian's program is a script that starts the browser: its process group is killed as a whole
    });
    this.child.on('error', (error) => this.complaints.push(error.message));
    this.input = this.child.stdio[3] as Writable;
    this.input.on('error', () => undefined); // the browser has ended
    (this.child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.take(text));
  }

  /** Opens an address, and waits until it is loaded. */
  async open(address: string): Promise<void> {
    await this.ask('Page.navigate', { url: address });
    await this.until("document.readyState === 'complete'");
  }

  /** Sets the screen size in pixels. @param colors the theme of the system */
  async screen(width: number, height: number, colors: 'light' | 'dark' = 'light'): Promise<void> {
    await this.ask('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await this.ask('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: colors }],
    });
  }

  /** The value of an expression in the page; awaits a promise. @throws Error the error of the expression */
  async value<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value: Value }).value;
  }

  /** Waits until an expression in the page is true. @throws Error it does not become so */
  async until(expression: string): Promise<void> {
    const givenUp = performance.now() + timeLimit;
    while (!(await this.value<boolean>(`Promise.resolve(${expression}).then(Boolean)`))) {
      if (performance.now() > givenUp) {
        const text = await this.value<string>('document.body.innerText');
        throw new Error(`never true: ${expression}; the page: ${text}; ${this.complaints.join('; ')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Presses and releases a key. */
  async press(key: string, code = key, virtualKey = key.toUpperCase().charCodeAt(0)): Promise<void> {
    const text = key.length === 1 ? { text: key } : key === 'Enter' ? { text: '\r' } : {};
    const event = { key, code, windowsVirtualKeyCode: virtualKey, ...text };
    await this.ask('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.ask('Input.dispatchKeyEvent', { type: 'keyUp', key, code, windowsVirtualKeyCode: virtualKey });
  }

  /** Clicks the middle of an element once it has not moved for two frames. */
  async click(selector: string, attempts = 5): Promise<void> {
    const middle = `(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    })()`;
    const nextFrame = 'new Promise((resolve) => requestAnimationFrame(resolve))';
    await this.until(
      `(async () => { const before = ${middle}; await ${nextFrame}; await ${nextFrame}; return String(before) === String(${middle}); })()`,
    );
    const [x, y] = await this.value<[number, number]>(middle);
    const event = { x, y, button: 'left', clickCount: 1 };
    const selected = `document.querySelector(${JSON.stringify(selector)})`;
    await this.value(
      `void (window.isClicked = false, ${selected}.addEventListener('click', () => { window.isClicked = true; }, { once: true }))`,
    );
    await this.ask('Input.dispatchMouseEvent', { type: 'mousePressed', ...event });
    await this.ask('Input.dispatchMouseEvent', { type: 'mouseReleased', ...event });
    if (await this.value<boolean>('window.isClicked')) return;
    // The page's contents may have moved meanwhile.
    if (attempts === 1) throw new Error(`no click reaches ${selector}`);
    await this.click(selector, attempts - 1);
  }

  /** The accessibility tree of the page. */
  async accessibleNodes(): Promise<AccessibleNode[]> {
    const { nodes } = await this.ask('Accessibility.getFullAXTree');
    const found = nodes as { role?: { value: string }; name?: { value: string }; ignored: boolean }[];
    return found
      .filter(({ ignored }) => !ignored)
      .map(({ role, name }) => ({ role: role?.value ?? '', name: name?.value ?? '' }));
  }

  /** A picture of the whole page (PNG). */
  async picture(): Promise<Buffer> {
    const { data } = await this.ask('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
    return Buffer.from(data as string, 'base64');
  }

  async close(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'close');
      process.kill(-this.child.pid!, 'SIGKILL');
      await ended;
    }
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  private async ask(method: string, params: Values = {}): Promise<Values> {
    const id = this.nextId++;
    const session = this.session === '' ? {} : { sessionId: this.session };
    const { result, error } = await new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the browser does not answer ${method}`)), timeLimit);
      this.waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.input.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    });
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result!;
  }

  private take(text: string): void {
    const messages = `${this.unread}${text}`.split('\0');
    this.unread = messages.pop()!;
    for (const message of messages) {
      const answer = JSON.parse(message) as Answer;
      if (answer.id === undefined) this.handle(answer);
      else {
        this.waiting.get(answer.id)?.(answer);
        this.waiting.delete(answer.id);
      }
    }
  }

  private handle({ method, params }: Answer): void {
    const isConsole =
      method === 'Runtime.consoleAPICalled' && (params!['type'] === 'error' || params!['type'] === 'warning');
    const isLog = method === 'Log.entryAdded';
    if (isConsole || isLog || method === 'Runtime.exceptionThrown')
      this.complaints.push(JSON.stringify(params));
  }
}
