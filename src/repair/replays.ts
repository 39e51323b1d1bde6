import { decodeTime } from 'ulid';
import type { Ledger } from '../archive/ledger/ledger.js';
import { type AuditInfo, newDeliveryId, operatorLine } from '../archive/ledger/ledger-line.js';
import { Problem } from '../domain/problem.js';
import { decodeIdCursor, encodeIdCursor } from '../store/list-cursor.js';
import {
  type ReplaySelection,
  type ReplaySelector,
  type SelectionParts,
  selectItems,
} from './replay-selector.js';
import {
  createLifeWatch,
  LEASE,
  type ReplayState,
  type ReplayView,
  shortened,
  viewOf,
} from './replay-state.js';
import type { ReplayFailure, ReplayShelf } from './replay-store.js';
import { type ReplayParts, type RunEnd, runReplay } from './run-replay.js';

export interface ReplaysOptions
  extends SelectionParts,
    Omit<ReplayParts, 'shelf' | 'heartbeat' | 'onProgress'> {
  readonly replays: ReplayShelf;
  /** Throws `Problem` for a replay none of whose items could be worked on here. */
  readonly check?: (selector: ReplaySelector) => void;
  readonly ledger: Pick<Ledger, 'append'>;
  /** Name of this replica. */
  readonly owner: string;
  /** Milliseconds between signs of life. Default 1,000. */
  readonly heartbeat?: number;
  /** Milliseconds without one after which a replay counts as interrupted. Default 30,000. */
  readonly lease?: number;
  /** Told how runs end, and of errors while looking for abandoned ones. */
  readonly onRun?: (event: { readonly replayId: string; readonly end: RunEnd }) => void;
  readonly onError?: (error: unknown) => void;
}

export interface ReplayPage {
  readonly replays: readonly ReplayView[];
  readonly nextCursor: string | null;
}

/** Orders, shows and cancels replays, runs those of this replica, and takes up what others left behind. */
export interface Replays {
  /** Refuses what `order` refuses. */
  preview(selector: ReplaySelector): Promise<ReplaySelection>;
  /** Resolves with the id as soon as the order is durable; the work goes on behind it. */
  order(selector: ReplaySelector, order: AuditInfo): Promise<string>;
  view(id: string): Promise<ReplayView | null>;
  /** The items that failed, each with its reason. */
  failures(id: string): Promise<readonly ReplayFailure[]>;
  page(query: { readonly limit: number; readonly cursor?: string | undefined }): Promise<ReplayPage>;
  /** Null for an unknown id. Rejects with `conflict` when it has ended already. Repeated: the same answer. */
  cancel(id: string, order: AuditInfo): Promise<ReplayView | null>;
  /** Runs it in the foreground; only for an id just ordered with `start` not called. */
  run(id: string, signal: AbortSignal, onProgress: (state: ReplayState) => void): Promise<RunEnd>;
  /** Begins to take up abandoned replays. */
  start(): void;
  /** Lets go of what runs here, so that another replica goes on at once. */
  stop(): Promise<void>;
}

/** Older replays are left alone: the service has forgotten their jobs long ago. */
const FORGOTTEN = 30 * 24 * 3_600_000;

