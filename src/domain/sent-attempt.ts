/**
 * How an event ended: it was delivered, the answer was final (410), it failed for 24 hours, it failed in a replay, which tries it once, or
 * it was dropped because its job was erased or its ledger line is gone. A sender may retry an event that failed in a replay.
 */
export const EVENT_ENDS = ['delivered', 'rejected', 'expired', 'failed', 'dropped'] as const;
export type EventEnd = (typeof EVENT_ENDS)[number];

/** An attempt to send an event, as a line of `outbox/<subscriber>/sent/` has it. It holds no content. */
export interface SentAttempt {
  readonly v: 1;
  /** Id of the event. */
  readonly event: string;
  readonly jobId: string;
  readonly source: string | null;
  /** As `subscribers.<name>.events` has it, such as `job.stored`. */
  readonly type: string;
  /** ISO 8601. */
  readonly at: string;
  /** Status of the answer; null without one. */
  readonly status: number | null;
  /** What failed, such as `timeout`; null when there was an answer. */
  readonly error: string | null;
  /** Counts from 1; 0 for an event that was dropped before its first attempt. A replay begins with 1 again. */
  readonly attempt: number;
  /** Null while the event waits for its next attempt. */
  readonly ended: EventEnd | null;
  readonly durationMs: number;
  /**
   * Key of the ledger segment that has the event's own line; null unless the sender tried the event in the order of the log. By it a line
   * after the sender's saved position does not count as untried.
   */
  readonly line: string | null;
}
