import { loadTestAddon } from '../helpers/test_addon.ts';
import type { HostMethods } from '../helpers/hosted_port.ts';

/** native/link/link.h */
export const Lane = { responses: 0, requests: 1 } as const;
export type Lane = (typeof Lane)[keyof typeof Lane];

/** The link's answer to a packet: link::SendResult, or that no link is attached. */
export const LinkState = { none: -1, sent: 0, paused: 1, unreachable: 2 } as const;

/** PacketUse of native/hca/port/packet_memory.h */
export const PacketUse = { request: 0, response: 1, receive: 2 } as const;

/** A packet that packet_receiver has passed on, with some of its fields. */
export interface PassedPacket {
  unit: Uint8Array;
  payload: Uint8Array;
  packetSequenceNumber: number;
  acknowledgeRequest: boolean;
  forwardCongestion: boolean;
  remoteKey: number;
  syndrome: number;
}

export interface WireOptions {
  memoryBytes: number;
  ports?: number;
  linkLayer?: number;
  boardNumber?: number;
}

export interface WireCounters {
  packetsOut: number;
  bytesOut: number;
  packetsIn: number;
  bytesIn: number;
  packetsLooped: number;
  /** By port_discard. */
  discards: number[];
  congestionNotifications: number;
}

/**
 * port and packet_receiver, each stepped separately; the test is the link at port 1: native/test/wire_port.h.
 */
export interface WirePort extends HostMethods {
  mac(port: number, underlyingFunction: number): Uint8Array;
  localIdentifier(port: number, underlyingFunction: number): number;
  gid(port: number, underlyingFunction: number, index: number): Uint8Array;
  setEnabled(port: number, enabled: boolean): void;
  setPartitionKey(port: number, index: number, partitionKey: number): void;
  setDiscardLimit(ticks: bigint): void;

  createQueuePair(underlyingFunction: number, control: Uint8Array): number;
  quiesce(queuePairNumber: number): void;
  pins(queuePairNumber: number): number;

  /** Passes a finished packet to the port; false: no buffer or credit. */
  build(port: number, lane: Lane, packet: Uint8Array): boolean;
  /** A packet arrives on the link. */
  arrive(lane: Lane, packet: Uint8Array): void;
  setLink(state: number): void;
  /** The link has no room on a lane, or has room again. */
  setPaused(lane: Lane, paused: boolean): void;
  /** The number of packets that the link accepts from now on until it pauses. */
  setRoom(packets: number): void;
  /** Permits several packets to leave in a step; nothing else sees the packets then. */
  allowTrains(): void;
  takeSent(): { lane: Lane; data: Uint8Array }[];
  /** In place of packet_receiver: takes up to this number of arrived packets. */
  takeArrived(count: number): Uint8Array[];
  /** In place of completion and receive: takes up to this number of packets, and ends them. */
  takePassed(lane: Lane, count: number): PassedPacket[];
  takeTapped(): { direction: 'in' | 'out'; port: number; data: Uint8Array }[];

  stepPort(): boolean;
  stepReceiver(): boolean;
  /** Whether the port was woken after its last step. */
  isAwake(): boolean;
  nextDeadline(): bigint;
  freeBuffers(use: number): number;
  counters(port: number): WireCounters;
  /** By packet_drop. */
  dropped(): number[];
  verify(): boolean;
}

interface WireAddon {
  WirePort: new (options: WireOptions) => WirePort;
}

export function makeWirePort(options: Partial<WireOptions> = {}): WirePort {
  return new (loadTestAddon() as WireAddon).WirePort({ memoryBytes: 4096, ...options });
}

/** Steps the port until it has nothing to do. */
export function runPort(port: WirePort): void {
  for (let steps = 0; port.stepPort(); steps += 1)
    if (steps > 100_000) throw new Error('the port does not come to rest');
}

export function runReceiver(port: WirePort): void {
  for (let steps = 0; port.stepReceiver(); steps += 1)
    if (steps > 100_000) throw new Error('packet_receiver does not come to rest');
}
