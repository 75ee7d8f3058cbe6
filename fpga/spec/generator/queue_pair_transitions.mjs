// Queue pair transitions: attributes that each requires and allows, for the device and the driver.
import { header, inNamespace } from './cpp.mjs';
import { camelCase, pascalCase } from './names.mjs';
import { hex, notice } from './text.mjs';

/** The enums that each key of a transition takes its values from. */
export const enumsOfTransition = {
  service: 'service_type',
  from: 'queue_pair_state',
  to: 'queue_pair_state',
  required: 'queue_pair_attribute',
  optional: 'queue_pair_attribute',
};

/** queue_pair_transitions.h */
export function cppQueuePairTransitions({ enums, queuePairTransitions }) {
  const { doc, source, entries } = queuePairTransitions;
  const bitOf = new Map(
    enums
      .find(({ name }) => name === 'queue_pair_attribute')
      .values.map(({ name, value }) => [name, 1n << value]),
  );
  const mask = (attributes) => `${hex(attributes.reduce((bits, name) => bits | bitOf.get(name), 0n))}u`;
  const value = (key, entry) => `${pascalCase(enumsOfTransition[key])}::${entry[key]}`;
  const rows = entries.map(
    (entry) =>
      `    {${['service', 'from', 'to'].map((key) => value(key, entry)).join(', ')}, ${mask(entry.required)}, ${mask(entry.optional)}},\n`,
  );
  return header(
    ['<cstdint>', '"spec/enums.h"'],
    inNamespace(`/// State transition of a queue pair. Attributes are bits of QueuePairAttribute.
struct QueuePairTransition {
  ServiceType service;
  QueuePairState from;
  QueuePairState to;
  uint32_t required;
  uint32_t optional;
};

/// ${doc} Source: ${source}.
inline constexpr QueuePairTransition queue_pair_transitions[] = {
${rows.join('')}};
`),
  );
}

/** queue_pair_transitions.ts */
export function tsQueuePairTransitions({ queuePairTransitions }) {
  const { doc, source, entries } = queuePairTransitions;
  const value = (key, entry) => `${pascalCase(enumsOfTransition[key])}.${camelCase(entry[key])}`;
  const names = (attributes) => `[${attributes.map((name) => `'${camelCase(name)}'`).join(', ')}]`;
  const rows = entries.map(
    (entry) => `  {
    service: ${value('service', entry)},
    from: ${value('from', entry)},
    to: ${value('to', entry)},
    required: ${names(entry.required)},
    optional: ${names(entry.optional)},
  },
`,
  );
  return `// ${notice}
import { QueuePairState, ServiceType, type QueuePairAttribute } from './enums.ts';

/** Name of an attribute of a queue pair. */
export type QueuePairAttributeName = keyof typeof QueuePairAttribute;

/** State transition of a queue pair. */
export interface QueuePairTransition {
  readonly service: ServiceType;
  readonly from: QueuePairState;
  readonly to: QueuePairState;
  readonly required: readonly QueuePairAttributeName[];
  readonly optional: readonly QueuePairAttributeName[];
}

/** ${doc} Source: ${source}. */
export const queuePairTransitions: readonly QueuePairTransition[] = [
${rows.join('')}];
`;
}

/** The table of formats.md. */
export function queuePairTransitionsTable({ queuePairTransitions }) {
  const { doc, source, entries } = queuePairTransitions;
  const list = (names) => (names.length === 0 ? '–' : names.join(', '));
  const rows = entries.map(
    ({ service, from, to, required, optional }) =>
      `| ${service} | ${from} | ${to} | ${list(required)} | ${list(optional)} |\n`,
  );
  return `## Queue pair transitions

${doc} Source: ${source}.

| service | from | to | required | optional |
| --- | --- | --- | --- | --- |
${rows.join('')}`;
}
