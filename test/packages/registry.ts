import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

interface Published {
  readonly manifest: Manifest;
  readonly tarball: () => Buffer;
}

/** An npm registry on loopback. */
export interface Registry {
  readonly address: string;
  close(): void;
}

/**
 * Serves packages from folders: the tarball contains the folder, without the packages below it.
 * @param folders absolute paths
 */
export async function openRegistry(folders: readonly string[]): Promise<Registry> {
  const published = new Map<string, Published[]>();
  for (const folder of folders) {
    const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
    const versions = published.get(manifest.name) ?? [];
    published.set(manifest.name, [...versions, { manifest, tarball: () => tarballOf(folder) }]);
  }
  let address = '';
  const server = createServer(({ url = '' }, response) => {
    const [, name = '', version] = /^\/(@[^/]+\/[^/]+|[^/]+)(?:\/-\/(.+)\.tgz)?$/.exec(
      decodeURIComponent(url),
    ) ?? [undefined];
    const versions = published.get(name) ?? [];
    const one = versions.find(({ manifest }) => manifest.version === version);
    if (one !== undefined) response.end(one.tarball());
    else if (versions.length > 0 && version === undefined)
      response.end(JSON.stringify(packument(name, versions, address)));
    else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The registry's metadata of a package. */
function packument(name: string, published: readonly Published[], address: string): object {
  const versions = published.map(({ manifest }) => [
    manifest.version,
    { ...manifest, dist: { tarball: `${address}/${name}/-/${manifest.version}.tgz` } },
  ]);
  const latest = published.at(-1)!.manifest.version;
  return { name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) as object };
}

function tarballOf(folder: string): Buffer {
  const words = ['-czf', '-', '--exclude=./node_modules', '--transform=s,^\\.,package,', '-C', folder, '.'];
  return execFileSync('tar', words, { maxBuffer: 2 ** 28 });
}
