import { QueuePairAttribute, QueuePairState, ServiceType, encode } from '../../lib/spec/index.ts';

type Fields = Parameters<typeof encode>[1];

/** Entries of a page list: pages from DMA page number `first` on. */
export function pageList(pages: number, first = 0x1000): Uint8Array {
  const list = new Uint8Array(pages * 8);
  for (let index = 0; index < pages; ++index)
    list.set(encode('page_table_entry', { valid: 1, page: BigInt(first + index) }), index * 8);
  return list;
}

/** Input of create_queue_pair: send and receive queue of 16 entries, and two pages of entries each. */
export function createInput(
  protectionDomain: number,
  serviceType: ServiceType,
  fields: Fields = {},
): Uint8Array[] {
  const input = {
    service_type: serviceType,
    send_queue_log2: 4,
    receive_queue_log2: 4,
    protection_domain: protectionDomain,
    send_queue_pages: 1,
    send_entry_pages: 2,
    receive_queue_pages: 1,
    receive_entry_pages: 2,
    ...fields,
  };
  const pages =
    input.send_queue_pages + input.send_entry_pages + input.receive_queue_pages + input.receive_entry_pages;
  return [encode('create_queue_pair_input', input), pageList(pages)];
}

/** A mask of attributes. */
export function maskOf(...attributes: QueuePairAttribute[]): number {
  return attributes.reduce<number>((mask, attribute) => mask | (1 << attribute), 0);
}

/** Attributes, each with a permitted value, whatever the mask. */
export function goodAttributes(mask: number, state: QueuePairState): Fields {
  return {
    attribute_mask: mask,
    state,
    path_mtu: 3,
    port: 1,
    partition_key_index: 0,
    access_flags: 7,
    destination_queue_pair: 0x123456,
    min_receiver_not_ready_timer: 12,
    receive_psn: 0xabcdef,
    timeout: 14,
    send_psn: 0x654321,
    max_read_atomic: 4,
    max_destination_read_atomic: 8,
    retry_count: 6,
    receiver_not_ready_retry: 7,
    queue_key: 0x1234_5678,
    address_vector: encode('address_vector', { port: 1, service_level: 3, hop_limit: 64 }),
  };
}

/** The position of a field of a format: the first bit that is 1 if only this field is set. */
export function bitOf(format: string, field: string): bigint {
  const bytes = encode(format, { [field]: 1 });
  const at = bytes.findIndex((byte) => byte !== 0);
  return BigInt(at * 8 + Math.log2(bytes[at]!));
}
