import type { Context } from '../../index.ts';
import { openTwoBoards } from '../two_boards.ts';
import { End, type EndOptions } from './end.ts';

/** The one that begins, and its peer. */
export type Ends = readonly [client: End, server: End];

/** Connects two ends in this process for as long as `measure` runs. */
export async function withEnds<Result>(
  deviceString: string,
  options: EndOptions,
  measure: (ends: Ends, contexts: readonly [Context, Context]) => Promise<Result>,
): Promise<Result> {
  const contexts = openTwoBoards(deviceString);
  try {
    const [client, server] = contexts.map((context) => new End(context, options)) as [End, End];
    client.connect(server.address);
    server.connect(client.address);
    const result = await measure([client, server], contexts);
    for (const end of [client, server]) end.close();
    return result;
  } finally {
    for (const context of new Set(contexts)) context[Symbol.dispose]();
  }
}
