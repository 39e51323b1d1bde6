import { MOST_DEAD_COUNTED } from '../../domain/event-attempts.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { inGroups } from '../../store/in-groups.js';
import type { ObjectStore } from '../../store/object-store.js';
import { type DeadCause, type DeadFacts, deadCauses, deadFacts } from './dead-causes.js';
import { deadEventIds, readDeadEvent } from './dead-events.js';

/** Events that are remembered: an open dashboard counts every few seconds. */
const MAX_REMEMBERED = 10_000;
const READ_AT_ONCE = 16;

/** Methods reject with `StoreError`. */
export interface DeadEventCounter {
  /**
   * Dead events of a subscriber that belong to sources of the scope, at most 1,000. For a scope the oldest 10,000 are looked at.
   *
   * @param signal ends the count with its reason
   */
  count(subscriber: string, scope: SourceScope, signal?: AbortSignal): Promise<number>;
  /** Their causes, with the same bounds. */
  causes(subscriber: string, scope: SourceScope, signal?: AbortSignal): Promise<DeadCause[]>;
}

type Known = DeadFacts & { readonly source: string | null };

export function createDeadEventCounter(store: ObjectStore): DeadEventCounter {
  /** By subscriber and id: a dead event does not change. */
  const known = new Map<string, Known>();

  /** Null for an event that was sent meanwhile. */
  async function factsOf(subscriber: string, id: string): Promise<Known | null> {
    const name = `${subscriber}/${id}`;
    const found = known.get(name);
    if (found !== undefined) return found;
    const dead = await readDeadEvent(store, subscriber, id);
    if (dead === null) return null;
    const [oldest] = known.keys();
    if (known.size >= MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
    const facts = { ...deadFacts(dead), source: dead.event.data.source };
    known.set(name, facts);
    return facts;
  }

  async function inScope(subscriber: string, scope: SourceScope, signal?: AbortSignal): Promise<Known[]> {
    const found: Known[] = [];
    const limit = scope === null ? MOST_DEAD_COUNTED : MAX_REMEMBERED;
    for await (const ids of inGroups(deadEventIds(store, subscriber, { limit, signal }), READ_AT_ONCE)) {
      for (const facts of await Promise.all(ids.map((id) => factsOf(subscriber, id))))
        if (facts !== null && isInScope(scope, facts.source)) found.push(facts);
      signal?.throwIfAborted();
      if (found.length >= MOST_DEAD_COUNTED) break;
    }
    return found.slice(0, MOST_DEAD_COUNTED);
  }

  async function countAll(subscriber: string, signal?: AbortSignal): Promise<number> {
    let count = 0;
    for await (const _id of deadEventIds(store, subscriber, { limit: MOST_DEAD_COUNTED, signal })) count += 1;
    return count;
  }

  return {
    async count(subscriber, scope, signal) {
      if (scope === null) return countAll(subscriber, signal);
      return (await inScope(subscriber, scope, signal)).length;
    },
    causes: async (subscriber, scope, signal) => deadCauses(await inScope(subscriber, scope, signal)),
  };
}
