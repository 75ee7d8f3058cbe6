// Compiles lib/ and examples/ to dist/ with the TypeScript compiler. A bundler, which keeps each module of lib/ in its own file, then
// replaces imported constants of fpga/spec by their numbers. V8 reloads an imported constant at every use, which was a third of the
// JavaScript of a message (npm run counts).
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
  // The page of hca watch is served unchanged.
  const page = path.join('watch', 'page');
  cpSync(path.join('lib', page), path.join(library, page), { recursive: true });
}
