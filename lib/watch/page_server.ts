import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { WebSocketServer, type WebSocket } from 'ws';

import { VerbsError } from '../driver/errors.ts';
import type { PageMessage } from './frames.ts';

const loopback = '127.0.0.1';
const tokenBytes = 24;
const longestRequest = 1024;
const mostPages = 16;
/** Bytes that wait for a page that does not read; beyond, it is sent nothing until it has read. */
const mostWaiting = 1 << 18;
/** Looks at a page that reads nothing, a second each, after which it is given up. */
const mostSilentLooks = 30;
const pulse = 1000;

/** The files of the page, by their place in its address. No other file is served. */
const files: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'page.mjs': 'text/javascript; charset=utf-8',
  'board.mjs': 'text/javascript; charset=utf-8',
  'elements.mjs': 'text/javascript; charset=utf-8',
  'latency.mjs': 'text/javascript; charset=utf-8',
  'tables.mjs': 'text/javascript; charset=utf-8',
  'vendor/uPlot.iife.min.js': 'text/javascript; charset=utf-8',
};

/** A page may load what comes from here, and be in no other page (Content Security Policy level 3). */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

/** A page that is open. */
export interface Page {
  /** Sends a message, unless earlier ones still wait for the page: then it is left out. */
  send(message: PageMessage): void;
}

/** Told of the pages of a server. */
export interface PageListener {
  opened(page: Page): void;
  /** @returns false: it is no request, and the page is closed */
  asked(page: Page, request: string): boolean;
  closed(page: Page): void;
}

/**
 * Serves a page on the loopback interface to browsers that have its address, which holds a random token. Requests without it, for another host, or of
 * another origin, are refused. A page that does not read is sent nothing more, and given up after half a minute.
 */
export class PageServer {
  /** Of the page, with its token. */
  readonly address: string;
  private readonly server: Server;
  private readonly sockets: WebSocketServer;
  private readonly listener: PageListener;
  private readonly token: Buffer;
  private readonly hosts: readonly string[];
  private readonly pulseTimer: NodeJS.Timeout;
  private readonly pages = new Map<WebSocket, { page: Page; silentLooks: number }>();

  /**
   * @param port 0: any that is free
   * @throws VerbsError EADDRINUSE: the port is taken; EACCES: it is not for this user
   */
  static async listen(port: number, listener: PageListener): Promise<PageServer> {
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 });
    server.listen({ host: loopback, port, exclusive: true });
    try {
      await once(server, 'listening');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new VerbsError(`the page cannot be served on port ${port}: ${message}`, {
        code: code ?? 'EIO',
        verb: 'watch',
        attribute: 'port',
        expected: 'a free TCP port; without a port, a free one is chosen',
      });
    }
    return new PageServer(server, listener);
  }

  private constructor(server: Server, listener: PageListener) {
    const { port } = server.address() as AddressInfo;
    const token = randomBytes(tokenBytes).toString('base64url');
    this.token = Buffer.from(token);
    this.hosts = [`${loopback}:${port}`, `localhost:${port}`];
    this.address = `http://${loopback}:${port}/${token}/`;
    this.server = server;
    this.listener = listener;
    this.sockets = new WebSocketServer({
      noServer: true,
      maxPayload: longestRequest,
      perMessageDeflate: false,
    });
    server.on('request', (request, response) => this.answer(request, response));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.upgrade(request, socket, head),
    );
    this.pulseTimer = setInterval(() => this.look(), pulse).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.pulseTimer);
    for (const socket of this.pages.keys()) socket.terminate();
    this.sockets.close();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  /** The part of the address behind the token; undefined: it is refused. */
  private placeOf({ url = '', headers: given }: IncomingMessage): string | undefined {
    const [, token = '', ...place] = url.split('?', 1)[0]!.split('/');
    const offered = Buffer.from(token);
    const isKnown = offered.length === this.token.length && timingSafeEqual(offered, this.token);
    const isHere = this.hosts.includes(given.host ?? '');
    const isOwn = given.origin === undefined || given.origin === `http://${given.host}`;
    return isKnown && isHere && isOwn ? place.join('/') : undefined;
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const place = this.placeOf(request);
    const type = place === undefined || !Object.hasOwn(files, place) ? undefined : files[place];
    if (place === undefined || type === undefined) {
      const status = place === undefined ? 403 : 404;
      response.writeHead(status, { ...headers, 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(
        status === 404
          ? 'There is no such file.\n'
          : 'Use the complete address that hca watch printed, with its token.\n',
      );
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { ...headers, Allow: 'GET, HEAD' }).end();
      return;
    }
    response.writeHead(200, { ...headers, 'Content-Type': type });
    response.end(request.method === 'HEAD' ? undefined : pageFile(place === '' ? 'page.html' : place));
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    // A browser sends the origin of a page; a page of another origin cannot hide it (RFC 6455, 10.2).
    const isPage = this.placeOf(request) === 'live' && request.headers.origin !== undefined;
    if (!isPage || this.pages.size >= mostPages) {
      socket.end(
        `HTTP/1.1 ${isPage ? '503 Service Unavailable' : '403 Forbidden'}\r\nConnection: close\r\n\r\n`,
      );
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (opened) => this.open(opened));
  }

  private open(socket: WebSocket): void {
    const page: Page = {
      send: (message) => {
        if (socket.readyState === socket.OPEN && socket.bufferedAmount <= mostWaiting)
          socket.send(
            JSON.stringify(message, (_, value: unknown) =>
              typeof value === 'bigint' ? Number(value) : value,
            ),
          );
      },
    };
    this.pages.set(socket, { page, silentLooks: 0 });
    socket.on('message', (data, isBinary) => {
      if (isBinary || !this.listener.asked(page, (data as Buffer).toString('utf8'))) socket.terminate();
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.pages.delete(socket);
      this.listener.closed(page);
    });
    this.listener.opened(page);
  }

  /** Gives up pages that do not read. */
  private look(): void {
    for (const [socket, page] of this.pages) {
      page.silentLooks = socket.bufferedAmount > mostWaiting ? page.silentLooks + 1 : 0;
      if (page.silentLooks >= mostSilentLooks) socket.terminate();
    }
  }
}

function pageFile(name: string): Buffer {
  return readFileSync(fileURLToPath(new URL(`page/${name}`, import.meta.url)));
}
