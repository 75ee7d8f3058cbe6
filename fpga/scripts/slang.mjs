// Reads the RTL with slang, as a second front end beside that of Yosys: node fpga/scripts/slang.mjs [--install] [BLOCK]…
//
// Without a block: all blocks, and the top levels of cards. Its tools, Yosys with slang in it and a Node that runs it, are
// installed from fpga/slang if missing; with --install, the script does nothing else.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { run } from '../../scripts/build_addons.mjs';
import { fingerprint } from '../../scripts/fingerprint.mjs';
import { designsOf, sourcesOf } from './blocks.mjs';

process.chdir(path.join(import.meta.dirname, '../..'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { install: { type: 'boolean', default: false } },
});
const card = 'fpga/board/vcu118';
const cards = [
  {
    name: 'vcu118',
    top: 'vcu118',
    parameters: {},
    sources: [
      ...sourcesOf('hca_front'),
      'fpga/board/hca_board.sv',
      `${card}/vcu118.sv`,
      `${card}/stand_in/pcie_shell_wrapper.sv`,
    ],
  },
];

install();
if (!values.install) {
  const designs = designsOf(positionals).map(({ block, beatBytes, parameters, sources }) => ({
    name: [block, ...(beatBytes === undefined ? [] : [`${beatBytes} B a beat`])].join(', '),
    top: block,
    parameters,
    sources,
  }));
  const all = positionals.length > 0 ? designs : [...designs, ...cards];
  run(newNode(), ['fpga/slang/read.mjs', JSON.stringify(all)]);
}

function install() {
  const stamp = 'fpga/slang/node_modules/.setup';
  const now = fingerprint(['fpga/slang/package-lock.json']);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return;
  run('npm', ['ci', '--prefix', 'fpga/slang', '--no-audit', '--no-fund', '--silent']);
  writeFileSync(stamp, now);
}

/** This Node if it is new enough, otherwise the one beside slang. */
function newNode() {
  const isNew = Number(process.versions.node.split('.')[0]) >= 24;
  return isNew ? process.execPath : `fpga/slang/node_modules/node-linux-${process.arch}/bin/node`;
}
