import pLimit from 'p-limit';
import { encodeTime } from 'ulid';
import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import { type AuditInfo, operatorLine } from '../../../ledger/ledger-line.js';
import { decodePlace, encodePlace } from '../../../lib/text/list-cursor.js';
import { repeat } from '../../../lib/time/repeat.js';
import { requireService } from '../../../recovery/reconcile/fetch/refetch.js';
import { createLeaseWatch, LEASE } from '../../../store/lease-watch.js';
import type { ReplayInFull, ReplayList } from '../../answers/replays.js';
import { type ReplayRunParts, type RunEnd, runReplay } from './replay.js';
import { type SelectionParts, selectItems } from './replay-selection.js';
import {
  isReplayInScope,
  newReplayState,
  type ReplaySelection,
  type ReplaySelector,
  type ReplayState,
  viewOf,
} from './replay-state.js';
import type { ReplayStore } from './replay-store.js';

export interface ReplaysOptions extends ReplayRunParts, SelectionParts {
  readonly replays: ReplayStore;
  readonly view: SelectionParts['view'] & Pick<LedgerView, 'deliveries'>;
  /** Milliseconds without a heartbeat after which a replay counts as interrupted. Default 30,000. */
  readonly lease?: number | undefined;
}

export interface ReplayQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Only replays that a client with these sources may see. Default: all. */
  readonly scope?: SourceScope | undefined;
  /** Aborts the search. */
  readonly signal?: AbortSignal | undefined;
}

export type Replays = ReturnType<typeof createReplays>;

/** Name of the list in its cursors. */
const LIST = 'replays';
/** Ledger lines that started replays; a refetch of one job has a job id instead of null. */
const ORDERS = { outcome: 'replayed', job: null } as const;
const READS_AT_ONCE = 16;
/** Older replays are not resumed, because the service no longer keeps their jobs. */
const MAX_AGE = 30 * 24 * 3_600_000;

/** Manages the replays of all replicas. Runs those created here, and resumes those that no replica works on. */
export function createReplays(options: ReplaysOptions) {
  const { replays, lease = LEASE, onError } = options;
  const stopping = new AbortController();
  const leases = createLeaseWatch(lease);
  /** Replays that this process creates or runs. */
  const running = new Map<string, Promise<unknown>>();
  /** Ids of ended replays, which never change and are not read again. */
  const ended = new Set<string>();
  let search: ReturnType<typeof repeat> | null = null;

  function launch(state: ReplayState): void {
    const run = runReplay(options, state, stopping.signal)
      .catch((error: unknown) => onError?.(error))
      .finally(() => running.delete(state.replayId));
    running.set(state.replayId, run);
  }

  async function launchAbandoned(): Promise<void> {
    const first = firstIdAt(Date.now() - MAX_AGE);
    for (const id of ended) if (id < first) ended.delete(id);
    const ids = await Array.fromAsync(replays.idsFrom(first));
    // Newest first, so that an interrupted replay is resumed soon, however many have ended.
    for (const id of ids.toReversed()) {
      if (stopping.signal.aborted) return;
      await resumeIfAbandoned(id);
    }
  }

  async function resumeIfAbandoned(id: string): Promise<void> {
    if (running.has(id) || ended.has(id)) return;
    const found = await replays.read(id);
    if (found === null || found.cancelled || found.state.finishedAt !== null) ended.add(id);
    else if (isAbandoned(found.state)) launch(found.state);
  }

  function isAbandoned({ replayId, heartbeatAt }: ReplayState): boolean {
    return !running.has(replayId) && leases.isAbandoned(replayId, { heartbeatAt });
  }

  async function view(id: string): Promise<ReplayInFull | null> {
    const found = await replays.read(id);
    if (found === null) return null;
    const { state, cancelled } = found;
    return viewOf(state, { cancelled, abandoned: isAbandoned(state) });
  }

  async function preview(selector: ReplaySelector, signal?: AbortSignal): Promise<ReplaySelection> {
    if (selector.kind === 'refetch') requireService(options.recovery);
    return selectItems(options, selector, signal);
  }

  async function store(state: ReplayState, { items, bytes }: ReplaySelection, audit: AuditInfo) {
    const act = { outcome: 'replayed', deliveryId: state.replayId, jobId: null, bytes };
    // The line first: a stored replay is run, even if its request was answered 503.
    await options.ledger.append(operatorLine(audit, act));
    await replays.create(state, items);
  }

  return {
    /**
     * What `create` would select. Rejects with `request-invalid` for a bad selector, and with `conflict` for a refetch when the
     * service's API is not configured.
     */
    preview,
    view,
    /** Resolves with the id as soon as the replay is durable. Once `start` was called, it runs in the background. */
    async create(selector: ReplaySelector, audit: AuditInfo): Promise<string> {
      const selection = await preview(selector);
      const state = newReplayState(selector, selection, audit, options.owner);
      const { replayId } = state;
      const stored = store(state, selection, audit);
      // Marks it as running while it is being stored, however long the ledger takes.
      running.set(replayId, stored);
      await stored.finally(() => running.delete(replayId));
      if (search !== null) launch(state);
      return replayId;
    },
    /** Replays whose ledger lines the index has, newest first. A page may be short, because replays of other clients are left out. */
    async page({ scope = null, cursor, ...query }: ReplayQuery): Promise<ReplayList> {
      const before =
        cursor && decodePlace(LIST, cursor, ([line]) => (typeof line === 'string' ? line : null));
      const found = await options.view.deliveries({ ...query, ...ORDERS, cursor: before });
      const limited = pLimit(READS_AT_ONCE);
      const views = await limited.map(found.deliveries, ({ deliveryId }) => view(deliveryId));
      return {
        // A line may have no replay: it is written first, and stays after the replay has expired.
        replays: views.flatMap((replay) => {
          if (replay === null || !isReplayInScope(replay.selector, scope)) return [];
          const { failures: _, ...listed } = replay;
          return [listed];
        }),
        nextCursor: found.nextCursor && encodePlace(LIST, [found.nextCursor]),
        index: found.index,
      };
    },
    /** Null for an unknown id. Rejects with `conflict` when the replay is done. Idempotent. */
    async cancel(id: string, audit: AuditInfo): Promise<ReplayInFull | null> {
      const before = await view(id);
      if (before === null || before.state === 'cancelled') return before;
      if (before.state === 'done') throw new Problem('conflict', 'The replay has ended already.');
      const act = { outcome: 'cancelled', deliveryId: id, jobId: null };
      await options.ledger.append(operatorLine(audit, act));
      await replays.cancel(id, audit);
      return view(id);
    },
    /** Runs a replay in the foreground; only for one that was just created here, without `start`. */
    async run(id: string, signal: AbortSignal, onProgress: (state: ReplayState) => void): Promise<RunEnd> {
      const found = await replays.read(id);
      if (found === null) throw new Problem('not-found', 'There is no such replay.');
      return runReplay(options, found.state, signal, onProgress);
    },
    /** Starts resuming abandoned replays. */
    start(): void {
      const onFailed = (error: unknown) => onError?.(error);
      search = repeat(() => launchAbandoned().catch(onFailed), { interval: lease, firstWithin: 0 });
    },
    /** Stops the replays that run here; another replica can resume them at once. */
    async stop(): Promise<void> {
      stopping.abort();
      await search?.stop();
      await Promise.all(running.values());
    },
  };
}

/** Smallest id of a time. */
function firstIdAt(time: number): string {
  return encodeTime(time, 10);
}
