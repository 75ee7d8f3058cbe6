import { expect, it } from 'vitest';

import { Completion, EventType, Opcode, type CompletionQueue, type QueuePair } from '../../lib/index.ts';
import { describeOnBackends, settle } from '../helpers/backends.ts';
import { makeFailedQueuePair, makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

describeOnBackends('a completion channel', (backend) => {
  interface End {
    readonly queue: CompletionQueue;
    readonly queuePair: QueuePair;
  }
  /** A channel with `count` completion queues, and a queue pair for each whose work requests are flushed. */
  function makeChannel(count: number) {
    const verbs = makeVerbs(backend);
    const channel = verbs.context.createCompletionChannel();
    const ends = Array.from({ length: count }, (): End => {
      const queue = verbs.context.createCompletionQueue({ entries: 8, channel });
      return { queue, queuePair: makeFailedQueuePair({ ...verbs, completionQueue: queue }) };
    });
    return { verbs, channel, ends };
  }
  function post({ board }: Verbs, { queuePair }: End, wrId = 0): void {
    queuePair.postSend({ opcode: Opcode.send, wrId });
    if (backend === stepped) board.runUntilIdle();
  }

  it('returns the queue of a completion that arrives during or after the wait', async () => {
    const { verbs, channel, ends } = makeChannel(3);
    const completion = new Completion();
    for (let round = 0; round < 12; round++) {
      const end = ends[round % 3]!;
      const wait = channel.wait({ timeout: 10_000 });
      post(verbs, end, round);
      expect(await wait).toBe(end.queue);
      expect(await channel.wait()).toBe(end.queue);
      expect(end.queue.poll([completion])).toBe(1);
      expect(completion.wrId).toBe(round);
    }
  });

  it('returns queues with completions in turn', async () => {
    const { verbs, channel, ends } = makeChannel(3);
    for (const end of ends) {
      post(verbs, end);
      await end.queue.wait();
    }
    const given: CompletionQueue[] = [];
    for (let times = 0; times < 6; times++) given.push(await channel.wait());
    expect(given.map((queue) => ends.findIndex((end) => end.queue === queue))).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it('loses nothing on an abort or timeout, and returns a failed queue', async () => {
    const { verbs, channel, ends } = makeChannel(2);
    await expect(channel.wait({ timeout: 1 })).rejects.toMatchObject({ name: 'TimeoutError' });
    const stop = new AbortController();
    const aborted = channel.wait({ signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    const wait = channel.wait();
    for (let times = 0; times < 12; times++) post(verbs, ends[1]!);
    expect(await wait).toBe(ends[1]!.queue);
    const { board, context } = verbs;
    settle(board, backend, () => context.pollEvent()?.type === EventType.completionQueueError);
    const completions = Array.from({ length: 16 }, () => new Completion());
    const reason: unknown = await (async () => {
      for (;;) (await channel.wait({ timeout: 10_000 })).poll(completions);
    })().catch((error: unknown) => error);
    expect(reason).toMatchObject({ code: 'EOVERFLOW' });
    expect(ends[0]!.queue.poll(completions)).toBe(0);
  });

  it('belongs to its context, and its queues to it', async () => {
    const { verbs, channel, ends } = makeChannel(1);
    expect(() => channel.close()).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    expect(() => makeVerbs(backend).context.createCompletionQueue({ channel })).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'channel' }),
    );
    const wait = channel.wait();
    ends[0]!.queuePair.close();
    ends[0]!.queue.close();
    await expect(wait).rejects.toMatchObject({ name: 'AbortError' });
    await expect(channel.wait()).rejects.toMatchObject({ code: 'EINVAL', attribute: 'channel' });
    channel.close();
    await expect(channel.wait()).rejects.toMatchObject({ code: 'EBADF' });
    expect(() => verbs.context.createCompletionQueue({ channel })).toThrow(/completion channel is closed/);
  });
});
