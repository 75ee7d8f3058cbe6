import type { Output } from '../output/output.ts';
import { list } from '../output/table.ts';
import type { Ends } from './ends.ts';
import type { PerformanceOptions } from './options.ts';

/** Heading of a measurement: title, settings and where the queue pairs are. */
export function writeHeader(
  output: Output,
  title: string,
  { local, remote, context, deviceString, peer }: Ends,
  { ends }: PerformanceOptions,
  more: readonly (readonly [string, string])[] = [],
): void {
  const { operation, type, queuePairs, txDepth, rxDepth, mtu, gidIndex, inlineBytes, readAtomics } = ends;
  const where = peer === undefined ? 'both ends in this process' : 'the other end in another process';
  output.text(`${title} of RDMA ${operation}, ${where}\n`);
  output.text(
    list([
      [' Device', `${deviceString}, progress ${context.queryDevice().board.progress}`],
      [' Connection type', type],
      [' Number of qps', `${queuePairs}`],
      [' TX depth', `${txDepth}`],
      ...(operation === 'send' ? ([[' RX depth', `${rxDepth}`]] as const) : []),
      ...(ends.endToEndCredits === true ? ([[' End-to-end credits', 'on']] as const) : []),
      ...more,
      [' Mtu', `${mtu}[B]`],
      [' GID index', `${gidIndex}`],
      operation === 'read' || operation === 'atomic'
        ? [' Outstanding reads', `${readAtomics}`]
        : [' Max inline data', `${inlineBytes}[B]`],
    ]),
  );
  for (const [name, address] of [
    ['local ', local],
    ['remote', remote],
  ] as const) {
    for (const { queuePairNumber, packetSequenceNumber } of address.queuePairs) {
      const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
      output.text(
        ` ${name} address: QPN 0x${hex(queuePairNumber, 6)} PSN 0x${hex(packetSequenceNumber, 6)}\n`,
      );
    }
  }
}
