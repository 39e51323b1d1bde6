import pLimit from 'p-limit';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import type { SentQuestions } from '../../../index/sent/sent-questions.js';
import { inGroups } from '../../../store/in-groups.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { deadEventIds, readDeadEvent } from '../../../subscribers/dead-events.js';

export type DeadEventCounter = ReturnType<typeof createDeadEventCounter>;

type CountBySource = ReadonlyMap<string | null, number>;

/** Keys of one listing. */
const LISTED = 1000;
const READ_AT_ONCE = 16;
/** Bounds the cache of events that are not in the index: older than it reaches, or ended by a process that was killed. */
const MAX_REMEMBERED = 50_000;

/**
 * Counts the dead events of a subscriber by source: lists them in the store, a thousand per request, and finds their sources in the index. A
 * count is cached for one millisecond per event, so that an open page does not list all the time. Rejects with `StoreError` and `IndexError`.
 */
export function createDeadEventCounter(store: ObjectStore, sent: Pick<SentQuestions, 'sources'>) {
  const oneAtATime = pLimit(1);
  const remembered = new Map<string, string | null>();
  const counted = new Map<
    string,
    { readonly at: number; readonly events: number; readonly bySource: CountBySource }
  >();

  /** Undefined for an event that was removed meanwhile. */
  async function readSource(subscriber: string, id: string): Promise<string | null | undefined> {
    const name = `${subscriber}/${id}`;
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const dead = await readDeadEvent(store, subscriber, id);
    if (dead === null) return undefined;
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    const { source } = dead.event.data;
    remembered.set(name, source);
    return source;
  }

  /** The sources of events, without those removed meanwhile. */
  async function sourcesOf(
    subscriber: string,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<(string | null)[]> {
    const known = await sent.sources(subscriber, ids);
    const indexed = new Set(known.map(({ event }) => event));
    const read = await pLimit(READ_AT_ONCE).map(
      ids.filter((id) => !indexed.has(id)),
      async (id) => {
        signal?.throwIfAborted();
        return readSource(subscriber, id);
      },
    );
    return [...known.map(({ source }) => source), ...read.filter((source) => source !== undefined)];
  }

  async function countUnlessKnown(subscriber: string, signal?: AbortSignal): Promise<CountBySource> {
    signal?.throwIfAborted();
    const last = counted.get(subscriber);
    if (last !== undefined && performance.now() - last.at < last.events) return last.bySource;
    const bySource = new Map<string | null, number>();
    let events = 0;
    for await (const ids of inGroups(deadEventIds(store, subscriber, { signal, anyOrder: true }), LISTED)) {
      for (const source of await sourcesOf(subscriber, ids, signal))
        bySource.set(source, (bySource.get(source) ?? 0) + 1);
      events += ids.length;
      signal?.throwIfAborted();
    }
    counted.set(subscriber, { at: performance.now(), events, bySource });
    return bySource;
  }

  /** Counts one after the other, so that calls that waited mostly find a cached count. */
  return async (subscriber: string, scope: SourceScope, signal?: AbortSignal): Promise<CountBySource> => {
    const all = await oneAtATime(() => countUnlessKnown(subscriber, signal));
    return new Map([...all].filter(([source]) => isInScope(scope, source)));
  };
}
