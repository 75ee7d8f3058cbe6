import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Dissectors that would take payload for their own: it shall be left as it is. */
const unwanted = ['rpcordma', 'nvme-rdma', 'iser', 'smb_direct', 'infiniband_sdp', 'ipoib', 'fcoib'];

/**
 * The fields of each packet of a capture as tshark decodes it; a field that a packet does not have is missing.
 * @param tshark the program
 */
export function dissect(
  tshark: string,
  capture: Uint8Array,
  fields: readonly string[],
): Record<string, string>[] {
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-'));
  try {
    const file = path.join(directory, 'packets.pcap');
    writeFileSync(file, capture); // tshark takes no pipe
    const output = execFileSync(
      tshark,
      [
        '-r',
        file,
        '-Tfields',
        '-Eseparator=/t',
        '-oip.check_checksum:TRUE',
        ...unwanted.flatMap((protocol) => ['--disable-protocol', protocol]),
        ...fields.flatMap((field) => ['-e', field]),
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 },
    );
    return output
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const values = line.split('\t');
        return Object.fromEntries(
          fields.flatMap((field, index) => (values[index] === '' ? [] : [[field, values[index]!]])),
        );
      });
  } finally {
    rmSync(directory, { recursive: true });
  }
}
