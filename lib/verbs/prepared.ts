import type { PreparedEntry } from '../driver/receive_area.ts';
import type { PreparedCommand } from '../driver/send_queue.ts';

/** The queue that takes prepared send work requests. */
interface SendPoster {
  postPreparedSend(command: PreparedCommand, wrId: number | bigint): void;
}

/** The queue that takes prepared receive work requests. */
interface ReceivePoster {
  postPreparedReceive(entry: PreparedEntry, wrId: number | bigint): void;
}

/** A send work request that is checked and encoded once and can be posted many times: {@link QueuePair.prepareSend}. */
export class PreparedSend {
  private readonly queuePair: SendPoster;
  private readonly command: PreparedCommand;

  /** {@link QueuePair.prepareSend} makes them. */
  constructor(queuePair: SendPoster, command: PreparedCommand) {
    this.queuePair = queuePair;
    this.command = command;
  }

  /**
   * Posts the work request again, as {@link QueuePair.postSend} does.
   * @param wrId default: that of the request
   * @throws VerbsError ENOMEM: the send queue is full; EINVAL: the queue pair's state does not allow it; EBADF: the queue pair is closed;
   * RangeError: wrId
   */
  post(wrId: number | bigint = this.command.wrId): void {
    this.queuePair.postPreparedSend(this.command, wrId);
  }
}

/** A receive work request that is checked and encoded once: {@link QueuePair.prepareReceive}, {@link SharedReceiveQueue.prepareReceive}. */
export class PreparedReceive {
  private readonly queue: ReceivePoster;
  private readonly entry: PreparedEntry;

  /** {@link QueuePair.prepareReceive} and {@link SharedReceiveQueue.prepareReceive} make them. */
  constructor(queue: ReceivePoster, entry: PreparedEntry) {
    this.queue = queue;
    this.entry = entry;
  }

  /**
   * Posts the work request again, as `postReceive` does.
   * @param wrId default: that of the request
   * @throws VerbsError ENOMEM: the queue is full; EINVAL: the queue pair is in RESET; EBADF: it is closed; RangeError: wrId
   */
  post(wrId: number | bigint = this.entry.wrId): void {
    this.queue.postPreparedReceive(this.entry, wrId);
  }
}
