import { describe, expect, it } from 'vitest';

import { blocks, bytesOf, links, type Link } from '../helpers/wiring.ts';
import { encode } from '../../lib/spec/codec.ts';
import { ReceiveAction, RegionType } from '../../lib/spec/enums.ts';
import { CONTROL_DATA_UNITS_RECEIVE_QUEUE_ENTRY_HANDLER_OFFSET } from '../../lib/spec/registers.ts';
import { makeHca, type HcaPort } from '../helpers/hca_port.ts';

const unit = (link: Link, value = 0): Uint8Array => new Uint8Array(bytesOf(link)).fill(value);
/** A unit without a packet, of a queue pair that does not exist. */
const flush = (queue_pair_number: number): Uint8Array =>
  encode('receive_unit', { packet: 0xffff, action: ReceiveAction.flush, queue_pair_number });

/** Data units that have left the block that takes accepted requests. */
const placed = (hca: HcaPort): number =>
  hca.read(RegionType.control, 0, CONTROL_DATA_UNITS_RECEIVE_QUEUE_ENTRY_HANDLER_OFFSET);

const device = (): HcaPort => makeHca({ memoryBytes: 1 << 20 });

/** Blocks that are awake; the others sleep. */
const awake = (hca: HcaPort): string[] => blocks.filter((block) => hca.isAwake(block));

/** With nothing in flight, a step puts a block to sleep. */
function sleepAll(hca: HcaPort): void {
  for (const block of blocks) hca.stepBlock(block);
  expect(awake(hca)).toEqual([]);
}

describe('links of a device', () => {
  it.for(links)('$name takes as many data units as it is deep, in order', (link) => {
    const { name, depth } = link;
    const hca = device();
    for (let left = Number(depth); left > 0; left--) {
      expect(hca.credits(name)).toBe(left);
      hca.push(name, unit(link, left));
    }
    expect(() => hca.push(name, unit(link))).toThrow('no credit');
    for (let left = Number(depth); left > 0; left--) expect(hca.pop(name)).toEqual(unit(link, left));
    expect(hca.pop(name)).toBeNull();
    expect(hca.credits(name)).toBe(Number(depth));
  });

  it.for(links)('$name wakes its consumer, and its producer when a missing credit returns', (link) => {
    const hca = device();
    sleepAll(hca);
    hca.push(link.name, unit(link));
    expect(awake(hca)).toEqual([link.consumer]);
    for (let left = Number(link.depth); left > 1; left--) hca.push(link.name, unit(link));
    hca.pop(link.name);
    hca.push(link.name, unit(link));
    expect(awake(hca)).toEqual([link.consumer]);
    expect(() => hca.push(link.name, unit(link))).toThrow('no credit');
    hca.pop(link.name);
    // Before each write the board checks whether collect_buffer has credits.
    const woken = link.producer === 'collect_buffer' ? [] : [link.producer];
    expect(awake(hca)).toEqual(blocks.filter((block) => [link.consumer, ...woken].includes(block)));
  });

  it('an empty one is bypassed to the next block, which leaves nothing for a step', () => {
    const hca = device();
    sleepAll(hca);
    hca.push('requests_accepted', flush(1));
    expect(hca.stepBlock('receive_queue_entry_handler')).toBe(false);
    expect(hca.pop('requests_placed')).toBeNull();
    expect(placed(hca)).toBe(1);
  });

  it('a link with units is not bypassed: first in, first out', () => {
    const hca = device();
    hca.push('requests_placed', flush(1));
    hca.push('requests_accepted', flush(2));
    hca.push('requests_accepted', flush(3));
    while (hca.stepBlock('receive_queue_entry_handler'));
    for (const number of [1, 2, 3]) expect(hca.pop('requests_placed')).toEqual(flush(number));
    expect(hca.pop('requests_placed')).toBeNull();
    expect(placed(hca)).toBe(3);
  });

  it('have their names', () => {
    const hca = device();
    expect(() => hca.credits('quack')).toThrow('the device has no link quack');
    expect(() => hca.stepBlock('packet_memory')).toThrow('no block packet_memory that steps');
    expect(() => hca.push('answers', new Uint8Array(3))).toThrow('3 B were given; the format has');
  });
});
