/** Something that takes a place in a work queue. */
export interface Operation {
  /** Posts it. An error that it throws rejects the operation. */
  readonly post: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The places in a work queue: an operation that finds none, or others that wait, waits for its turn. */
export class WorkQueueSlots {
  private places: number;
  private readonly waiting = new Set<Operation>();

  /** @param places operations that may be under way */
  constructor(places: number) {
    this.places = places;
  }

  /** Whether the next operation has to wait. */
  get full(): boolean {
    return this.places === 0;
  }

  /** Posts an operation, now or when its turn comes. */
  enter(operation: Operation): void {
    this.waiting.add(operation);
    this.postWaiting();
  }

  /** An operation is not wanted any more: if it is not posted yet, it will not be. */
  leave(operation: Operation): void {
    this.waiting.delete(operation);
  }

  /** An operation that was posted is done. */
  done(): void {
    this.places += 1;
    this.postWaiting();
  }

  /** None will have its turn. */
  abandon(reason: unknown): void {
    const abandoned = [...this.waiting];
    this.waiting.clear();
    for (const { reject } of abandoned) reject(reason);
  }

  private postWaiting(): void {
    for (const operation of this.waiting) {
      if (this.places === 0) return;
      this.waiting.delete(operation);
      try {
        operation.post();
        this.places -= 1;
      } catch (error) {
        operation.reject(error);
      }
    }
  }
}
