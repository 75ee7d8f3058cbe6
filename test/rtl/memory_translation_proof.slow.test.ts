import { describe, expect, it } from 'vitest';

import { root, rtlSources } from './blocks.ts';
import { holds, type Proof } from './proof.ts';

const patient = { timeout: 600_000 };

/** A proof of some sources of the block. */
function proofOf(top: string, names: RegExp, parameters = {}): Proof {
  return {
    sources: [
      ...rtlSources('memory_translation').filter((source) => names.test(source)),
      `${root}fpga/formal/${top}.sv`,
    ],
    top,
    parameters,
  };
}
const bounds = (reaches: number): Proof =>
  proofOf('key_bounds', /(hca_spec_pkg|memory_translation_pkg|key_check|page_place)\.sv/, {
    REACHES: reaches,
  });
const epochs = (reaches: number): Proof => ({
  ...proofOf('translation_epochs', /(hca_spec_pkg|memory_translation_pkg|translation_control)\.sv/, {
    REACHES: reaches,
  }),
  gates: true,
});
const clocks = { bounds: 6, epochs: 24 };

describe('memory_translation', () => {
  it('emits no burst outside of its key, its access and its page', patient, (context) => {
    expect(holds(bounds(0), 'from reset', clocks.bounds, context)).toBe(true);
  });
  it.for([1, 2])('permits accesses, and bursts end with their page: %i', patient, (reaches, context) => {
    expect(holds(bounds(reaches), 'from reset', clocks.bounds, context)).toBe(false);
  });
  it.for([
    ['key_check', 'below_2 || beyond_2 || too_long', 'below_2 || too_long'],
    ['key_check', "64'(wanted_2) > room_2", "64'(wanted_2) > room_2 + 64'd1"],
    ['page_place', "{1'b0, mask_2 & ~in_page_2} + 32'd1", "{1'b0, mask_2 & ~in_page_2} + 32'd2"],
    ['page_place', "page_2[63:PLACE_WIDTH] == '0 && ", ''],
  ] as const)('would not with another %s: %s', patient, ([source, from, to], context) => {
    expect(holds({ ...bounds(0), fault: { source, from, to } }, 'from reset', clocks.bounds, context)).toBe(
      false,
    );
  });

  it('answers a command when no earlier access is in flight', patient, (context) => {
    expect(holds(epochs(0), 'from reset', clocks.epochs, context)).toBe(true);
  });
  it('answers commands after accesses', patient, (context) => {
    expect(holds(epochs(1), 'from reset', clocks.epochs, context)).toBe(false);
  });
  it.for([
    ["of_epoch_0 == '0 : of_epoch_1 == '0", "of_epoch_1 == '0 : of_epoch_0 == '0"],
    ['state == ENDS && is_drained', 'state == ENDS'],
    ['epoch <= !epoch;', 'epoch <= epoch;'],
    ['state == WAITS || state == SETTLES || state == ENDS', "1'b1"],
  ] as const)('fails with %s replaced', patient, ([from, to], context) => {
    expect(
      holds(
        { ...epochs(0), fault: { source: 'translation_control', from, to } },
        'from reset',
        clocks.epochs,
        context,
      ),
    ).toBe(false);
  });
});
