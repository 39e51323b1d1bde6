/** A body being read: it counts its bytes, and ends with an error when its sender breaks a limit or goes away. */
export interface RequestBody extends AsyncIterable<Buffer> {
  readonly bytes: number;
  /** Why it ended before it was complete; null as long as it has not. */
  readonly failure: Error | null;
  /**
   * The sender's pace as a fraction of the lowest that is accepted while others wait to be received; below 1 it is too slow.
   * Only the sender's own time counts.
   */
  sufficiency(): number;
  /** Ends it before it is complete; does nothing when it has ended. */
  fail(error: Error): void;
  /** Calls the listener once when the body ends before it is complete, also while nothing reads it. */
  onFailure(listener: () => void): void;
}

/** The connection closed before the body was complete, so that no response can be sent. */
export class BodyAbortedError extends Error {
  constructor(options?: { cause?: unknown }) {
    super('the connection closed before the body was complete', options);
    this.name = 'BodyAbortedError';
  }
}
