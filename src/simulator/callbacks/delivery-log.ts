/** One attempt to send a notification, with its request and response. */
export interface DeliveryAttempt {
  /** Position in the order of starting, from 1. */
  readonly number: number;
  readonly jobId: string;
  readonly region: string;
  /** Index in `notification_config`. */
  readonly entry: number;
  /** From 1. */
  readonly attempt: number;
  /** A copy sent because of a `duplicate` fault. */
  readonly copy: boolean;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Bytes of the whole body; fewer were sent when it was cut. */
  readonly bodyBytes: number;
  readonly parts: readonly string[];
  /** Kinds of the faults applied to it. */
  readonly faults: readonly string[];
  /** Null while in flight and when there was no response. */
  answer: { readonly status: number; readonly body: string } | null;
  /** Why there was no answer; null otherwise. */
  error: string | null;
}

export interface DeliveryLog {
  readonly attempts: readonly DeliveryAttempt[];
  ofJob(jobId: string): DeliveryAttempt[];
}

export interface WritableDeliveryLog extends DeliveryLog {
  begin(attempt: Omit<DeliveryAttempt, 'number' | 'answer' | 'error'>): DeliveryAttempt;
}

export function createDeliveryLog(): WritableDeliveryLog {
  let begun = 0;
  const attempts: DeliveryAttempt[] = [];
  const byJob = new Map<string, DeliveryAttempt[]>();
  return {
    attempts,
    ofJob: (jobId) => [...(byJob.get(jobId) ?? [])],
    begin(attempt) {
      begun += 1;
      const entry: DeliveryAttempt = { number: begun, ...attempt, answer: null, error: null };
      attempts.push(entry);
      byJob.set(entry.jobId, [...(byJob.get(entry.jobId) ?? []), entry]);
      return entry;
    },
  };
}
