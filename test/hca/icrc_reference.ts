/** Polynomials of the checks: 04C11DB7h and 100Bh (InfiniBand volume 1, 7.8.1 and 7.8.2), low bit first. */
const polynomials = { icrc: reversed(0x04c11db7, 32), vcrc: reversed(0x100b, 16) };

function reversed(value: number, width: number): number {
  return Number.parseInt(Array.from(value.toString(2).padStart(width, '0')).toReversed().join(''), 2);
}

/** The register of a check after some bytes, bit by bit. */
export function bitwise(kind: 'icrc' | 'vcrc', crc: number, data: Iterable<number>): number {
  let register = crc;
  for (const byte of data) {
    register ^= byte;
    for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (register & 1 ? polynomials[kind] : 0);
  }
  return register >>> 0;
}

/** What goes on the wire for a register: its inverse, low byte first. */
export function onWire(kind: 'icrc' | 'vcrc', crc: number): number[] {
  const inverse = ~crc;
  const low = [inverse & 0xff, (inverse >>> 8) & 0xff];
  return kind === 'vcrc' ? low : [...low, (inverse >>> 16) & 0xff, inverse >>> 24];
}
