// Builds the guest for tests in build/guest: a kernel of Debian and an initramfs of busybox and a few modules. Does nothing if they
// are up to date. Needs the packages kmod, cpio, busybox-static and the sources of apt, but no privileges.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { fingerprint } from './fingerprint.mjs';

process.chdir(path.join(import.meta.dirname, '..'));
const directory = 'build/guest';
const lock = `${directory}.lock`;
if (process.argv[2] !== lock) {
  // Several tests may need it at once: one builds it, the others wait.
  mkdirSync('build', { recursive: true });
  const again = ['flock', [lock, process.execPath, import.meta.filename, lock]];
  process.exit(spawnSync(...again, { stdio: 'inherit' }).status ?? 1);
}
const inputs = ['scripts/guest.mjs', 'test/guest/init.sh'];
const stamp = path.join(directory, '.setup');
const now = fingerprint(inputs);

/** Kernel modules that the guest loads before it runs a program. */
const modules = [
  ['virtio_pci', '9pnet_virtio', '9p'],
  ['vfio-pci', 'vfio_iommu_type1'],
  // The checksum that Soft-RoCE uses without depending on its module.
  ['virtio_net', 'crc32_generic', 'rdma_rxe', 'ib_uverbs', '8021q'],
].flat();

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== now) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(path.join(directory, 'download'), { recursive: true });
  const version = unpackKernel();
  console.log(`guest: kernel ${version}, and an initramfs`);
  writeFileSync(path.join(directory, 'vmlinux'), uncompressed(`${directory}/kernel/boot/vmlinuz-${version}`));
  writeFileSync(path.join(directory, 'initramfs.cpio'), initramfs(version));
  for (const used of ['download', 'kernel', 'root']) rmSync(path.join(directory, used), { recursive: true });
  writeFileSync(stamp, now);
}

/** Unpacks the kernel that linux-image-amd64 depends on. The exact name excludes its debug symbols. */
function unpackKernel() {
  const depends = output('apt-cache', ['depends', 'linux-image-amd64']);
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1];
  if (name === undefined) throw new Error('apt-cache knows no linux-image-amd64; run apt-get update');
  const cwd = path.join(directory, 'download');
  execFileSync('apt-get', ['download', '-q', name], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  const [file] = readdirSync(cwd);
  execFileSync('dpkg-deb', ['-x', path.join(cwd, file), path.join(directory, 'kernel')]);
  return name.slice('linux-image-'.length);
}

/** The kernel inside a bzImage, which boots in less than half the time of one that unpacks itself. */
function uncompressed(file) {
  const image = readFileSync(file);
  const magic = Buffer.from('fd377a585a00', 'hex');
  const begin = image.indexOf(magic);
  if (begin < 0) throw new Error(`${file} holds no kernel packed by xz`);
  // xz reports an error at the bytes behind the kernel, after it has written the whole kernel.
  try {
    return execFileSync('xz', ['-dc', '--single-stream'], {
      input: image.subarray(begin),
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 2 ** 28,
    });
  } catch (error) {
    if (error.stdout?.length > 0) return error.stdout;
    throw error;
  }
}

/** A cpio archive of busybox, the modules and what they need, and the guest's first program. */
function initramfs(version) {
  const kernel = path.resolve(directory, 'kernel');
  const root = path.resolve(directory, 'root');
  for (const folder of ['bin', 'proc', 'sys', 'dev', 'usr', 'repo', 'host', 'tmp', 'etc', 'lib']) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  execFileSync('/sbin/depmod', ['-b', kernel, version]);
  for (const module of modules) {
    const args = ['--show-depends', '-d', kernel, '-S', version, module];
    for (const [, file] of output('/sbin/modprobe', args).matchAll(/^insmod (\S+)/gm)) {
      const target = path.join(root, path.relative(kernel, file));
      mkdirSync(path.dirname(target), { recursive: true });
      copyFileSync(file, target);
    }
  }
  const folder = `lib/modules/${version}`;
  for (const list of ['modules.dep', 'modules.alias', 'modules.builtin']) {
    cpSync(path.join(kernel, folder, list), path.join(root, folder, list));
  }
  // Configures the user-space library with the path of the kernel's device.
  mkdirSync(path.join(root, 'etc/libibverbs.d'));
  writeFileSync(path.join(root, 'etc/libibverbs.d/rxe.driver'), 'driver rxe\n');
  copyFileSync('/bin/busybox', path.join(root, 'bin/busybox'));
  copyFileSync('test/guest/init.sh', path.join(root, 'init'));
  chmodSync(path.join(root, 'init'), 0o755);
  const names = output('find', ['.'], root);
  return execFileSync('cpio', ['-o', '-H', 'newc', '--quiet', '-R', '0:0'], {
    cwd: root,
    input: names,
    maxBuffer: 2 ** 28,
  });
}

function output(command, args, cwd) {
  return execFileSync(command, args, { encoding: 'utf8', cwd });
}
