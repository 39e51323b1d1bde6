import { areInScope, type SourceScope } from '../../../domain/rights.js';
import { type AuditInfo, newDeliveryId } from '../../../ledger/ledger-line.js';
import type { Replay, ReplayInFull } from '../../answers/replays.js';

/** Selection of a replay; all filters must match (docs/replay.md). */
export type ReplaySelector = Replay['selector'];

/** Whether a client may see a replay: everything that it selects must be in the client's sources. */
export function isReplayInScope({ source, sources }: ReplaySelector, scope: SourceScope): boolean {
  return areInScope(scope, source === undefined ? (sources ?? []) : [source]);
}

export function scopeOf({ sources }: ReplaySelector): SourceScope {
  return sources === undefined ? null : new Set(sources);
}

/** Items that a selector currently matches. */
export interface ReplaySelection {
  /** Job ids to refetch, delivery ids of bodies to release, or places of events to send; each once. */
  readonly items: readonly string[];
  /** Size of bodies and events; for jobs that of the largest delivery received of each. */
  readonly bytes: number;
  readonly jobs: readonly string[];
}

/** A replay and its progress: the document at `replays/<id>.json`, written by the replica that runs it. */
export interface ReplayState {
  readonly v: 1;
  readonly replayId: string;
  readonly createdAt: string;
  readonly actor: string;
  readonly reason: string | null;
  /** Holds the first of many named jobs; `total` says how many there are. */
  readonly selector: ReplaySelector;
  readonly total: number;
  readonly bytes: number;
  /** Items that succeeded and items that failed. Together they are the first ones of the list, so that a run resumes after them. */
  readonly done: number;
  readonly failed: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** The first items that failed. Each has a ledger line, except events. */
  readonly failures: readonly ReplayFailure[];
  readonly finishedAt: string | null;
  /** Replica that runs it, or ran it last. */
  readonly owner: string;
  /** Changes with every save; null once the owner has stopped. */
  readonly heartbeatAt: string | null;
}

/** Whether a document of the store is the state of this replay; a damaged one must not hide the others. */
export function isReplayState(document: Record<string, unknown>, id: string): boolean {
  const { v, replayId, createdAt, owner, selector, outcomes } = document;
  return (
    v === 1 &&
    replayId === id &&
    ['total', 'done', 'failed', 'bytes'].every((name) => Number.isSafeInteger(document[name])) &&
    [selector, outcomes].every((value) => typeof value === 'object' && value !== null) &&
    Array.isArray(document.failures) &&
    [createdAt, owner].every((value) => typeof value === 'string')
  );
}

export interface ReplayItemResult {
  readonly outcome: string;
  readonly failed: boolean;
  /** Why it failed; null when it did not, or the reason is unknown. */
  readonly reason: string | null;
  /** The job behind the item. */
  readonly jobId: string;
  /** The ledger has a line of the failure already. */
  readonly recorded?: true;
}

/** An item that failed. */
export type ReplayFailure = ReplayInFull['failures'][number];

/** Named jobs kept in the state, which is written every second; the list of items has all of them. */
const NAMED_JOBS = 20;

/** The state of a new replay. */
export function newReplayState(
  selector: ReplaySelector,
  { items, bytes }: ReplaySelection,
  { actor, reason }: AuditInfo,
  owner: string,
): ReplayState {
  const createdAt = new Date().toISOString();
  const { jobs } = selector;
  return {
    v: 1,
    replayId: newDeliveryId(),
    createdAt,
    actor,
    reason,
    selector: jobs === undefined ? selector : { ...selector, jobs: jobs.slice(0, NAMED_JOBS) },
    total: items.length,
    bytes,
    done: 0,
    failed: 0,
    outcomes: {},
    failures: [],
    finishedAt: null,
    owner,
    heartbeatAt: createdAt,
  };
}

/** Failures kept in the state. */
const KEPT_FAILURES = 100;

/** The state after the next item was worked on. */
export function withItem(state: ReplayState, item: string, result: ReplayItemResult): ReplayState {
  const { outcome, failed, reason, jobId } = result;
  const failures = failed ? [...state.failures, { item, jobId, outcome, reason }] : state.failures;
  return {
    ...state,
    done: state.done + (failed ? 0 : 1),
    failed: state.failed + (failed ? 1 : 0),
    outcomes: { ...state.outcomes, [outcome]: (state.outcomes[outcome] ?? 0) + 1 },
    failures: failures.slice(0, KEPT_FAILURES),
  };
}

/** Facts about a replay that are not in its state. */
export interface ReplayEnd {
  readonly cancelled: boolean;
  /** No replica works on it. */
  readonly abandoned: boolean;
}

export function viewOf({ v: _v, heartbeatAt: _at, ...state }: ReplayState, end: ReplayEnd): ReplayInFull {
  return { ...state, state: stateName(state, end) };
}

function stateName(
  { finishedAt }: Pick<ReplayState, 'finishedAt'>,
  { cancelled, abandoned }: ReplayEnd,
): Replay['state'] {
  // Before `done`: the API has confirmed the cancellation, even if the last item finished at the same time.
  if (cancelled) return 'cancelled';
  if (finishedAt !== null) return 'done';
  return abandoned ? 'interrupted' : 'running';
}
