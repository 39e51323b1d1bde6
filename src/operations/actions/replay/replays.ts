import { decodeTime, encodeTime } from 'ulid';
import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import { type AuditInfo, operatorLine } from '../../../ledger/ledger-line.js';
import { decodeIdCursor, encodeIdCursor } from '../../../lib/text/id-cursor.js';
import { inGroups } from '../../../store/in-groups.js';
import { createLeaseWatch, LEASE } from '../../../store/lease-watch.js';
import {
  createReplay,
  type ReplayParts,
  type RunEnd,
  runReplay,
  selectReplay,
  takeOverReplay,
} from './replay.js';
import {
  isReplayInScope,
  newReplayState,
  type ReplayFailure,
  type ReplaySelection,
  type ReplaySelector,
  type ReplayState,
  type ReplayView,
  viewOf,
} from './replay-state.js';
import type { FailuresPart } from './replay-store.js';

export interface ReplaysOptions extends ReplayParts {
  /** Milliseconds without a heartbeat after which a replay counts as interrupted. Default 30,000. */
  readonly lease?: number | undefined;
}

interface ReplayPage {
  readonly replays: readonly ReplayView[];
  readonly nextCursor: string | null;
}

interface ReplayQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Only replays that exist for a client with these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The replays of all replicas. Runs those that are created here, and takes over those that no replica works on. */
export interface Replays {
  /** What `create` would select, and reject. */
  preview(selector: ReplaySelector, signal?: AbortSignal): Promise<ReplaySelection>;
  /** Resolves with the id as soon as the replay is durable. Once `start` was called, it runs in the background. */
  create(selector: ReplaySelector, audit: AuditInfo): Promise<string>;
  view(id: string): Promise<ReplayView | null>;
  /** The items that failed, each with its reason; default all. */
  failures(id: string, part?: FailuresPart): Promise<readonly ReplayFailure[]>;
  /** Newest first. */
  page(query: ReplayQuery): Promise<ReplayPage>;
  /** Null for an unknown id. Rejects with `conflict` when the replay is done. Idempotent. */
  cancel(id: string, audit: AuditInfo): Promise<ReplayView | null>;
  /** Runs a replay in the foreground; only for one that was just created here, without `start`. */
  run(id: string, signal: AbortSignal, onProgress: (state: ReplayState) => void): Promise<RunEnd>;
  /** Begins to take over abandoned replays. */
  start(): void;
  /** Stops what runs here; another replica can go on with it immediately. */
  stop(): Promise<void>;
}

/** Replays that a page reads to find those of some sources. */
const MAX_LOOKED = 500;
const READS_AT_ONCE = 16;
/** Older replays are not taken over: the service no longer keeps their jobs. */
const MAX_AGE = 30 * 24 * 3_600_000;
/** Milliseconds after which no replay with an older id appears any more. */
const SETTLED_AFTER = 3_600_000;
const TIME_LENGTH = 10;

