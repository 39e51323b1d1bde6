import pLimit from 'p-limit';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { ObjectStore } from '../../store/object-store.js';
import { deadEventIds, readDeadEvent } from './dead-events.js';

/** Dead events counted per subscriber: more of them say the same, and each thousand is a listing. */
const MAX_COUNTED = 1000;
/** Events whose source is remembered: an open dashboard counts every few seconds. */
const MAX_REMEMBERED = 10_000;
const READ_AT_ONCE = 16;

export interface DeadEventCounter {
  /** Dead events of a subscriber that belong to sources of the scope, at most 1,000. Rejects with `StoreError`. */
  count(subscriber: string, scope: SourceScope): Promise<number>;
}

export function createDeadEventCounter(store: ObjectStore): DeadEventCounter {
  /** By subscriber and id. The source of an event never changes. */
  const sources = new Map<string, string | null>();
  const limited = pLimit(READ_AT_ONCE);

  /** Null as well for an event that was sent meanwhile. */
  async function sourceOf(subscriber: string, id: string): Promise<string | null> {
    const name = `${subscriber}/${id}`;
    const known = sources.get(name);
    if (known !== undefined) return known;
    const dead = await readDeadEvent(store, subscriber, id);
    if (dead === null) return null;
    const [oldest] = sources.keys();
    if (sources.size >= MAX_REMEMBERED && oldest !== undefined) sources.delete(oldest);
    sources.set(name, dead.event.data.source);
    return dead.event.data.source;
  }

  return {
    async count(subscriber, scope) {
      const ids: string[] = [];
      for await (const id of deadEventIds(store, subscriber)) {
        ids.push(id);
        if (scope === null && ids.length === MAX_COUNTED) break;
      }
      if (scope === null) return ids.length;
      const found = await Promise.all(ids.map((id) => limited(() => sourceOf(subscriber, id))));
      return Math.min(MAX_COUNTED, found.filter((source) => isInScope(scope, source)).length);
    },
  };
}
