import type { Claimed } from '../store/lease-watch.js';
import type { Attempt } from './dead-event.js';
import type { SegmentRecordDocument } from './follow/segment-record.js';

/** An event that failed and will be tried again, by reference: its content stays in the ledger. */
export interface WaitingEvent {
  readonly id: string;
  /** Folder of the hour, e.g. `dt=2026-03-04/hour=05/`. */
  readonly hour: string;
  /** Name of its segment, or of the Parquet file that it was read from. */
  readonly part: string;
  /** ISO 8601 of the ledger line. */
  readonly receivedAt: string;
  /** Of the event; absent in states of older versions. */
  readonly source?: string | null;
  /** Milliseconds since the epoch. */
  readonly firstTriedAt: number;
  readonly nextTryAt: number;
  readonly attempts: number;
  /** The first and the last attempts. */
  readonly history: readonly Attempt[];
  /** Why it ended, while its dead event could not be written; absent otherwise. */
  readonly ended?: 'rejected' | 'expired';
}

/** How far an hour is whose segments are followed by name. */
export interface HourProgress extends SegmentRecordDocument {
  /** Compacted files of the hour whose lines were all sent, and lines of the next one. */
  readonly files: number;
  readonly row: number;
  /** When all names of the closed hour were last compared, in milliseconds since the epoch; null before. */
  readonly comparedAt: number | null;
}

/** Where the sender of a subscriber is: the document at `outbox/<subscriber>/state.json` (docs/decisions/outbox.md). */
export interface OutboxState extends Claimed {
  readonly v: 1;
  /** ISO 8601: deliveries that ended before are not announced. */
  readonly since: string;
  /** Hours from this one on have not been begun. */
  readonly next: string;
  readonly hours: Readonly<Record<string, HourProgress>>;
  /** By day, for each hour the number of compacted files that were sent; such an hour is not in `hours`. */
  readonly done: Readonly<Record<string, readonly number[]>>;
  readonly waiting: readonly WaitingEvent[];
  /** Sources that the figures below cover. Empty: all, as when it is absent in states of older versions. */
  readonly sources?: readonly string[];
  readonly sent: number;
  readonly retried: number;
  readonly dead: number;
  /** ISO 8601; null while the breaker is closed. */
  readonly openSince: string | null;
  readonly lastSentAt: string | null;
  readonly lastFailure: Attempt | null;
  /** ISO 8601; null when everything was sent at `heartbeatAt`. */
  readonly oldestUnsent: string | null;
}

/** The largest state document that is read: twice what can be written. */
export const MAX_STATE_BYTES = 4 * 1024 * 1024;

const NO_FIGURES = { sent: 0, retried: 0, dead: 0, lastSentAt: null, lastFailure: null };

/** The state of a subscriber that nobody has claimed yet. */
export function newOutboxState(since: number, beginning: Pick<OutboxState, 'next' | 'done'>): OutboxState {
  return {
    v: 1,
    claim: 0,
    owner: '',
    heartbeatAt: null,
    since: new Date(since).toISOString(),
    ...beginning,
    hours: {},
    waiting: [],
    ...NO_FIGURES,
    openSince: null,
    oldestUnsent: null,
  };
}

/**
 * The state for the sources that a subscriber follows now. Events of sources that it no longer follows do not wait, and figures that
 * cover such sources begin anew: a client of the admin port that may see the present sources must not see others in them.
 *
 * @param sources empty: all
 */
export function ofPresentSources(state: OutboxState, sources: readonly string[]): OutboxState {
  if (sources.length === 0) return { ...state, sources };
  const counted = state.sources ?? [];
  const areOthersCounted = counted.length === 0 || counted.some((source) => !sources.includes(source));
  return {
    ...state,
    sources,
    waiting: state.waiting.filter(
      ({ source }) => source === undefined || (source !== null && sources.includes(source)),
    ),
    ...(areOthersCounted && NO_FIGURES),
  };
}
