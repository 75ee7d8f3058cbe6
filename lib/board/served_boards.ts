import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';

import { loadAddon } from './addon.ts';
import type { ServedFacts } from './serving.ts';

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

const othersRights = 0o077;

/** The fault of the folder of names: another user could put sockets there, or take them away. Undefined: nothing; it may not be there. */
function faultOf(folder: string): string | undefined {
  const state = lstatSync(folder, { throwIfNoEntry: false });
  if (state === undefined) return undefined;
  if (!state.isDirectory()) return 'it is no folder';
  if (state.uid !== userInfo().uid) return `it is of user ${state.uid}`;
  const mode = state.mode & 0o777;
  return (mode & othersRights) === 0 ? undefined : `it has mode 0${mode.toString(8)}`;
}

/** @throws Error with the code EACCES: the folder of names is not of this user alone */
function requireOwn(folder: string): void {
  const fault = faultOf(folder);
  if (fault === undefined) return;
  const text =
    `the names of served boards lie in ${folder}, and ${fault}; ` +
    `expected: a folder of user ${userInfo().uid} with mode 0700; remove it, or name a path`;
  throw Object.assign(new Error(text), { code: 'EACCES' });
}

/**
 * The path of the socket of a served board.
 * @param nameOrPath a name, or a path: that has a slash
 * @throws Error with the code EACCES: the folder of names is not of this user alone
 */
export function servedPath(nameOrPath: string): string {
  if (nameOrPath.includes('/')) return nameOrPath;
  const folder = servedFolder();
  requireOwn(folder);
  return path.join(folder, nameOrPath);
}

/** The path at which a board is going to be served; the folder of names is made. @throws Error as {@link servedPath} */
export function newServedPath(nameOrPath: string): string {
  if (!nameOrPath.includes('/')) {
    requireOwn(servedFolder());
    mkdirSync(servedFolder(), { recursive: true, mode: 0o700 });
  }
  return servedPath(nameOrPath);
}

/** Milliseconds that all servers have together to say what they serve. */
const timeout = 500;

/** The served boards of this user that have a name, those whose server is busy or silent too. It takes half a second at most. */
export function findServedBoards(): FoundBoard[] {
  let names: string[];
  try {
    const folder = servedFolder();
    if (faultOf(folder) !== undefined) return [];
    names = readdirSync(folder).sort();
  } catch {
    return []; // no board was ever served
  }
  const found = loadAddon().lookAtServed(names.map(servedPath), timeout);
  return names.flatMap((name, index) => {
    const facts = found[index];
    return facts === undefined ? [] : [{ name, ...facts }];
  });
}
