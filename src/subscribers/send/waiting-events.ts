import { StoreError } from '../../store/object-store.js';
import type { OutboxState, WaitingBatch, WaitingEvent, WaitingOfSource } from '../outbox-state.js';
import type { OutboxStore } from '../outbox-store.js';
import type { JobEvent } from '../receiver-event.js';
import type { RetryTimes } from './attempt-policy.js';

/** An event that waits for a retry, or whose dead event is being written. */
export interface Waiting {
  readonly state: WaitingEvent;
  /** Null after a take-over, until it was read. */
  readonly event: JobEvent | null;
  readonly busy: boolean;
}

export interface WaitingEventsOptions {
  readonly state: Pick<OutboxState, 'claim' | 'waiting' | 'batches'>;
  readonly documents: Pick<OutboxStore, 'saveBatch' | 'readBatch'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly times: RetryTimes;
}

export type WaitingEvents = ReturnType<typeof createWaitingEvents>;

/** Events of one batch. */
const BATCH = 100;
/** Idle events in memory at which those due last are moved to a batch. */
const CROWDED = 150;
/** Bounds batches in the state to some hundred kilobytes. When it is reached, memory fills, and no new event is sent. */
const MAX_BATCHES = 1_000;

/**
 * Waiting events: those due first in memory and in the state, the others in batches. A batch is written before a state names it, and read
 * back once it is due. Its document may be deleted once a saved state has its events again.
 */
export function createWaitingEvents({ state: saved, documents, clock, times }: WaitingEventsOptions) {
  const waiting = new Map<string, Waiting>();
  const batches = new Map<string, WaitingBatch>();
  const taken = new Set<string>();
  let written = 0;

  function put(state: WaitingEvent, change: Partial<Pick<Waiting, 'event' | 'busy'>> = {}): void {
    const known = waiting.get(state.id);
    waiting.set(state.id, { event: known?.event ?? null, busy: known?.busy ?? false, ...change, state });
  }

  /** Bounds a time by the longest pause: the clock of the replica that set it may have been ahead. */
  const withinReach = (time: number) => Math.min(time, clock() + times.longestPause);

  function add(events: readonly WaitingEvent[]): void {
    for (const event of events) {
      const firstTriedAt = Math.min(event.firstTriedAt, clock());
      // The event may already wait, because its line was read again.
      if (!waiting.has(event.id)) put({ ...event, firstTriedAt, nextTryAt: withinReach(event.nextTryAt) });
    }
  }

  /** The event that is due first, of those that are not busy; null without one. */
  const next = () => earliest(waiting.values(), (each) => (each.busy ? null : each.state.nextTryAt));

  /** The batch that is due first; null without one. */
  const nextBatch = () => earliest(batches.values(), ({ dueAt }) => dueAt);

  async function writeBatch(events: readonly WaitingEvent[]): Promise<void> {
    written += 1;
    // Unique, because no other replica has this claim.
    const name = `${saved.claim}-${written}`;
    for (const state of events) put(state, { busy: true });
    try {
      await documents.saveBatch(name, events);
    } catch (error) {
      for (const state of events) put(state, { busy: false });
      throw error;
    }
    for (const { id } of events) waiting.delete(id);
    const dueAt = Math.max(...events.map(({ nextTryAt }) => nextTryAt));
    batches.set(name, { name, dueAt, bySource: countBySource(events) });
  }

  async function readBatchBack(batch: WaitingBatch): Promise<void> {
    const { name, dueAt, bySource } = batch;
    // Due again only after a pause, so that a batch that cannot be read holds up no others.
    batches.set(name, { ...batch, dueAt: clock() + times.firstPause });
    const events = await documents.readBatch(name);
    if (events === null) {
      // A missing batch may be restored until its events expire.
      const isExpired = clock() - Math.max(...bySource.map(({ oldest }) => oldest)) > times.total;
      if (isExpired) batches.delete(name);
      const end = isExpired ? 'its events are not sent' : 'restore it, or send its events again by a replay';
      throw new StoreError('read', `the batch waiting/${name}.json is gone or damaged: ${end}`);
    }
    batches.delete(name);
    taken.add(name);
    add(events.map((event) => ({ ...event, nextTryAt: dueAt })));
  }

  add(saved.waiting);
  for (const batch of saved.batches) batches.set(batch.name, { ...batch, dueAt: withinReach(batch.dueAt) });

  return {
    get size(): number {
      return waiting.size;
    },
    get: (id: string) => waiting.get(id),
    /** Adds or replaces an event. Fields that `change` omits stay unchanged. */
    put,
    delete: (id: string) => void waiting.delete(id),
    next,
    nextBatch,
    /**
     * Moves the events due last from memory to a batch, or reads the batch due first back; null while neither is needed. Rejects with
     * `StoreError`.
     */
    move(now: number): Promise<void> | null {
      if (waiting.size >= CROWDED && batches.size < MAX_BATCHES) {
        const idle = [...waiting.values()].flatMap(({ state, busy }) => (busy ? [] : [state]));
        const last = idle.sort((a, b) => a.nextTryAt - b.nextTryAt).slice(-BATCH);
        if (idle.length >= CROWDED) return writeBatch(last);
      }
      const batch = nextBatch();
      const dueAt = Math.min(now, next()?.state.nextTryAt ?? Number.POSITIVE_INFINITY);
      return batch !== null && batch.dueAt < dueAt ? readBatchBack(batch) : null;
    },
    /** Makes every event in memory due at `now`. */
    makeDue(now: number): void {
      for (const { state } of waiting.values()) put({ ...state, nextTryAt: now });
    },
    states: () => [...waiting.values()].map(({ state }) => state),
    batches: () => [...batches.values()],
    /** Batches whose events are in memory again. */
    taken,
  };
}

function earliest<Item>(items: Iterable<Item>, timeOf: (item: Item) => number | null): Item | null {
  let first: { readonly item: Item; readonly time: number } | null = null;
  for (const item of items) {
    const time = timeOf(item);
    if (time !== null && (first === null || time < first.time)) first = { item, time };
  }
  return first?.item ?? null;
}

function countBySource(events: readonly WaitingEvent[]): WaitingOfSource[] {
  return [...Map.groupBy(events, ({ source }) => source)].map(([source, own]) => ({
    source,
    events: own.length,
    oldest: Math.min(...own.map(({ receivedAt }) => Date.parse(receivedAt))),
  }));
}
