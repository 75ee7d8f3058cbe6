// Descriptions from the specification, for tools that work by name. Names are as in the specification: snake_case.

/** A number that model and RTL share. */
export interface ParameterDescription {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
  readonly doc: string;
}

/** The values that a field can have, with a name each. */
export interface EnumDescription {
  readonly name: string;
  /** Bits of a field that holds it. */
  readonly width: number;
  readonly doc: string;
  readonly values: readonly { readonly name: string; readonly value: number; readonly doc: string }[];
}

/** A field of a format or register. Reserved bits have no description. */
export interface FieldDescription {
  readonly name: string;
  /**
   * First bit: counted from the least significant bit in little-endian formats and registers, in wire order from the most
   * significant bit of the first byte in big-endian formats.
   */
  readonly bit: number;
  /** Bits of one element. */
  readonly width: number;
  /** Elements of an array, bytes of a byte array, else 1. */
  readonly count: number;
  readonly shape: 'number' | 'array' | 'bytes';
  /** Name of the enum that its values belong to. */
  readonly enumeration?: string;
  readonly unit?: string;
  readonly doc: string;
}

/** A structure in host memory, in context memory, on a block port or on the wire. */
export interface FormatDescription {
  readonly name: string;
  readonly bytes: number;
  readonly byteOrder: 'little' | 'big';
  readonly kind?: string;
  /** Patent or clause that it follows. */
  readonly source?: string;
  readonly doc: string;
  readonly fields: readonly FieldDescription[];
}

/** A register, or `count` of them at a distance of `stride` bytes. */
export interface RegisterDescription {
  readonly name: string;
  /** Bytes from the begin of its block. */
  readonly offset: number;
  readonly access: 'ro' | 'rw' | 'wo' | 'w1c' | 'ro_side_effect';
  readonly reset: bigint;
  /** 32, or 64: two registers of 32 bits, low half first; reading the low half latches the high one. */
  readonly width: 32 | 64;
  readonly count: number;
  readonly stride: number;
  readonly unit?: string;
  readonly doc: string;
  /** Empty where the register is one value. */
  readonly fields: readonly FieldDescription[];
}

/** A page of registers. */
export interface BlockDescription {
  readonly name: string;
  readonly bytes: number;
  readonly doc: string;
  readonly registers: readonly RegisterDescription[];
}
