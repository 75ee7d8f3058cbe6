/** An operation that needs a slot of a work queue. */
export interface Operation {
  /** Posts it. An error that it throws rejects the operation. */
  readonly post: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The slots of a work queue. An operation waits for its turn if no slot is free or other operations wait. */
export class WorkQueueSlots {
  private places: number;
  private readonly waiting = new Set<Operation>();

  /** @param places maximum number of outstanding operations */
  constructor(places: number) {
    this.places = places;
  }

  /** Whether the next operation must wait. */
  get full(): boolean {
    return this.places === 0;
  }

  /** Posts an operation now, or when its turn comes. */
  enter(operation: Operation): void {
    this.waiting.add(operation);
    this.postWaiting();
  }

  /** Cancels an operation: it is not posted if it has not been already. */
  leave(operation: Operation): void {
    this.waiting.delete(operation);
  }

  /** Frees the slot of a completed operation. */
  done(): void {
    this.places += 1;
    this.postWaiting();
  }

  /** Drops all waiting operations. */
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
