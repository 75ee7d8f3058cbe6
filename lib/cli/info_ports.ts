import type { PortAttributes } from '../driver/port.ts';
import {
  ADDRESS_HANDLES,
  COMMAND_PAYLOAD_BYTES,
  GATHER_ENTRIES,
  LinkLayer,
  MULTICAST_MEMBERS,
  PathMtu,
  PortPhysicalState,
  PortState,
  READ_ATOMIC_MAXIMUM,
  SHARED_RECEIVE_QUEUES,
} from '../spec/index.ts';
import { gidText } from '../watch/gid_text.ts';

type Entry = readonly [name: string, value: string];

/** Values as ibv_devinfo prints them: the specification's name and its number. */
const states: Readonly<Record<number, string>> = {
  [PortState.down]: 'PORT_DOWN',
  [PortState.initialize]: 'PORT_INIT',
  [PortState.armed]: 'PORT_ARMED',
  [PortState.active]: 'PORT_ACTIVE',
};
const physicalStates: Readonly<Record<number, string>> = {
  [PortPhysicalState.polling]: 'POLLING',
  [PortPhysicalState.disabled]: 'DISABLED',
  [PortPhysicalState.linkUp]: 'LINK_UP',
};
const linkLayers: Readonly<Record<number, string>> = {
  [LinkLayer.infiniband]: 'InfiniBand',
  [LinkLayer.ethernet]: 'Ethernet',
};
const smallestMtu = 256;
/** Lanes and speed of a lane by their codes in PortInfo (InfiniBand volume 1, 14.2.5.6). */
const widths: Readonly<Record<number, string>> = { 1: '1X', 2: '4X', 4: '8X', 8: '12X', 16: '2X' };
const speeds: Readonly<Record<number, string>> = {
  1: '2.5 Gbps',
  2: '5.0 Gbps',
  4: '10.0 Gbps',
  8: '10.0 Gbps',
  16: '14.0 Gbps',
  32: '25.0 Gbps',
  64: '50.0 Gbps',
  128: '100.0 Gbps',
};

const named = (names: Readonly<Record<number, string>>, value: number): string =>
  `${names[value] ?? 'unknown'} (${value})`;
const hex = (value: number, digits = 0): string => `0x${value.toString(16).padStart(digits, '0')}`;
const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
const mtuText = (mtu: PathMtu): string => `${smallestMtu << (mtu - PathMtu.mtu256)} (${mtu})`;

/** Limits of the command format, equal on every board, by the names of ibv_devinfo. */
export const formatLimits: readonly Entry[] = [
  ['max_sge', `${GATHER_ENTRIES}`],
  ['max_inline_data', `${COMMAND_PAYLOAD_BYTES}`],
  ['max_qp_rd_atom', `${READ_ATOMIC_MAXIMUM}`],
  ['max_srq', `${SHARED_RECEIVE_QUEUES}`],
  ['max_srq_sge', `${GATHER_ENTRIES}`],
  ['max_ah', `${ADDRESS_HANDLES}`],
  ['max_mcast_qp_attach', `${MULTICAST_MEMBERS}`],
  ['atomic_cap', 'ATOMIC_HCA (1)'],
];

/** A port as `ibv_devinfo -v` describes it, with its GIDs and P_Keys. */
export function portEntries(port: number, attributes: PortAttributes): Entry[] {
  const { linkLayer, gids, partitionKeys, mac } = attributes;
  return [
    ['port', `${port}`],
    ['  state', named(states, attributes.state)],
    ['  phys_state', named(physicalStates, attributes.physicalState)],
    ['  max_mtu', mtuText(attributes.maximumMtu)],
    ['  active_mtu', mtuText(attributes.activeMtu)],
    ['  sm_lid', `${attributes.subnetManagerLocalIdentifier}`],
    ['  port_lid', `${attributes.localIdentifier}`],
    ['  port_lmc', hex(attributes.localIdentifierMaskControl, 2)],
    ['  link_layer', linkLayers[linkLayer] ?? `${linkLayer}`],
    ...(isZero(mac) ? [] : ([['  mac', macText(mac)]] as const)),
    ['  max_msg_sz', hex(attributes.maximumMessageBytes)],
    ['  port_cap_flags', hex(attributes.capabilities, 8)],
    ['  max_vl_num', `${attributes.virtualLanes}`],
    ['  bad_pkey_cntr', `${attributes.badPartitionKeys}`],
    ['  qkey_viol_cntr', `${attributes.badQueueKeys}`],
    ['  active_width', named(widths, attributes.activeWidth)],
    ['  active_speed', named(speeds, attributes.activeSpeed)],
    ['  pkey_tbl_len', `${partitionKeys.length}`],
    ['  gid_tbl_len', `${gids.length}`],
    ...partitionKeys.flatMap((key, index): Entry[] =>
      key === 0 ? [] : [[`  P_Key[${index}]`, hex(key, 4)]],
    ),
    ...gids.flatMap((gid, index): Entry[] => {
      const kind = linkLayer === LinkLayer.ethernet ? ', RoCE v2' : '';
      return isZero(gid) ? [] : [[`  GID[${index}]`, `${gidText(gid)}${kind}`]];
    }),
  ];
}

/** The same for JSON, with addresses as text. */
export function portValue(attributes: PortAttributes) {
  const { gids, mac, ...rest } = attributes;
  const addresses = gids.flatMap((gid, index) => (isZero(gid) ? [] : [{ index, gid: gidText(gid) }]));
  return {
    ...rest,
    state: states[rest.state],
    physicalState: physicalStates[rest.physicalState],
    linkLayer: linkLayers[rest.linkLayer],
    maximumMtu: smallestMtu << (rest.maximumMtu - PathMtu.mtu256),
    activeMtu: smallestMtu << (rest.activeMtu - PathMtu.mtu256),
    ...(isZero(mac) ? {} : { mac: macText(mac) }),
    gids: addresses,
  };
}

const macText = (mac: Uint8Array): string =>
  Array.from(mac, (byte) => byte.toString(16).padStart(2, '0')).join(':');