export function createReplays(options: ReplaysOptions): Replays {
  const { replays, owner, lease = LEASE, onError } = options;
  const stopping = new AbortController();
  const leases = createLeaseWatch(lease);
  const running = new Map<string, Promise<void>>();
  /** Replays that are being created here. They are not abandoned, however long the ledger takes. */
  const creating = new Set<string>();
  /** Replays that have ended never change again, and are not read again: those behind the place up to which all have. */
  const ended = new Set<string>();
  let endedTo = '';
  let timer: NodeJS.Timeout | null = null;
  let takingOver: Promise<void> = Promise.resolve();
  let started = false;

  function launch(state: ReplayState): void {
    const { replayId } = state;
    const run = runReplay(options, state, stopping.signal)
      .then(
        () => undefined,
        (error: unknown) => onError?.(error),
      )
      .finally(() => running.delete(replayId));
    running.set(replayId, run);
  }

  /** Resolves to whether another replica still has work to do. */
  async function takeOverAbandoned(): Promise<boolean> {
    let unfinished = false;
    let allEnded = true;
    const oldest = encodeTime(Date.now() - MAX_AGE, TIME_LENGTH);
    for await (const id of replays.behind(endedTo > oldest ? endedTo : oldest)) {
      if (stopping.signal.aborted) break;
      const found = await takeOverIfAbandoned(id);
      unfinished ||= found === 'unfinished';
      allEnded &&= found === 'ended';
      // What appears late, or was created by a clock that is behind, must not be passed over.
      if (allEnded && Date.now() - decodeTime(id) > SETTLED_AFTER) endTo(id);
    }
    return unfinished;
  }

  async function takeOverIfAbandoned(id: string): Promise<'ended' | 'here' | 'unfinished'> {
    if (ended.has(id)) return 'ended';
    if (running.has(id) || creating.has(id)) return 'here';
    const found = await replays.read(id);
    if (found === null || found.cancelled || found.state.finishedAt !== null) {
      leases.forget(id);
      ended.add(id);
      return 'ended';
    }
    const claimed = await takeOverReplay(options, leases, found.state);
    if (claimed !== null && !stopping.signal.aborted) launch(claimed);
    return 'unfinished';
  }

  function endTo(id: string): void {
    endedTo = id;
    ended.delete(id);
  }

  /** A read is a listing, which costs as much as a write: while no replay is unfinished, half as many are made. */
  function takeOverRegularly(): void {
    const looked = takeOverAbandoned().catch((error: unknown) => {
      onError?.(error);
      return true;
    });
    takingOver = looked.then((unfinished) => {
      if (stopping.signal.aborted) return;
      timer = setTimeout(takeOverRegularly, unfinished ? lease / 2 : lease).unref();
    });
  }

  async function view(id: string): Promise<ReplayView | null> {
    const found = await replays.read(id);
    if (found === null) return null;
    const { state, cancelled } = found;
    return viewOf(state, { cancelled, abandoned: !running.has(id) && leases.isAbandoned(id, state) });
  }

  return {
    preview: (selector, signal) => selectReplay(options, selector, signal),
    view,
    failures: replays.failures,
    async create(selector, audit) {
      const selection = await selectReplay(options, selector);
      const state = newReplayState(selector, selection, audit, owner);
      creating.add(state.replayId);
      try {
        await createReplay(options, state, selection.items);
        if (started) launch(state);
      } finally {
        creating.delete(state.replayId);
      }
      return state.replayId;
    },
    async page({ limit, cursor, scope = null, signal }) {
      const before = cursor === undefined ? undefined : decodeIdCursor(cursor);
      // Where others are left out a page may be short, and has a cursor all the same.
      const most = scope === null ? limit : Math.max(limit, MAX_LOOKED);
      const found: ReplayView[] = [];
      const until = (id: string) => ({ replays: found, nextCursor: encodeIdCursor(id) });
      let [looked, last] = [0, ''];
      for await (const ids of inGroups(replays.newest({ before, signal }), Math.min(limit, READS_AT_ONCE))) {
        const views = await Promise.all(
          (found.length < limit && looked < most ? ids : []).map((id) => view(id)),
        );
        signal?.throwIfAborted();
        for (const [index, id] of ids.entries()) {
          if (found.length === limit || looked === most) return until(last);
          const replay = views[index] ?? null;
          if (replay !== null && isReplayInScope(replay.selector, scope)) found.push(replay);
          looked += 1;
          last = id;
        }
      }
      return { replays: found, nextCursor: null };
    },
    async cancel(id, audit) {
      const before = await view(id);
      if (before === null || before.state === 'cancelled') return before;
      if (before.state === 'done') throw new Problem('conflict', 'The replay has ended already.');
      await replays.cancel(id, audit);
      const act = { outcome: 'cancelled', deliveryId: id, jobId: null };
      await options.ledger.append(operatorLine(audit, act));
      return view(id);
    },
    async run(id, signal, onProgress) {
      const found = await replays.read(id);
      if (found === null) throw new Problem('not-found', 'There is no such replay.');
      return runReplay(options, found.state, signal, onProgress);
    },
    start() {
      started = true;
      takeOverRegularly();
    },
    async stop() {
      stopping.abort();
      if (timer) clearTimeout(timer);
      await takingOver;
      await Promise.all(running.values());
    },
  };
}
