import { ulidMaker } from '../lib/text/ulid-maker.js';
import { repeat } from '../lib/time/repeat.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { DOCUMENT_HEADERS } from '../store/read-document.js';
import { refusalCountsKey } from './layout.js';

/** An unauthenticated request that was refused. */
export interface CountedRefusal {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Null for requests to no configured source. */
  readonly source: string | null;
  readonly reason: string;
  /** Whether it most likely came from the speech service. */
  readonly isFromSender: boolean;
}

/** The refusals of one source and reason within one hour in UTC. */
export interface RefusalCount {
  readonly source: string | null;
  readonly reason: string;
  readonly count: number;
  /** ISO 8601: of the first and the last one. */
  readonly first: string;
  readonly last: string;
  /** Requests that most likely came from the speech service, by minute of the hour: "07". */
  readonly fromSender: Readonly<Record<string, number>>;
}

export type RefusalCounter = ReturnType<typeof countRefusals>;

/** Milliseconds between two writes. The first refusals after a pause are written within a second, because other replicas warn of them. */
const WRITE_INTERVAL = 10_000;
const CHECK_INTERVAL = 1000;

/** Counts of one hour. More sources are counted without their name. Senders choose neither sources nor reasons. */
const MAX_COUNTS = 1000;

/** Hours that are held while the store is unavailable. */
const MAX_HOURS = 12;

/**
 * Counts unauthenticated refusals in the store, so that other replicas see them and they survive this process. Each hour has one
 * object, which is written only after a change and not more often than the interval, so that no number of requests fills the
 * store.
 */
export function countRefusals(
  store: Pick<ObjectStore, 'replace'>,
  isStoreReady: () => boolean,
  interval = WRITE_INTERVAL,
) {
  const run = ulidMaker()();
  const hours = new Map<string, Map<string, RefusalCount>>();
  const changed = new Set<string>();
  let wroteAt = Number.NEGATIVE_INFINITY;
  const checkInterval = Math.min(interval, CHECK_INTERVAL);
  const timer = repeat(writeIfDue, { interval: checkInterval, firstWithin: checkInterval });

  async function writeIfDue(): Promise<void> {
    if (changed.size === 0 || performance.now() - wroteAt < interval) return;
    wroteAt = performance.now();
    await write();
  }

  async function write(): Promise<void> {
    for (const hour of isStoreReady() ? [...changed] : []) {
      changed.delete(hour);
      try {
        const counts = [...(hours.get(hour)?.values() ?? [])];
        const document = Buffer.from(JSON.stringify({ counts }));
        await store.replace(refusalCountsKey(hour, run), document, DOCUMENT_HEADERS);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        changed.add(hour);
      }
    }
  }

  /** Makes room for an hour. Prefers to forget hours that are written. */
  function forgetOldest(): void {
    const all = [...hours.keys()];
    const oldest = all.find((hour) => !changed.has(hour)) ?? all[0];
    if (oldest === undefined) return;
    hours.delete(oldest);
    changed.delete(oldest);
  }

  return {
    add(refusal: CountedRefusal): void {
      const hour = refusal.at.slice(0, 13);
      if (!hours.has(hour) && hours.size >= MAX_HOURS) forgetOldest();
      const counts = hours.get(hour) ?? new Map<string, RefusalCount>();
      hours.set(hour, counts);
      countOne(counts, refusal);
      changed.add(hour);
    },
    /** Writes the remaining counts, and stops. */
    async stop(): Promise<void> {
      await timer.stop();
      await write();
    },
  };
}

function countOne(
  counts: Map<string, RefusalCount>,
  { at, source, reason, isFromSender }: CountedRefusal,
): void {
  const named = counts.size < MAX_COUNTS || counts.has(nameOf(source, reason)) ? source : null;
  const name = nameOf(named, reason);
  const before = counts.get(name);
  const fromSender = before?.fromSender ?? {};
  const minute = at.slice(14, 16);
  counts.set(name, {
    source: named,
    reason,
    count: (before?.count ?? 0) + 1,
    first: before?.first ?? at,
    last: at,
    fromSender: isFromSender ? { ...fromSender, [minute]: (fromSender[minute] ?? 0) + 1 } : fromSender,
  });
}

function nameOf(source: string | null, reason: string): string {
  return JSON.stringify([source, reason]);
}
