const ethernetLinkType = 1;
const erfLinkType = 197;
const erfInfiniband = 21; // the record type

/** A capture of Ethernet frames, in the pcap format. */
export function ethernetCapture(packets: readonly Uint8Array[]): Uint8Array {
  return pcapOf(ethernetLinkType, packets);
}

/**
 * A capture of InfiniBand packets, in the pcap format: each as a record of the extensible record format (ERF), which tshark
 * reads, while it does not read InfiniBand's own link type.
 */
export function infinibandCapture(packets: readonly Uint8Array[]): Uint8Array {
  const records = packets.map((packet) => {
    const header = new DataView(new ArrayBuffer(16));
    header.setUint8(8, erfInfiniband);
    header.setUint8(9, 4); // records differ in length
    header.setUint16(10, 16 + packet.length);
    header.setUint16(14, packet.length);
    return Uint8Array.of(...new Uint8Array(header.buffer), ...packet);
  });
  return pcapOf(erfLinkType, records);
}

function pcapOf(linkType: number, packets: readonly Uint8Array[]): Uint8Array {
  const header = new DataView(new ArrayBuffer(24));
  header.setUint32(0, 0xa1b2c3d4, true);
  header.setUint16(4, 2, true); // version 2.4
  header.setUint16(6, 4, true);
  header.setUint32(16, 0xffff, true); // longest packet
  header.setUint32(20, linkType, true);
  const records = packets.flatMap((packet) => {
    const record = new DataView(new ArrayBuffer(16));
    record.setUint32(8, packet.length, true);
    record.setUint32(12, packet.length, true);
    return [new Uint8Array(record.buffer), packet];
  });
  return Buffer.concat([new Uint8Array(header.buffer), ...records]);
}
