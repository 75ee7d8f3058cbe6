import { ScoreboardVariant } from '../spec/index.ts';
import { blockNamed, readNamed, registerNamed, type NamedRegister } from './named_registers.ts';
import type { RegisterPage } from './register_page.ts';

/** Identity of a board: its identity registers, decoded. */
export interface Identity {
  /** Version of the programming interface. */
  readonly version: { readonly major: number; readonly minor: number };
  /** Kind of the device: 1, the emulated board; 2, RTL. */
  readonly design: number;
  /** Version of the design. */
  readonly revision: number;
  /** Name of the board, up to 16 characters. */
  readonly boardName: string;
  /** Optional features of the device. */
  readonly capabilities: {
    /** Underlying function n is virtual function n - 1. */
    readonly singleRootIoVirtualization: boolean;
    readonly scoreboardVariant: keyof typeof ScoreboardVariant;
    /** Writes arrive as DWORDs. */
    readonly doubleWordOnly: boolean;
    readonly kickRecords: boolean;
    /** Blocks that are RTL instead of the model. */
    readonly rtlBlocks: readonly string[];
  };
  /** Functions of the device. */
  readonly underlyingFunctions: number;
  /** Virtual collect buffers of all functions. */
  readonly virtualCollectBuffers: number;
  /** Size of a virtual collect buffer page, bytes. */
  readonly virtualCollectBufferStride: number;
  /** Physical collect buffers in the pool. */
  readonly physicalCollectBuffers: number;
  /** Physical collect buffers for management and the scheduler. */
  readonly dedicatedPhysicalCollectBuffers: number;
  /** Number of dedicated physical collect buffers that serve management. */
  readonly managementPhysicalCollectBuffers: number;
  /** Transmit virtual lanes of all functions. */
  readonly transmitVirtualLanes: number;
  /** Queue pairs of all functions. */
  readonly queuePairs: number;
  /** Physical ports. */
  readonly ports: number;
  /** Frequency of the device clock, hertz. */
  readonly clockFrequency: number;
  /** Size of a beat of the BAR interface, bytes. */
  readonly beatBytes: number;
  /** Entries of the largest queue. */
  readonly queueEntriesMaximum: number;
  /** Bytes of context memory that the control function must provide. */
  readonly contextMemoryNeeded: number;
}

/** Reads the identity registers. */
export function readIdentity(page: RegisterPage): Identity {
  const block = blockNamed('identity');
  const read = (name: string): NamedRegister => readNamed(page, registerNamed(block, name));
  const value = (name: string): number => Number(read(name).values[0]);
  const fields = (name: string): Readonly<Record<string, number>> => read(name).fields[0]!;
  const version = fields('version');
  const device = fields('device');
  const capabilities = fields('capabilities');
  const dedicated = fields('dedicated_physical_collect_buffers');
  return {
    version: { major: version['major']!, minor: version['minor']! },
    design: device['design']!,
    revision: device['revision']!,
    boardName: textOf(read('board_name').values),
    capabilities: {
      singleRootIoVirtualization: capabilities['single_root_io_virtualization'] === 1,
      scoreboardVariant:
        capabilities['scoreboard_variant'] === ScoreboardVariant.masked ? 'masked' : 'direct',
      doubleWordOnly: capabilities['double_word_only'] === 1,
      kickRecords: capabilities['kick_records'] === 1,
      rtlBlocks: Object.entries(capabilities)
        .filter(([name, is]) => name.startsWith('rtl_') && is === 1)
        .map(([name]) => name.slice('rtl_'.length)),
    },
    underlyingFunctions: value('underlying_functions'),
    virtualCollectBuffers: value('virtual_collect_buffers'),
    virtualCollectBufferStride: value('virtual_collect_buffer_stride'),
    physicalCollectBuffers: value('physical_collect_buffers'),
    dedicatedPhysicalCollectBuffers: dedicated['total']!,
    managementPhysicalCollectBuffers: dedicated['management']!,
    transmitVirtualLanes: value('transmit_virtual_lanes'),
    queuePairs: value('queue_pairs'),
    ports: value('ports'),
    clockFrequency: value('clock_frequency'),
    beatBytes: value('beat_bytes'),
    queueEntriesMaximum: value('queue_entries_maximum'),
    contextMemoryNeeded: value('context_memory_needed'),
  };
}

/** UTF-8 in DWORDs, up to the first zero. */
function textOf(dwords: readonly bigint[]): string {
  const bytes = new Uint8Array(Uint32Array.from(dwords, Number).buffer);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}
