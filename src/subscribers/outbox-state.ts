import type { SegmentPlace } from '../ledger/segment-key.js';
import { isJsonObject } from '../lib/text/parse-json.js';
import type { Claimed } from '../store/lease-watch.js';
import type { Attempt } from './dead-event.js';
import type { LogProgress } from './follow/log-place.js';

/** An event that failed and will be retried, by reference: its content stays in the ledger. */
export interface WaitingEvent {
  readonly id: string;
  readonly jobId: string;
  /** Place of the ledger line. */
  readonly segment: SegmentPlace;
  /** ISO 8601 of the ledger line. */
  readonly receivedAt: string;
  readonly source: string | null;
  /** Milliseconds since the epoch. */
  readonly firstTriedAt: number;
  readonly nextTryAt: number;
  readonly attempts: number;
  /** The first and the last attempts. */
  readonly history: readonly Attempt[];
  /** Present on an event that is not retried any more, until its dead event is written. */
  readonly ended?: 'rejected' | 'expired';
}

/** Waiting events outside the state, in `outbox/<subscriber>/waiting/<name>.json`, which are all due at the same time. */
export interface WaitingBatch {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  readonly bySource: readonly WaitingOfSource[];
}

export interface WaitingOfSource {
  readonly source: string | null;
  readonly events: number;
  /** When the first of them was received, in milliseconds since the epoch. */
  readonly oldest: number;
}

/** Progress of the sender of a subscriber: the document at `outbox/<subscriber>/state.json` (docs/decisions/outbox.md). */
export interface OutboxState extends Claimed, LogProgress {
  readonly v: 1;
  /** ISO 8601: lines written before it have no events. */
  readonly since: string;
  /** The waiting events that are due first. */
  readonly waiting: readonly WaitingEvent[];
  /** All other waiting events. */
  readonly batches: readonly WaitingBatch[];
  /** ISO 8601; null while the breaker is closed. */
  readonly openSince: string | null;
  /** ISO 8601: while the breaker is open, nothing is sent before; null while it is closed. */
  readonly pausedUntil: string | null;
}

/** Whether a document of the store is a state. Nothing is sent from one that is truncated or was edited. */
export function isOutboxState(document: Record<string, unknown>): boolean {
  const { v, claim, since, before, hours, passed, missing, waiting, batches } = document;
  return (
    v === 1 &&
    [claim, before].every(Number.isSafeInteger) &&
    !Number.isNaN(Date.parse(String(since))) &&
    [hours, passed, missing].every(isJsonObject) &&
    [waiting, batches].every(Array.isArray)
  );
}

/** Largest state document that is read: twice the largest that can be written. */
export const MAX_STATE_BYTES = 4 * 1024 * 1024;

/** The state of a subscriber that no replica has claimed yet. */
export function newOutboxState(since: number, beginning: LogProgress): OutboxState {
  return {
    v: 1,
    claim: 0,
    owner: '',
    heartbeatAt: null,
    since: new Date(since).toISOString(),
    ...beginning,
    waiting: [],
    batches: [],
    openSince: null,
    pausedUntil: null,
  };
}
