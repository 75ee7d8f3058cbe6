import type { Conversation } from '../conversation.ts';
import { drive, type Driving, type Side } from './drive.ts';

/** Milliseconds between two `alive` messages to an end that waits for the measurement. */
const pulse = 1000;

/**
 * Drives the sides of this end until they and those of the other end, in another process, are done.
 * @param tell value for the other end then @returns the value of the other end
 * @throws as drive; Error the other end has disconnected or failed, or is silent for too long
 */
export async function driveWithPeer<Tally extends object>(
  conversation: Conversation,
  sides: readonly Side[],
  driving: Driving,
  tell: () => Tally,
): Promise<Tally> {
  conversation.say('ready');
  await conversation.receive('ready');
  const companion = new Companion<Tally>(sides, conversation, tell);
  const alive = setInterval(() => conversation.say('alive'), pulse);
  try {
    // Each promise ends one sleep.
    await driveUntil([companion.settled, conversation.over], [...sides, companion], driving);
  } finally {
    clearInterval(alive);
  }
  return companion.tally!;
}

/** As {@link drive}; a promise of `wakes` also ends its sleep. */
async function driveUntil(
  wakes: readonly AbortSignal[],
  sides: readonly Side[],
  driving: Driving,
): Promise<void> {
  const signal = AbortSignal.any([driving.signal, ...wakes]);
  try {
    await drive(sides, { ...driving, signal });
  } catch (error) {
    const isWoken = error instanceof Error && error.name === 'AbortError' && !driving.signal.aborted;
    if (!isWoken) throw error;
    const rest = wakes.filter(({ aborted }) => !aborted);
    await driveUntil(rest, sides, driving);
  }
}

/** Informs the other end when the sides of this end are done; is done when the other end has done the same. */
class Companion<Tally extends object> implements Side {
  tally: Tally | undefined;
  private readonly sides: readonly Side[];
  private readonly conversation: Conversation;
  private readonly tell: () => Tally;
  private readonly tallyReceived = new AbortController();
  private said = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(sides: readonly Side[], conversation: Conversation, tell: () => Tally) {
    this.sides = sides;
    this.conversation = conversation;
    this.tell = tell;
    void this.listen();
  }

  /** Aborted when the other end is done, or has failed. */
  get settled(): AbortSignal {
    return this.tallyReceived.signal;
  }

  get done(): boolean {
    return this.said && this.tally !== undefined;
  }

  advance(): boolean {
    if (this.failure !== undefined) throw this.failure.error;
    const isMissed = this.tally !== undefined && !this.said; // the other end waits for this one
    if (isMissed && this.conversation.over.aborted) throw this.conversation.whyOver();
    if (this.said || !this.sides.every(({ done }) => done)) return false;
    this.said = true;
    this.conversation.say('done', this.tell());
    return true;
  }

  private async listen(): Promise<void> {
    try {
      this.tally = await this.conversation.receive<Tally>('done');
    } catch (error) {
      this.failure = { error };
    }
    this.tallyReceived.abort();
  }
}
