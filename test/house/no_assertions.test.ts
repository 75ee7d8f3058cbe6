// Release builds of distributions define NDEBUG. A variable that only an assertion reads then causes a
// warning, which is an error here.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { compile, compileCommands } from './compile.ts';

const asserts = ({ file }: { file: string }): boolean => /\bassert\(/.test(readFileSync(file, 'utf8'));

it('the native code compiles without assertions, without a warning', async (context) => {
  const commands = compileCommands(context, 'no_assertions', ['CMAKE_DISABLE_PRECOMPILE_HEADERS=ON']);
  const sources = commands.filter(asserts);
  expect(sources.length).toBeGreaterThan(10);
  expect(await compile(sources, '-DNDEBUG -fsyntax-only')).toEqual([]);
}, 120_000);
