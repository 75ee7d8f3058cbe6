#!/usr/bin/env node
// Writes everything that follows from the specification beside this file: C++ headers, the SystemVerilog
// package, TypeScript, the register and format documents, and the programs that reproduce the golden bytes.
// With --check it writes nothing and names the files that are stale.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cppEnums, cppFormats, cppParameters } from './generator/cpp.mjs';
import { cppPciFunctions } from './generator/cpp_pci_functions.mjs';
import { cppRegisters } from './generator/cpp_registers.mjs';
import { formatsDocument, registersDocument } from './generator/document.mjs';
import { cppFormatTable } from './generator/golden_cpp.mjs';
import { readGolden } from './generator/golden.mjs';
import { systemVerilogFormatTable } from './generator/golden_systemverilog.mjs';
import { readModel } from './generator/model.mjs';
import { cppOperations, tsOperations } from './generator/operations.mjs';
import { cppPacketOpcodes, tsPacketOpcodes } from './generator/packet_opcodes.mjs';
import { cppQueuePairTransitions, tsQueuePairTransitions } from './generator/queue_pair_transitions.mjs';
import { systemVerilogPackage } from './generator/systemverilog.mjs';
import { tsPciFunctions } from './generator/typescript_pci_functions.mjs';
import { tsEnums, tsFormats, tsParameters, tsRegisters } from './generator/typescript.mjs';
import { tsDescriptions, tsIndex } from './generator/typescript_descriptions.mjs';

const specification = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(specification, '../..');

/** Content of every generated file, by its path from the root. */
function outputs(model) {
  const files = new Map([
    ['native/spec/parameters.h', cppParameters(model)],
    ['native/spec/enums.h', cppEnums(model)],
    ['native/spec/registers.h', cppRegisters(model)],
    ['native/spec/pci_functions.h', cppPciFunctions(model)],
    ['native/spec/operations.h', cppOperations(model)],
    ['native/spec/packet_opcodes.h', cppPacketOpcodes(model)],
    ['native/spec/queue_pair_transitions.h', cppQueuePairTransitions(model)],
    ['native/test/spec_formats.cpp', cppFormatTable(model)],
    ['fpga/doc/formats.md', formatsDocument(model)],
    ['fpga/doc/registers.md', registersDocument(model)],
    ['fpga/rtl/base/hca_spec_pkg.sv', systemVerilogPackage(model)],
    ['fpga/tb/spec_golden_tb.sv', systemVerilogFormatTable(model)],
    ['lib/spec/parameters.ts', tsParameters(model)],
    ['lib/spec/enums.ts', tsEnums(model)],
    ['lib/spec/registers.ts', tsRegisters(model)],
    ['lib/spec/pci_functions.ts', tsPciFunctions(model)],
    ['lib/spec/operations.ts', tsOperations(model)],
    ['lib/spec/packet_opcodes.ts', tsPacketOpcodes(model)],
    ['lib/spec/queue_pair_transitions.ts', tsQueuePairTransitions(model)],
    ['lib/spec/descriptions.ts', tsDescriptions(model)],
    ['lib/spec/index.ts', tsIndex(model)],
  ]);
  for (const file of model.files) {
    files.set(`native/spec/${file.stem}.h`, cppFormats(file));
    files.set(`lib/spec/${file.stem}.ts`, tsFormats(file, model));
  }
  return files;
}

/** TypeScript modules are exported together, so no two of them may export one name. */
function checkExports(files) {
  const seen = new Map();
  for (const [file, content] of files) {
    for (const [, name] of content.matchAll(/^export (?:const|function) (\w+)/gm)) {
      if (seen.has(name)) {
        throw new Error(
          `${file} and ${seen.get(name)} both export ${name}; rename one entry of the specification`,
        );
      }
      seen.set(name, file);
    }
  }
}

function current(file) {
  try {
    return readFileSync(path.join(root, file), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function main(args) {
  const check = args.length === 1 && args[0] === '--check';
  if (args.length > 0 && !check) {
    console.error('usage: node fpga/spec/generate.mjs [--check]');
    return 2;
  }
  let files;
  try {
    const model = readModel(specification);
    readGolden(specification, model); // checks it
    files = outputs(model);
    checkExports(files);
  } catch (error) {
    console.error(error.message);
    return 1;
  }
  const stale = [...files].filter(([file, content]) => current(file) !== content);
  for (const [file, content] of stale) {
    console.log(check ? `stale: ${file}` : `wrote ${file}`);
    if (check) continue;
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), content);
  }
  if (check && stale.length > 0) console.log('run `npm run generate`, and check in what it writes');
  return check && stale.length > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
