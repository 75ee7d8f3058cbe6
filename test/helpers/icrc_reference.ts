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

/** Bytes on the wire of a register: its inverse, low byte first. */
export function onWire(kind: 'icrc' | 'vcrc', crc: number): Uint8Array {
  const inverse = ~crc;
  const bytes = Uint8Array.of(inverse, inverse >>> 8, inverse >>> 16, inverse >>> 24);
  return kind === 'vcrc' ? bytes.slice(0, 2) : bytes;
}
