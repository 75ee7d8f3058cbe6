import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import type { PageMessage } from '../../lib/watch/frames.ts';
import { parseRequest } from '../../lib/watch/frames.ts';
import { PageServer, type Page, type PageListener } from '../../lib/watch/page_server.ts';
import { onTestFinished } from 'vitest';

/** Records the calls of the server. */
class Listener implements PageListener {
  readonly pages: Page[] = [];
  readonly requests: string[] = [];
  closes = 0;

  opened(page: Page): void {
    this.pages.push(page);
  }

  asked(_: Page, request: string): boolean {
    this.requests.push(request);
    return request !== 'wrong';
  }

  closed(): void {
    this.closes += 1;
  }
}

/** A server until the test ends. */
async function serve(): Promise<{
  server: PageServer;
  listener: Listener;
  port: number;
  path: string;
  origin: string;
}> {
  const listener = new Listener();
  const server = await PageServer.listen(0, listener);
  onTestFinished(() => server.close());
  const { port, pathname, origin } = new URL(server.address);
  return { server, listener, port: Number(port), path: pathname, origin };
}

async function ask(options: RequestOptions): Promise<IncomingMessage> {
  const request = httpRequest({ host: '127.0.0.1', ...options });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

/** The open socket, or the HTTP status of its refusal. */
async function socketTo(address: string, headers: Record<string, string>): Promise<WebSocket | number> {
  const socket = new WebSocket(address, { headers });
  onTestFinished(() => socket.terminate());
  return await new Promise<WebSocket | number>((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode!));
    socket.once('error', reject);
  });
}

describe('the page server', () => {
  it('serves its files, and no others, to clients with the token', async () => {
    const { port, path } = await serve();
    const page = await ask({ port, path });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    for (const file of ['page.css', 'page.mjs', 'vendor/uPlot.iife.min.js'])
      expect((await ask({ port, path: `${path}${file}` })).statusCode).toBe(200);
    for (const file of ['page.html', '../page_server.js', 'vendor/', 'constructor', 'page.mjs/../page.css'])
      expect((await ask({ port, path: `${path}${file}` })).statusCode).toBe(404);
    for (const other of ['/', '/page.css', path.slice(0, -2), `${path.slice(0, -2)}x/`, `/x${path}`, '/%00/'])
      expect((await ask({ port, path: other })).statusCode).toBe(403);
    expect((await ask({ port, path, method: 'POST' })).statusCode).toBe(405);
  });

  it('has a new token each time', async () => {
    const [one, other] = [await serve(), await serve()];
    expect(one.path).toMatch(/^\/[\w-]{32}\/$/);
    expect(one.path).not.toBe(other.path);
    expect((await ask({ port: one.port, path: other.path })).statusCode).toBe(403);
  });

  it('refuses other hosts and origins, and forbids the page to load from elsewhere', async () => {
    const { port, path, origin } = await serve();
    const statusOf = async (headers: Record<string, string>) =>
      (await ask({ port, path, headers })).statusCode;
    expect(await statusOf({ host: `localhost:${port}` })).toBe(200);
    expect(await statusOf({ host: `127.0.0.1:${port}`, origin })).toBe(200);
    expect(await statusOf({ host: `attacker.example:${port}` })).toBe(403); // DNS rebinding
    expect(await statusOf({ host: `127.0.0.1:${port + 1}` })).toBe(403);
    expect(await statusOf({ origin: 'http://attacker.example' })).toBe(403);
    expect(await statusOf({ origin: 'null' })).toBe(403);
    const { headers } = await ask({ port, path });
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
  });

  it('opens sockets only for its own page', async () => {
    const { port, path, origin, listener } = await serve();
    const address = `ws://127.0.0.1:${port}${path}live`;
    expect(await socketTo(address, {})).toBe(403); // a browser always sends an origin
    expect(await socketTo(address, { origin: 'http://attacker.example' })).toBe(403);
    expect(await socketTo(`ws://127.0.0.1:${port}/live`, { origin })).toBe(403);
    expect(await socketTo(`ws://127.0.0.1:${port}${path}`, { origin })).toBe(403);
    expect(listener.pages).toEqual([]);
    const socket = (await socketTo(address, { origin })) as WebSocket;
    const message: PageMessage = { kind: 'end', reason: 'test' };
    const received = once(socket, 'message') as Promise<[Buffer]>;
    listener.pages[0]!.send(message);
    expect(JSON.parse((await received)[0].toString())).toEqual(message);
  });

  it('listens on loopback only, and limits the number of pages', async () => {
    const { port, path, origin, listener } = await serve();
    await expect(ask({ host: '127.0.0.2', port, path })).rejects.toThrow(/ECONNREFUSED/);
    const address = `ws://127.0.0.1:${port}${path}live`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => socketTo(address, { origin })));
    expect(answers.filter((answer) => typeof answer !== 'number')).toHaveLength(16);
    expect(answers.filter((answer) => answer === 503)).toHaveLength(4);
    expect(listener.pages).toHaveLength(16);
  });

  it('disconnects a page that sends malformed messages', async () => {
    const { port, path, origin, listener } = await serve();
    const address = `ws://127.0.0.1:${port}${path}live`;
    for (const said of ['wrong', Buffer.from([1]), 'x'.repeat(5000)]) {
      const socket = (await socketTo(address, { origin })) as WebSocket;
      const closed = once(socket, 'close');
      socket.send(said);
      await closed;
    }
    expect(listener.closes).toBe(3);
    expect(listener.requests).toEqual(['wrong']);
  });

  it('limits the data buffered for a page that does not read', async () => {
    const { port, path, origin, listener } = await serve();
    const socket = (await socketTo(`ws://127.0.0.1:${port}${path}live`, { origin })) as WebSocket;
    socket.pause();
    const message: PageMessage = { kind: 'end', reason: 'x'.repeat(10_000) };
    const sent = 10_000;
    for (let index = 0; index < sent; index++) {
      listener.pages[0]!.send(message);
      if (index % 100 === 0) await new Promise(setImmediate);
    }
    let received = 0;
    const end = 'the end';
    const ended = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        received += 1;
        if (data.toString().includes(end)) resolve();
      });
    });
    socket.resume();
    while (!(await Promise.race([ended.then(() => true), new Promise((resolve) => setTimeout(resolve, 20))])))
      listener.pages[0]!.send({ kind: 'end', reason: end }); // the server sends again once the page has read
    expect(received).toBeLessThan(sent / 4);
  });

  it('reports that its port is in use', async () => {
    const { port } = await serve();
    await expect(PageServer.listen(port, new Listener())).rejects.toMatchObject({
      code: 'EADDRINUSE',
      attribute: 'port',
    });
  });
});

describe('the parser of page requests', () => {
  it.each([
    ['{"kind":"pause","paused":true}', { kind: 'pause', paused: true }],
    ['{"kind":"why","number":2}', { kind: 'why', number: 2 }],
    ['{"kind":"why"}', { kind: 'why', number: undefined }],
    ['{"kind":"pace","stepsPerSecond":0}', { kind: 'pace', stepsPerSecond: 0 }],
    ['{"kind":"step","steps":1}', { kind: 'step', steps: 1 }],
    ['{"kind":"step","steps":1e9}', undefined],
    ['{"kind":"pace","stepsPerSecond":-1}', undefined],
    ['{"kind":"why","number":16777216}', undefined],
    ['{"kind":"why","number":"2"}', undefined],
    ['{"kind":"quit"}', undefined],
    ['null', undefined],
    ['[', undefined],
  ])('parses or refuses %s', (text, request) => expect(parseRequest(text)).toEqual(request));
});
