import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { root } from '../helpers/documents.ts';

/** The folders of native/, each with the folders whose headers it includes. */
export function foldersOfNative(): Map<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>();
  const native = path.join(root, 'native');
  for (const file of readdirSync(native, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(h|cpp)$/.test(file)) continue;
    const folder = path.dirname(file);
    const known = folders.get(folder) ?? new Set();
    folders.set(folder, known);
    for (const [, name] of readFileSync(path.join(native, file), 'utf8').matchAll(/^#include "([^"]+)"/gm)) {
      const other = path.dirname(name!);
      if (other !== folder && existsSync(path.join(native, name!))) known.add(other);
    }
  }
  return folders;
}
