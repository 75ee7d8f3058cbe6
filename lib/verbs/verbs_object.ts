import { VerbsError } from '../driver/errors.ts';

/** A device that does not answer any more is reset when its context closes; what it had is gone with that. */
const goneCodes = ['ENODEV', 'ETIMEDOUT'];

/** An object of the verbs: it belongs to parents, which outlive it. */
export abstract class VerbsObject {
  private readonly parents: readonly VerbsObject[];
  private readonly children = new Set<VerbsObject>();
  private isClosed = false;

  /** @param parents must be open; they are not closed before this object is */
  protected constructor(parents: readonly VerbsObject[]) {
    this.parents = parents;
    for (const parent of parents) parent.children.add(this);
  }

  /** Kind and number: `queue pair 258`. */
  abstract readonly label: string;

  /** Whether the object was given back to the device. */
  get closed(): boolean {
    return this.isClosed;
  }

  /**
   * Gives the object back to the device. Twice is once.
   * @throws VerbsError EBUSY: something that was made of it is open
   */
  close(): void {
    if (this.isClosed) return;
    if (this.children.size > 0) throw this.busy();
    try {
      this.destroy();
    } catch (error) {
      const isGone = error instanceof VerbsError && goneCodes.includes(error.code);
      if (!isGone || this.parents.length === 0) throw error;
    }
    this.isClosed = true;
    this.ended();
    for (const parent of this.parents) parent.children.delete(this);
  }

  /** Closes what was made of the object, newest first, and then the object. */
  [Symbol.dispose](): void {
    for (const child of [...this.children].reverse()) child[Symbol.dispose]();
    this.close();
  }

  /** @throws VerbsError EBADF: one of them is closed */
  protected static requireOpen(verb: string, objects: readonly VerbsObject[]): void {
    for (const object of objects) object.requireOpen(verb);
  }

  /** @throws VerbsError EBADF: the object is closed */
  protected requireOpen(verb: string): void {
    if (!this.isClosed) return;
    throw new VerbsError(`${this.label} is closed`, { code: 'EBADF', verb, expected: 'an open object' });
  }

  /** Gives back what the device has of the object. */
  protected abstract destroy(): void;

  /** The object is closed, whether the device could be told of it or not. */
  protected ended(): void {}

  private busy(): VerbsError {
    const labels = [...this.children].map(({ label }) => label).join(', ');
    return new VerbsError(`${this.label} is in use by ${labels}`, {
      code: 'EBUSY',
      verb: 'close',
      expected: 'these closed first, or disposal, which closes them',
    });
  }
}
