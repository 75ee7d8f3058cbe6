import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { conformanceDocument } from './document.ts';
import { sections } from './sections.ts';
import { Stage } from './stage.ts';

for (const { role, subject, rows } of sections)
  describe.each([
    ['from PSN 201', 201],
    ['across the wrap of the PSNs', 0xff_fffe],
  ])(`${role}: ${subject}, %s`, (_, start) => {
    it.for(rows.map((row) => [row.what, row] as const))('%s', ([, row]) => {
      const stage = new Stage(row, start);
      for (const step of row.steps) {
        const { out = [], sent = [], received = [] } = step;
        expect({ step, ...stage.play(step) }).toEqual({ step, out, sent, received });
      }
      expect(stage.state).toBe(row.state ?? 'RTS');
      expect(stage.wrongMemories(row.memory ?? [])).toEqual([]);
    });
  });

it('docs/transport-conformance.md matches the table', async () => {
  const page = fileURLToPath(new URL('../../docs/transport-conformance.md', import.meta.url));
  await expect(conformanceDocument()).toMatchFileSnapshot(page);
});
