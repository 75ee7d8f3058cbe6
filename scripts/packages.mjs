// Packs the packages for npm: fpga-verbs, and a package of binaries for each named processor: node scripts/packages.mjs [x64|arm64]…,
// default: both. Writes the tarballs to build/packages. Binaries for the other processor are cross-compiled, with Debian's compiler.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { run } from './build_addons.mjs';
import { fingerprint } from './fingerprint.mjs';

process.chdir(path.join(import.meta.dirname, '..'));
/** The prefix that Debian gives the tools for each processor, by Node's name of it. */
const toolPrefixes = { x64: 'x86_64-linux-gnu-', arm64: 'aarch64-linux-gnu-' };
const binaries = ['fpga_verbs.node', 'verbs/libibverbs.so.1', 'verbs/libfpga_verbs_node.so'];
/** The newest library versions that binaries may need: those of Debian 12, Ubuntu 22.04 and Fedora 36. */
const newest = { GLIBC: '2.34', GLIBCXX: '3.4.30', CXXABI: '1.3.13', GCC: '12.0.0' };

const out = path.resolve('build/packages');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const sources = ['native', 'binding.gyp', 'CMakeLists.txt', 'package.json', 'scripts/packages.mjs'];

mkdirSync(out, { recursive: true });
if (process.env.FPGA_VERBS_PACKING === undefined) {
  const cpus = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(toolPrefixes);
  const unknown = cpus.find((cpu) => !(cpu in toolPrefixes));
  if (unknown !== undefined)
    throw new Error(`${unknown} is no processor of a package; expected: x64 or arm64`);
  for (const part of [...cpus, 'main']) {
    // Several tests may need one at once: one packs it, the others wait.
    const lock = path.join(out, `.lock-${part}`);
    const again = ['flock', [lock, process.execPath, import.meta.filename, part]];
    const env = { ...process.env, FPGA_VERBS_PACKING: part };
    const { status } = spawnSync(...again, { stdio: 'inherit', env });
    if (status !== 0) process.exit(status ?? 1);
  }
} else packPart(process.argv[2]);

function packPart(part) {
  if (part === 'main') {
    const documents = ['docs', 'examples', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];
    unlessDone('fpga-verbs', [...sources, ...documents, 'dist', 'scripts/build_addons.mjs'], packMain);
  } else if (part === process.arch)
    unlessDone(nameOf(part), [...sources, 'build/Release'], () => packBinaries(part, 'build/Release'));
  else unlessDone(nameOf(part), sources, () => packBinaries(part, crossCompile(part)));
}

/** Packs a package if one of its inputs has changed since the last time. */
function unlessDone(name, inputs, packIt) {
  const stamp = path.join(out, `.setup-${name}`);
  const now = fingerprint(inputs);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return;
  rmSync(stamp, { force: true });
  packIt();
  writeFileSync(stamp, now);
}

/** A package of binaries. npm installs it only if operating system, processor and C library match its manifest. */
function packBinaries(cpu, release) {
  const { version, license, engines } = manifest;
  const name = nameOf(cpu);
  const folder = emptyFolder(name);
  for (const file of binaries) {
    const target = path.join(folder, file);
    mkdirSync(path.dirname(target), { recursive: true });
    execFileSync(`${toolPrefixes[cpu]}strip`, ['-o', target, path.join(release, file)]);
    checkNeeds(target);
  }
  copyFileSync('LICENSE', path.join(folder, 'LICENSE'));
  const description = `Binaries of fpga-verbs for Linux on ${cpu}, with glibc ${newest.GLIBC} and libstdc++ ${newest.GLIBCXX} or later`;
  writeFileSync(path.join(folder, 'README.md'), `# ${name}\n\n${description}. fpga-verbs depends on it.\n`);
  const limits = { os: ['linux'], cpu: [cpu], libc: ['glibc'], engines };
  writeManifest(folder, { name, version, description, license, ...limits, files: ['*.node', 'verbs'] });
  pack(folder);
}

/** @returns the folder of the binaries */
function crossCompile(cpu) {
  const folder = path.resolve(`build/cross-${cpu}`);
  const release = path.join(folder, 'Release');
  const system = { x64: 'x86_64', arm64: 'aarch64' }[cpu];
  run('cmake', [
    '-S',
    '.',
    '-B',
    folder,
    '-DCMAKE_SYSTEM_NAME=Linux',
    `-DCMAKE_SYSTEM_PROCESSOR=${system}`,
    `-DCMAKE_CXX_COMPILER=${toolPrefixes[cpu]}g++`,
    `-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${release}`,
    '--log-level=ERROR',
  ]);
  run('cmake', ['--build', folder, '--parallel', '2', '--target', 'fpga_verbs', 'ibverbs', 'device_node']);
  return release;
}

/** @throws Error: the binary needs a version of a library that machines of its users may lack */
function checkNeeds(file) {
  for (const [, library, version] of output('readelf', ['-VW', file]).matchAll(
    /Name: ([A-Z]+)_([\d.]+)\s+Flags/g,
  )) {
    const most = newest[library];
    if (most === undefined || version.localeCompare(most, 'en', { numeric: true }) > 0)
      throw new Error(`${file} needs ${library}_${version}; expected: at most ${most ?? 'none of these'}`);
  }
}

/** The main package: the files that package.json names, without scripts that npm would run, and with the packages of binaries. */
function packMain() {
  const folder = emptyFolder('fpga-verbs');
  const whole = output('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out]).trim();
  execFileSync('tar', ['-xf', path.join(out, whole), '--strip-components=1', '-C', folder]);
  const shipped = { ...manifest, scripts: undefined, devDependencies: undefined };
  const optionalDependencies = Object.fromEntries(
    Object.keys(toolPrefixes).map((cpu) => [nameOf(cpu), manifest.version]),
  );
  writeManifest(folder, { ...shipped, optionalDependencies });
  for (const name of readdirSync(folder, { recursive: true }))
    if (name.endsWith('.md')) unlinkMissing(folder, name);
  pack(folder);
}

/** Replaces links to files that only the repository contains by plain text. */
function unlinkMissing(folder, name) {
  const file = path.join(folder, name);
  const text = readFileSync(file, 'utf8');
  const linked = text.replaceAll(/\[([^\]]+)\]\(([^)#\s]*)(#[^)]*)?\)/g, (link, words, target) => {
    const isHere =
      target === '' || target.includes('://') || existsSync(path.join(path.dirname(file), target));
    return isHere ? link : words;
  });
  if (linked !== text) writeFileSync(file, linked);
}

function nameOf(cpu) {
  return `fpga-verbs-linux-${cpu}`;
}

function emptyFolder(name) {
  const folder = path.join(out, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return folder;
}

function writeManifest(folder, content) {
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(content, undefined, 2)}\n`);
}

function pack(folder) {
  const name = output('npm', ['pack', '--silent', '--pack-destination', out, folder]).trim();
  console.log(`packages: ${path.join(out, name)}`);
}

function output(command, args) {
  return execFileSync(command, args, { encoding: 'utf8' });
}
