// Compiles lib/ and examples/ to dist/: declarations by the TypeScript compiler, modules of lib/ by a bundler that keeps each a file of its
// own and writes constants of fpga/spec, which other modules import, as the numbers that they are. V8 loads an imported constant anew at
// every use: a third of the JavaScript of a message was that (npm run counts).
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { runTool } from './build_addons.mjs';

/** Compiles in the current directory, the root of the repository. */
export async function compile() {
  rmSync('dist', { recursive: true, force: true });
  runTool('typescript', 'tsc', ['-p', 'tsconfig.build.json']);
  const { rolldown } = await import('rolldown');
  const modules = readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts'));
  const bundle = await rolldown({
    input: Object.fromEntries(modules.map((file) => [file.slice(0, -'.ts'.length), path.join('lib', file)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id) && !id.startsWith('lib/'),
    treeshake: false,
    // Node 20 has no `using`.
    transform: { target: 'node20' },
    optimization: { inlineConst: { mode: 'all', pass: 3 } },
  });
  await bundle.write({
    dir: 'dist/lib',
    format: 'esm',
    preserveModules: true,
    preserveModulesRoot: 'lib',
  });
  await bundle.close();
}
