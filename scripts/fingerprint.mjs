import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** A digest of files, and of all files in directories, over names and contents. */
export function fingerprint(places) {
  const digest = createHash('sha256');
  const add = (place) => {
    if (statSync(place).isDirectory()) {
      for (const name of readdirSync(place).sort()) add(path.join(place, name));
    } else {
      digest.update(`${place}\0`).update(readFileSync(place));
    }
  };
  for (const place of places) add(place);
  return digest.digest('hex');
}
