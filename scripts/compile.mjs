// Compiles lib/ and examples/ to dist/ by the TypeScript compiler, and then has a bundler, which keeps each module of lib/ a file of its
// own, write constants of fpga/spec that modules import as the numbers that they are. V8 loads an imported constant anew at every use: a
// third of the JavaScript of a message was that (npm run counts).
import { cpSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { runTool } from './build_addons.mjs';

/** Compiles in the current directory, the root of the repository. */
export async function compile() {
  rmSync('dist', { recursive: true, force: true });
  runTool('typescript', 'tsc', ['-p', 'tsconfig.build.json']);
  const { rolldown } = await import('rolldown');
  const library = path.join('dist', 'lib');
  const modules = readdirSync(library, { recursive: true }).filter((file) => file.endsWith('.js'));
  const bundle = await rolldown({
    input: Object.fromEntries(
      modules.map((file) => [file.slice(0, -'.js'.length), path.join(library, file)]),
    ),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id) && !id.startsWith(library),
    treeshake: false,
    optimization: { inlineConst: { mode: 'all', pass: 3 } },
  });
  await bundle.write({
    dir: library,
    format: 'esm',
    preserveModules: true,
    preserveModulesRoot: library,
  });
  await bundle.close();
  // The page of hca watch is served as it is.
  const page = path.join('watch', 'page');
  cpSync(path.join('lib', page), path.join(library, page), { recursive: true });
}