export function createReplays(options: ReplaysOptions): Replays {
  const { replays, owner, heartbeat = 1000, lease = LEASE } = options;
  const parts = { ...options, shelf: replays, heartbeat };
  const stopping = new AbortController();
  const life = createLifeWatch(lease);
  const running = new Map<string, Promise<void>>();
  /** Ordered here and not begun yet: nobody else's to take up, however long the ledger takes. */
  const beginning = new Set<string>();
  /** What has ended stays so: not asked for again. */
  const ended = new Set<string>();
  const deadClaims = new Map<string, { claim: number; since: number }>();
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();
  let started = false;

  function launch(state: ReplayState): void {
    const { replayId } = state;
    const run = runReplay(parts, state, stopping.signal)
      .then(
        (end) => options.onRun?.({ replayId, end }),
        (error: unknown) => options.onError?.(error),
      )
      .finally(() => running.delete(replayId));
    running.set(replayId, run);
  }

  async function takeUp(id: string): Promise<void> {
    const found = await replays.read(id);
    if (found === null || found.cancelled || found.state.finishedAt !== null) {
      life.forget(id);
      return void ended.add(id);
    }
    if (!life.isAbandoned(found.state)) return;
    const claim = found.state.claim + 1;
    if (!(await replays.claim(id, claim, owner))) return skipDeadClaim(found.state, claim);
    const state = { ...found.state, claim, owner, heartbeatAt: new Date().toISOString() };
    await replays.save(state);
    if (!stopping.signal.aborted) launch(state);
  }

  /** Whoever made the next claim may have died before it could say so: its time runs out like any other. */
  async function skipDeadClaim(state: ReplayState, claim: number): Promise<void> {
    const seen = deadClaims.get(state.replayId);
    if (seen?.claim !== claim) deadClaims.set(state.replayId, { claim, since: performance.now() });
    else if (performance.now() - seen.since > lease)
      await replays.save({ ...state, claim, heartbeatAt: null });
  }
  async function takeUpAbandoned(): Promise<void> {
    for (const id of await replays.list()) {
      if (stopping.signal.aborted || Date.now() - decodeTime(id) > FORGOTTEN) return;
      if (!running.has(id) && !beginning.has(id) && !ended.has(id)) await takeUp(id);
    }
  }

  function lookRegularly(): void {
    looking = takeUpAbandoned().catch((error: unknown) => options.onError?.(error));
    void looking.then(() => {
      if (!stopping.signal.aborted) timer = setTimeout(lookRegularly, lease / 2).unref();
    });
  }

  async function select(selector: ReplaySelector): Promise<ReplaySelection> {
    options.check?.(selector);
    return selectItems(options, selector);
  }

  async function view(id: string): Promise<ReplayView | null> {
    const found = await replays.read(id);
    if (found === null) return null;
    const { state, cancelled } = found;
    return viewOf(state, { cancelled, abandoned: !running.has(id) && life.isAbandoned(state) });
  }

  return {
    preview: select,
    view,
    failures: replays.failures,
    async order(selector, order) {
      const selection = await select(selector);
      const state = newReplay(selector, selection, order, owner);
      beginning.add(state.replayId);
      try {
        await replays.create(state, selection.items);
        await options.ledger.append(
          operatorLine(order, {
            outcome: 'replayed',
            deliveryId: state.replayId,
            jobId: null,
            bytes: selection.bytes,
          }),
        );
        if (started) launch(state);
      } finally {
        beginning.delete(state.replayId);
      }
      return state.replayId;
    },
    async page({ limit, cursor }) {
      const before = cursor === undefined ? '~' : decodeIdCursor(cursor);
      const ids = (await replays.list()).filter((id) => id < before);
      const shown = ids.slice(0, limit);
      const views = await Promise.all(shown.map(view));
      const last = shown.at(-1);
      return {
        replays: views.filter((each) => each !== null),
        nextCursor: ids.length > shown.length && last !== undefined ? encodeIdCursor(last) : null,
      };
    },
    async cancel(id, order) {
      const before = await view(id);
      if (before === null || before.state === 'cancelled') return before;
      if (before.state === 'done') throw new Problem('conflict', 'The replay has ended already.');
      await replays.cancel(id, order);
      await options.ledger.append(operatorLine(order, { outcome: 'cancelled', deliveryId: id, jobId: null }));
      return view(id);
    },
    async run(id, signal, onProgress) {
      const found = await replays.read(id);
      if (found === null) throw new Problem('not-found', 'There is no such replay.');
      return runReplay({ ...parts, onProgress }, found.state, signal);
    },
    start() {
      started = true;
      lookRegularly();
    },
    async stop() {
      stopping.abort();
      if (timer) clearTimeout(timer);
      await looking;
      await Promise.all(running.values());
    },
  };
}

function newReplay(
  selector: ReplaySelector,
  { items, bytes }: ReplaySelection,
  { actor, reason }: AuditInfo,
  owner: string,
): ReplayState {
  const createdAt = new Date().toISOString();
  return {
    v: 1,
    replayId: newDeliveryId(),
    createdAt,
    actor,
    reason,
    selector: shortened(selector),
    total: items.length,
    bytes,
    next: 0,
    ahead: [],
    done: 0,
    failed: 0,
    outcomes: {},
    claim: 1,
    owner,
    heartbeatAt: createdAt,
    finishedAt: null,
  };
}
