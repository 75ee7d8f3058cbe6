import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';

import { loadAddon } from './addon.ts';
import type { ServedFacts } from './serving.ts';

/** A board that another process serves. */
export interface FoundBoard extends ServedFacts {
  /** Name of the board in device strings. */
  readonly name: string;
}

/** Directory of the sockets of served boards with a name; it belongs to this user alone. */
function servedFolder(): string {
  const runtime = process.env['XDG_RUNTIME_DIR'];
  if (runtime) return path.join(runtime, 'fpga-verbs');
  return path.join(tmpdir(), `fpga-verbs-${userInfo().uid}`);
}

const othersRights = 0o077;

/**
 * Checks the socket directory: returns its fault if another user could add or remove sockets there. Undefined: no fault; the directory may
 * not exist.
 */
function faultOf(folder: string): string | undefined {
  const state = lstatSync(folder, { throwIfNoEntry: false });
  if (state === undefined) return undefined;
  if (!state.isDirectory()) return 'it is no folder';
  if (state.uid !== userInfo().uid) return `it is of user ${state.uid}`;
  const mode = state.mode & 0o777;
  return (mode & othersRights) === 0 ? undefined : `it has mode 0${mode.toString(8)}`;
}

/** @throws Error with the code EACCES: the socket directory is not exclusive to this user */
function requireOwn(folder: string): void {
  const fault = faultOf(folder);
  if (fault === undefined) return;
  const text =
    `the names of served boards lie in ${folder}, and ${fault}; ` +
    `expected: a folder of user ${userInfo().uid} with mode 0700; remove it, or name a path`;
  throw Object.assign(new Error(text), { code: 'EACCES' });
}

/**
 * Returns the path of a served board's socket.
 * @param nameOrPath a name, or a path, which contains a slash
 * @throws Error with the code EACCES: the socket directory is not exclusive to this user
 */
export function servedPath(nameOrPath: string): string {
  if (nameOrPath.includes('/')) return nameOrPath;
  const folder = servedFolder();
  requireOwn(folder);
  return path.join(folder, nameOrPath);
}

/** Returns the socket path for a new server and creates the socket directory. @throws Error as {@link servedPath} */
export function newServedPath(nameOrPath: string): string {
  if (!nameOrPath.includes('/')) {
    requireOwn(servedFolder());
    mkdirSync(servedFolder(), { recursive: true, mode: 0o700 });
  }
  return servedPath(nameOrPath);
}

/** Milliseconds within which all servers together must describe their boards. */
const timeout = 500;

/** Lists the named boards that this user serves, including those whose server is busy or silent. Takes at most half a second. */
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
