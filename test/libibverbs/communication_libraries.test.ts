// Communication libraries over the drop-in library, as Debian packages them: UCX, Open MPI over UCX, libfabric.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

import { requireFile, requireTool } from '../helpers/tools.ts';
import { ownFabric, runEnds, startProgram } from '../helpers/verbs_program.ts';

/** Only the library that `hca run` adds for UCX changes this answer. */
test('programs find the device node that UCX looks for, and no other', async (context) => {
  requireTool('python3', context);
  const { exitCode, out } = await startProgram(ownFabric(), [
    'env',
    'python3',
    '-c',
    `import os, stat
for name in ('uverbs0', 'uverbs1'):
    path = '/dev/infiniband/' + name
    print(os.access(path, os.R_OK | os.W_OK), os.path.exists(path) and stat.S_ISCHR(os.stat(path).st_mode))
print(os.path.isdir('/'), os.access('/', os.X_OK), os.path.exists('/dev/infiniband-not-there'))`,
  ]).ended;
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: 'True True\nFalse False\nTrue True False\n' });
});

describe('UCX', () => {
  test('offers both of its transports for unknown adapters', async (context) => {
    requireTool('ucx_info', context);
    const { exitCode, out } = await startProgram(ownFabric(), ['ucx_info', '-d']).ended;
    expect(exitCode).toBe(0);
    for (const transport of ['rc_verbs', 'ud_verbs'])
      expect(out).toMatch(new RegExp(`Transport: ${transport}\\n# +Device: fpga0:1\\n`));
  });

  const cases = [
    ['rc_v', 'tag_lat'],
    ['rc_v', 'tag_bw'],
    ['rc_v', 'ucp_put_lat'],
    ['rc_v', 'ucp_get'],
    ['rc_v', 'ucp_fadd'],
    ['ud_v', 'tag_lat'],
    ['ud_v', 'tag_bw'],
    ['ud_v', 'ucp_am_lat'],
  ];
  test.for(cases)('ucx_perftest over %s: %s', async ([transport, operation], context) => {
    requireTool('ucx_info', context);
    const bytes = /fadd|cswap/.test(operation!) ? '8' : '20000';
    const variables = [`UCX_TLS=${transport}`, 'UCX_NET_DEVICES=fpga0:1'];
    const words = ['ucx_perftest', '-t', operation!, '-s', bytes, '-n', '200', '-w', '5'];
    const [server, client] = await runEnds(ownFabric(), ['env', ...variables, ...words]);
    expect(client.out).toMatch(/^Final: +200 /m);
    for (const { exitCode, out, error } of [server, client]) {
      expect(exitCode).toBe(0);
      expect(out + error).not.toMatch(/ERROR|fpga-verbs:/);
    }
  });

  test.for(['rc_verbs', 'ud_verbs'])('ucx_perftest over %s, without UCP', async (transport, context) => {
    requireTool('ucx_info', context);
    const words = ['ucx_perftest', '-t', 'am_lat', '-x', transport, '-d', 'fpga0:1', '-n', '200', '-w', '5'];
    const [server, client] = await runEnds(ownFabric(), words);
    expect(server).toMatchObject({ exitCode: 0 });
    expect(client).toMatchObject({ exitCode: 0 });
    expect(client.out).toMatch(/^Final: +200 /m);
  });
});

test.for(['rc_v', 'ud_v'])(
  'Open MPI over UCX and %s: a ping-pong, data compared',
  async (transport, context) => {
    requireTool('ucx_info', context);
    requireTool('mpirun.openmpi', context);
    requireFile('/usr/lib/python3/dist-packages/mpi4py', 'python3-mpi4py', context);
    const program = fileURLToPath(new URL('programs/mpi_pingpong.py', import.meta.url));
    const variables = [`UCX_TLS=${transport}`, 'UCX_NET_DEVICES=fpga0:1', 'UCX_LOG_LEVEL=info'];
    const mpirun = ['mpirun.openmpi', '--allow-run-as-root', '--oversubscribe', '-n', '2'];
    const layer = ['--mca', 'pml', 'ucx', '--mca', 'pml_ucx_tls', 'any', '--mca', 'pml_ucx_devices', 'any'];
    const others = ['--mca', 'btl', 'self', '--mca', 'osc', '^rdma,ucx'];
    const words = ['env', ...variables, ...mpirun, ...layer, ...others, '/usr/bin/python3', program];
    const { exitCode, out, error } = await startProgram(ownFabric(), words).ended;
    expect({ exitCode, error }).toMatchObject({ exitCode: 0 });
    expect(out).toContain('1048576 bytes are whole');
    // UCX prints which of its transports it has chosen.
    expect(out + error).toMatch(
      new RegExp(`tag\\(${{ rc_v: 'rc_verbs', ud_v: 'ud_verbs' }[transport]}/fpga0:1\\)`),
    );
  },
);

test('libfabric over datagrams of verbs: fi_pingpong, data compared', async (context) => {
  requireTool('fi_pingpong', context);
  const words = ['fi_pingpong', '-p', 'verbs;ofi_rxd', '-e', 'rdm', '-c', '-I', '50', '-S', '4096'];
  const ports = { server: '-B', client: '-P' };
  for (const end of await runEnds(ownFabric(), words, ports)) {
    expect(end).toMatchObject({ exitCode: 0 });
    expect(end.out).toMatch(/^4k +50 +=50 /m);
  }
});
