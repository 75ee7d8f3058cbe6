/** A view of the bytes of a data unit, for the accessors of the specification. */
export function viewOf(unit: Uint8Array): DataView {
  return new DataView(unit.buffer, unit.byteOffset, unit.byteLength);
}
