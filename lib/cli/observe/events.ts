import { eventTypeNames, type EventType } from '../../spec/index.ts';
import { eventText } from '../../watch/event_text.ts';
import type { Output } from '../output/output.ts';
import type { Scope } from '../scope.ts';
import { Losses, observe, repeat } from './watching.ts';

/**
 * `hca events`: prints asynchronous events of the observed function, or of all functions through the control function, as they arrive, like
 * ibv_asyncwatch. JSON: a line for each: {underlyingFunction, type, reason, offset, object, detail, timestamp}, or {lost}.
 */
export async function events(output: Output, deviceString: string, scope: Scope): Promise<void> {
  const expected = '--device serve:NAME, as hca list shows it';
  const observer = observe(scope, deviceString, 'events', expected);
  const watch = observer.watchEvents();
  const losses = new Losses();
  const { controlPage, underlyingFunction, identity } = observer.device;
  const whose = controlPage === undefined ? `function ${underlyingFunction}` : 'all functions';
  output.text(`${deviceString}: asynchronous events of ${whose}; Ctrl+C ends it\n`);
  await repeat(scope.signal, () => {
    for (const event of watch.take()) {
      output.value({ ...event, type: eventTypeNames[event.type as EventType] ?? event.type });
      output.text(`${eventText(event, identity.clockFrequency)}\n`);
    }
    const lost = losses.since(watch.lost);
    if (lost === 0) return;
    output.value({ lost });
    output.text(`${lost} events lost: they arrive faster than this command reads them\n`);
  });
}
