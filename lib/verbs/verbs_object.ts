import { VerbsError } from '../driver/errors.ts';

/** A device that no longer answers is reset when its context closes, which removes all its objects. */
const goneCodes = ['ENODEV', 'ETIMEDOUT'];

/** Base class of the verbs' objects. An object belongs to parents, which outlive it. */
export abstract class VerbsObject {
  private readonly parents: readonly VerbsObject[];
  private readonly children = new Set<VerbsObject>();
  private isClosed = false;

  /** @param parents must be open; each can only be closed after this object */
  protected constructor(parents: readonly VerbsObject[]) {
    this.parents = parents;
    for (const parent of parents) parent.children.add(this);
  }

  /** Kind and number, for example `queue pair 258`. */
  abstract readonly label: string;

  /** Whether close() has been called. */
  get closed(): boolean {
    return this.isClosed;
  }

  /**
   * Returns the object to the device. A second call has no effect.
   * @throws VerbsError EBUSY: an object that depends on it is open
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

  /** Closes the dependent objects, newest first, and then the object. */
  [Symbol.dispose](): void {
    for (const child of [...this.children].reverse()) child[Symbol.dispose]();
    this.close();
  }

  /** @throws VerbsError EBADF: a parent is closed */
  protected static requireOpen(verb: string, objects: readonly VerbsObject[]): void {
    for (const object of objects) object.requireOpen(verb);
  }

  /** @throws VerbsError EBADF: the object is closed */
  protected requireOpen(verb: string): void {
    if (this.isClosed) throw this.notOpen(verb);
  }

  /** Releases the device's part of the object. */
  protected abstract destroy(): void;

  /** The object is closed, even if the device did not answer. */
  protected ended(): void {}

  private notOpen(verb: string): VerbsError {
    return new VerbsError(`${this.label} is closed`, { code: 'EBADF', verb, expected: 'an open object' });
  }

  private busy(): VerbsError {
    const labels = [...this.children].map(({ label }) => label).join(', ');
    return new VerbsError(`${this.label} is in use by ${labels}`, {
      code: 'EBUSY',
      verb: 'close',
      expected: 'these closed first, or disposal, which closes them',
    });
  }
}
