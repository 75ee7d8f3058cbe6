// The addon is normally built by gcc. Machines with only clang build it too, and libFuzzer needs clang.
import { expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { compile, compileCommands, type CompileCommand } from './compile.ts';

const isHeader = ({ file }: CompileCommand): boolean => file.includes('cmake_pch');

it('all of the native code compiles with clang, without a warning', async (context) => {
  const compiler = requireTool('clang++-19', context);
  const commands = compileCommands(context, 'clang', [`CMAKE_CXX_COMPILER=${compiler}`]);
  expect(await compile(commands.filter(isHeader), '')).toEqual([]);
  const sources = commands.filter((each) => !isHeader(each));
  expect(sources.length).toBeGreaterThan(150);
  expect(await compile(sources, '-fsyntax-only')).toEqual([]);
}, 600_000);
