import { describe, expect, it } from 'vitest';
import { SpecificationCopy } from './specification_copy.ts';

type Json = Record<string, unknown>;

const doc = 'A sentence.';
const format = (changes: Json): Json => ({
  subject: 'Samples',
  formats: [
    {
      name: 'sample',
      bytes: 8,
      byte_order: 'little',
      doc,
      fields: [{ name: 'whole', width: 64, doc }],
      ...changes,
    },
  ],
});
const fields = (...list: Json[]): Json => format({ fields: list });
const registers = (...list: Json[]): Json => ({
  blocks: [{ name: 'page', bytes: 64, doc, registers: list }],
});
const register = (changes: Json): Json => ({ name: 'status', offset: 0, access: 'ro', doc, ...changes });
const parameter = (changes: Json): Json => ({ parameters: [{ name: 'ports', value: 2, doc, ...changes }] });
const enumeration = (changes: Json): Json => ({
  enums: [{ name: 'color', width: 2, doc, values: [{ name: 'red', value: 1, doc }], ...changes }],
});

const sample = 'formats/sample.json';
/** A fault, the file that contains it, the file's content, and the only line that the generator may print. */
const faults: [what: string, file: string, content: Json, message: string][] = [
  [
    'a key that is missing',
    'parameters.json',
    { parameters: [{ name: 'ports', value: 2 }] },
    'parameters.json: ports: "doc" is missing',
  ],
  [
    'a key that is not known',
    'parameters.json',
    parameter({ units: 'ports' }),
    'parameters.json: ports: unknown key "units"; allowed are name, value, unit, doc',
  ],
  [
    'a name in another style',
    'parameters.json',
    parameter({ name: 'maxPorts' }),
    'parameters.json: maxPorts: name "maxPorts" is not snake_case',
  ],
  [
    'a word of C++',
    'parameters.json',
    parameter({ name: 'default' }),
    'parameters.json: default: name "default" is a word of C++',
  ],
  [
    'a writer of one field of a format that has none',
    sample,
    fields({ name: 'whole', width: 64, doc, writer: 'receive' }),
    'formats/sample.json: sample: has a field with a "writer"; then it needs a "writer" of the others',
  ],
  [
    'a value above 32 bits',
    'parameters.json',
    parameter({ value: '0x100000000' }),
    'parameters.json: ports: value 4294967296 is above 2^32 - 1',
  ],
  [
    'a value that is no number',
    'parameters.json',
    parameter({ value: '12' }),
    'parameters.json: ports: "value" must be a whole number or a "0x…" string',
  ],
  [
    'a parameter that is there twice',
    'parameters.json',
    { parameters: [...(parameter({})['parameters'] as Json[]), { name: 'ports', value: 3, doc }] },
    'parameters.json: two parameters are called "ports"',
  ],
  [
    'an enum value that does not fit',
    'enums.json',
    enumeration({ values: [{ name: 'red', value: 4, doc }] }),
    'enums.json: color.red: value 4 does not fit 2 bits; at most 3',
  ],
  [
    'an enum value that is there twice',
    'enums.json',
    enumeration({
      values: [
        { name: 'red', value: 1, doc },
        { name: 'blue', value: 1, doc },
      ],
    }),
    'enums.json: color.blue: value 1 is also "red"',
  ],
  [
    'an enum without values',
    'enums.json',
    enumeration({ values: [] }),
    'enums.json: color: "values" is empty',
  ],
  [
    'an enum with the name of a format',
    'enums.json',
    enumeration({ name: 'kick_record' }),
    'enums.json: kick_record: a format has this name too',
  ],
  [
    'bits that are missing',
    sample,
    fields({ name: 'half', width: 32, doc }),
    'formats/sample.json: sample: fields fill 32 of 64 bits: 32 bits are missing',
  ],
  [
    'bits that are too many',
    sample,
    fields({ name: 'whole', width: 64, doc }, { reserved: 8 }),
    'formats/sample.json: sample: fields fill 72 of 64 bits: 8 bits too many',
  ],
  [
    'a field across a 32-bit boundary',
    sample,
    fields({ reserved: 20 }, { name: 'number', width: 24, doc }, { reserved: 20 }),
    'formats/sample.json: sample.number: starts at bit 20 and is 24 bits wide, so it crosses a 32-bit boundary; move it to bit 32',
  ],
  [
    'a wide field that is not aligned',
    sample,
    fields({ reserved: 12 }, { name: 'page', width: 52, doc }),
    'formats/sample.json: sample.page: starts at bit 12; a field of 52 bits starts at a multiple of 64',
  ],
  [
    'a wide field in wire order',
    sample,
    format({ byte_order: 'big', fields: [{ name: 'address', width: 48, doc }, { reserved: 16 }] }),
    'formats/sample.json: sample.address: is 48 bits wide; above 32 a big-endian field has 64',
  ],
  [
    'a field over 64 bits',
    sample,
    format({ bytes: 16, fields: [{ name: 'gid', width: 128, doc }] }),
    'formats/sample.json: sample.gid: is 128 bits wide; at most 64',
  ],
  [
    'a byte array off a byte',
    sample,
    fields({ reserved: 4 }, { name: 'tag', bytes: 2, doc }, { reserved: 44 }),
    'formats/sample.json: sample.tag: starts at bit 4; a byte array starts at a multiple of 8',
  ],
  [
    'an array of odd elements',
    sample,
    fields({ name: 'list', width: 24, count: 2, doc }, { reserved: 16 }),
    'formats/sample.json: sample.list: is an array of 24-bit elements; their width must be a power of two',
  ],
  [
    'an array that is not aligned',
    sample,
    fields({ reserved: 8 }, { name: 'list', width: 16, count: 3, doc }, { reserved: 8 }),
    'formats/sample.json: sample.list: starts at bit 8; an array starts at a multiple of its width 16',
  ],
  [
    'an array of an enum',
    sample,
    fields({ name: 'kinds', width: 8, count: 8, enum: 'opcode', doc }),
    'formats/sample.json: sample.kinds: is an array of an enum; an array holds numbers',
  ],
  [
    'an enum that is not there',
    sample,
    fields({ name: 'kind', width: 8, enum: 'color', doc }, { reserved: 56 }),
    'formats/sample.json: sample.kind: enum "color" is not in enums.json; there are opcode,',
  ],
  [
    'an enum of another width',
    sample,
    fields({ name: 'kind', width: 4, enum: 'opcode', doc }, { reserved: 60 }),
    'formats/sample.json: sample.kind: is 4 bits wide but enum "opcode" has 8',
  ],
  [
    'a field called reserved',
    sample,
    fields({ name: 'reserved_1', width: 64, doc }),
    'formats/sample.json: sample.reserved_1: name "reserved_1": write {"reserved": width}',
  ],
  [
    'a field that structures declare themselves',
    sample,
    fields({ name: 'dwords', width: 64, doc }),
    'formats/sample.json: sample.dwords: name "dwords" is taken by the generated structures',
  ],
  [
    'a field that is there twice',
    sample,
    fields({ name: 'half', width: 32, doc }, { name: 'half', width: 32, doc }),
    'formats/sample.json: sample: two fields are called "half"',
  ],
  [
    'a length that is no multiple of 4',
    sample,
    format({ bytes: 6, fields: [{ name: 'mac', bytes: 6, doc }] }),
    'formats/sample.json: sample: is 6 bytes long; a format is a multiple of 4 bytes long',
  ],
  [
    'a data unit over 16 bytes',
    sample,
    format({ bytes: 24, kind: 'data_unit', fields: [{ name: 'content', bytes: 24, doc }] }),
    'formats/sample.json: sample: is 24 bytes long; a data unit has at most 16',
  ],
  [
    'a byte order that does not exist',
    sample,
    format({ byte_order: 'network' }),
    'formats/sample.json: sample: "byte_order" must be one of "little", "big"',
  ],
  [
    'a format that is there twice',
    sample,
    format({ name: 'kick_record' }),
    'formats: two formats are called "kick_record"',
  ],
  [
    'a file whose name is taken',
    'formats/registers.json',
    format({}),
    'formats/registers.json: the name "registers" is taken by another output',
  ],
  [
    'two entries that make one name',
    sample,
    format({ name: 'page' }),
    'lib/spec/sample.ts and lib/spec/parameters.ts both export PAGE_BYTES',
  ],
  [
    'a register between words',
    'registers.json',
    registers(register({ offset: 2 })),
    'registers.json: page.status: offset 0x2 is not a multiple of 4',
  ],
  [
    'a wide register between its words',
    'registers.json',
    registers(register({ offset: 4, width: 64 })),
    'registers.json: page.status: offset 0x4 is not a multiple of 8',
  ],
  [
    'registers that overlap',
    'registers.json',
    registers(register({ width: 64 }), register({ name: 'other', offset: 4 })),
    'registers.json: page.other: overlaps "status" at offset 0x4',
  ],
  [
    'a register that overlaps itself',
    'registers.json',
    registers(register({ width: 64, count: 2, stride: 4 })),
    'registers.json: page.status: stride 4 is not a multiple of 8',
  ],
  [
    'a register beyond its block',
    'registers.json',
    registers(register({ offset: 60, count: 2 })),
    "registers.json: page.status: ends at byte 68, beyond the block's 64",
  ],
  [
    'a reset value that does not fit',
    'registers.json',
    registers(register({ reset: '0x100000000' })),
    'registers.json: page.status: reset 0x100000000 does not fit 32 bits',
  ],
  [
    'a stride of one register',
    'registers.json',
    registers(register({ stride: 8 })),
    'registers.json: page.status: "stride" without "count"',
  ],
  [
    'register fields that do not fill it',
    'registers.json',
    registers(register({ fields: [{ name: 'ready', width: 1, doc }] })),
    'registers.json: page.status: fields fill 1 of 32 bits',
  ],
  [
    'a register that repeats a generated name',
    'registers.json',
    registers(register({ name: 'region', count: 2 }), register({ name: 'region_count', offset: 8 })),
    'registers.json: page.region_count: this is also what the count of "region" is called; rename one of the two',
  ],
  [
    'an access that does not exist',
    'registers.json',
    registers(register({ access: 'read' })),
    'registers.json: page.status: "access" must be one of "ro", "rw", "wo", "w1c", "ro_side_effect"',
  ],
];

