import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';

import { loadAddon, type ServedFacts } from './addon.ts';

/** A board that another process serves. */
export interface FoundBoard extends ServedFacts {
  /** By which a device string names it. */
  readonly name: string;
}

/** Where the sockets of served boards with a name lie: a folder of this user alone. */
function servedFolder(): string {
  const runtime = process.env['XDG_RUNTIME_DIR'];
  if (runtime) return path.join(runtime, 'fpga-verbs');
  return path.join(tmpdir(), `fpga-verbs-${userInfo().uid}`);
}

/**
 * The path of the socket of a served board.
 * @param nameOrPath a name, or a path: that has a slash
 */
export function servedPath(nameOrPath: string): string {
  return nameOrPath.includes('/') ? nameOrPath : path.join(servedFolder(), nameOrPath);
}

/**
 * The path at which a board is going to be served; the folder of names is made.
 * @throws Error the folder is there, and others may put something into it
 */
export function newServedPath(nameOrPath: string): string {
  if (!nameOrPath.includes('/')) {
    mkdirSync(servedFolder(), { recursive: true, mode: 0o700 });
    refuseForeign(servedFolder());
  }
  return servedPath(nameOrPath);
}

function refuseForeign(folder: string): void {
  const writableByOthers = 0o022;
  const found = lstatSync(folder);
  const isOwn = found.isDirectory() && found.uid === process.getuid?.();
  if (isOwn && (found.mode & writableByOthers) === 0) return;
  throw new Error(
    `${folder} is not a folder into which this user alone may write; remove it, or name another place by XDG_RUNTIME_DIR`,
  );
}

/** Milliseconds that all servers have together to say what they serve. */
const patience = 500;

/** The served boards of this user that have a name, those whose server is busy or silent too. It takes half a second at most. */
export function findServedBoards(): FoundBoard[] {
  let names: string[];
  try {
    names = readdirSync(servedFolder()).sort();
  } catch {
    return []; // no board was ever served
  }
  const found = loadAddon().lookAtServed(names.map(servedPath), patience);
  return names.flatMap((name, index) => {
    const facts = found[index];
    return facts === undefined ? [] : [{ name, ...facts }];
  });
}
