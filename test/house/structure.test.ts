import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { foldersOfNative } from './native_folders.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

function filesIn(directory: string, ending: string): string[] {
  return readdirSync(path.join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(directory, name));
}

interface GypFile {
  readonly variables: Readonly<Record<string, readonly string[]>>;
  readonly targets: readonly { readonly sources: readonly string[] }[];
}

describe('binding.gyp', () => {
  it('lists every native source once', () => {
    const { variables, targets } = JSON.parse(
      readFileSync(path.join(root, 'binding.gyp'), 'utf8'),
    ) as GypFile;
    const listed = [
      ...Object.values(variables).flat(),
      ...targets.flatMap(({ sources }) => sources.filter((name) => name.endsWith('.cpp'))),
    ];
    expect([...listed].sort()).toEqual(filesIn('native', '.cpp').sort());
  });
});

/** Layers of lib/; each may import itself and the layers after it. */
const layers = ['cli', 'watch', 'connect', 'verbs', 'driver', 'board', 'spec'];

function importsOf(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s+'([^']+)'/g)]
    .map(([, name]) => name!)
    .filter((name) => name.startsWith('.'))
    .map((name) => path.join(path.dirname(file), name));
}

function layerOf(file: string): string {
  const [, layer] = file.split(path.sep);
  return layers.includes(layer!) ? layer! : 'verbs'; // lib/index.ts
}

describe('imports', () => {
  const files = filesIn('lib', '.ts');
  it('of lib/ point down', () => {
    expect(files.length).toBeGreaterThan(30);
    const upwards = files.flatMap((file) =>
      importsOf(file)
        .filter((imported) => layers.indexOf(layerOf(imported)) < layers.indexOf(layerOf(file)))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(upwards).toEqual([]);
  });

  it('of a folder of test/ include no other folder than helpers/', () => {
    const folderOf = (file: string): string => file.split(path.sep)[1]!;
    const tests = [...filesIn('test', '.ts'), ...filesIn('test', '.mjs')];
    expect(tests.length).toBeGreaterThan(300);
    const others = tests.flatMap((file) =>
      importsOf(file)
        .filter((imported) => imported.startsWith('test') && folderOf(imported) !== 'helpers')
        .filter((imported) => folderOf(imported) !== folderOf(file))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(others).toEqual([]);
  });

  it('random numbers of tests come from a seed', () => {
    const tests = [...filesIn('test', '.ts'), ...filesIn('test', '.mjs')].filter(
      (file) => !file.endsWith('structure.test.ts'),
    );
    const texts = tests.map((file) => [file, readFileSync(path.join(root, file), 'utf8')] as const);
    expect(texts.filter(([, text]) => text.includes('Math.random')).map(([file]) => file)).toEqual([]);
    const generators = texts.filter(([, text]) => /0x6d2b_?79f5|1664525/.test(text));
    expect(generators.map(([file]) => file)).toEqual([path.join('test', 'helpers', 'random.mjs')]);
  });

  it('of native/hca include neither N-API nor boards', () => {
    const reaching = [...filesIn('native/hca', '.h'), ...filesIn('native/hca', '.cpp')].filter((file) =>
      /#include [<"](napi|node_api|addon\/|board\/|pci\/)/.test(readFileSync(path.join(root, file), 'utf8')),
    );
    expect(reaching).toEqual([]);
  });

  it('of native/ except addon/ and test/ do not include N-API', () => {
    const reaching = filesIn('native', '.cpp')
      .filter((file) => !/native\/(addon|test)\//.test(file))
      .filter((file) =>
        /#include [<"](napi|node_api|addon\/)/.test(readFileSync(path.join(root, file), 'utf8')),
      );
    expect(reaching).toEqual([]);
  });

  const folders = foldersOfNative();

  it('of native/ list every folder', () => {
    expect([...folders.keys()]).toEqual(
      expect.arrayContaining(['wire', 'link', 'board', 'hca', 'hca/collect']),
    );
  });

  it.for([...folders.keys()])('of native/%s form no circle with another folder', (folder) => {
    expect(circleThrough(folder, folders)).toBeUndefined();
  });
});

/** A path along includes from a folder back to it: the folders in order; none: undefined. */
function circleThrough(
  folder: string,
  folders: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined {
  const ways = [[folder]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of folders.get(way.at(-1)!) ?? []) {
      if (next === folder) return [...way, next];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}