describe('faults of a specification', () => {
  for (const [what, file, content, message] of faults) {
    it(`${what} is named`, () => {
      const copy = new SpecificationCopy('fpga/spec');
      copy.write(`fpga/spec/${file}`, content);
      const { status, stderr, stdout } = copy.generate();
      expect(stderr).toContain(message);
      expect(stdout).toBe('');
      expect(status).toBe(1);
    });
  }

  it('all faults are named at once', () => {
    const copy = new SpecificationCopy('fpga/spec');
    copy.write('fpga/spec/parameters.json', parameter({ name: 'maxPorts' }));
    copy.write(`fpga/spec/${sample}`, format({ bytes: 6 }));
    expect(copy.generate().stderr).toMatch(/maxPorts[^]*sample/);
  });

  it('a file that is not JSON is named', () => {
    const copy = new SpecificationCopy('fpga/spec');
    copy.replace('fpga/spec/enums.json', '"enums": [', '"enums": [,');
    expect(copy.generate().stderr).toContain('enums.json: must be a JSON file: ');
  });

  it('a consumer of a nonexistent format is named', () => {
    const copy = new SpecificationCopy('fpga/spec');
    copy.replace('fpga/spec/consumers.json', '"ring_head"', '"ring_hat"');
    expect(copy.generate().stderr).toContain(
      'consumers.json: typescript_flat_functions: no format "ring_hat"; there are ',
    );
  });

  it('a queue pair transition with an unknown attribute, or a repeated one, is named', () => {
    const copy = new SpecificationCopy('fpga/spec');
    const transition = { service: 'unreliable_datagram', from: 'ready_to_send', to: 'ready_to_send' };
    copy.write('fpga/spec/queue_pair_transitions.json', {
      source: 'A clause.',
      doc,
      queue_pair_transitions: [
        { ...transition, required: [], optional: ['quack'] },
        { ...transition, required: [], optional: ['queue_key'] },
      ],
    });
    const { stderr } = copy.generate();
    expect(stderr).toContain(
      'queue_pair_transitions.json: queue_pair_transitions[0]: queue_pair_attribute has no value "quack"; it has state, ',
    );
    expect(stderr).toContain('[1]: is the second of unreliable_datagram: ready_to_send to ready_to_send');
  });

  it('a repeated or missing packet opcode, or one with an unknown header, is named', () => {
    const copy = new SpecificationCopy('fpga/spec');
    const row = { operation: 'send', position: 'only', payload: true };
    copy.write('fpga/spec/packet_opcodes.json', {
      source: 'A clause.',
      doc,
      reserved: [21, 100],
      packet_opcodes: [
        { ...row, opcode: 'congestion_notification', headers: [] },
        { ...row, opcode: 'congestion_notification', headers: ['quack'] },
      ],
    });
    const { stderr } = copy.generate();
    expect(stderr).toContain(
      'congestion_notification: extended_header has no value "quack"; it has datagram, ',
    );
    expect(stderr).toContain('has 2 entries for the opcode "congestion_notification"; each has one');
    expect(stderr).toContain('has 0 entries for the opcode "reliable_connection_acknowledge"; each has one');
    expect(stderr).toContain(
      'says that 100 is reserved, which is the opcode "unreliable_datagram_send_only"',
    );
  });

  it('golden bytes of the wrong length, for an unknown field or with a value out of range are named', () => {
    const copy = new SpecificationCopy('fpga/spec');
    copy.write('fpga/spec/golden.json', [
      { name: 'too_short', format: 'ring_head', fields: {}, hex: ['00000000'] },
      { name: 'unknown_field', format: 'ring_head', fields: { tail: 1 }, hex: ['00000000 00000000'] },
      { name: 'too_large', format: 'ring_head', fields: { head: '0x100000000' }, hex: ['00000000 00000000'] },
      { name: 'unknown_format', format: 'ring_hat', fields: {}, hex: [] },
    ]);
    expect(
      copy
        .generate()
        .stderr.split('\n')
        .map((line) => line.replace(/; there are.*/, '')),
    ).toEqual([
      'golden.json: too_short: "hex" must hold 8 bytes, two hexadecimal digits each',
      'golden.json: unknown_field: ring_head has no field "tail"; it has head',
      'golden.json: too_large.head: must be a whole number or "0x…" string up to 0xffffffff',
      'golden.json: unknown_format: no format "ring_hat"',
      '',
    ]);
  });
});
