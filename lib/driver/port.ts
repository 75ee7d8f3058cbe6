import {
  GID_ENTRY_BYTES,
  GID_TABLE_ENTRIES,
  ManagementOpcode,
  PARTITION_KEY_ENTRY_BYTES,
  PARTITION_KEY_TABLE_ENTRIES,
  QUERY_PORT_OUTPUT_BYTES,
  decode,
  linkLayerNames,
  pathMtuNames,
  portPhysicalStateNames,
  portStateNames,
  type LinkLayer,
  type PathMtu,
  type PortPhysicalState,
  type PortState,
} from '../spec/index.ts';
import { argumentName, encodeArguments } from './arguments.ts';
import { printedByName } from './named_values.ts';
import type { ManagementQueue } from './management_queue.ts';

/** A port as a function sees it: the fields of ibv_port_attr, spelled out, and the port's tables. */
export interface PortAttributes {
  /** Logical state. */
  readonly state: PortState;
  /** State of the link. */
  readonly physicalState: PortPhysicalState;
  /** InfiniBand or Ethernet. */
  readonly linkLayer: LinkLayer;
  /** Largest path MTU of the port. */
  readonly maximumMtu: PathMtu;
  /** Largest path MTU that its link supports now. */
  readonly activeMtu: PathMtu;
  /** Longest message, bytes. */
  readonly maximumMessageBytes: number;
  /** LID of the function; 0 on Ethernet. */
  readonly localIdentifier: number;
  /** LID of the subnet manager; 0 on Ethernet. */
  readonly subnetManagerLocalIdentifier: number;
  /** LMC: number of low bits of the LID that select a path. */
  readonly localIdentifierMaskControl: number;
  /** Data virtual lanes of the link. */
  readonly virtualLanes: number;
  /** Lanes of the link, as in PortInfo (InfiniBand volume 1, 14.2.5.6). */
  readonly activeWidth: number;
  /** Speed of a lane, as in PortInfo. */
  readonly activeSpeed: number;
  /** Bits of the capability mask of PortInfo. */
  readonly capabilities: number;
  /** Packets dropped because of their P_Key. */
  readonly badPartitionKeys: number;
  /** Packets dropped because of their Q_Key. */
  readonly badQueueKeys: number;
  /** MAC address of the function, 6 bytes; zero on InfiniBand. */
  readonly mac: Uint8Array;
  /** GIDs of the function, 16 bytes each in wire order; all zero: none. */
  readonly gids: readonly Uint8Array[];
  /** P_Key table; 0: empty. */
  readonly partitionKeys: readonly number[];
}

const gidsAt = QUERY_PORT_OUTPUT_BYTES;
const partitionKeysAt = gidsAt + GID_TABLE_ENTRIES * GID_ENTRY_BYTES;
const outputBytes = partitionKeysAt + PARTITION_KEY_TABLE_ENTRIES * PARTITION_KEY_ENTRY_BYTES;

/** Queries a port. @param port from 1 @throws VerbsError EINVAL: there is no such port */
export function queryPort(management: ManagementQueue, port: number): PortAttributes {
  const { output } = management.execute({
    verb: 'queryPort',
    opcode: ManagementOpcode.queryPort,
    object: port,
    outputBytes,
  });
  const fields = decode('query_port_output', output.slice(0, gidsAt));
  const value = (name: string): number => Number(fields[name]);
  const entries = <Entry>(
    at: number,
    bytes: number,
    count: number,
    read: (entry: Uint8Array) => Entry,
  ): Entry[] =>
    Array.from({ length: count }, (_, index) =>
      read(output.slice(at + index * bytes, at + (index + 1) * bytes)),
    );
  const attributes: PortAttributes = {
    state: value('state') as PortState,
    physicalState: value('physical_state') as PortPhysicalState,
    linkLayer: value('link_layer') as LinkLayer,
    maximumMtu: value('maximum_mtu') as PathMtu,
    activeMtu: value('active_mtu') as PathMtu,
    maximumMessageBytes: value('maximum_message_bytes'),
    localIdentifier: value('local_identifier'),
    subnetManagerLocalIdentifier: value('subnet_manager_local_identifier'),
    localIdentifierMaskControl: value('local_identifier_mask_control'),
    virtualLanes: value('virtual_lanes'),
    activeWidth: value('active_width'),
    activeSpeed: value('active_speed'),
    capabilities: value('capabilities'),
    badPartitionKeys: value('bad_partition_keys'),
    badQueueKeys: value('bad_queue_keys'),
    mac: macOf(value('mac_low'), value('mac_high')),
    gids: entries(
      gidsAt,
      GID_ENTRY_BYTES,
      value('gid_table_entries'),
      (entry) => decode('gid_entry', entry)['gid'] as Uint8Array,
    ),
    partitionKeys: entries(
      partitionKeysAt,
      PARTITION_KEY_ENTRY_BYTES,
      value('partition_key_table_entries'),
      (entry) => Number(decode('partition_key_entry', entry)['partition_key']),
    ),
  };
  return printedByName(attributes, {
    state: portStateNames,
    physicalState: portPhysicalStateNames,
    linkLayer: linkLayerNames,
    maximumMtu: pathMtuNames,
    activeMtu: pathMtuNames,
  });
}

/** Writes an entry of a port's P_Key table. @throws VerbsError EPERM, EINVAL */
export function setPartitionKey(
  management: ManagementQueue,
  port: number,
  index: number,
  partitionKey: number,
): void {
  management.execute({
    verb: 'setPartitionKey',
    opcode: ManagementOpcode.setPartitionKey,
    inputFormat: 'set_partition_key_input',
    input: [
      encodeArguments(
        'set_partition_key_input',
        { port, partition_key_index: index, partition_key: partitionKey },
        (field) => (field === 'partition_key_index' ? 'index' : argumentName(field)),
      ),
    ],
  });
}

function macOf(low: number, high: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(6));
  view.setUint32(0, low, true);
  view.setUint16(4, high, true);
  return new Uint8Array(view.buffer);
}
